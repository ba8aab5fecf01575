// One signal for a call: it ends by the caller's own signal, when its time is up, or when nobody wants the answer any more.
export interface Deadline {
  /** Its reason is what the call then fails with. */
  readonly signal: AbortSignal;
  /** Ends whatever still runs under the signal, and the clock. */
  close(): void;
}

/** More does not fit into the timers of any platform, which then take it for nothing. */
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
