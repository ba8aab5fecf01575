// `patchbay usage`: prints usage and its cost [cli.usage], never two billing classes in one sum [usage.classes-separate].
import { z } from "zod";
import { USAGE_GROUPS, type UsageTable, usageReport, workspaceUsage } from "../../contract/usage.ts";
import { budgetLines } from "./budget-lines.ts";
import { openPlace, type PlaceOptions, queryOf, parseReply } from "../gateway-session.ts";
import { printJson, printResult, table } from "../print.ts";
import { readText } from "../read-answer.ts";
import { printLine, type Terminal, write } from "../terminal.ts";

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
  const { session, place } = openPlace(options, terminal, signal);
  const query = queryOf({
    from,
    to,
    group_by: groupBy,
    app,
    key,
    workspace: adminUrl === undefined ? undefined : workspace,
  });
  if (options.csv === true) {
    const response = await session.call(`${place}/usage${query}`, { headers: { accept: "text/csv" } });
    return printResult(terminal, await readText(response), options.output);
  }
  const document = await session.document(`${place}/usage${query}`);
  if (options.json === true) return printJson(terminal, document, options.output);
  const found = parseReply(z.union([usageReport, workspaceUsage]), document, "table of usage");
  await printResult(terminal, lines(found), options.output);
  if (found.budgets !== undefined) await write(terminal.stderr, budgetLines(found.budgets));
  const { unresolved_chat: unresolved } = found;
  if (unresolved.tokens > 0)
    await printLine(
      terminal,
      `unresolved chats: ${unresolved.tokens} tokens, ${unresolved.charge_usd} USD, counted as spent`,
    );
}

type Row = UsageTable["data"][number];
type Amounts = Omit<UsageTable["totals"][number], "billing_class">;

const AMOUNTS = ["CALLS", "FAILED", "AUDIO S", "TOKENS IN", "TOKENS OUT", "CHARGED USD", "LIST USD"] as const;

/** Rows newest first, then a total for each billing class. */
function lines({ data, totals, group_by: groups, from, to }: UsageTable): string {
  if (data.length === 0) return `No usage from ${from} until ${to}.\n`;
  const columns = USAGE_GROUPS.filter((group) => groups.includes(group));
  const head = [...columns.map((group) => group.toUpperCase()), "BILLING", ...AMOUNTS];
  const rows = data.map((row) => [...columns.map((group) => cell(row, group)), row.billing_class, ...amountsOf(row)]);
  const sums = totals.map((sum) => ["total", ...columns.slice(1).map(() => ""), sum.billing_class, ...amountsOf(sum)]);
  return table(head, columns.length === 0 ? rows : [...rows, ...sums]);
}

function cell(row: Row, group: (typeof USAGE_GROUPS)[number]): string {
  return row[group] ?? "-";
}

function amountsOf(amounts: Amounts): readonly string[] {
  return [
    String(amounts.attempts),
    String(amounts.failed),
    String(amounts.audio_seconds),
    String(amounts.input_tokens),
    String(amounts.output_tokens),
    amounts.charge_usd,
    // Some calls have no known price: the sum is a lower bound.
    amounts.unpriced > 0 ? `>= ${amounts.list_usd}` : amounts.list_usd,
  ];
}
