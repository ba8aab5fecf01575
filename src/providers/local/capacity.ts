// A queue bounded in seconds of audio. What is admitted counts until it is recognised. The speed is measured, so that a refusal can say when to retry.

export interface Capacity {
  /** Null: over the bound. Audio that is longer than the bound is admitted while nothing else is. */
  admit(seconds: number): Admission | null;
  /** Waits until there is room, in order of arrival. Rejects with the signal's reason. */
  wait(seconds: number, signal: AbortSignal): Promise<Admission>;
  /** Reports that this much audio took so long. */
  measured(audioSeconds: number, tookMs: number): void;
  /** Until what is admitted or waits now is recognised, at the measured speed: nothing overtakes those who wait. */
  retryAfterSeconds(): number;
  admittedSeconds(): number;
  /** Seconds of audio that are recognised in one second. Null: not measured yet. */
  speed(): number | null;
}

export interface Admission {
  /** So much of it is recognised. */
  done(seconds: number): void;
  /** More audio of a live session. Never refused. */
  add(seconds: number): void;
  release(): void;
}

/** Before the first measurement. Models of 100 million parameters and more are at least this fast on two cores. */
const ASSUMED_SPEED = 5;
/** Weight of a new measurement. */
const SMOOTHING = 0.3;

export function createCapacity(maxSeconds: number): Capacity {
  const waiting: { readonly seconds: number; readonly admit: () => void }[] = [];
  let admitted = 0;
  let speed: number | null = null;

  const fits = (seconds: number): boolean => admitted <= 0 || admitted + seconds <= maxSeconds;

  function take(seconds: number): Admission {
    let rest = seconds;
    admitted += seconds;
    const give = (freed: number): void => {
      const bounded = Math.min(rest, freed);
      rest -= bounded;
      admitted = Math.max(0, admitted - bounded);
      // Rounding must not keep the last waiter out.
      if (admitted < 1e-6) admitted = 0;
      for (let first = waiting[0]; first !== undefined && fits(first.seconds); first = waiting[0]) {
        waiting.shift();
        first.admit();
      }
    };
    return {
      done: give,
      add: (more) => {
        rest += more;
        admitted += more;
      },
      release: () => give(rest),
    };
  }

  return {
    admit: (seconds) => (waiting.length === 0 && fits(seconds) ? take(seconds) : null),
    wait: async (seconds, signal) => {
      signal.throwIfAborted();
      if (waiting.length === 0 && fits(seconds)) return take(seconds);
      const turn = Promise.withResolvers<Admission>();
      const waiter = { seconds, admit: () => turn.resolve(take(seconds)) };
      waiting.push(waiter);
      const onAbort = (): void => {
        const at = waiting.indexOf(waiter);
        if (at < 0) return;
        waiting.splice(at, 1);
        turn.reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await turn.promise;
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    measured: (audioSeconds, tookMs) => {
      const latest = audioSeconds / Math.max(0.001, tookMs / 1000);
      speed = speed === null ? latest : speed + SMOOTHING * (latest - speed);
    },
    retryAfterSeconds: () => {
      const ahead = waiting.reduce((sum, { seconds }) => sum + seconds, admitted);
      return Math.max(1, Math.ceil(ahead / (speed ?? ASSUMED_SPEED)));
    },
    admittedSeconds: () => admitted,
    speed: () => speed,
  };
}
