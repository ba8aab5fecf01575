// Combines the caller's abort signal, the call's time limit and an explicit close into one signal.
export interface Deadline {
  /** The call fails with its reason. */
  readonly signal: AbortSignal;
  /** Aborts whatever still runs under the signal, and clears the timer. */
  close(): void;
}

/** Longer delays overflow the timers of every platform and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function openDeadline(
  signal: AbortSignal | undefined,
  timeoutMs: number | null,
  makeTimedOut: () => Error,
): Deadline {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  const end = (): void => controller.abort(makeTimedOut());
  const timer = timeoutMs === null ? undefined : setTimeout(end, Math.min(timeoutMs, MAX_TIMER_MS));
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    close() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      controller.abort();
    },
  };
}

/** Rejects with the signal's reason. */
export function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, delayMs);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}
