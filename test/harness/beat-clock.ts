// A clock that counts only while this process's event loop turns, for bounds that are promised in seconds: on a busy machine it runs slow, never fast.
const BEAT_MS = 50;

export interface BeatClock extends Disposable {
  readonly elapsedMs: () => number;
}

export function startBeatClock(): BeatClock {
  let beats = 0;
  const timer = setInterval(() => {
    beats += 1;
  }, BEAT_MS);
  return { elapsedMs: () => beats * BEAT_MS, [Symbol.dispose]: () => clearInterval(timer) };
}
