// The audit log: who changed what, with old and new values; for the operator also a check of its integrity.
import type { AuditEntryView } from "../contract/admin/audit.ts";
import { element } from "../page/element.ts";
import { changeView } from "./audit-change.ts";
import { verificationPart } from "./audit-verification.ts";
import { DAYS, type Filter, filterView, momentsIn } from "./filter-view.ts";
import { listView } from "./list-view.ts";
import { type Names, namesAt, NO_NAMES } from "./names.ts";
import type { Visit } from "./visit.ts";
import { link, timeView } from "./words.ts";

const FILTERS: readonly Filter[] = [
  ...DAYS,
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
  const query = momentsIn(visit, filters);
  const [workspaces, keys] = isPlatform
    ? [await namesAt(visit, "/workspaces"), NO_NAMES]
    : [null, await namesAt(visit, "/keys?role=admin")];
  const entries = await listView<AuditEntryView>(visit, {
    caption: "Changes, newest first",
    path: `/audit?${query}`,
    heads: ["Time", "Actor", "Action", "Target", ...(isPlatform ? ["Workspace"] : []), "Change"],
    row: (entry) => rowOf(visit, entry, workspaces, keys),
    empty:
      query === ""
        ? "No entries yet. Every configuration change is logged here permanently."
        : "No entries match these filters.",
  });
  return [...(isPlatform ? [verificationPart(visit)] : []), filterView(visit, filters), entries];
}

/** Ids may wrap, which leaves more room for the changes. */
const CLASSES: Readonly<Record<string, { readonly class: string }>> = {
  action: { class: "id" },
  actor: { class: "id" },
  target: { class: "id" },
};

/** `workspaces`: null if all entries are of one workspace. Administrator keys have names; the operator's keys are not listed and are shown by id. */
function rowOf(visit: Visit, entry: AuditEntryView, workspaces: Names | null, keys: Names): readonly (Node | string)[] {
  const { at, actor_key_id: actor, action, target, workspace_id: workspace } = entry;
  const only = (name: string, value: string, label: string): Node => {
    const query = { ...Object.fromEntries(visit.query), [name]: value };
    return link(visit.link("audit", [], query), element("code", CLASSES[name] ?? {}, label));
  };
  const ownerName = workspace === null ? "platform" : (workspaces?.of(workspace) ?? workspace);
  return [
    timeView(at),
    actor === null ? whoElse(action) : only("actor", actor, keys.of(actor)),
    only("action", action, action),
    only("target", target, target),
    ...(workspaces === null ? [] : [only("workspace", ownerName, ownerName)]),
    changeView(entry),
  ];
}

/** The author of changes made without a key. */
function whoElse(action: string): string {
  if (action === "stt_webhook.disabled") return "gateway";
  return action === "key_pepper.replaced" ? "command line" : "configuration file";
}
