// Dry-runs a request on a route: the live version and the draft side by side, with their difference. The input is part of the address, so that a link shares
// it.
import type { AppView } from "../contract/admin/apps.ts";
import type { JudgedRequest, RouteExplanation } from "../contract/admin/route-explanation.ts";
import { element, table } from "../page/element.ts";
import { whyNot } from "../contract/lack-text.ts";
import { targetName } from "../page/target-name.ts";
import { pausedWords, priceText, warningLines } from "../page/trace-view.ts";
import { type Filter, filterView } from "./filter-view.ts";
import { refusalView } from "./refusal-view.ts";
import { becomesText, chosenOf, differenceText, versionText } from "./try-difference.ts";
import { filtersOf, requestOf, TASK, taskOf } from "./try-question.ts";
import type { Page, Visit } from "./visit.ts";
import { link, mark, part } from "./words.ts";

export async function showTry(visit: Visit, id: string): Promise<readonly Node[]> {
  const apps = await appsOf(visit);
  const { query } = visit;
  const input = new URLSearchParams(query);
  input.set("task", taskOf(query));
  const app = query.get("app") || (apps.find(({ routes }) => routes.includes(id)) ?? apps[0])?.name;
  if (app !== undefined) input.set("app", app);
  const inputVisit: Visit = { ...visit, query: input };
  const backLink = link(visit.link("routes", [id]), `The route ${id}`);
  const form = filterView(
    inputVisit,
    [...whoseFilters(visit, apps), TASK, ...filtersOf(taskOf(query)), ...versionFilter(query)],
    { submit: "Run", label: "Request" },
  );
  const intro = element(
    "p",
    { class: "soft" },
    "Dry run: nothing is sent, charged or recorded. Uses the current health and budgets of this gateway. The inputs are part of the page's URL, so that you can share it.",
  );
  if (app === undefined && !query.get("key"))
    return [backLink, intro, form, element("p", { class: "empty" }, "Select an app, or a key by its id.")];
  return [backLink, intro, form, ...(await answer(visit, id, input))];
}

async function answer(visit: Visit, id: string, input: URLSearchParams): Promise<readonly Node[]> {
  const key = input.get("key") ?? "";
  const version = input.get("version") ?? "";
  const callerFilters =
    key === ""
      ? { app: input.get("app"), ...(input.get("mode") === "test" ? { test_mode: true } : {}) }
      : { key_id: key };
  const body = {
    ...callerFilters,
    ...requestOf(input),
    route: id,
    ...(version === "" ? {} : { version: Number(version) }),
  };
  const outcome = await visit.ask<RouteExplanation>("POST", "/explain", { body });
  if (!outcome.ok) return [refusalView(outcome.failure, outcome.requestId)];
  const { live, compared, draft } = outcome.data;
  const elsewhere = isElsewhere(id, live, draft)
    ? [
        element(
          "p",
          { class: "notice" },
          `This request does not use the route ${id}, but ${live.trace.route ?? "no route"}.`,
        ),
      ]
    : [];
  if (compared === null || draft === null)
    return [...elsewhere, part("Live version", ...judgedParts(live, "Live version"))];
  const other = versionText(compared);
  return [
    part("Differences", element("p", { role: "status" }, differenceText(live, draft, compared)), ...elsewhere),
    element(
      "div",
      { class: "side-by-side" },
      part("Live version", ...judgedParts(live, "Live version")),
      part(other.charAt(0).toUpperCase() + other.slice(1), ...judgedParts(draft, `With ${other}`)),
    ),
  ];
}

const isElsewhere = (id: string, live: JudgedRequest, draft: JudgedRequest | null): boolean =>
  live.trace.route !== null && live.trace.route !== id && (draft === null || draft.trace.route !== id);

function judgedParts(request: JudgedRequest, caption: string): readonly Node[] {
  const { trace, decision } = request;
  const { route, route_version: version, candidates } = trace;
  const target = chosenOf(request);
  const where = route === null ? "" : ` Route ${route}${version === null ? "" : `, version ${version}`}.`;
  const isUnmeasured = trace.asked?.capability === "audio_input" && decision.audio_seconds === null;
  const price = target === null || isUnmeasured ? "" : ` ${priceText(decision.estimated_cost_usd)}`;
  const isInTwo = decision.warnings.some(({ code }) => code === "TRANSLATED_BY_CHAT");
  const rows = (candidates ?? []).map((each) => {
    const pieces = decision.candidates.find(({ position }) => position === each.position)?.split?.least_pieces;
    const piecesNote = pieces === undefined ? "" : `, in at least ${pieces} pieces`;
    if (each.missing.length > 0) return [targetName(each), mark("soft", "skipped"), whyNot(each.missing, each.retired)];
    if (each.healthy === false) {
      const rest = each.paused_until === undefined ? "unavailable after failures" : pausedWords(each.paused_until);
      return [targetName(each), mark("warn", "skipped"), rest];
    }
    if (each === target) return [targetName(each), mark("good", "chosen"), `first eligible target${piecesNote}`];
    const reason = isInTwo ? "supports its part" : target === null ? "eligible" : "fallback";
    return [targetName(each), mark("soft", "eligible"), `${reason}${piecesNote}`];
  });
  return [
    element("p", {}, `${becomesText(request)}${where}${price}`),
    ...warningLines(decision.warnings),
    ...(rows.length === 0 ? [] : [table(caption, ["Target", "Result", "Reason"], rows)]),
  ];
}

interface KnownApp {
  /** Name in the API. */
  readonly name: string;
  readonly routes: readonly (string | null)[];
}

/** In the shared scope, those of its first workspaces; others can be typed. */
const MOST_WORKSPACES = 10;

async function appsOf(visit: Visit): Promise<readonly KnownApp[]> {
  if (visit.scope.workspace !== null) return knownApps(await visit.read<Page<AppView>>("/apps?limit=100"), "");
  const workspaces = await visit.read<Page<{ readonly id: string; readonly slug: string }>>(
    `/workspaces?limit=${MOST_WORKSPACES}`,
  );
  const lists = await Promise.all(
    workspaces.data.map(async ({ id, slug }) =>
      knownApps(await visit.read<Page<AppView>>(`/workspaces/${id}/apps?limit=100`), `${slug}/`),
    ),
  );
  return lists.flat();
}

function knownApps({ data }: Page<AppView>, prefix: string): readonly KnownApp[] {
  return data
    .map(({ slug, route, audio_input_override: audio, purposes }) => ({
      name: prefix + slug,
      routes: [route, audio, ...purposes.map((purpose) => purpose.route)],
    }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

function whoseFilters({ scope }: Visit, apps: readonly KnownApp[]): readonly Filter[] {
  const placeholder = scope.workspace === null ? "workspace/app" : "app";
  return [
    { name: "app", label: "App", kind: "text", placeholder, suggestions: apps.map(({ name }) => name) },
    {
      name: "mode",
      label: "Key",
      kind: "select",
      choices: [
        ["", "live key"],
        ["test", "test key"],
      ],
    },
    { name: "key", label: "Key id", kind: "text", placeholder: "key_…" },
  ];
}

/** Only if the address has one: the default is the draft. */
function versionFilter(query: URLSearchParams): readonly Filter[] {
  return query.get("version") ? [{ name: "version", label: "Compare with version", kind: "text" }] : [];
}
