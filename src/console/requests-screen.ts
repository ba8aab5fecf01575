// The request log: requests, outcomes, provider calls, and cost.
import type { ListedRequestView, RequestOutcome } from "../contract/admin/request-list.ts";
import { element } from "../page/element.ts";
import { outcomeWords } from "../page/outcome-words.ts";
import { DAYS, type Filter, filterView, momentsIn } from "./filter-view.ts";
import { listView } from "./list-view.ts";
import { namedFilter, type Names, namesAt } from "./names.ts";
import { showRequest } from "./request-view.ts";
import type { Visit } from "./visit.ts";
import { breakable, link, mark, orNone, secondsText, timeView, type Tone, usdText } from "./words.ts";

const TONES: Readonly<Record<RequestOutcome, Tone>> = {
  succeeded: "good",
  refused: "warn",
  failed: "bad",
  abandoned: "soft",
};
const ID: Filter = { name: "id", label: "Request id", kind: "text", placeholder: "req_…" };

/** By workspace in the shared scope; by app in a workspace. */
function filtersOf(isPlatform: boolean, names: Names): readonly Filter[] {
  return [
    ...DAYS,
    {
      name: "outcome",
      label: "Outcome",
      kind: "select",
      choices: [["", "any"], ...Object.keys(TONES).map((outcome) => [outcome, outcome] as const)],
    },
    { name: "code", label: "Error code", kind: "text", placeholder: "BUDGET_EXCEEDED" },
    ...(isPlatform ? [namedFilter("workspace", "Workspace", names)] : []),
    isPlatform
      ? { name: "app", label: "App id", kind: "text", placeholder: "app_…" }
      : namedFilter("app", "App", names),
    { name: "key", label: "Key id", kind: "text", placeholder: "key_…" },
  ];
}

export function showRequests(visit: Visit): Promise<readonly Node[]> {
  // Callers know a request by its id: typing it opens the request.
  const id = visit.path[0] ?? visit.query.get("id") ?? "";
  return id === "" ? list(visit) : showRequest(visit, id);
}

async function list(visit: Visit): Promise<readonly Node[]> {
  const isPlatform = visit.scope.workspace === null;
  const names = await namesAt(visit, isPlatform ? "/workspaces" : "/apps");
  const filterFields = filtersOf(isPlatform, names);
  const filters = momentsIn(visit, filterFields);
  const requests = await listView<ListedRequestView>(visit, {
    caption: "Requests, newest first",
    path: `/requests?${filters}`,
    heads: ["Time", "Request", "Outcome", "Calls", "Purpose", "Audio", "Time", "Charged"],
    row: (request) => rowOf(visit, names, request),
    empty:
      filters === ""
        ? "No requests yet. Requests, including rejected ones, appear within 5 s of their end."
        : "No requests match these filters.",
  });
  return [filterView(visit, [...filterFields, ID]), requests];
}

function rowOf(visit: Visit, names: Names, request: ListedRequestView): readonly (Node | string)[] {
  const { outcome, status, code, attempts, audio_seconds: audio } = request;
  const ownerId = visit.scope.workspace === null ? request.workspace : request.app;
  return [
    timeView(request.created_at),
    element(
      "div",
      {},
      link(visit.link("requests", [request.id]), request.endpoint),
      ...tagsOf(request).map((tag) => element("span", { class: "tag" }, tag)),
      ...(ownerId === null ? [] : [element("span", { class: "soft" }, names.of(ownerId))]),
    ),
    element("div", {}, mark(TONES[outcome], `${status}`), element("div", {}, ...breakable(code ?? ""))),
    callsOf(attempts),
    purposeOf(request),
    audio === null ? "–" : unbroken(secondsText(audio)),
    unbroken(secondsText(request.duration_seconds)),
    usdText(request.charge_usd),
  ];
}

/** Keeps a number and its unit on one line. */
const unbroken = (text: string): Node => element("span", { class: "whole" }, text);

/** Marks requests that no real provider served, by the last call: earlier ones contributed nothing. */
function tagsOf({ test_mode: isTest, attempts }: ListedRequestView): readonly string[] {
  const isSimulated = attempts.at(-1)?.billing_class === "simulated";
  return [...(isTest ? ["test"] : []), ...(isSimulated ? ["simulated"] : [])];
}

/** One mark per call, in order: several mean a fallback. */
function callsOf(attempts: ListedRequestView["attempts"]): Node | string {
  if (attempts.length === 0) return "–";
  const words = attempts.map(({ connection, model, outcome }) => {
    const tone = outcome === "succeeded" ? "good" : outcome === null ? "soft" : "bad";
    const dot = mark(tone, `${connection}: ${model}`);
    dot.title = `${connection}: ${model}, ${outcomeWords(outcome)}`;
    return element("li", {}, dot);
  });
  return element("ol", { class: "plain" }, ...words);
}

function purposeOf({ purpose }: ListedRequestView): string {
  if (purpose === null || (purpose.requested === null && purpose.applied === null)) return "–";
  if (purpose.requested === purpose.applied) return purpose.applied ?? "–";
  return `${orNone(purpose.requested)} → ${orNone(purpose.applied)}`;
}
