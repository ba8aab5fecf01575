// GET /v1/usage (contract 9, 10): the app's attempts added up, and its budgets.
import type { Principal } from "../auth/principal.ts";
import { GatewayError } from "../contract/errors.ts";
import type { UsageReport } from "../contract/usage.ts";
import { appOf } from "../gateway/audio-call.ts";
import { describeBudget } from "../gateway/describe-limits.ts";
import type { BudgetState } from "../metering/budget.ts";
import type { Ledger } from "../metering/ledger.ts";
import { formatUsd } from "../metering/money.ts";
import type { Database } from "../storage/database.ts";
import { readNow, readUnresolvedLeases, readUsage, type UsageRow } from "../storage/usage.ts";

export interface UsageServices {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "budgetsOf">;
}

/** Days as `2026-11-21`, both in it. */
export interface UsageQuestion {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const DAY_MS = 86_400_000;
const USUAL_DAYS = 30;
const MOST_DAYS = 400;

export async function describeUsage(
  { database, ledger }: UsageServices,
  principal: Principal,
  question: UsageQuestion,
): Promise<UsageReport> {
  const owner = { workspaceId: principal.workspace.id, appId: appOf(principal).id };
  const range = rangeOf(question, await readNow(database.db));
  const rows = await readUsage(database.db, owner, range, principal.scopes.includes("routing:read"));
  const unresolved = await readUnresolvedLeases(database.db, owner, range);
  const budgets = await ledger.budgetsOf(owner.workspaceId, owner.appId);
  return {
    object: "usage",
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    data: rows.map(({ day, purpose, provider, model, ...row }) => ({
      day,
      purpose,
      ...(provider === null || model === null ? {} : { provider, model }),
      billing_class: row.billing_class,
      ...describeAmounts(row),
    })),
    totals: CLASSES.flatMap((billingClass) => {
      const ofClass = rows.filter((row) => row.billing_class === billingClass);
      return ofClass.length === 0 ? [] : [{ billing_class: billingClass, ...describeAmounts(addUp(ofClass)) }];
    }),
    unresolved_chat: { charge_usd: formatUsd(unresolved.nanoUsd), tokens: Number(unresolved.tokens) },
    budgets: budgets.map(describeSpent),
  };
}

const CLASSES = ["metered", "provider_billed", "simulated"] as const;

function rangeOf({ from, to }: UsageQuestion, now: Date): { readonly from: Date; readonly to: Date } {
  const endMs = Date.parse(to ?? now.toISOString().slice(0, 10)) + DAY_MS;
  const beginMs = from === undefined ? endMs - USUAL_DAYS * DAY_MS : Date.parse(from);
  if (beginMs >= endMs) throw refused("from", "`from` is after `to`.");
  if (endMs - beginMs > MOST_DAYS * DAY_MS) throw refused("from", `The days asked for are more than ${MOST_DAYS}.`);
  return { from: new Date(beginMs), to: new Date(endMs) };
}

function refused(param: string, message: string): GatewayError {
  return new GatewayError("INVALID_REQUEST", { message, param, details: { issues: [{ param, message }] } });
}

type Amounts = { readonly [K in keyof UsageRow as UsageRow[K] extends bigint ? K : never]: bigint };

const NOTHING: Amounts = {
  attempts: 0n,
  failed: 0n,
  audio_ms: 0n,
  billable_audio_ms: 0n,
  input_tokens: 0n,
  output_tokens: 0n,
  cached_input_tokens: 0n,
  estimated_input_tokens: 0n,
  estimated_output_tokens: 0n,
  charge_nano_usd: 0n,
  list_nano_usd: 0n,
  unpriced: 0n,
  unresolved: 0n,
};
const AMOUNTS = Object.keys(NOTHING) as (keyof Amounts)[];

function addUp(rows: readonly Amounts[]): Amounts {
  const sum = { ...NOTHING };
  for (const row of rows) for (const name of AMOUNTS) (sum as Record<keyof Amounts, bigint>)[name] += row[name];
  return sum;
}

function describeAmounts(row: Amounts) {
  return {
    attempts: Number(row.attempts),
    failed: Number(row.failed),
    audio_seconds: Number(row.audio_ms) / 1000,
    billable_audio_seconds: Number(row.billable_audio_ms) / 1000,
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    cached_input_tokens: Number(row.cached_input_tokens),
    estimated_input_tokens: Number(row.estimated_input_tokens),
    estimated_output_tokens: Number(row.estimated_output_tokens),
    charge_usd: formatUsd(row.charge_nano_usd),
    list_usd: formatUsd(row.list_nano_usd),
    unpriced: Number(row.unpriced),
    unresolved: Number(row.unresolved),
  };
}

function describeSpent(budget: BudgetState): UsageReport["budgets"][number] {
  return {
    ...describeBudget(budget),
    spent_usd: formatUsd(budget.spentNanoUsd),
    spent_audio_seconds: Number(budget.spentAudioMs) / 1000,
    spent_tokens: Number(budget.spentTokens),
  };
}
