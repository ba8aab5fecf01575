// Parses the usage query of the address: days, grouping, and filters. Days are UTC, as in the gateway.
import type { UsageGroup } from "../contract/usage.ts";
import type { Filter } from "./filter-view.ts";
import type { Choice } from "./form-view.ts";
import { namedFilter, type Names, NO_NAMES } from "./names.ts";

export interface UsageAsked {
  readonly from: string;
  readonly to: string;
  readonly groups: readonly UsageGroup[];
  /** The address with defaults filled in, for the filters. */
  readonly query: URLSearchParams;
  /** For the API. */
  readonly path: string;
}

const DAY_MS = 86_400_000;
const OWN_DAYS = "days";
const RANGES: readonly Choice[] = [
  ["this-month", "This month"],
  ["last-month", "Last month"],
  ["7-days", "Last 7 days"],
  ["30-days", "Last 30 days"],
  [OWN_DAYS, "From … to …"],
];

export const GROUP_WORDS: Readonly<Record<UsageGroup, string>> = {
  workspace: "Workspace",
  app: "App",
  key: "Key",
  purpose: "Purpose",
  provider: "Provider",
  model: "Model",
  capability: "Capability",
  day: "Day",
  hour: "Hour",
};

export function usageAsked(address: URLSearchParams, isPlatform: boolean): UsageAsked {
  const query = new URLSearchParams(address);
  const choices = new Set(groupsOf(isPlatform).map(([name]) => name));
  const paramOr = (name: string, otherwise: string): string => {
    const value = query.get(name) ?? "";
    return choices.has(value) ? value : otherwise;
  };
  query.set("by", paramOr("by", isPlatform ? "workspace" : "app"));
  query.set("then", paramOr("then", ""));
  if (!RANGES.some(([range]) => range === query.get("range"))) query.set("range", "this-month");
  const { from, to } = daysOf(query);
  if (query.get("range") === OWN_DAYS) {
    query.set("from", from);
    query.set("to", to);
  } else {
    query.delete("from");
    query.delete("to");
  }
  const groups = [...new Set(["by", "then"].flatMap((name) => toldApart(query.get(name) ?? "", isPlatform)))];
  const params = new URLSearchParams({ from, to, group_by: groups.join(",") });
  for (const name of ["app", "key"]) {
    const value = query.get(name) ?? "";
    if (value !== "") params.set(name, value);
  }
  return { from, to, groups, query, path: `/usage?${params}` };
}

/** `apps`: of the workspace. Null: shared scope. */
export function usageFilters({ query }: UsageAsked, apps: Names | null): readonly Filter[] {
  const groups = groupsOf(apps === null);
  const days: readonly Filter[] = [
    { name: "from", label: "First day (UTC)", kind: "date" },
    { name: "to", label: "Last day (UTC)", kind: "date" },
  ];
  const ownerFilters: readonly Filter[] = [
    namedFilter("app", "App", apps ?? NO_NAMES),
    { name: "key", label: "Key id", kind: "text", placeholder: "key_…" },
  ];
  return [
    { name: "range", label: "Days", kind: "select", choices: RANGES },
    ...(query.get("range") === OWN_DAYS ? days : []),
    { name: "by", label: "Group by", kind: "select", choices: groups },
    { name: "then", label: "then by", kind: "select", choices: [["", "none"], ...groups] },
    ...(apps === null ? [] : ownerFilters),
  ];
}

function groupsOf(isPlatform: boolean): readonly Choice[] {
  return Object.entries(GROUP_WORDS)
    .filter(([group]) => isPlatform || group !== "workspace")
    .map(([group, word]) => [group, word.toLowerCase()]);
}

/** Adds the parents: an app is ambiguous without its workspace, a key without its app, a model without its provider. They split no row. */
function toldApart(group: string, isPlatform: boolean): readonly UsageGroup[] {
  if (group === "app") return isPlatform ? ["workspace", "app"] : ["app"];
  if (group === "key") return [isPlatform ? "workspace" : "app", "key"];
  if (group === "model") return ["provider", "model"];
  return isGroup(group) ? [group] : [];
}

const isGroup = (name: string): name is UsageGroup => Object.hasOwn(GROUP_WORDS, name);

function daysOf(query: URLSearchParams): { readonly from: string; readonly to: string } {
  const now = new Date();
  const today = dayOf(now.getTime());
  const firstOf = (month: number): number => Date.UTC(now.getUTCFullYear(), month, 1);
  const lastDays = (count: number): string => dayOf(now.getTime() - (count - 1) * DAY_MS);
  const month = now.getUTCMonth();
  switch (query.get("range") ?? "") {
    case "last-month":
      return { from: dayOf(firstOf(month - 1)), to: dayOf(firstOf(month) - DAY_MS) };
    case "7-days":
      return { from: lastDays(7), to: today };
    case "30-days":
      return { from: lastDays(30), to: today };
    case OWN_DAYS:
      return { from: query.get("from") ?? lastDays(30), to: query.get("to") ?? today };
    default:
      return { from: dayOf(firstOf(month)), to: today };
  }
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
