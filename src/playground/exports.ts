// Exports a transcript as a file in the browser; simulated results are marked in its name and first line. Pure.
import { buildCues } from "../captions/cues.ts";
import { toPlainText } from "../captions/plain-text.ts";
import { toSrt } from "../captions/srt.ts";
import { toVtt } from "../captions/vtt.ts";
import type { TranscriptionEnvelope } from "../contract/transcription/transcription-envelope.ts";
import { joinWords } from "../lib/text/join-words.ts";
import { segmentsOf } from "./timeline.ts";

/** `request_id` is added by the export, so that the trace can be found. */
export type Transcript = TranscriptionEnvelope & { readonly request_id?: string };

export const SIMULATED = "Simulated response. No provider was called.";
export const EXPORTS = ["txt", "srt", "vtt", "json"] as const;
export type ExportFormat = (typeof EXPORTS)[number];

export function isSimulated({ warnings }: Pick<Transcript, "warnings">): boolean {
  return warnings.some(({ code }) => code === "SIMULATED_PROVIDER");
}

export function exportName(transcript: Transcript, format: ExportFormat, audioName: string): string {
  const name = audioName.replace(/\.[^.]*$/u, "") || "transcript";
  return `${name}${isSimulated(transcript) ? "-simulated" : ""}.${format}`;
}

export function exportText(transcript: Transcript, format: ExportFormat): string {
  const mark = isSimulated(transcript) ? SIMULATED : null;
  if (format === "json") {
    const json = JSON.stringify(transcript, null, 2);
    return `${mark === null ? json : json.replace("{\n", `{ "simulated": ${JSON.stringify(mark)},\n`)}\n`;
  }
  const segments = segmentsOf(transcript);
  if (format === "txt") {
    const text = toPlainText(joinWords(segments.map((segment) => segment.text.trim())), segments);
    return `${mark === null ? "" : `${mark}\n`}${text}\n`;
  }
  const cues = buildCues(segments, transcript.words, transcript.duration_seconds);
  if (format === "vtt") return toVtt(cues).replace("WEBVTT", mark === null ? "WEBVTT" : `WEBVTT ${mark}`);
  // SubRip allows a remark only in the first caption.
  const [first, ...others] = cues;
  return toSrt(mark === null || first === undefined ? cues : [{ ...first, lines: [mark, ...first.lines] }, ...others]);
}

/** The name of a speaker, without caption markup. */
export function cleanName(name: string): string {
  return name.replace(/[<>&\s]+/gu, " ").trim();
}

export function renamed(transcript: Transcript, names: ReadonlyMap<string, string>): Transcript {
  const rename = <P extends { readonly speaker: string | null }>(piece: P): P => ({
    ...piece,
    speaker: piece.speaker === null ? null : (names.get(piece.speaker) ?? piece.speaker),
  });
  return { ...transcript, segments: transcript.segments.map(rename), words: transcript.words.map(rename) };
}

/** Null: not a transcript. */
export function transcriptIn(text: string): Transcript | null {
  try {
    const { simulated: _, ...value } = JSON.parse(text) as Transcript & { readonly simulated?: string };
    const numbers = [value.duration_seconds, value.usage.billable_audio_seconds];
    const pieces = [...value.words, ...value.segments];
    const isWhole =
      typeof value.content === "string" &&
      value.warnings.every(({ code, message }) => typeof code === "string" && typeof message === "string") &&
      numbers.every(Number.isFinite) &&
      pieces.every(({ text, start, end }) => typeof text === "string" && Number.isFinite(start + end));
    return isWhole ? value : null;
  } catch {
    return null;
  }
}
