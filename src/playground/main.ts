// The playground page: choose audio and options, run, show the result. It uses the gateway's public API with the user's own key.
import { type Asked, getRecord, transcribe } from "./api.ts";
import { type Audio, chooseAudio } from "./audio.ts";
import { showCode } from "./code-view.ts";
import { byId, element } from "../page/element.ts";
import type { Refused } from "../page/ask.ts";
import { failureView, wordsOf } from "../page/error-view.ts";
import { type Transcript, transcriptIn } from "./exports.ts";
import { useKey } from "./key.ts";
import { chosenIn, fieldsIn, fill } from "./options-form.ts";
import { comparedIn, type Entries, entriesOf, type OptionField, queryOf } from "./options.ts";
import { costText, payOnce } from "./paid-once.ts";
import { usePlayerKeys } from "./player-keys.ts";
import { showTranscript } from "./result-view.ts";
import { decisionView, traceView } from "../page/trace-view.ts";
import type { TranscriptView } from "./transcript-view.ts";

const form = byId("options", HTMLFormElement);
const player = byId("player", HTMLAudioElement);
const run = byId("run", HTMLButtonElement);
const explain = byId("explain", HTMLButtonElement);
const cancel = byId("cancel", HTMLButtonElement);
const progress = byId("progress", HTMLElement);
const result = byId("result", HTMLElement);
const trace = byId("trace", HTMLElement);
const saved = byId("saved", HTMLInputElement);
const comparing = byId("compare", HTMLDetailsElement);
const compare = byId("compare-run", HTMLButtonElement);

const fields = fieldsIn(form);
const DRY_RUN: OptionField = { name: "dry_run", kind: "boolean", preset: "" };
const once = payOnce();
let audio: Audio | null = null;
let isDryRun = false;
let view: Pick<TranscriptView, "step" | "close"> | null = null;
let traced: string | null = null;
let compared = comparedIn(location.search);
let comparisonModule: ReturnType<typeof offerComparing> | null = null;

fill(form, entriesOf(location.search, fields));
form.addEventListener("input", optionsChanged);
form.addEventListener("submit", (event) => event.preventDefault());
const key = useKey();
chooseAudio(player, (newAudio) => {
  audio = newAudio;
  tellCode();
});
usePlayerKeys(player, (places) => view?.step(places));
run.addEventListener("click", () => void ask(false));
explain.addEventListener("click", () => void ask(true));
saved.addEventListener("change", () => void openSaved());
comparing.addEventListener("toggle", () => void offerComparing());
compare.addEventListener("click", () => void offerComparing().then((start) => start?.()));
comparing.open = compared !== null;

function optionsChanged(): void {
  const query = queryOf(chosenIn(form), fields, compared);
  history.replaceState(null, "", query === "" ? location.pathname : `?${query}`);
  tellCode();
}

function entries(): Entries {
  return isDryRun ? [...chosenIn(form), ["dry_run", "true"]] : chosenIn(form);
}

function tellCode(): void {
  if (audio !== null) showCode({ audio, entries: entries(), fields: [...fields, DRY_RUN] });
}

/** Null: something is missing, and a message is shown. */
function currentRequest(): Asked | null {
  const apiKey = key();
  if (apiKey !== null && audio !== null) return { key: apiKey, audio, entries: entries() };
  progress.textContent = apiKey === null ? "Enter a key first." : "Choose audio first.";
  byId(apiKey === null ? "key" : "use-sample", HTMLElement).focus();
  return null;
}

