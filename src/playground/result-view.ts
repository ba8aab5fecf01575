// Shows a result: the mark of a simulated provider, warnings, speakers, the words, and exports.
import { download } from "../page/download.ts";
import { byId, button, copyButton, element } from "../page/element.ts";
import {
  cleanName,
  EXPORTS,
  exportName,
  exportText,
  isSimulated,
  renamed,
  SIMULATED,
  type Transcript,
} from "./exports.ts";
import { clock, LOW_CONFIDENCE, piecesOf } from "./timeline.ts";
import { colourOf, type TranscriptView, transcriptView } from "./transcript-view.ts";

/** Replaces the current view. */
export function showTranscript(transcript: Transcript, audioName: string, player: HTMLAudioElement): TranscriptView {
  const pieces = piecesOf(transcript);
  const speakers = [...new Set(pieces.flatMap(({ speaker }) => (speaker === null ? [] : [speaker])))];
  const names = new Map<string, string>();
  const follow = byId("follow", HTMLInputElement);
  const view = transcriptView(pieces, speakers, player, () => follow.checked);
  const withNames = (): Transcript => renamed(transcript, names);
  const files = EXPORTS.map((format) =>
    button(format.toUpperCase(), () =>
      download(exportName(transcript, format, audioName), exportText(withNames(), format)),
    ),
  );
  const title = element("h2", { id: "result-title", tabindex: "-1" }, "Transcript");
  const box = element("section", { "aria-labelledby": "result-title" });
  if (isSimulated(transcript)) box.append(element("p", { class: "ribbon" }, SIMULATED));
  const warnings = transcript.warnings.filter(({ code }) => code !== "SIMULATED_PROVIDER");
  box.append(title, factsOf(transcript), ...warnings.map(warningOf));
  if (speakers.length > 0) box.append(speakersForm());
  const plain = element("p", { class: "plain", dir: "auto" }, transcript.content || "No words were found.");
  const textRoot = pieces.length > 0 ? view.root : plain;
  textRoot.lang = transcript.language ?? "";
  box.append(textRoot);
  if (pieces.some(({ confidence }) => confidence !== null && confidence < LOW_CONFIDENCE))
    box.append(element("p", { class: "soft" }, `Underlined: confidence below ${LOW_CONFIDENCE * 100} %.`));
  const tools = element("div", { class: "row wrap tools", role: "group", "aria-label": "Export" });
  tools.append(
    copyButton("Copy text", () => exportText(withNames(), "txt")),
    ...files,
  );
  box.append(otherRecording(transcript, player), tools);
  byId("result", HTMLElement).replaceChildren(box);
  return view;

  function speakersForm(): HTMLElement {
    const rows = speakers.map((speaker) => {
      const input = element("input", { placeholder: speaker, autocomplete: "off" });
      input.addEventListener("input", () => {
        const name = cleanName(input.value) || speaker;
        names.set(speaker, name);
        view.rename(speaker, name);
      });
      return element("label", { class: `speaker ${colourOf(speakers, speaker)}` }, `${speaker} is `, input);
    });
    return element("div", { class: "row wrap", role: "group", "aria-label": "Speaker names" }, ...rows);
  }
}

function factsOf({
  language,
  duration_seconds: seconds,
  usage,
  svc_applied_purpose: purpose,
}: Transcript): HTMLElement {
  const facts = [`${clock(seconds)} of audio`, `${usage.billable_audio_seconds} s billable`];
  if (language !== null) facts.push(`language ${language}`);
  if (purpose !== null) facts.push(`purpose ${purpose}`);
  return element("p", { class: "facts" }, ...facts.map((fact) => element("span", {}, fact)));
}

function warningOf({ code, message }: Transcript["warnings"][number]): HTMLElement {
  return element("p", { class: "warning" }, element("code", {}, code), ` ${message}`);
}

const SAME_SECONDS = 1;

/** A saved transcript next to another recording would mislead. */
export function otherRecording({ duration_seconds: seconds }: Transcript, player: HTMLAudioElement): HTMLElement {
  const note = element("p", { class: "warning", hidden: "" });
  const compare = (): void => {
    if (!note.isConnected && note.dataset["shown"] === "true")
      return player.removeEventListener("loadedmetadata", compare);
    note.dataset["shown"] = "true";
    const { duration } = player;
    note.hidden = !Number.isFinite(duration) || Math.abs(duration - seconds) < SAME_SECONDS;
    note.textContent = `The player contains ${clock(duration)}, the transcript belongs to ${clock(seconds)}: choose its recording.`;
  };
  player.addEventListener("loadedmetadata", compare);
  compare();
  return note;
}
