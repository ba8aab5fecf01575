// Quotas of keys and apps (contract 2): requests a minute, requests at once, seconds of audio an hour. The smaller of key and
// app applies. Counted in this process: with several processes each grants the quota on its own (docs/decisions/0004).
import type { Principal, Quota } from "../auth/principal.ts";
import { GatewayError } from "../contract/errors.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export interface Quotas {
  /** Counts a request in; call the answer when it ends. Throws RATE_LIMITED or CONCURRENCY_LIMITED. */
  enter(principal: Principal): () => void;
  /** Counts seconds of audio about to be sent to a provider. Throws RATE_LIMITED; then nothing was counted. */
  takeAudio(holders: QuotaHolders, seconds: number): void;
  /** The same for the tokens a chat may use. */
  takeTokens(holders: QuotaHolders, tokens: number): void;
}

/** The key and the app whose quotas apply. */
export interface QuotaHolders {
  readonly key: Pick<Principal["key"], "id" | "quota">;
  readonly app: Pick<NonNullable<Principal["app"]>, "id" | "quota"> | null;
}

interface Holder {
  readonly id: string;
  readonly quota: Quota;
}

export function createQuotas(nowMs: () => number): Quotas {
  const requests = createBuckets(nowMs, MINUTE_MS);
  const audio = createBuckets(nowMs, HOUR_MS);
  const tokens = createBuckets(nowMs, MINUTE_MS);
  const running = new Map<string, number>();
  return {
    enter: (principal) => {
      const holders = holdersOf(principal);
      for (const { id, quota } of holders) {
        if (quota.concurrent !== null && (running.get(id) ?? 0) >= quota.concurrent)
          throw tooManyAtOnce(quota.concurrent);
      }
      take(requests, holders, (quota) => quota.requestsPerMinute, 1, "requests", MINUTE_MS);
      const counted = holders.filter(({ quota }) => quota.concurrent !== null);
      for (const { id } of counted) running.set(id, (running.get(id) ?? 0) + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        for (const { id } of counted) leave(running, id);
      };
    },
    takeAudio: (principal, seconds) => {
      take(audio, holdersOf(principal), (quota) => quota.audioSecondsPerHour, seconds, "audio seconds", HOUR_MS);
    },
    takeTokens: (principal, amount) => {
      take(tokens, holdersOf(principal), (quota) => quota.tokensPerMinute, amount, "tokens", MINUTE_MS);
    },
  };
}

function holdersOf({ key, app }: QuotaHolders): readonly Holder[] {
  return app === null
    ? [{ id: key.id, quota: key.quota }]
    : [
        { id: key.id, quota: key.quota },
        { id: app.id, quota: app.quota },
      ];
}

function leave(running: Map<string, number>, id: string): void {
  const rest = (running.get(id) ?? 1) - 1;
  if (rest > 0) running.set(id, rest);
  else running.delete(id);
}

/** A bucket refills evenly over its period, so a burst of the whole quota is possible once, not at every full minute. */
interface Buckets {
  /** Milliseconds until `amount` fits; 0: it fits now. */
  waitMs(id: string, capacity: number, amount: number): number;
  take(id: string, capacity: number, amount: number): void;
}

function createBuckets(nowMs: () => number, periodMs: number): Buckets {
  const levels = new Map<string, { readonly level: number; readonly atMs: number }>();
  const levelOf = (id: string, capacity: number): number => {
    const known = levels.get(id);
    return known === undefined
      ? capacity
      : Math.min(capacity, known.level + ((nowMs() - known.atMs) * capacity) / periodMs);
  };
  return {
    waitMs: (id, capacity, amount) => Math.max(0, ((amount - levelOf(id, capacity)) * periodMs) / capacity),
    take: (id, capacity, amount) => levels.set(id, { level: levelOf(id, capacity) - amount, atMs: nowMs() }),
  };
}

function take(
  buckets: Buckets,
  holders: readonly Holder[],
  limitOf: (quota: Quota) => number | null,
  amount: number,
  what: string,
  periodMs: number,
): void {
  const limited = holders.flatMap(({ id, quota }) => {
    const limit = limitOf(quota);
    return limit === null ? [] : [{ id, limit }];
  });
  for (const { id, limit } of limited) {
    const waitMs = buckets.waitMs(id, limit, amount);
    if (waitMs > 0) throw limitReached(what, limit, periodMs, waitMs);
  }
  for (const { id, limit } of limited) buckets.take(id, limit, amount);
}

function limitReached(what: string, limit: number, periodMs: number, waitMs: number): GatewayError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const period = periodMs / 1000;
  return new GatewayError("RATE_LIMITED", {
    message: `The quota of ${limit} ${what} in ${period} s is used up. Retry in ${seconds} s.`,
    retryAfterSeconds: seconds,
    details: { limit, unit: what, period_seconds: period },
    headers: { "ratelimit-policy": `"quota";q=${limit};w=${period}`, ratelimit: `"quota";r=0;t=${seconds}` },
  });
}

function tooManyAtOnce(limit: number): GatewayError {
  return new GatewayError("CONCURRENCY_LIMITED", {
    message: `${limit} requests of this key or app are running, as many as its quota allows. Retry when one has ended.`,
    retryAfterSeconds: 1,
    details: { limit },
    headers: { "ratelimit-policy": `"concurrent";q=${limit}`, ratelimit: '"concurrent";r=0;t=1' },
  });
}
