// Repeats a task while its screen is shown and its tab is visible.
export interface Repeating {
  /** First after the delay. */
  start(): void;
  stop(): void;
  /** At once, unless it is stopped. */
  now(): void;
}

/** `signal`: the screen's. `delayMs` is read after each run. */
export function repeatWhileShown(signal: AbortSignal, work: () => Promise<void>, delayMs: () => number): Repeating {
  let isOn = false;
  let isAtWork = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function wait(): void {
    clearTimeout(timer);
    if (isOn && !isAtWork && !signal.aborted && !document.hidden) timer = setTimeout(() => void run(), delayMs());
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    if (isAtWork || signal.aborted) return;
    isAtWork = true;
    await work().finally(() => (isAtWork = false));
    wait();
  }

  signal.addEventListener("abort", () => clearTimeout(timer));
  document.addEventListener(
    "visibilitychange",
    () => {
      if (document.hidden) clearTimeout(timer);
      else if (isOn) void run();
    },
    { signal },
  );
  return {
    start: () => {
      isOn = true;
      wait();
    },
    stop: () => {
      isOn = false;
      clearTimeout(timer);
    },
    now: () => {
      if (isOn) void run();
    },
  };
}
