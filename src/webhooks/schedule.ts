// When the next attempt of a delivery is made [webhooks.schedule]: eight attempts in 27.6 h, within ±20 %. Pure.

/** Before each attempt. */
export const DELAYS_SECONDS = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const;
/** 20 % are allowed from the failure to the arrival [webhooks.jitter]. The other 10 % are the time to notice and to send. */
const JITTER = 0.1;
/** A receiver that did not answer in time, or asked for less, is not asked again sooner. */
const THROTTLED_SECONDS = 60;
/** How far `Retry-After` may stretch a step. */
const MAX_STRETCH = 2;

export interface FailedAttempt {
  /** Attempts made so far, this one included; at least 1. */
  readonly made: number;
  readonly maxAttempts: number;
  /** It timed out, or the answer was 429. */
  readonly isThrottled: boolean;
  readonly retryAfterSeconds: number | null;
  /** From 0 to 1. */
  readonly random: number;
}

/** Seconds from now to the next attempt; null when there is none. */
export function nextDelaySeconds(attempt: FailedAttempt): number | null {
  const { made, maxAttempts, isThrottled, retryAfterSeconds, random } = attempt;
  const step = made < maxAttempts ? DELAYS_SECONDS[made] : undefined;
  if (step === undefined) return null;
  const floor = isThrottled ? THROTTLED_SECONDS : 0;
  const jittered = Math.max(step * (1 - JITTER + 2 * JITTER * random), floor);
  const asked = Math.min(retryAfterSeconds ?? 0, MAX_STRETCH * Math.max(step, floor));
  return Math.max(jittered, asked);
}

/** `Retry-After` in either form, as seconds from now; null when there is none to be read. */
export function retryAfterSeconds(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  // Only a date of HTTP; `Date.parse` reads much else.
  const atMs = /^[A-Z][a-z]{2,8}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, (atMs - nowMs) / 1000);
}
