// The page: what is chosen, run, shown. Everything in it goes through the gateway's public API with the caller's own key.
import { getRecord, transcribe } from "./api.ts";
import { type Audio, chooseAudio } from "./audio.ts";
import { codeOf, LANGUAGES } from "./code.ts";
import { byId, copyButton, element } from "../page/element.ts";
import type { Failure } from "../page/ask.ts";
import { failureView, wordsOf } from "../page/error-view.ts";
import { type Transcript, transcriptIn } from "./exports.ts";
import { useKey } from "./key.ts";
import { chosenIn, fieldsIn, fill } from "./options-form.ts";
import { type Entries, entriesOf, type OptionField, queryOf, taskOf } from "./options.ts";
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

const fields = fieldsIn(form);
const DRY_RUN: OptionField = { name: "dry_run", kind: "boolean", preset: "" };
let audio: Audio | null = null;
let isDryRun = false;
let view: TranscriptView | null = null;
let traced: string | null = null;

fill(form, entriesOf(location.search, fields));
form.addEventListener("input", optionsChanged);
form.addEventListener("submit", (event) => event.preventDefault());
const key = useKey();
chooseAudio(player, (chosen) => {
  audio = chosen;
  showCode();
});
usePlayerKeys(player, (places) => view?.step(places));
run.addEventListener("click", () => void ask(false));
explain.addEventListener("click", () => void ask(true));
saved.addEventListener("change", () => void openSaved());

function optionsChanged(): void {
  const query = queryOf(chosenIn(form), fields);
  history.replaceState(null, "", query === "" ? location.pathname : `?${query}`);
  showCode();
}

function asked(): Entries {
  return isDryRun ? [...chosenIn(form), ["dry_run", "true"]] : chosenIn(form);
}

function showCode(): void {
  if (audio === null) return;
  // Sources are served by a checkout, which has no published package.
  const patchbay = import.meta.url.endsWith(".ts") ? ("npm run patchbay --" as const) : ("npx patchbay" as const);
  const request = { origin: location.origin, patchbay, audio, entries: asked(), fields: [...fields, DRY_RUN] };
  byId("code", HTMLElement).replaceChildren(
    ...LANGUAGES.map((language) => {
      const code = codeOf(language, request);
      const head = element(
        "div",
        { class: "row" },
        element("h3", {}, language),
        copyButton(`Copy ${language}`, () => code),
      );
      return element("div", {}, head, element("pre", { "data-language": language }, element("code", {}, code)));
    }),
  );
}

async function ask(dry: boolean): Promise<void> {
  isDryRun = dry;
  showCode();
  const held = key();
  if (held === null || audio === null) {
    progress.textContent = held === null ? "First a key, please." : "First some audio, please.";
    byId(held === null ? "key" : "use-sample", HTMLElement).focus();
    return;
  }
  const body = new FormData();
  for (const [name, value] of asked()) body.append(name, value);
  // Last: what is wrong with the fields is told before the audio is sent.
  if (audio.kind === "url") body.append("audio.url", audio.url);
  else body.append("file", audio.blob, audio.name);
  const ending = new AbortController();
  cancel.addEventListener("click", () => ending.abort(), { signal: ending.signal });
  setBusy(true, dry ? "Asking for the decision…" : "Sending the audio and waiting for the transcript…");
  const outcome = await transcribe(taskOf(asked()), held, body, ending.signal);
  setBusy(false, outcome.ok ? "Done." : "It did not work; what to do stands with the answer.");
  clear();
  if (!outcome.ok) showFailure(outcome.failure, outcome.requestId);
  else if (outcome.data.object === "routing.decision") result.replaceChildren(decisionView(outcome.data));
  else
    show(
      { ...(outcome.requestId === null ? {} : { request_id: outcome.requestId }), ...outcome.data },
      audio.kind === "url" ? "" : audio.name,
    );
  document.querySelector<HTMLElement>("#result-title")?.focus();
  if (outcome.requestId !== null) await showTrace(held, outcome.requestId);
}

function setBusy(isBusy: boolean, text: string): void {
  run.disabled = isBusy;
  explain.disabled = isBusy;
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

function showFailure(failure: Failure, requestId: string | null): void {
  result.replaceChildren(failureView(failure, requestId, { id: "result-title", tabindex: "-1" }));
}

async function showTrace(held: string, requestId: string): Promise<void> {
  traced = requestId;
  trace.replaceChildren(element("p", { class: "soft", role: "status" }, "Reading the trace…"));
  const record = await getRecord(held, requestId);
  // Another answer may stand there meanwhile.
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
    progress.textContent = `${file.name} holds no transcript: open one that was saved here as JSON.`;
    return;
  }
  progress.textContent = `${file.name} is open. To hear it, choose your own copy of the recording.`;
  show(transcript, file.name.replace(/-simulated\.json$/u, ""));
  const held = key();
  if (held !== null && transcript.request_id !== undefined) await showTrace(held, transcript.request_id);
}
