// Quotas of keys and apps: requests per minute, concurrent requests, audio seconds per hour, tokens per minute. The smaller of key and app applies
// [quotas.smaller-applies], `counters.ts` counts, and this file decides what a caller reads.
import type { Principal } from "../auth/principal.ts";
import { GatewayError } from "../contract/errors.ts";
import type { CountUnit } from "./store/quota-counts.ts";
import type { Counters, Limit, LimitExceeded } from "./counters.ts";
import { type LimitStanding, rateLimitFields } from "./rate-limit-fields.ts";
import { UNITS } from "./units.ts";

export interface Quotas {
  /** Counts a request. Call the result when it ends. Throws RATE_LIMITED or CONCURRENCY_LIMITED. */
  enter(holders: QuotaHolders): Promise<() => void>;
  /**
   * Counts seconds of audio about to be sent to a provider. Throws RATE_LIMITED without counting anything. If the length was an upper bound, call the result
   * with what was sent: the rest becomes available again.
   */
  takeAudio(holders: QuotaHolders, seconds: number): Promise<(used: number) => void>;
  /** The same for the tokens that a chat may use. Tokens in excess of the bound count too. */
  takeTokens(holders: QuotaHolders, tokens: number): Promise<(used: number) => void>;
  /** Counts one fetch of `audio.url`, redirects included, for the app. Throws RATE_LIMITED without counting anything. */
  takeUrlFetch(holders: QuotaHolders): Promise<void>;
  /** The error that `takeAudio` would throw. Null: there is room. Counts nothing. */
  judgeAudio(holders: QuotaHolders, seconds: number): Promise<GatewayError | null>;
  judgeTokens(holders: QuotaHolders, tokens: number): Promise<GatewayError | null>;
  /** The RateLimit fields of a response, from memory, so that no response waits for them. Empty if there are no limits. */
  standing(holders: QuotaHolders): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** The key and the app that define the quotas. */
export interface QuotaHolders {
  readonly workspace: Pick<Principal["workspace"], "id">;
  readonly key: Pick<Principal["key"], "id" | "quota">;
  readonly app: Pick<NonNullable<Principal["app"]>, "id" | "quota"> | null;
}

export interface QuotaSettings {
  readonly urlFetchesPerMinute: number;
}

export function createQuotas(counters: Counters, { urlFetchesPerMinute }: QuotaSettings): Quotas {
  const take = async (limits: readonly Limit[], unit: CountUnit, amount: number): Promise<void> => {
    const countedAmount = Math.ceil(amount * UNITS[unit].scale);
    const verdict = await counters.take(limits, countedAmount);
    if (!verdict.ok) throw limitReached(unit, verdict, countedAmount);
  };
  const takeUpTo = async (holders: QuotaHolders, unit: CountUnit, amount: number): Promise<(used: number) => void> => {
    const limits = limitsOf(holders, unit);
    if (limits.length === 0) return NO_OP;
    await take(limits, unit, amount);
    const { scale } = UNITS[unit];
    return (used) => {
      const difference = Math.ceil(used * scale) - Math.ceil(amount * scale);
      if (difference !== 0) counters.correct(limits, difference);
    };
  };
  const enter = async (holders: QuotaHolders): Promise<() => void> => {
    const [rates, places] = [limitsOf(holders, "requests"), limitsOf(holders, "concurrent")];
    if (rates.length > 0) await take(rates, "requests", 1);
    if (places.length === 0) return NO_OP;
    try {
      const entered = await counters.enter(places);
      if (entered.ok) return runOnce(entered.leave);
      throw tooManyAtOnce(entered.limit);
    } catch (error) {
      // The request was refused, so it does not count.
      counters.correct(rates, -1);
      throw error;
    }
  };
  const judge = async (holders: QuotaHolders, unit: CountUnit, amount: number): Promise<GatewayError | null> => {
    const limits = limitsOf(holders, unit);
    if (limits.length === 0) return null;
    const countedAmount = Math.ceil(amount * UNITS[unit].scale);
    const verdict = await counters.judge(limits, countedAmount);
    return verdict.ok ? null : limitReached(unit, verdict, countedAmount);
  };
  return {
    enter,
    takeAudio: (holders, seconds) => takeUpTo(holders, "audio", seconds),
    takeTokens: (holders, tokens) => takeUpTo(holders, "tokens", tokens),
    takeUrlFetch: ({ workspace, key, app }) =>
      take(
        [
          {
            workspaceId: workspace.id,
            holderId: (app ?? key).id,
            unit: "url_fetches",
            limit: urlFetchesPerMinute,
            periodMs: UNITS.url_fetches.periodMs,
          },
        ],
        "url_fetches",
        1,
      ),
    judgeAudio: (holders, seconds) => judge(holders, "audio", seconds),
    judgeTokens: (holders, tokens) => judge(holders, "tokens", tokens),
    standing: (holders) => rateLimitFields(COUNTED.flatMap((unit) => tightest(counters, limitsOf(holders, unit)))),
    close: () => counters.close(),
  };
}

const COUNTED = ["requests", "audio", "tokens", "concurrent"] as const satisfies readonly CountUnit[];

/** Selects the limit with less left or, while that is unknown, the smaller limit. */
function tightest(counters: Counters, limits: readonly Limit[]): readonly LimitStanding[] {
  if (limits.length === 0) return NO_STANDINGS;
  const standings = limits.map((limit) => ({ limit, ...(counters.standing(limit) ?? UNKNOWN) }));
  const availableOf = ({ limit, left }: LimitStanding): number => left ?? limit.limit;
  return standings.toSorted((one, other) => availableOf(one) - availableOf(other)).slice(0, 1);
}

const NO_STANDINGS: readonly LimitStanding[] = [];
const UNKNOWN = { left: null, moreInMs: null } as const;

const NO_OP = (): void => undefined;

function limitsOf({ workspace, key, app }: QuotaHolders, unit: CountUnit): readonly Limit[] {
  const keyLimits = limitsOn(key, workspace.id, unit);
  const appLimits = app === null ? NO_LIMITS : limitsOn(app, workspace.id, unit);
  // Called eight times per request, and most keys have no quota.
  return appLimits.length === 0 ? keyLimits : [...keyLimits, ...appLimits];
}

function limitsOn(
  holder: QuotaHolders["key"] | NonNullable<QuotaHolders["app"]>,
  workspaceId: Limit["workspaceId"],
  unit: CountUnit,
): readonly Limit[] {
  const { limitOf, scale, periodMs } = UNITS[unit];
  const limit = limitOf(holder.quota);
  return limit === null ? NO_LIMITS : [{ workspaceId, holderId: holder.id, unit, limit: limit * scale, periodMs }];
}

const NO_LIMITS: readonly Limit[] = [];

function runOnce(leave: () => void): () => void {
  let hasLeft = false;
  return () => {
    if (!hasLeft) leave();
    hasLeft = true;
  };
}

function limitReached(
  unit: CountUnit,
  { limit: refusedLimit, waitMs }: LimitExceeded,
  countedAmount: number,
): GatewayError {
  const { scale, words } = UNITS[unit];
  const { limit, periodMs } = refusedLimit;
  const quota = limit / scale;
  const period = periodMs / 1000;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new GatewayError("RATE_LIMITED", {
    message:
      countedAmount > limit
        ? `This request needs ${countedAmount / scale} ${words}, but the whole quota is ${quota} in ${period} s.`
        : `The quota of ${quota} ${words} in ${period} s is used up. Retry in ${seconds} s.`,
    retryAfterSeconds: seconds,
    details: { limit: quota, unit: words, period_seconds: period },
    headers: rateLimitFields([{ limit: refusedLimit, left: 0, moreInMs: seconds * 1000 }]),
  });
}

function tooManyAtOnce(refusedLimit: Limit): GatewayError {
  const { limit } = refusedLimit;
  return new GatewayError("CONCURRENCY_LIMITED", {
    message: `${limit} requests of this key or app are running, as many as its quota allows. Retry when one has ended.`,
    retryAfterSeconds: 1,
    details: { limit },
    headers: rateLimitFields([{ limit: refusedLimit, left: 0, moreInMs: 1000 }]),
  });
}
