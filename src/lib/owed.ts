// Work that something has made necessary: owed from then on, until it was done without a failure.

export interface Owed {
  owe(): void;
  /** Does it where it is owed; a failure is thrown, and it is owed as before. */
  settle(): Promise<void>;
}

/** Owed from the start: what happened before it, nobody knows. */
export function createOwed(work: () => Promise<void>): Owed {
  let isOwed = true;
  return {
    owe: () => {
      isOwed = true;
    },
    settle: async () => {
      if (!isOwed) return;
      // Before the work: what happens during it asks for another.
      isOwed = false;
      try {
        await work();
      } catch (error) {
        isOwed = true;
        throw error;
      }
    },
  };
}
