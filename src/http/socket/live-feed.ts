// Audio frames from a caller's socket to their consumer, no faster than it accepts them [realtime.backpressure].
export interface LiveFeed {
  push(frame: Uint8Array): void;
  end(): void;
  readonly frames: AsyncIterable<Uint8Array>;
}

/** A second of samples is 32 kB: two of them may wait. */
const MAX_HELD_BYTES = 65_536;

export interface Faucet {
  pause(): void;
  resume(): void;
}

export function createLiveFeed(faucet: Faucet): LiveFeed {
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let isEnded = false;
  let isPaused = false;
  let wake: (() => void) | null = null;

  async function* read(): AsyncGenerator<Uint8Array> {
    while (true) {
      const frame = held.shift();
      if (frame !== undefined) {
        heldBytes -= frame.byteLength;
        if (isPaused && heldBytes <= MAX_HELD_BYTES / 2) {
          isPaused = false;
          faucet.resume();
        }
        yield frame;
        continue;
      }
      if (isEnded) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = null;
    }
  }
  return {
    push: (frame) => {
      held.push(frame);
      heldBytes += frame.byteLength;
      if (!isPaused && heldBytes > MAX_HELD_BYTES) {
        isPaused = true;
        faucet.pause();
      }
      wake?.();
    },
    end: () => {
      isEnded = true;
      wake?.();
    },
    frames: { [Symbol.asyncIterator]: () => read() },
  };
}
