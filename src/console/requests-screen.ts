// The request log, and one request of it: why it went where it went, what it cost.
import type { ListedRequestView, RequestOutcome } from "../contract/request-list.ts";
import type { RequestRecordView } from "../contract/requests.ts";
import { element } from "../page/element.ts";
import { outcomeWords } from "../page/outcome-words.ts";
import { traceView } from "../page/trace-view.ts";
import { hashOf } from "./address.ts";
import { type Filter, filterView, filtersIn } from "./filter-view.ts";
import { listView } from "./list-view.ts";
import { namedFilter, type Names, namesAt, NO_NAMES } from "./names.ts";
import type { Visit } from "./visit.ts";
import { factList, link, mark, orNone, part, secondsText, timeView, type Tone, usdText } from "./words.ts";

const TONES: Readonly<Record<RequestOutcome, Tone>> = {
  succeeded: "good",
  refused: "warn",
  failed: "bad",
  abandoned: "soft",
};
const filtersOf = ({ isPlatform, names }: Whose): readonly Filter[] => [
  {
    name: "outcome",
    label: "Outcome",
    kind: "select",
    choices: [["", "any"], ...Object.keys(TONES).map((outcome) => [outcome, outcome] as const)],
  },
  { name: "code", label: "Error code", kind: "text", placeholder: "BUDGET_EXCEEDED" },
  ...(isPlatform ? [namedFilter("workspace", "Workspace", names)] : []),
  namedFilter("app", "App", isPlatform ? NO_NAMES : names),
  { name: "key", label: "Key id", kind: "text", placeholder: "key_…" },
];

/** On the platform names are those of workspaces, in a workspace those of its apps. */
interface Whose {
  readonly isPlatform: boolean;
  readonly names: Names;
}

export function showRequests(visit: Visit): Promise<readonly Node[]> {
  const [id] = visit.path;
  return id === undefined ? list(visit) : one(visit, id);
}

async function list(visit: Visit): Promise<readonly Node[]> {
  const isPlatform = visit.scope.workspace === null;
  const whose: Whose = { isPlatform, names: await namesAt(visit, isPlatform ? "/workspaces" : "/apps") };
  const offered = filtersOf(whose);
  const filters = filtersIn(visit, offered);
  const requests = await listView<ListedRequestView>(visit, {
    caption: "Requests, newest first",
    path: `/requests?${filters}`,
    heads: ["When", "Request", "Outcome", "Calls", "Purpose", "Audio", "Time", "Charged"],
    row: (request) => rowOf(visit, whose, request),
    empty:
      filters === ""
        ? "No requests yet. Each one is here within 5 s of its end, refused ones too."
        : "No request fits these filters.",
  });
  return [filterView(visit, offered), requests];
}

function rowOf(visit: Visit, { isPlatform, names }: Whose, request: ListedRequestView): readonly (Node | string)[] {
  const owner = isPlatform ? request.workspace : request.app;
  const { outcome, status, code, attempts, audio_seconds: audio } = request;
  return [
    timeView(request.created_at),
    element(
      "div",
      {},
      link(visit.link("requests", [request.id]), request.endpoint),
      ...(owner === null ? [] : [element("span", { class: "soft" }, names.of(owner))]),
      ...tagsOf(request).map((tag) => element("span", { class: "tag" }, tag)),
    ),
    mark(TONES[outcome], code ?? `${status}`),
    callsOf(attempts),
    purposeOf(request),
    audio === null ? "–" : whole(secondsText(audio)),
    whole(secondsText(request.duration_seconds)),
    usdText(request.charge_usd),
  ];
}

/** A figure stays with its unit. */
const whole = (text: string): Node => element("span", { class: "whole" }, text);

/** What sets it apart from a request that was really served: by its last call, for those before it gave nothing. */
function tagsOf({ test_mode: isTest, attempts }: ListedRequestView): readonly string[] {
  const isSimulated = attempts.at(-1)?.billing_class === "simulated";
  return [...(isTest ? ["test"] : []), ...(isSimulated ? ["simulated"] : [])];
}

/** One mark a call, in their order: more than one, and it fell back. */
function callsOf(attempts: ListedRequestView["attempts"]): Node | string {
  if (attempts.length === 0) return "–";
  const words = attempts.map(({ connection, model, outcome }) => {
    const tone = outcome === "succeeded" ? "good" : outcome === null ? "soft" : "bad";
    const dot = mark(tone, `${connection}: ${model}`);
    dot.title = `${connection}: ${model}, ${outcomeWords(outcome)}`;
    return element("li", {}, dot);
  });
  return element("ol", { class: "calls" }, ...words);
}

function purposeOf({ purpose }: ListedRequestView): string {
  if (purpose === null || (purpose.requested === null && purpose.applied === null)) return "–";
  if (purpose.requested === purpose.applied) return purpose.applied ?? "–";
  return `${orNone(purpose.requested)} → ${orNone(purpose.applied)}`;
}

/** In its own workspace, whichever the reader looks from. */
function placeView(
  visit: Visit,
  { workspace }: RequestRecordView,
  screen: string,
  id: string | null | undefined,
): Node {
  if (id === null || id === undefined) return document.createTextNode("–");
  const where = visit.scope.workspace ?? workspace ?? null;
  const path = screen === "overview" ? [] : [id];
  return link(hashOf({ workspace: where, screen, path, query: new URLSearchParams() }), element("code", {}, id));
}

async function one(visit: Visit, id: string): Promise<readonly Node[]> {
  const record = await visit.read<RequestRecordView>(`/requests/${encodeURIComponent(id)}`);
  const { asked, idempotency, decision } = record;
  const facts = factList([
    ["Endpoint", element("code", {}, record.endpoint)],
    ["When", timeView(record.created_at)],
    ["Status", record.code === null ? `${record.status}` : `${record.status} ${record.code}`],
    ["Workspace", placeView(visit, record, "overview", record.workspace)],
    ["App", placeView(visit, record, "apps", record.app)],
    ["Key", placeView(visit, record, "keys", record.key)],
    ["Decision", decision.reason === null ? decision.outcome : `${decision.outcome}: ${decision.reason}`],
    ["Asked for", asked === null ? "–" : [asked.capability, ...asked.features].join(", ")],
    ["Idempotency key", idempotency.key.replaceAll("_", " ")],
  ]);
  const receipts = record.attempts.flatMap(({ receipts: shown }) => shown);
  return [
    link(visit.link("requests"), "All requests"),
    traceView(record),
    part("The request", facts),
    ...(receipts.length === 0
      ? []
      : [
          part(
            "Proof of what came back",
            element(
              "ul",
              {},
              ...receipts.map(({ feature, grade, delivered }) =>
                element(
                  "li",
                  {},
                  mark(delivered ? "good" : "bad", `${feature}: ${delivered ? grade : "did not come"}`),
                ),
              ),
            ),
          ),
        ]),
  ];
}
