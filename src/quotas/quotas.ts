// Quotas of keys and apps (contract 2): requests a minute, requests at once, seconds of audio an hour, tokens a minute. The smaller of
// key and app applies. How they are counted is `counters.ts`'s; what a caller is told is decided here.
import type { Principal, Quota } from "../auth/principal.ts";
import { GatewayError } from "../contract/errors.ts";
import type { CountUnit } from "../storage/quota-counts.ts";
import type { Counters, Limit, Refused } from "./counters.ts";

export interface Quotas {
  /** Counts a request in; call the answer when it ends. Throws RATE_LIMITED or CONCURRENCY_LIMITED. */
  enter(holders: QuotaHolders): Promise<() => void>;
  /** Counts seconds of audio about to be sent to a provider. Throws RATE_LIMITED; then nothing was counted. */
  takeAudio(holders: QuotaHolders, seconds: number): Promise<void>;
  /** The same for the tokens a chat may use. Tell the answer how many it used in the end: more count too, the rest is free. */
  takeTokens(holders: QuotaHolders, tokens: number): Promise<(used: number) => void>;
  close(): Promise<void>;
}

/** The key and the app whose quotas apply. */
export interface QuotaHolders {
  readonly workspace: Pick<Principal["workspace"], "id">;
  readonly key: Pick<Principal["key"], "id" | "quota">;
  readonly app: Pick<NonNullable<Principal["app"]>, "id" | "quota"> | null;
}

interface Unit {
  readonly limitOf: (quota: Quota) => number | null;
  readonly periodMs: number;
  /** How many of what is counted make one of what is limited. */
  readonly scale: number;
  /** In messages and details. */
  readonly words: string;
  /** The policy's name in the RateLimit fields, and its unit (draft-ietf-httpapi-ratelimit-headers, "qu"). */
  readonly policy: string;
  readonly quotaUnit: string | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const UNITS: Readonly<Record<CountUnit, Unit>> = {
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
  concurrent: {
    limitOf: (quota) => quota.concurrent,
    periodMs: 0,
    scale: 1,
    words: "requests at once",
    policy: "concurrent",
    quotaUnit: "concurrent-requests",
  },
};

export function createQuotas(counters: Counters): Quotas {
  const take = async (holders: QuotaHolders, unit: CountUnit, amount: number): Promise<void> => {
    const limits = limitsOf(holders, unit);
    if (limits.length === 0) return;
    const counted = Math.ceil(amount * UNITS[unit].scale);
    const verdict = await counters.take(limits, counted);
    if (!verdict.ok) throw limitReached(unit, verdict, counted);
  };
  return {
    enter: async (holders) => {
      const places = limitsOf(holders, "concurrent");
      const entered = places.length === 0 ? NOTHING_HELD : await counters.enter(places);
      if (!entered.ok) throw tooManyAtOnce(entered.limit);
      try {
        await take(holders, "requests", 1);
      } catch (error) {
        entered.leave();
        throw error;
      }
      return once(entered.leave);
    },
    takeAudio: (holders, seconds) => take(holders, "audio", seconds),
    takeTokens: async (holders, tokens) => {
      await take(holders, "tokens", tokens);
      const limits = limitsOf(holders, "tokens");
      return (used) => {
        if (limits.length > 0 && used !== tokens) counters.correct(limits, used - tokens);
      };
    },
    close: () => counters.close(),
  };
}

const NOTHING_HELD = { ok: true, leave: () => undefined } as const;

function limitsOf({ workspace, key, app }: QuotaHolders, unit: CountUnit): readonly Limit[] {
  const { limitOf, scale, periodMs } = UNITS[unit];
  const limits: Limit[] = [];
  for (const holder of app === null ? [key] : [key, app]) {
    const limit = limitOf(holder.quota);
    if (limit !== null)
      limits.push({ workspaceId: workspace.id, holderId: holder.id, unit, limit: limit * scale, periodMs });
  }
  return limits;
}

function once(leave: () => void): () => void {
  let left = false;
  return () => {
    if (!left) leave();
    left = true;
  };
}

function limitReached(unit: CountUnit, { limit: { limit, periodMs }, waitMs }: Refused, counted: number): GatewayError {
  const { scale, words } = UNITS[unit];
  const quota = limit / scale;
  const period = periodMs / 1000;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new GatewayError("RATE_LIMITED", {
    message:
      counted > limit
        ? `This request takes ${counted / scale} ${words}, and the whole quota is ${quota} in ${period} s.`
        : `The quota of ${quota} ${words} in ${period} s is used up. Retry in ${seconds} s.`,
    retryAfterSeconds: seconds,
    details: { limit: quota, unit: words, period_seconds: period },
    headers: rateLimitFields(unit, quota, { period, seconds }),
  });
}

function tooManyAtOnce({ limit }: Limit): GatewayError {
  return new GatewayError("CONCURRENCY_LIMITED", {
    message: `${limit} requests of this key or app are running, as many as its quota allows. Retry when one has ended.`,
    retryAfterSeconds: 1,
    details: { limit },
    headers: rateLimitFields("concurrent", limit, { period: null, seconds: 1 }),
  });
}

function rateLimitFields(
  unit: CountUnit,
  quota: number,
  { period, seconds }: { readonly period: number | null; readonly seconds: number },
): Readonly<Record<string, string>> {
  const { policy, quotaUnit } = UNITS[unit];
  const measure = `${period === null ? "" : `;w=${period}`}${quotaUnit === null ? "" : `;qu="${quotaUnit}"`}`;
  return {
    "ratelimit-policy": `"${policy}";q=${Math.floor(quota)}${measure}`,
    ratelimit: `"${policy}";r=0;t=${seconds}`,
  };
}
