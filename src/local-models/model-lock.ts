// Lets one process at a time change a model: a second pull waits, then finds the model installed [local-models.one-pull].
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { InstallationInUse, lockInstallation } from "../storage/embedded/installation-lock.ts";

const LOOK_MS = 250;

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once, with who has it. */
  readonly onWaiting?: (message: string) => void;
}

/** The kernel holds the lock, so that it ends with its process. Its file is never deleted, because a waiting process may have it open. */
export async function withModelLock<T>(
  dir: string,
  name: string,
  { signal, onWaiting }: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  let isReported = false;
  while (true) {
    signal.throwIfAborted();
    try {
      const lock = await lockInstallation(join(dir, ".locks", name));
      try {
        return await work();
      } finally {
        await lock.release();
      }
    } catch (error) {
      if (!(error instanceof InstallationInUse)) throw error;
      if (!isReported) onWaiting?.(error.message);
      isReported = true;
    }
    await wait(LOOK_MS, undefined, { signal });
  }
}
