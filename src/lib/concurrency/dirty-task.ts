// A task that runs only while its dirty flag is set, and stays dirty when it fails.

export interface DirtyTask {
  markDirty(): void;
  /** Runs the task if it is dirty. Throws its failure, after which it is dirty again. */
  runIfDirty(): Promise<void>;
}

/** Dirty from the start, because changes made before the process started are not known. */
export function createDirtyTask(task: () => Promise<void>): DirtyTask {
  let isDirty = true;
  return {
    markDirty: () => {
      isDirty = true;
    },
    runIfDirty: async () => {
      if (!isDirty) return;
      // Cleared before the task runs: a change made meanwhile needs another run.
      isDirty = false;
      try {
        await task();
      } catch (error) {
        isDirty = true;
        throw error;
      }
    },
  };
}
