// The health of the providers' models: open circuits, the calls of the last minutes, and the latest failures.
import type { PauseView } from "../contract/admin/pauses.ts";
import type { ProviderHealth, SeenModel } from "../contract/admin/provider-health.ts";
import { button, element, table } from "../page/element.ts";
import { outcomeWords } from "../page/outcome-words.ts";
import { linkTo } from "./address.ts";
import { type Filter, filterView } from "./filter-view.ts";
import { type Names, ownersOf } from "./names.ts";
import { tag } from "./owner-view.ts";
import { pausedBy, pausesTable, placeText, resumeButton } from "./pause-view.ts";
import { repeatWhileShown } from "./repeat-while-shown.ts";
import type { Visit } from "./visit.ts";
import { link, mark, part, secondsText, timeView } from "./words.ts";

const USUAL_MINUTES = "15";
const FILTERS: readonly Filter[] = [
  {
    name: "minutes",
    label: "History",
    kind: "select",
    choices: [
      ["", "15 minutes"],
      ["5", "5 minutes"],
      ["60", "1 hour"],
      ["360", "6 hours"],
      ["1440", "1 day"],
    ],
  },
];

type Circuit = ProviderHealth["circuits"][number];
type Account = Pick<Circuit, "workspace_id" | "connection" | "model">;

export async function showHealth(visit: Visit): Promise<readonly Node[]> {
  const requestedMinutes = visit.query.get("minutes") ?? "";
  const minutes = requestedMinutes === "" ? USUAL_MINUTES : requestedMinutes;
  keepFresh(visit);
  const health = await visit.read<ProviderHealth>(`/health/providers?${new URLSearchParams({ minutes })}`);
  const owners = await ownersOf(visit, [...health.models, ...health.circuits, ...health.pauses]);
  const refresh = button("Refresh", () => visit.redraw());
  refresh.id = REFRESH;
  const filters = filterView(visit, FILTERS);
  filters.querySelector("button")?.replaceWith(refresh);
  return [
    filters,
    ...pausedPart(visit, health, owners),
    part("Models", ...modelsView(visit, health, owners), noteOf(health)),
    ...errorsPart(visit, health, owners),
  ];
}

const REFRESH_MS = 15_000;
const REFRESH = "refresh";

/** Refreshes while the page is visible and nothing on it is being edited. */
function keepFresh(visit: Visit): void {
  const refresh = async (): Promise<void> => {
    const focused = document.activeElement;
    const isHeld = focused !== null && focused.closest("#screen") !== null && focused.id !== REFRESH;
    const isSelected = getSelection()?.isCollapsed === false;
    if (!isHeld && !isSelected) await visit.redraw();
  };
  repeatWhileShown(visit.signal, refresh, () => REFRESH_MS).start();
}

function noteOf({ checked_at: at, since, sampled }: ProviderHealth): Node {
  return element(
    "p",
    { class: "soft" },
    "Read ",
    timeView(at),
    ", of calls that ended since ",
    timeView(since),
    sampled ? ", limited to the most recent calls" : "",
    ". Calls cover all processes. p50 and p95 are durations of successful calls, without live sessions and jobs. The state is that of the responding process: each process has its own circuits, so another one may still call a model that is unavailable here. Manual pauses apply to all processes.",
  );
}

const HEADS = ["Model", "State", "Calls", "Succeeded", "p50", "p95", "Failures", "Change"];

/** Models called in the window, followed by models with a circuit or pause but no calls. */
function modelsView(visit: Visit, { circuits, models, pauses }: ProviderHealth, owners: Names): readonly Node[] {
  if (circuits.length === 0 && models.length === 0)
    return [element("p", { class: "empty" }, "No provider calls in this period. Calls appear when they have ended.")];
  const calledModels = new Set(models.map(nameOf));
  const change = (each: Account, circuit: Circuit | undefined): Node => changeView(visit, each, circuit, pauses);
  const circuitOf = new Map(circuits.map((circuit) => [nameOf(circuit), circuit]));
  const rows = [
    ...models.map((each) => {
      const circuit = circuitOf.get(nameOf(each));
      return [
        targetView(each, owners),
        stateView(pausedBy(pauses, each), circuit),
        ...figuresOf(each),
        change(each, circuit),
      ];
    }),
    ...circuits
      .filter((each) => !calledModels.has(nameOf(each)))
      .map((each) => [
        targetView(each, owners),
        stateView(pausedBy(pauses, each), each),
        "0",
        "–",
        "–",
        "–",
        "–",
        change(each, each),
      ]),
  ];
  return [table("Most failures first", HEADS, rows)];
}

