// `patchbay usage`: prints usage and its cost [cli.usage], never two billing classes in one sum [usage.classes-separate].
import { z } from "zod";
import { keyDescription } from "../../contract/account.ts";
import { USAGE_GROUPS, type UsageTable, usageReport, workspaceUsage } from "../../contract/usage.ts";
import { budgetLines } from "./budget-lines.ts";
import { EXIT } from "../exit-codes.ts";
import { openPlace, type PlaceOptions, queryOf, parseReply, type Session } from "../gateway-session.ts";
import { appNames, type Names, type NameSource, workspaceNames } from "./owner-names.ts";
import { printJson, printResult, table } from "../print.ts";
import { readText } from "../read-answer.ts";
import { roundUsd } from "../round-usd.ts";
import { CliError, printLine, type Terminal, write } from "../terminal.ts";

/** On the admin listener, `workspace` filters by workspace. */
export interface UsageOptions extends PlaceOptions {
  readonly from?: string;
  readonly to?: string;
  readonly groupBy?: string;
  readonly app?: string;
  readonly key?: string;
  readonly csv?: boolean;
  readonly json?: boolean;
  readonly output?: string;
}

export async function usage(options: UsageOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { adminUrl, workspace, from, to, groupBy, app, key } = options;
  const place = await usagePlace(options, terminal, signal);
  const { session, path } = place;
  const query = queryOf({
    from,
    to,
    group_by: groupBy,
    app,
    key,
    workspace: adminUrl === undefined ? undefined : workspace,
  });
  if (options.csv === true) {
    const response = await session.call(`${path}/usage${query}`, { headers: { accept: "text/csv" } });
    return printResult(terminal, await readText(response), options.output);
  }
  const document = await session.document(`${path}/usage${query}`);
  if (options.json === true) return printJson(terminal, document, options.output);
  const found = parseReply(z.union([usageReport, workspaceUsage]), document, "table of usage");
  const names = await namesFor(found, place);
  await printResult(terminal, lines(found, names), options.output);
  if (found.budgets !== undefined) await write(terminal.stderr, budgetLines(found.budgets, names));
  const { unresolved_chat: unresolved } = found;
  if (unresolved.tokens > 0)
    await printLine(
      terminal,
      `unresolved chats: ${unresolved.tokens} tokens, ${roundUsd(unresolved.charge_usd)} USD, counted as spent`,
    );
}

interface Place {
  readonly session: Session;
  readonly path: string;
  /** Slug or id of the workspace. Null: of an app, or of all workspaces. */
  readonly workspace: string | null;
  readonly names: Names;
}

const NO_NAMES: Names = new Map();

/** An app's key sees its own usage. An administrator's key has no app, so it sees its workspace's. */
async function usagePlace(options: UsageOptions, terminal: Terminal, signal: AbortSignal): Promise<Place> {
  const { session, place: path } = openPlace(options, terminal, signal);
  const { adminUrl, workspace = null } = options;
  if (adminUrl !== undefined || workspace !== null) return { session, path, workspace, names: NO_NAMES };
  const me = parseReply(keyDescription, await session.document("/v1/me"), "description of a key");
  if (me.app !== null) return { session, path, workspace: null, names: new Map([[me.app.id, me.app.name]]) };
  if (me.key.role === "operator")
    throw new CliError(EXIT.auth, "The operator's key belongs to no app and to no customer's workspace.", {
      hints: ["one workspace: --workspace WORKSPACE", "all of them: --admin-url URL of the admin listener"],
    });
  const { slug } = me.workspace;
  await printLine(terminal, `usage of the workspace ${slug}`);
  return { session, path: `/workspace/${encodeURIComponent(slug)}`, workspace: slug, names: NO_NAMES };
}

interface NamedUsage extends UsageTable {
  readonly budgets?: readonly object[] | undefined;
}

/** Names of the workspaces and apps in a table. */
async function namesFor(found: NamedUsage, { session, path, workspace, names }: Place): Promise<Names> {
  const source: NameSource = { session, isOperator: path === "/admin/v1" };
  const hasApps = [...found.data, ...(found.budgets ?? [])].some((each) => "app" in each && each.app !== undefined);
  const grouped = new Set(found.data.flatMap((row) => row.workspace ?? []));
  if (path === "/v1" || (!hasApps && grouped.size === 0)) return names;
  const all = await workspaceNames(source);
  const workspaces = workspace !== null ? [workspace] : grouped.size > 0 ? [...grouped] : [...all.keys()];
  return new Map([...all, ...(hasApps ? await appNames(source, workspaces) : [])]);
}

type Row = UsageTable["data"][number];
type Amounts = Omit<UsageTable["totals"][number], "billing_class">;

const AMOUNTS = ["CALLS", "FAILED", "AUDIO S", "TOKENS IN", "TOKENS OUT", "CHARGED USD", "LIST USD"] as const;

/** Rows newest first, then a total for each billing class. */
function lines({ data, totals, group_by: groups, from, to }: UsageTable, names: Names): string {
  if (data.length === 0) return `No usage from ${from} until ${to}.\n`;
  const columns = USAGE_GROUPS.filter((group) => groups.includes(group));
  const head = [...columns.map((group) => group.toUpperCase()), "BILLING", ...AMOUNTS];
  const rows = data.map((row) => [
    ...columns.map((group) => cell(row, group, names)),
    row.billing_class,
    ...amountsOf(row),
  ]);
  const sums = totals.map((sum) => ["total", ...columns.slice(1).map(() => ""), sum.billing_class, ...amountsOf(sum)]);
  return table(head, columns.length === 0 ? rows : [...rows, ...sums]);
}

function cell(row: Row, group: (typeof USAGE_GROUPS)[number], names: Names): string {
  const value = row[group] ?? "-";
  return names.get(value) ?? value;
}

function amountsOf(amounts: Amounts): readonly string[] {
  return [
    String(amounts.attempts),
    String(amounts.failed),
    String(amounts.audio_seconds),
    String(amounts.input_tokens),
    String(amounts.output_tokens),
    roundUsd(amounts.charge_usd),
    // Some calls have no known price: the sum is a lower bound.
    amounts.unpriced > 0 ? `>= ${roundUsd(amounts.list_usd)}` : roundUsd(amounts.list_usd),
  ];
}
