// From one who makes to one who takes, no faster than it is taken.
/** One piece at a time from hand to hand: giving waits until the piece is taken, taking until there is one or the end. */
export interface Handover<T> {
  give(piece: T): Promise<void>;
  /** null: there are no more. */
  next(): Promise<T | null>;
  end(): void;
  /** Nobody takes any more. */
  abandon(): void;
  hasBegun(): boolean;
}

export function createHandover<T>(): Handover<T> {
  let offered: { readonly piece: T; readonly taken: () => void } | null = null;
  let waiting: ((piece: T | null) => void) | null = null;
  let isOver = false;
  let begun = false;
  return {
    give: (piece) => {
      begun = true;
      if (isOver) return Promise.resolve();
      if (waiting !== null) {
        const take = waiting;
        waiting = null;
        take(piece);
        return Promise.resolve();
      }
      return new Promise((taken) => {
        offered = { piece, taken };
      });
    },
    next: () => {
      if (offered !== null) {
        const { piece, taken } = offered;
        offered = null;
        taken();
        return Promise.resolve(piece);
      }
      return isOver
        ? Promise.resolve(null)
        : new Promise((resolve) => {
            waiting = resolve;
          });
    },
    end: () => {
      isOver = true;
      waiting?.(null);
      waiting = null;
    },
    abandon: () => {
      isOver = true;
      offered?.taken();
      offered = null;
    },
    hasBegun: () => begun,
  };
}
