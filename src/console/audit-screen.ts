// The audit log: who changed what, from what to what; for the operator also whether it is still as it was written.
import type { AuditEntryView } from "../contract/audit.ts";
import type { WorkspaceView } from "../contract/workspaces.ts";
import { element } from "../page/element.ts";
import { changeView } from "./audit-change.ts";
import { verificationPart } from "./audit-verification.ts";
import { type Filter, filterView, filtersIn, momentOf } from "./filter-view.ts";
import { listView } from "./list-view.ts";
import { tried } from "./tried.ts";
import type { Page, Visit } from "./visit.ts";
import { link, timeView } from "./words.ts";

const FILTERS: readonly Filter[] = [
  { name: "from", label: "From", kind: "date" },
  { name: "to", label: "Until", kind: "date" },
  { name: "action", label: "Action", kind: "text", placeholder: "key.revoked" },
  { name: "actor", label: "Key id", kind: "text", placeholder: "key_…" },
  { name: "target", label: "Target", kind: "text", placeholder: "app_…" },
];
const OF_PLATFORM: readonly Filter[] = [
  ...FILTERS,
  { name: "workspace", label: "Workspace", kind: "text", placeholder: "acme, or platform" },
];

export async function showAudit(visit: Visit): Promise<readonly Node[]> {
  const isPlatform = visit.scope.workspace === null;
  const filters = isPlatform ? OF_PLATFORM : FILTERS;
  const query = queryOf(visit, filters);
  const slugs = isPlatform ? await slugsOf(visit) : null;
  const entries = await listView<AuditEntryView>(visit, {
    caption: "Changes, newest first",
    path: `/audit?${query}`,
    heads: ["When", "Who", "What", "Target", ...(isPlatform ? ["Workspace"] : []), "Change"],
    row: (entry) => rowOf(visit, entry, slugs),
    empty:
      query === ""
        ? "Nothing was changed yet. Every change of a setting is an entry here, and none is ever removed."
        : "No change fits these filters.",
  });
  return [...(isPlatform ? [verificationPart(visit)] : []), filterView(visit, filters), entries];
}

/** Days as the moments that they begin and end at. */
function queryOf(visit: Visit, filters: readonly Filter[]): string {
  const query = new URLSearchParams(filtersIn(visit, filters));
  const moments = [
    ["from", momentOf(query.get("from"))],
    ["to", momentOf(query.get("to"), 1)],
  ] as const;
  for (const [name, moment] of moments) {
    query.delete(name);
    if (moment !== null) query.set(name, moment);
  }
  return query.toString();
}

/** By id, of the first hundred; any other goes by its id, as one that was removed does. */
async function slugsOf(visit: Visit): Promise<ReadonlyMap<string, string>> {
  const outcome = await tried<Page<WorkspaceView>>(visit, "/workspaces?limit=100");
  return new Map(outcome.ok ? outcome.data.data.map(({ id, slug }) => [id, slug]) : []);
}

/** Ids may break, so that what was changed has room. */
const CLASSES: Readonly<Record<string, { readonly class: string }>> = {
  action: { class: "id" },
  actor: { class: "id" },
  target: { class: "id" },
};

/** `slugs`: null where all is of one workspace. */
function rowOf(
  visit: Visit,
  entry: AuditEntryView,
  slugs: ReadonlyMap<string, string> | null,
): readonly (Node | string)[] {
  const { at, actor_key_id: actor, action, target, workspace_id: workspace } = entry;
  const only = (name: string, value: string, label: string): Node => {
    const query = { ...Object.fromEntries(visit.query), [name]: value };
    return link(visit.link("audit", [], query), element("code", CLASSES[name] ?? {}, label));
  };
  const whose = workspace === null ? "platform" : (slugs?.get(workspace) ?? workspace);
  return [
    timeView(at),
    actor === null ? whoElse(action) : only("actor", actor, actor),
    only("action", action, action),
    only("target", target, target),
    ...(slugs === null ? [] : [only("workspace", whose, whose)]),
    changeView(entry),
  ];
}

/** Changes that no key made. */
function whoElse(action: string): string {
  if (action === "stt_webhook.disabled") return "the gateway itself";
  return action === "key_pepper.replaced" ? "the command line" : "the configuration file";
}