async function ask(dry: boolean): Promise<void> {
  isDryRun = dry;
  tellCode();
  const request = currentRequest();
  if (request === null) return;
  const signal = begin(dry ? "Requesting the routing decision…" : "Sending the audio and waiting for the transcript…");
  if (signal === null) return;
  // A dry run costs nothing and needs no idempotency key.
  const outcome = await transcribe(request, signal, dry ? {} : { "idempotency-key": once.keyFor(request) });
  if (!dry) once.ended(outcome);
  setBusy(false, outcome.ok ? "Done." : "The request failed. See the response.");
  clear();
  if (!outcome.ok) showFailure(outcome, dry ? "" : costText(outcome.failure));
  else if (outcome.data.object === "routing.decision") result.replaceChildren(decisionView(outcome.data));
  else
    show(
      { ...(outcome.requestId === null ? {} : { request_id: outcome.requestId }), ...outcome.data },
      request.audio.kind === "url" ? "" : request.audio.name,
    );
  document.querySelector<HTMLElement>("#result-title")?.focus();
  if (outcome.requestId !== null) await showTrace(request.key, outcome.requestId);
}

/** Loaded once, on demand. Null: the module could not be loaded. */
function offerComparing(): Promise<(() => Promise<void>) | null> {
  comparisonModule ??= import("./compare.ts").then(
    ({ offerComparison }) => offerComparison({ player, compared, choose, asked: askedForBoth, begin, end, show: take }),
    () => {
      comparisonModule = null;
      progress.textContent = "The comparison could not be loaded: the gateway did not respond. Reload the page.";
      return null;
    },
  );
  return comparisonModule;
}

function choose(purpose: string | null): void {
  compared = purpose;
  optionsChanged();
}

function askedForBoth(): Asked | null {
  isDryRun = false;
  tellCode();
  return currentRequest();
}

function end(text: string): void {
  setBusy(false, text);
}

/** Replaces the current view. */
function take(content: HTMLElement, next: typeof view): void {
  clear();
  view = next;
  result.replaceChildren(content);
}

/** The user can abort the signal until the request ends. Null: another request is running, and a message is shown. */
function begin(text: string): AbortSignal | null {
  if (run.disabled) {
    progress.textContent = "Wait for the response, or cancel it.";
    return null;
  }
  const ending = new AbortController();
  cancel.addEventListener("click", () => ending.abort(), { signal: ending.signal });
  setBusy(true, text);
  return ending.signal;
}

function setBusy(isBusy: boolean, text: string): void {
  run.disabled = isBusy;
  explain.disabled = isBusy;
  compare.disabled = isBusy;
  cancel.hidden = !isBusy;
  progress.textContent = text;
}

function clear(): void {
  view?.close();
  view = null;
  traced = null;
  trace.replaceChildren();
}

function show(transcript: Transcript, name: string): void {
  view = showTranscript(transcript, name, player);
}

function showFailure({ failure, requestId }: Refused, cost: string): void {
  const content = failureView(failure, requestId, { id: "result-title", tabindex: "-1" });
  if (cost !== "") content.append(element("p", {}, cost));
  result.replaceChildren(content);
}

async function showTrace(apiKey: string, requestId: string): Promise<void> {
  traced = requestId;
  trace.replaceChildren(element("p", { class: "soft", role: "status" }, "Reading the trace…"));
  const record = await getRecord(apiKey, requestId);
  // Another answer may be shown meanwhile.
  if (traced !== requestId) return;
  trace.replaceChildren(
    record.ok
      ? traceView(record.data)
      : element("p", { class: "soft" }, `The trace of this request cannot be read. ${wordsOf(record.failure)}`),
  );
}

async function openSaved(): Promise<void> {
  const [file] = saved.files ?? [];
  if (file === undefined) return;
  saved.value = "";
  const transcript = transcriptIn(await file.text());
  clear();
  if (transcript === null) {
    progress.textContent = `${file.name} contains no transcript. Open a file that was saved here as JSON.`;
    return;
  }
  progress.textContent = `${file.name} is open. To play it, choose your own copy of the recording.`;
  show(transcript, file.name.replace(/-simulated\.json$/u, ""));
  const apiKey = key();
  if (apiKey !== null && transcript.request_id !== undefined) await showTrace(apiKey, transcript.request_id);
}
