// Computes when the next attempt of a delivery is made [webhooks.schedule]: eight attempts in 27.6 h, within ±20 %. Pure.

/** Delay before each attempt. */
export const DELAYS_SECONDS = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const;
/** 20 % are allowed from the failure to the arrival [webhooks.jitter]. The other 10 % are for detecting the failure and sending. */
const JITTER = 0.1;
/** Minimum delay after a timeout or a 429 response. */
const THROTTLED_SECONDS = 60;
/** Maximum factor by which `Retry-After` may extend a delay. */
const MAX_STRETCH = 2;

export interface FailedAttempt {
  /** Number of attempts so far, including this one: at least 1. */
  readonly made: number;
  readonly maxAttempts: number;
  /** Whether it timed out or the response was 429. */
  readonly isThrottled: boolean;
  readonly retryAfterSeconds: number | null;
  /** From 0 to 1. */
  readonly random: number;
}

/** Seconds from now to the next attempt. Null: no attempts are left. */
export function nextDelaySeconds(attempt: FailedAttempt): number | null {
  const { made, maxAttempts, isThrottled, retryAfterSeconds, random } = attempt;
  const step = made < maxAttempts ? DELAYS_SECONDS[made] : undefined;
  if (step === undefined) return null;
  const floor = isThrottled ? THROTTLED_SECONDS : 0;
  const jittered = Math.max(step * (1 - JITTER + 2 * JITTER * random), floor);
  const requested = Math.min(retryAfterSeconds ?? 0, MAX_STRETCH * Math.max(step, floor));
  return Math.max(jittered, requested);
}

/** Parses `Retry-After` in either form as seconds from now. Null: absent or malformed. */
export function retryAfterSeconds(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  // Only an HTTP date, because `Date.parse` accepts many other formats.
  const atMs = /^[A-Z][a-z]{2,8}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, (atMs - nowMs) / 1000);
}
