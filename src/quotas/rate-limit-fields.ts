// The RateLimit fields of a response [quotas.rate-limit-fields] (draft-ietf-httpapi-ratelimit-headers): one item for each quota that applies.
import type { Limit, LimitState } from "./counters.ts";
import { UNITS } from "./units.ts";

export interface LimitStanding extends Omit<LimitState, "left"> {
  readonly limit: Limit;
  /** Null: this process has not read it yet. Then only the policy is reported. */
  readonly left: number | null;
}

const NONE: Readonly<Record<string, string>> = {};

export function rateLimitFields(standings: readonly LimitStanding[]): Readonly<Record<string, string>> {
  if (standings.length === 0) return NONE;
  const items = standings.flatMap(leftOf);
  return {
    "ratelimit-policy": standings.map(policyOf).join(", "),
    ...(items.length === 0 ? {} : { ratelimit: items.join(", ") }),
  };
}

function policyOf({ limit: { unit, limit, periodMs } }: LimitStanding): string {
  const { policy, quotaUnit, scale } = UNITS[unit];
  const window = periodMs === 0 ? "" : `;w=${periodMs / 1000}`;
  return `"${policy}";q=${Math.floor(limit / scale)}${window}${quotaUnit === null ? "" : `;qu="${quotaUnit}"`}`;
}

function leftOf({ limit: { unit }, left, moreInMs }: LimitStanding): readonly string[] {
  if (left === null) return [];
  const { policy, scale } = UNITS[unit];
  const seconds = moreInMs === null ? "" : `;t=${Math.max(1, Math.ceil(moreInMs / 1000))}`;
  return [`"${policy}";r=${Math.max(0, Math.floor(left / scale))}${seconds}`];
}
