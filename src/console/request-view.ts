// The page of one request: routing, request and result, caller, and the job that it started.
import type { AppView } from "../contract/admin/apps.ts";
import type { KeyView } from "../contract/admin/keys.ts";
import type { WorkspaceView } from "../contract/admin/workspaces.ts";
import type { RecordedAttemptView, RequestRecordView } from "../contract/requests.ts";
import { copyButton, element, table } from "../page/element.ts";
import { traceView } from "../page/trace-view.ts";
import { linkTo } from "./address.ts";
import { DELETIONS, JOB_TONES } from "./job-details.ts";
import type { Visit } from "./visit.ts";
import { countText, factList, link, mark, orNone, part, secondsText, timeView, usdText } from "./words.ts";

type Fact = readonly [term: string, value: Node | string];

export async function showRequest(visit: Visit, id: string): Promise<readonly Node[]> {
  const record = await visit.read<RequestRecordView>(`/requests/${encodeURIComponent(id)}`);
  const ownerFacts = await whoseOf(visit, record);
  const { job, attempts } = record;
  return [
    link(visit.link("requests"), "All requests"),
    traceView(record),
    ...(attempts.length === 0 ? [] : [part("Provider calls", usedTable(attempts))]),
    ...(job === null ? [] : [part("Job", jobFacts(visit, job))]),
    part("Request", factList([...ownerFacts, ...factsOf(record)])),
  ];
}

/** By name, if it still exists. */
async function whoseOf(visit: Visit, { workspace, app, key }: RequestRecordView): Promise<readonly Fact[]> {
  if (workspace === null || workspace === undefined) return [["Owner", "none (no valid key)"]];
  const isPlatform = visit.scope.workspace === null;
  const below = isPlatform ? `/workspaces/${workspace}` : "";
  const [owner, named, keyed] = await Promise.all([
    isPlatform ? visit.ask<WorkspaceView>("GET", below) : null,
    app ? visit.ask<AppView>("GET", `${below}/apps/${app}`) : null,
    key ? visit.ask<KeyView>("GET", `${below}/keys/${key}`) : null,
  ]);
  const at = (screen: string, path: readonly string[], text: string): Node =>
    link(linkTo(isPlatform ? workspace : visit.scope.workspace, screen, path), text);
  const removed = (name: string | null | undefined): Node | string =>
    name ? element("code", {}, name) : "none (administrator key)";
  return [
    ...(isPlatform
      ? [["Workspace", at("overview", [], owner?.ok === true ? owner.data.slug : workspace)] as const]
      : []),
    ["App", named?.ok === true ? at("apps", [named.data.id], named.data.name) : removed(app)],
    ["Key", keyed?.ok === true ? at("keys", [keyed.data.id], keyed.data.name) : removed(key)],
  ];
}

/** Facts that do not apply are skipped. */
function factsOf(record: RequestRecordView): readonly Fact[] {
  const { asked, usage, route, route_version: version, provider_deletion: deletion } = record;
  const { input_tokens: tokensIn, output_tokens: tokensOut, audio_seconds: audio } = usage;
  const facts: (Fact | null)[] = [
    ["Endpoint", element("code", {}, record.endpoint)],
    ["Time", timeView(record.created_at)],
    ["Response", record.code === null ? `${record.status}` : `${record.status} ${record.code}`],
    record.test_mode ? ["Mode", "test: the sandbox answers"] : null,
    ["Requested", asked === null ? "–" : [asked.capability, ...asked.features].join(", ")],
    asked === null || asked.preferences.length === 0 ? null : ["Preferred", asked.preferences.join(", ")],
    asked === null || asked.profile === null ? null : ["Profile", asked.profile],
    asked?.stream === true ? ["Response format", "stream"] : null,
    asked?.dry_run === true ? ["Dry run", "no provider call"] : null,
    ["Purpose", purposeText(record)],
    route ? ["Route", version ? `${route}, version ${version}` : route] : null,
    ["Decision", decisionText(record)],
    audio === null ? null : ["Audio", audioText(audio, usage.billable_audio_seconds)],
    tokensIn + tokensOut === 0 ? null : ["Tokens", `${countText(tokensIn)} in, ${countText(tokensOut)} out`],
    ["Charged", usdText(usage.charge_usd)],
    ["Idempotency key", record.idempotency.key.replaceAll("_", " ")],
    deletion === "none" ? null : ["Provider", DELETIONS[deletion]],
  ];
  return facts.filter((fact) => fact !== null);
}

