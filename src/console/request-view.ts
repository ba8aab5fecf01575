// The page of one request: routing, request and result, caller, and the job that it started.
import type { AppView } from "../contract/admin/apps.ts";
import type { KeyView } from "../contract/admin/keys.ts";
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
    ...(attempts.length === 0 ? [] : [part("What each call used, and proof of what came back", usedTable(attempts))]),
    ...(job === null ? [] : [part("The job it started", jobFacts(visit, job))]),
    part("The request", factList([...ownerFacts, ...factsOf(record)])),
  ];
}

/** By name, if it still exists. */
async function whoseOf(visit: Visit, { workspace, app, key }: RequestRecordView): Promise<readonly Fact[]> {
  if (workspace === null || workspace === undefined) return [["Whose", "nobody's: it came without a valid key"]];
  const isPlatform = visit.scope.workspace === null;
  const below = isPlatform ? `/workspaces/${workspace}` : "";
  const [named, keyed] = await Promise.all([
    app ? visit.ask<AppView>("GET", `${below}/apps/${app}`) : null,
    key ? visit.ask<KeyView>("GET", `${below}/keys/${key}`) : null,
  ]);
  const at = (screen: string, path: readonly string[], text: string): Node =>
    link(linkTo(isPlatform ? workspace : visit.scope.workspace, screen, path), text);
  const removed = (name: string | null | undefined): Node | string =>
    name ? element("code", {}, name) : "none: it is an administrator's key";
  return [
    ...(isPlatform ? [["Workspace", at("overview", [], workspace)] as const] : []),
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
    ["When", timeView(record.created_at)],
    ["Answer", record.code === null ? `${record.status}` : `${record.status} ${record.code}`],
    record.test_mode ? ["Mode", "test: the sandbox answers in every provider's place"] : null,
    ["Asked for", asked === null ? "–" : [asked.capability, ...asked.features].join(", ")],
    asked === null || asked.preferences.length === 0 ? null : ["If it could be had", asked.preferences.join(", ")],
    asked === null || asked.profile === null ? null : ["Profile", asked.profile],
    asked?.stream === true ? ["Answer as", "a stream"] : null,
    asked?.dry_run === true ? ["Dry run", "nothing was to be called"] : null,
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
  body: "sent in the body",
  header: "sent as a header",
  app_default: "the app's default",
};

function jobFacts(visit: Visit, { id, status, code }: NonNullable<RequestRecordView["job"]>): HTMLElement {
  return element(
    "div",
    {},
    factList([
      ["State", status === null ? "gone: a job is kept for 30 days after its end" : mark(JOB_TONES[status], status)],
      ...(code === null ? [] : [["Ended with", link(`/docs/errors#${code}`, code)] as const]),
      ["Job", status === null ? element("code", {}, id) : link(visit.link("jobs", [], { job: id }), id)],
    ]),
    copyButton("Copy the job's id", () => id),
  );
}

function usedTable(attempts: readonly RecordedAttemptView[]): HTMLElement {
  return table(
    "In the order of the calls",
    ["Target", "The provider's id of it", "Provider error", "Tokens", "At list prices", "Asked for, and came"],
    attempts.map((attempt) => [
      `${attempt.position}. ${orNone(attempt.connection)}`,
      attempt.provider_request_id ? element("code", {}, attempt.provider_request_id) : "–",
      failureText(attempt),
      tokensText(attempt),
      attempt.estimate_usd === null ? "not known" : usdText(attempt.estimate_usd),
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
  const items = receipts.map(({ feature, grade, delivered }) =>
    element("li", {}, mark(delivered ? "good" : "bad", `${feature}: ${delivered ? grade : "did not come"}`)),
  );
  return element("ul", { class: "plain" }, ...items);
}
