// The units of quotas [quotas.units]: what is limited, how it is counted, and how callers see it named.
import type { Quota } from "../auth/principal.ts";
import type { CountUnit } from "./store/quota-counts.ts";

export interface Unit {
  readonly limitOf: (quota: Quota) => number | null;
  readonly periodMs: number;
  /** Counted units per unit of the limit. */
  readonly scale: number;
  /** Name in messages and details. */
  readonly words: string;
  /** The policy's name in the RateLimit fields, and its unit (draft-ietf-httpapi-ratelimit-headers, "qu"). */
  readonly policy: string;
  readonly quotaUnit: string | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export const UNITS: Readonly<Record<CountUnit, Unit>> = {
  requests: {
    limitOf: (quota) => quota.requestsPerMinute,
    periodMs: MINUTE_MS,
    scale: 1,
    words: "requests",
    policy: "requests",
    quotaUnit: null,
  },
  audio: {
    limitOf: (quota) => quota.audioSecondsPerHour,
    periodMs: HOUR_MS,
    scale: 1000,
    words: "audio seconds",
    policy: "audio-seconds",
    quotaUnit: "audio-seconds",
  },
  tokens: {
    limitOf: (quota) => quota.tokensPerMinute,
    periodMs: MINUTE_MS,
    scale: 1,
    words: "tokens",
    policy: "tokens",
    quotaUnit: "tokens",
  },
  // Limited by the installation's own setting, which is the same for every app.
  url_fetches: {
    limitOf: () => null,
    periodMs: MINUTE_MS,
    scale: 1,
    words: "fetches of audio.url",
    policy: "url-fetches",
    quotaUnit: "url-fetches",
  },
  concurrent: {
    limitOf: (quota) => quota.concurrent,
    periodMs: 0,
    scale: 1,
    words: "requests at once",
    policy: "concurrent",
    quotaUnit: "concurrent-requests",
  },
};