const audioText = (audio: number, billable: number): string =>
  billable === 0 ? secondsText(audio) : `${secondsText(audio)}, ${secondsText(billable)} billable`;

const decisionText = ({ decision: { outcome, reason } }: RequestRecordView): string =>
  reason === null ? outcome : `${outcome}: ${reason.replaceAll("_", " ")}`;

function purposeText({ purpose }: RequestRecordView): string {
  if (purpose === null) return "–";
  const { requested, applied, source, policy, reason } = purpose;
  const words = requested === applied ? orNone(applied) : `${orNone(requested)} → ${orNone(applied)}`;
  const details = [
    ...[SOURCES[source] ?? []].flat(),
    ...(reason === null ? [] : [reason.replaceAll("_", " ")]),
    ...(policy === null ? [] : [`policy ${policy}`]),
  ];
  return details.length === 0 || words === "–" ? words : `${words} (${details.join("; ")})`;
}

const SOURCES: Readonly<Record<string, string>> = {
  body: "from the body",
  header: "from a header",
  app_default: "app default",
};

function jobFacts(visit: Visit, { id, status, code }: NonNullable<RequestRecordView["job"]>): HTMLElement {
  return element(
    "div",
    {},
    factList([
      [
        "State",
        status === null ? "deleted: jobs are kept for 30 days after their end" : mark(JOB_TONES[status], status),
      ],
      ...(code === null ? [] : [["Error code", link(`/docs/errors#${code}`, code)] as const]),
      ["Job", status === null ? element("code", {}, id) : link(visit.link("jobs", [], { job: id }), id)],
    ]),
    copyButton("Copy job ID", () => id),
  );
}

function usedTable(attempts: readonly RecordedAttemptView[]): HTMLElement {
  return table(
    "In call order",
    ["Target", "Provider request ID", "Provider error", "Tokens", "At list prices", "Requested / delivered"],
    attempts.map((attempt) => [
      `${attempt.position}. ${orNone(attempt.connection)}`,
      attempt.provider_request_id ? element("code", {}, attempt.provider_request_id) : "–",
      failureText(attempt),
      tokensText(attempt),
      attempt.estimate_usd === null ? "unknown" : usdText(attempt.estimate_usd),
      proofOf(attempt),
    ]),
  );
}

/** What an administrator needs to act: the provider's status, code, request id and message. */
function failureText({ provider_error: error }: RecordedAttemptView): Node | string {
  if (error === undefined || error === null) return "–";
  const { status, code, request_id: id, message } = error;
  const facts = [`HTTP ${status}`, ...(code === null ? [] : [code]), ...(id == null ? [] : [`request ${id}`])];
  return element("div", {}, facts.join(", "), ...(message == null ? [] : [element("p", { class: "soft" }, message)]));
}

function tokensText({ input_tokens: tokensIn, output_tokens: tokensOut, usage_source: source }: RecordedAttemptView) {
  if (tokensIn === null && tokensOut === null) return "–";
  return `${countText(tokensIn ?? 0)} in, ${countText(tokensOut ?? 0)} out${source === "estimated" ? ", estimated" : ""}`;
}

function proofOf({ receipts }: RecordedAttemptView): Node | string {
  if (receipts.length === 0) return "–";
  const items = receipts.map((receipt) =>
    element("li", {}, mark(receipt.delivered ? "good" : "bad", `${receipt.feature}: ${proofText(receipt)}`)),
  );
  return element("ul", { class: "plain" }, ...items);
}

function proofText({ grade, delivered, answered }: RecordedAttemptView["receipts"][number]): string {
  if (answered === undefined) return delivered ? grade : "not delivered";
  return delivered ? `${grade}, ${answered}` : `answered by ${answered}`;
}
