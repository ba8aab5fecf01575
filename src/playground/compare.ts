// Runs the same recording and options on two purposes: first a dry run of each, then on request both at once. Loaded on first use.
import { byId } from "../page/element.ts";
import { newIdempotencyKey } from "../page/idempotency-key.ts";
import { type Asked, getRecord, transcribe } from "./api.ts";
import { choosePurpose } from "./compare-choice.ts";
import { type PlannedSide, planView } from "./compare-plan.ts";
import { type Heard, heard, type SideState } from "./compare-side.ts";
import { comparisonView, type Sides } from "./compare-view.ts";
import { isSame } from "./paid-once.ts";

/** The parts of the page that the comparison uses. */
export interface Desk {
  readonly player: HTMLAudioElement;
  /** The other side's purpose, from the page's address. */
  readonly compared: string | null;
  readonly choose: (compared: string | null) => void;
  /** The current request. Null: something is missing, and a message is shown. */
  readonly asked: () => Asked | null;
  /** The user can abort the signal. Null: another request is running, and a message is shown. */
  readonly begin: (text: string) => AbortSignal | null;
  readonly end: (text: string) => void;
  /** Replaces the answer on the page. */
  readonly show: (content: HTMLElement, view: { step(places: number): void; close(): void } | null) => void;
}

/** Returns a function that compares the current choice. */
export function offerComparison(desk: Desk): () => Promise<void> {
  const currentPurpose = choosePurpose(desk.compared, desk.choose);
  return () => plan(desk, currentPurpose);
}

interface Pair {
  readonly asked: readonly [Asked, Asked];
  readonly sides: Sides;
}

const WAITING: SideState = { state: "waiting" };

/** Null: it cannot be compared, and a message is shown. */
function pairOf(desk: Desk, compared: string | null): Pair | null {
  const status = byId("compare-status", HTMLElement);
  status.textContent = "";
  const refuse = (text: string): null => {
    status.textContent = text;
    byId("compare-with", HTMLSelectElement).focus();
    return null;
  };
  if (compared === null) return refuse("Choose a purpose to compare with first.");
  const asked = desk.asked();
  if (asked === null) return null;
  const purposes = [asked.entries.find(([name]) => name === "purpose")?.[1] ?? null, compared || null] as const;
  if (purposes[0] === purposes[1])
    return refuse("Both sides would be identical: choose another purpose here or in the options.");
  const rest = asked.entries.filter(([name]) => name !== "purpose");
  const other: Asked = { ...asked, entries: compared === "" ? rest : [...rest, ["purpose", compared]] };
  return {
    asked: [asked, other],
    sides: [
      { label: "A", purpose: purposes[0], now: WAITING },
      { label: "B", purpose: purposes[1], now: WAITING },
    ],
  };
}

async function plan(desk: Desk, currentPurpose: () => string | null, why = ""): Promise<void> {
  const pair = pairOf(desk, currentPurpose());
  if (pair === null) return;
  const signal = desk.begin("Planning both sides…");
  if (signal === null) return;
  const planned: PlannedSide[] = [];
  // Sequential, so that a key limited to one concurrent request is not refused.
  for (const [index, { label, purpose }] of pair.sides.entries()) {
    const asked = pair.asked[index] ?? pair.asked[0];
    const outcome = await transcribe({ ...asked, entries: [...asked.entries, ["dry_run", "true"]] }, signal);
    planned.push({ label, purpose, outcome });
  }
  desk.end(`${why}Nothing was called or charged yet.`);
  const start = async (): Promise<void> => {
    const now = pairOf(desk, currentPurpose());
    if (now === null) return;
    // Only what was shown is paid for.
    const isAsShown = now.asked.every((asked, index) => isSame(asked, pair.asked[index]));
    await (isAsShown ? run(desk, pair) : plan(desk, currentPurpose, "The options changed: this is the new plan. "));
  };
  show(desk, planView(planned, pair.asked[0].key.startsWith(OF_TEST_KEYS), start), null);
}

const OF_TEST_KEYS = "svc_test_";

function show(desk: Desk, content: HTMLElement, step: ((places: number) => void) | null): void {
  desk.show(content, step === null ? null : { step, close: () => undefined });
  focusTitle();
}

function focusTitle(): void {
  document.querySelector<HTMLElement>("#result-title")?.focus();
}

async function run(desk: Desk, { asked, sides: first }: Pair): Promise<void> {
  const abortSignal = desk.begin("Both sides are running; each is shown when it ends…");
  if (abortSignal === null) return;
  const keys = [newIdempotencyKey("playground"), newIdempotencyKey("playground")];
  const { audio, entries } = asked[0];
  let sides = first;
  const view = comparisonView({
    audioName: audio.kind === "url" ? "" : audio.name,
    options: entries.filter(([name]) => name !== "purpose"),
    player: desk.player,
    again: async (side) => {
      const signal = desk.begin(`Asking ${side.label} again…`);
      if (signal === null) return;
      const index = side.label === "A" ? 0 : 1;
      await change(index, WAITING);
      await askFor([index], signal);
    },
  });
  await view.update(sides);
  show(desk, view.root, view.step);
  await askFor([0, 1], abortSignal);

  async function askFor(indices: readonly (0 | 1)[], signal: AbortSignal): Promise<void> {
    await Promise.all(indices.map((index) => askSide(index, signal)));
    const isWhole = sides.every(({ now }) => now.state === "heard");
    const isLost = document.activeElement === byId("cancel", HTMLButtonElement);
    desk.end(isWhole ? "Done." : "At least one side failed. See its message.");
    // Its button is removed.
    if (isLost) focusTitle();
    // A file opened meanwhile replaced it; this result was paid for, so it is shown again.
    if (!view.root.isConnected) show(desk, view.root, view.step);
  }

  async function askSide(index: 0 | 1, signal: AbortSignal): Promise<void> {
    const outcome = await transcribe(asked[index], signal, { "idempotency-key": keys[index] ?? "" });
    const { requestId } = outcome;
    if (!outcome.ok) return change(index, { state: "failed", failure: outcome.failure, requestId });
    // Only a dry run returns a routing decision.
    if (outcome.data.object === "routing.decision") return;
    const answer = heard({ ...(requestId === null ? {} : { request_id: requestId }), ...outcome.data });
    await change(index, answer);
    void readRecord(index, answer);
  }

  async function readRecord(index: 0 | 1, answer: Heard): Promise<void> {
    const { request_id: requestId } = answer.transcript;
    const record = requestId === undefined ? null : await getRecord(asked[index].key, requestId);
    await change(index, { ...answer, record: record?.ok === true ? record.data : "unreadable" });
  }

  function change(index: 0 | 1, now: SideState): Promise<void> {
    const [A, B] = sides;
    sides = index === 0 ? [{ ...A, now }, B] : [A, { ...B, now }];
    return view.update(sides);
  }
}