const nameOf = ({ workspace_id: owner, connection, model }: Account): string =>
  JSON.stringify([owner, connection, model]);

function targetView({ workspace_id: owner, connection, model }: Account, owners: Names): Node {
  return element(
    "div",
    {},
    link(linkTo(owner, "connections", [connection]), connection),
    `: ${model}`,
    ...(owner === null ? [] : [tag(`of ${owners.of(owner)}`)]),
  );
}

/** An open circuit is closed here; a manual pause is handled by its own button with an explanation. */
function changeView(visit: Visit, account: Account, circuit: Circuit | undefined, pauses: readonly PauseView[]): Node {
  const { workspace_id: owner, connection, model } = account;
  if (pausedBy(pauses, account) !== undefined) return document.createTextNode("–");
  if (circuit !== undefined && circuit.state !== "closed")
    return resumeButton(visit, account, "Its circuit is closed on every process. It opens again if calls fail again.");
  const pause = link(linkTo(owner, "connections", [connection], { model }), "Pause");
  pause.setAttribute("aria-label", `Pause ${placeText(account)}`);
  return pause;
}

function pausedPart(visit: Visit, { pauses }: ProviderHealth, owners: Names): readonly Node[] {
  return pauses.length === 0 ? [] : [part("Paused manually", pausesTable(visit, pauses, owners))];
}

function stateView(pause: PauseView | undefined, circuit: Circuit | undefined): Node {
  if (pause !== undefined) {
    const paused = mark("warn", "paused");
    paused.append(" until ", timeView(pause.until));
    return paused;
  }
  if (circuit === undefined) return mark("soft", "not called here");
  if (circuit.state === "closed") return mark("good", "healthy");
  if (circuit.state === "half_open") return mark("warn", "probing");
  const until = circuit.rests_until;
  const resting = mark("bad", "unavailable");
  if (until !== null) resting.append(" until ", timeView(until));
  return resting;
}

function figuresOf({ calls, succeeded, failed, duration_p50_ms: half, duration_p95_ms: most, outcomes }: SeenModel) {
  const failures = outcomes.filter(({ outcome }) => outcome !== "succeeded" && outcome !== "aborted");
  return [
    `${calls}`,
    percentOf(succeeded, succeeded + failed),
    millisecondsText(half),
    millisecondsText(most),
    failures.length === 0
      ? "–"
      : element(
          "ul",
          { class: "plain" },
          ...failures.map((each) => element("li", {}, `${outcomeWords(each.outcome)}: ${each.calls}`)),
        ),
  ];
}

/** Of completed calls: those abandoned by their caller count neither way. Rounded down, so that one failure in 2,000 does not read as 100. */
const percentOf = (succeeded: number, completed: number): string =>
  completed === 0 ? "–" : `${(Math.floor((succeeded * 1_000) / completed) / 10).toFixed(1)} %`;

const millisecondsText = (ms: number | null): string => (ms === null ? "–" : secondsText(ms / 1_000));

const MOST_ERRORS = 20;

function errorsPart(visit: Visit, { models }: ProviderHealth, owners: Names): readonly Node[] {
  const errors = models
    .flatMap(({ last_errors: last, ...account }) => last.map((error) => ({ ...account, ...error })))
    .toSorted((left, right) => Date.parse(right.at) - Date.parse(left.at))
    .slice(0, MOST_ERRORS);
  if (errors.length === 0) return [];
  const rows = errors.map((error) => [
    timeView(error.at),
    targetView(error, owners),
    mark("bad", outcomeWords(error.outcome)),
    secondsText(error.duration_ms / 1_000),
    link(visit.link("requests", [error.request_id]), error.request_id),
  ]);
  return [part("Last errors", table("Latest first", ["Time", "Model", "Outcome", "Duration", "Request"], rows))];
}
