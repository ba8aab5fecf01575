// Passes audio frames from a WebSocket to their consumer with back-pressure [realtime.backpressure].
export interface LiveFeed {
  push(frame: Uint8Array): void;
  end(): void;
  readonly frames: AsyncIterable<Uint8Array>;
}

/** A second of samples is 32 kB, so about two seconds are buffered. */
const MAX_HELD_BYTES = 65_536;

export interface Faucet {
  pause(): void;
  resume(): void;
}

export function createLiveFeed(faucet: Faucet): LiveFeed {
  const bufferedFrames: Uint8Array[] = [];
  let bufferedBytes = 0;
  let isEnded = false;
  let isPaused = false;
  let wakeReader: (() => void) | null = null;

  async function* read(): AsyncGenerator<Uint8Array> {
    while (true) {
      const frame = bufferedFrames.shift();
      if (frame !== undefined) {
        bufferedBytes -= frame.byteLength;
        if (isPaused && bufferedBytes <= MAX_HELD_BYTES / 2) {
          isPaused = false;
          faucet.resume();
        }
        yield frame;
        continue;
      }
      if (isEnded) return;
      await new Promise<void>((resolve) => {
        wakeReader = resolve;
      });
      wakeReader = null;
    }
  }
  return {
    push: (frame) => {
      bufferedFrames.push(frame);
      bufferedBytes += frame.byteLength;
      if (!isPaused && bufferedBytes > MAX_HELD_BYTES) {
        isPaused = true;
        faucet.pause();
      }
      wakeReader?.();
    },
    end: () => {
      isEnded = true;
      wakeReader?.();
    },
    frames: { [Symbol.asyncIterator]: () => read() },
  };
}
