// Reports the usage of an app, a workspace, or all workspaces, as JSON and as CSV with the same figures [usage.csv].
import type { Principal } from "../auth/principal.ts";
import { BILLING_CLASSES } from "../contract/billing-class.ts";
import { GatewayError } from "../contract/errors.ts";
import { brand, type WorkspaceId } from "../contract/ids.ts";
import { invalidRequest } from "../contract/invalid-request.ts";
import type {
  SpentBudget,
  UsageGroup,
  UsageQuestion,
  UsageReport,
  UsageTable,
  WorkspaceUsage,
} from "../contract/usage.ts";
import { appOf } from "../gateway/account/app-of.ts";
import { describeForecast } from "../gateway/account/describe-forecast.ts";
import { describeBudget } from "../gateway/account/describe-limits.ts";
import { csvText } from "../lib/text/csv.ts";
import type { BudgetState } from "../metering/budget.ts";
import type { Ledger } from "../metering/ledger.ts";
import { formatUsd } from "../metering/money.ts";
import { readBudgetsByApp } from "../metering/read-budgets.ts";
import type { Database } from "../storage/database.ts";
import { asWorkspaceOrSystem, type Handle } from "../storage/system.ts";
import { AMOUNT_NAMES, type Amounts } from "./store/usage-amounts.ts";
import { readNow, readUnresolvedLeases, readUsage, type UsageRange, type UsageScope } from "./store/usage.ts";

export interface UsageServices {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "budgetsOf">;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 400;
/** Hourly rows of more days would be too many. */
const MAX_DAYS_BY_HOUR = 31;
const MAX_ROWS = 50_000;

/** The usage of the caller's app, with its budgets. */
export async function appUsage(
  { database, ledger }: UsageServices,
  principal: Principal,
  question: UsageQuestion,
): Promise<UsageReport> {
  const workspaceId = principal.workspace.id;
  const appId = appOf(principal).id;
  const seesNames = principal.scopes.includes("routing:read");
  const groups = groupsOf(question, seesNames);
  const restrictedGroup = groups.find((group) => group === "provider" || group === "model");
  if (restrictedGroup !== undefined && !seesNames)
    throw new GatewayError("FORBIDDEN", {
      message: `Usage by ${restrictedGroup} needs a key with the scope routing:read.`,
      details: { required: ["routing:read"] },
    });
  const table = await tableOf(database, { workspaceId, appId, keyId: null }, groups, question);
  const budgets = await ledger.budgetsOf(workspaceId, appId);
  return { ...table, budgets: budgets.map(describeSpent) };
}

/** The usage of all apps of a workspace or, for the operator (`workspaceId` null), of all workspaces. */
export async function usageOf(
  { database }: Pick<UsageServices, "database">,
  workspaceId: WorkspaceId | null,
  question: UsageQuestion,
): Promise<WorkspaceUsage> {
  const { app, key } = question;
  const scope: UsageScope = {
    workspaceId,
    appId: app === undefined ? null : brand("app", app),
    keyId: key === undefined ? null : brand("key", key),
  };
  const table = await tableOf(database, scope, groupsOf(question, true), question);
  if (workspaceId === null) return table;
  const budgets = await database.inWorkspace(workspaceId, (tx) => readBudgetsByApp(tx, workspaceId, scope.appId));
  return { ...table, budgets: budgets.map(({ appId, budget }) => ({ app: appId, ...describeSpent(budget) })) };
}

/** Formats a table as CSV (RFC 4180), with the columns of its rows. */
export function usageCsv({ group_by: groups, data }: UsageTable): string {
  const columns = [...groups, "billing_class", ...AMOUNT_COLUMNS] as const;
  return csvText([columns, ...data.map((row) => columns.map((name) => row[name]))]);
}

function groupsOf({ group_by: groups }: UsageQuestion, seesNames: boolean): readonly UsageGroup[] {
  return groups ?? ["day", "purpose", ...(seesNames ? (["provider", "model"] as const) : [])];
}

async function tableOf(
  database: Database,
  scope: UsageScope,
  groups: readonly UsageGroup[],
  question: UsageQuestion,
): Promise<UsageTable> {
  return asWorkspaceOrSystem(database, scope.workspaceId, (db) => readTable(db, scope, groups, question));
}

async function readTable(
  db: Handle,
  scope: UsageScope,
  groups: readonly UsageGroup[],
  question: UsageQuestion,
): Promise<UsageTable> {
  const range = rangeOf(question, await readNow(db), groups.includes("hour") ? MAX_DAYS_BY_HOUR : MAX_DAYS);
  const rows = await readUsage(db, scope, range, groups, MAX_ROWS + 1);
  if (rows.length > MAX_ROWS)
    throw invalidRequest("group_by", `That makes more than ${MAX_ROWS} rows. Request fewer days or fewer groups.`);
  const unresolved = await readUnresolvedLeases(db, scope, range);
  return {
    object: "usage",
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    group_by: [...groups],
    data: rows.map((row) => ({
      ...groupOf(row, groups),
      billing_class: row.billing_class,
      ...describeAmounts(row),
    })),
    totals: BILLING_CLASSES.flatMap((billingClass) => {
      const ofClass = rows.filter((row) => row.billing_class === billingClass);
      return ofClass.length === 0 ? [] : [{ billing_class: billingClass, ...describeAmounts(addUp(ofClass)) }];
    }),
    unresolved_chat: { charge_usd: formatUsd(unresolved.nanoUsd), tokens: Number(unresolved.tokens) },
  };
}

/** The query selects exactly the requested columns. */
function groupOf(
  row: { readonly [Group in UsageGroup]?: string | null },
  groups: readonly UsageGroup[],
): Pick<UsageTable["data"][number], UsageGroup> {
  return Object.fromEntries(groups.map((group) => [group, row[group]]));
}

function rangeOf({ from, to }: UsageQuestion, now: Date, maxDays: number): UsageRange {
  const endMs = Date.parse(to ?? now.toISOString().slice(0, 10)) + DAY_MS;
  const startMs = from === undefined ? endMs - DEFAULT_DAYS * DAY_MS : Date.parse(from);
  if (startMs >= endMs) throw invalidRequest("from", "`from` is after `to`.");
  if (endMs - startMs > maxDays * DAY_MS) throw invalidRequest("from", `The requested days exceed ${maxDays}.`);
  return { from: new Date(startMs), to: new Date(endMs) };
}

function addUp(rows: readonly Amounts[]): Amounts {
  const sums = AMOUNT_NAMES.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0n)] as const);
  // Contains every name of `Amounts`.
  return Object.fromEntries(sums) as unknown as Amounts;
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

const AMOUNT_COLUMNS = [
  "attempts",
  "failed",
  "audio_seconds",
  "billable_audio_seconds",
  "input_tokens",
  "output_tokens",
  "cached_input_tokens",
  "estimated_input_tokens",
  "estimated_output_tokens",
  "charge_usd",
  "list_usd",
  "unpriced",
  "unresolved",
] as const satisfies readonly (keyof ReturnType<typeof describeAmounts>)[];

function describeSpent(budget: BudgetState): SpentBudget {
  return {
    ...describeBudget(budget),
    spent_usd: formatUsd(budget.spentNanoUsd),
    spent_audio_seconds: Number(budget.spentAudioMs) / 1000,
    spent_tokens: Number(budget.spentTokens),
    forecast: describeForecast(budget),
  };
}
