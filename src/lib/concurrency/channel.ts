// An unbuffered channel between one producer and one consumer: the producer waits until each item is received.

export interface Channel<T> {
  /** Resolves when the item was received, or when the channel was closed or abandoned. */
  send(item: T): Promise<void>;
  /** Resolves with null when the channel is closed. */
  receive(): Promise<T | null>;
  /** The producer has no more items. */
  close(): void;
  /** The consumer stops reading: a waiting `send` resolves, and later items are dropped. */
  abandon(): void;
  /** Whether `send` was ever called. */
  hasBegun(): boolean;
}

export function createChannel<T>(): Channel<T> {
  let offered: { readonly item: T; readonly received: () => void } | null = null;
  let waiting: ((item: T | null) => void) | null = null;
  let isOver = false;
  let begun = false;
  return {
    send: (item) => {
      begun = true;
      if (isOver) return Promise.resolve();
      if (waiting !== null) {
        const receive = waiting;
        waiting = null;
        receive(item);
        return Promise.resolve();
      }
      return new Promise((received) => {
        offered = { item, received };
      });
    },
    receive: () => {
      if (offered !== null) {
        const { item, received } = offered;
        offered = null;
        received();
        return Promise.resolve(item);
      }
      return isOver
        ? Promise.resolve(null)
        : new Promise((resolve) => {
            waiting = resolve;
          });
    },
    close: () => {
      isOver = true;
      waiting?.(null);
      waiting = null;
    },
    abandon: () => {
      isOver = true;
      offered?.received();
      offered = null;
    },
    hasBegun: () => begun,
  };
}
