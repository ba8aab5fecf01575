// Ends work when a call's signal aborts: waiting at once, and an operation of the engine by its process [local.hang-up].
import type { EngineProcess } from "./engine/engine-process.ts";

/** After a hang-up the running operation has this long to end before its process is killed. */
export const ABORT_GRACE_MS = 150;

/** Rejects with the signal's reason. The work itself continues. A promise for each call: one for many would keep all their results in memory. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // The loser of the race must not count as unhandled.
  work.catch(() => undefined);
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** An operation cannot be interrupted: its process is killed if it does not end soon. */
export async function killedOnAbort<T>(process: EngineProcess, signal: AbortSignal, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | null = null;
  const onAbort = (): void => {
    timer = setTimeout(() => void process.kill(), ABORT_GRACE_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await work;
  } finally {
    signal.removeEventListener("abort", onAbort);
    if (timer !== null) clearTimeout(timer);
  }
}
