// Counts the sessions of an engine, and decides what happens when the last one has left: the model is unloaded after a while, or at once if it was replaced.

export interface Occupancy {
  enter(): void;
  leave(): void;
  isEmpty(): boolean;
  /** Closes the engine when the last session has left, and resolves then. */
  retire(): Promise<void>;
  /** Nothing is unloaded because it was idle, until the next session has left. */
  stopTimer(): void;
}

export interface OccupancyParts {
  readonly idleMs: number;
  readonly onIdle: () => void;
  readonly close: () => Promise<void>;
  readonly isClosed: () => boolean;
}

export function createOccupancy({ idleMs, onIdle, close, isClosed }: OccupancyParts): Occupancy {
  let sessions = 0;
  let idleTimer: NodeJS.Timeout | null = null;
  let retirement: PromiseWithResolvers<void> | null = null;

  function stopTimer(): void {
    if (idleTimer !== null) clearTimeout(idleTimer);
    idleTimer = null;
  }

  return {
    enter: () => {
      sessions++;
      stopTimer();
    },
    leave: () => {
      sessions--;
      if (sessions > 0 || isClosed()) return;
      if (retirement !== null) {
        retirement.resolve(close());
        return;
      }
      idleTimer = setTimeout(onIdle, idleMs);
      idleTimer.unref();
    },
    isEmpty: () => sessions === 0,
    retire: () => {
      retirement ??= Promise.withResolvers();
      if (sessions === 0) retirement.resolve(close());
      return retirement.promise;
    },
    stopTimer,
  };
}
