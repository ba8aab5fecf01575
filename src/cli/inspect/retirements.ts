// `patchbay providers retirements`: what routes lose when providers end models, and what would keep it [retirement.cli].
import { type RetirementView, retirementView } from "../../contract/admin/retirements.ts";
import { openPlace, type PlaceOptions } from "../gateway-session.ts";
import { adminUrl } from "../gateway-url.ts";
import { type ListOptions, printList, readList } from "../print-list.ts";
import type { Terminal } from "../terminal.ts";

export interface RetirementOptions extends PlaceOptions, ListOptions {
  readonly within?: string;
}

export async function showRetirements(
  options: RetirementOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const isOperator = options.workspace === undefined;
  const placeOptions = isOperator ? { ...options, adminUrl: adminUrl(options.adminUrl, terminal) } : options;
  const { session, place } = openPlace(placeOptions, terminal, signal);
  const request = {
    path: `${place}/retirements`,
    query: { within_days: options.within },
    item: retirementView,
    what: "list of retirements",
  };
  await printList(terminal, await readList(session, request, options.limit), COLUMNS, options);
}

const COLUMNS = {
  head: ["DATE", "DAYS", "ROUTE", "OWNER", "LOSES", "TARGETS", "EVIDENCE", "APPS", "REPLACEMENT"],
  row: (retirement: RetirementView) => [
    retirement.date,
    String(retirement.days_left),
    retirement.route,
    retirement.workspace_id ?? "shared",
    lossOf(retirement),
    retirement.targets.map(({ connection, model }) => `${connection}/${model}`).join(" "),
    retirement.evidence === "vendor" ? "provider" : "second-hand",
    String(retirement.apps_total),
    insteadOf(retirement),
  ],
  nothing: "No route loses anything by the known ends of models.",
};

function lossOf({ kind, feature, languages, data_policy: dataPolicy, targets }: RetirementView): string {
  if (kind === "redirect")
    return `nothing known, answered by ${targets.map(({ answered_by: model }) => model ?? "-").join(" ")}`;
  const lost = languages === null ? feature : `${feature} (${languages.length} languages)`;
  return dataPolicy === null ? lost : `${lost} with ${dataPolicy}`;
}

function insteadOf({ kind, proposal, unavailable_features: unavailable }: RetirementView): string {
  if (kind === "redirect") return "-";
  if (proposal === null) return unavailable.length === 0 ? "no single model" : `none keeps ${unavailable.join(", ")}`;
  const { target, lacks } = proposal;
  const without = lacks.length === 0 ? "" : ` (without ${lacks.join(", ")})`;
  return `${target.connection}/${target.model}${without}`;
}
