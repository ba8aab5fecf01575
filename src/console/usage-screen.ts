// Usage and cost by app, day, model and more, of a workspace or of all.
import type { BillingClass } from "../contract/billing-class.ts";
import type { UsageGroup, UsageTable, WorkspaceUsage } from "../contract/usage.ts";
import { download } from "../page/download.ts";
import { button, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";
import { linkTo } from "./address.ts";
import { filterView } from "./filter-view.ts";
import { CLASS_WORDS, classTable, mostFirst, totalsTable } from "./usage-figures.ts";
import { usageFile } from "./usage-file.ts";
import { type UsageNames, usageNames } from "./usage-names.ts";
import { GROUP_WORDS, type UsageAsked, usageAsked, usageFilters } from "./usage-question.ts";
import { Unanswered, type Visit } from "./visit.ts";
import { countText, link, part, usdText } from "./words.ts";

export async function showUsage(visit: Visit): Promise<readonly Node[]> {
  const isPlatform = visit.scope.workspace === null;
  const question = usageAsked(visit.query, isPlatform);
  const [names, outcome] = await Promise.all([
    usageNames(visit, question.groups),
    visit.ask<WorkspaceUsage>("GET", question.path),
  ]);
  const filters = filterView(
    { ...visit, query: question.query },
    usageFilters(question, isPlatform ? null : names.app),
  );
  if (outcome.ok) return [filters, ...tablesOf(visit, question, names, outcome.data)];
  // Refused days are corrected in their filters.
  const { failure } = outcome;
  if (failure.kind !== "refused" || failure.status !== 400) throw new Unanswered(outcome);
  return [filters, failureView(failure, outcome.requestId)];
}

function tablesOf(visit: Visit, question: UsageAsked, names: UsageNames, usage: WorkspaceUsage): readonly Node[] {
  const { from, to } = question;
  const days = from === to ? `on ${from}` : `from ${from} to ${to}`;
  if (usage.data.length === 0)
    return [
      element("p", { class: "empty" }, `No usage ${days} (UTC). Calls appear once they are settled.`),
      ...openChats(usage),
    ];
  const name = ["usage", visit.scope.workspace ?? "all", from, to].join("-");
  return [
    part(
      "Total",
      totalsTable(usage.totals),
      element(
        "div",
        { class: "row wrap" },
        button("Download CSV", () => download(`${name}.csv`, usageFile(usage, names), "text/csv;charset=utf-8")),
        element("span", { class: "soft" }, `Calls settled ${days} (UTC), current as of now.`),
      ),
      ...openChats(usage),
    ),
    ...usage.totals.map(({ billing_class: billing }) => classPart(visit, question, names, usage, billing)),
  ];
}

function classPart(
  visit: Visit,
  { groups, query }: UsageAsked,
  names: UsageNames,
  { data }: UsageTable,
  billing: BillingClass,
): HTMLElement {
  const rows = data.filter((row) => row.billing_class === billing);
  const isByTime = groups[0] === "day" || groups[0] === "hour";
  const by = groups.map((group) => GROUP_WORDS[group].toLowerCase()).join(", ");
  const [title, what] = CLASS_WORDS[billing];
  const cells = (row: UsageTable["data"][number]): readonly (Node | string)[] =>
    groups.map((group) => groupCell(visit, query, names, group, row[group] ?? null));
  return part(
    title,
    element("p", { class: "soft" }, what),
    classTable(
      isByTime ? rows : mostFirst(rows),
      `By ${by}; ${isByTime ? "newest" : "most"} first`,
      groups.map((group) => GROUP_WORDS[group]),
      cells,
    ),
  );
}

/** A name links to its breakdown for the same days. */
function groupCell(
  visit: Visit,
  query: URLSearchParams,
  names: UsageNames,
  group: UsageGroup,
  value: string | null,
): Node | string {
  if (value === null) return element("span", { class: "soft" }, group === "key" ? "no key" : "none");
  if (group === "hour") return `${value.slice(0, 16).replace("T", " ")} UTC`;
  const days = Object.fromEntries(["range", "from", "to"].map((name) => [name, query.get(name) ?? ""]));
  const ownerParams = Object.fromEntries(["app", "key"].map((name) => [name, query.get(name) ?? ""]));
  if (group === "workspace") {
    const slug = names.workspace.of(value);
    return link(linkTo(slug, "usage", [], days), slug);
  }
  if (group === "day") {
    const day = link(
      visit.link("usage", [], { ...ownerParams, range: "days", from: value, to: value, by: "hour" }),
      value,
    );
    day.className = "whole";
    return day;
  }
  if (visit.scope.workspace === null || (group !== "app" && group !== "key")) return value;
  const name = names[group].of(value);
  if (group === "app") return link(visit.link("usage", [], { ...days, by: "key", app: value }), name);
  return link(visit.link("usage", [], { ...days, by: "day", key: value }), name);
}

/** Spent, but in no row yet. */
function openChats({ unresolved_chat: { tokens, charge_usd: usd } }: UsageTable): readonly Node[] {
  if (tokens === 0 && Number(usd) === 0) return [];
  const message = `In addition, unresolved chats after a crash: ${countText(tokens)} tokens and ${usdText(usd)}. They count towards budgets but are not in the rows.`;
  return [element("p", { class: "warning" }, message)];
}
