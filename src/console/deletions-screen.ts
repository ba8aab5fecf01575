// Deletions of recordings at providers: pending ones, and failed ones, which must be deleted manually.
import { element } from "../page/element.ts";
import type { DELETION_STATUSES, ProviderDeletionView } from "../contract/admin/provider-deletions.ts";
import { type Filter, filterView, filtersIn } from "./filter-view.ts";
import { listView } from "./list-view.ts";
import { namedFilter, type Names, namesAt } from "./names.ts";
import type { Visit } from "./visit.ts";
import { link, mark, timeView, type Tone } from "./words.ts";

type Status = (typeof DELETION_STATUSES)[number];
const WORDS: Readonly<Record<Status, readonly [tone: Tone, word: string]>> = {
  pending: ["busy", "pending"],
  done: ["good", "deleted"],
  failed: ["bad", "failed: the provider still has the data"],
};
const STATUS: Filter = {
  name: "status",
  label: "State",
  kind: "select",
  choices: [["", "any"], ...Object.keys(WORDS).map((status) => [status, status] as const)],
};

export async function showDeletions(visit: Visit): Promise<readonly Node[]> {
  const isPlatform = visit.scope.workspace === null;
  const names = await namesAt(visit, isPlatform ? "/workspaces" : "/apps");
  const filters = isPlatform ? [STATUS, namedFilter("workspace", "Workspace", names)] : [STATUS];
  const query = filtersIn(visit, filters);
  const list = await listView<ProviderDeletionView>(visit, {
    caption: "Newest first. Completed deletions are kept for 30 days, failed ones permanently.",
    path: `/provider-deletions?${query}`,
    heads: ["State", "Source", isPlatform ? "Workspace" : "App", "Account", "Provider ID", "Attempts", "Since"],
    row: (deletion) => rowOf(visit, names, deletion),
    empty:
      query === ""
        ? "No deletions yet. Providers that store recordings until asked to delete them have one row per recording."
        : "Nothing matches these filters.",
  });
  return [filterView(visit, filters), list];
}

function rowOf(visit: Visit, names: Names, deletion: ProviderDeletionView): readonly (Node | string)[] {
  const { status, subject_id: subject, last_failure: failure, attempts, next_attempt_at: next } = deletion;
  const [tone, word] = WORDS[status];
  const state = element("div", {}, mark(tone, word));
  if (status === "pending" && next !== null) state.append(element("span", { class: "soft" }, "next ", timeView(next)));
  const of = element("code", { class: "id" }, subject);
  const account = element("div", {}, `${deletion.provider}: ${deletion.connection}`);
  const ownerName = deletion.simulated ? "sandbox" : deletion.owner === "platform" ? "shared" : "workspace";
  account.append(element("span", { class: "soft" }, ownerName));
  return [
    state,
    subject.startsWith("job_")
      ? link(visit.link("jobs", [], { job: subject }), of)
      : link(visit.link("requests", [subject]), of),
    names.of(visit.scope.workspace === null ? deletion.workspace_id : deletion.app_id),
    account,
    element("code", { class: "id" }, deletion.provider_id),
    failure === null ? `${attempts}` : `${attempts}, the latest: ${failure.replaceAll("_", " ")}`,
    timeView(deletion.created_at),
  ];
}
