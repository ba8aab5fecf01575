// Turns a provider's normalised words and segments into the caller's transcript: speakers S1, S2… by first appearance, times within the audio and in order,
// texts that match the content [transcription.times] [transcription.text-preserved]. Pure.
import { toPlainText } from "../../captions/plain-text.ts";
import type { ResponseFormat } from "../../contract/transcription/transcription-fields.ts";
import type { Segment, Warning, Word } from "../../contract/transcription/transcription-envelope.ts";
import { joinWords } from "../../lib/text/join-words.ts";
import { stripToLetters } from "../../lib/text/strip-to-letters.ts";
import type { ProviderSegment, ProviderTranscript, ProviderWord } from "../../providers/provider.ts";
import type { Requirements } from "../../routing/required-features.ts";
import { alignPiecesToText } from "./align-text.ts";
import { captionText } from "./caption-text.ts";
import { byStart, createLabels, createTimeline, needShift } from "./wire-pieces.ts";

/** What the provider returned of what was said. */
export type SpokenTranscript = Pick<ProviderTranscript, "text" | "segments" | "words">;

export interface FinishedTranscript {
  readonly content: string;
  readonly segments: readonly Segment[];
  readonly words: readonly Word[];
  readonly warnings: readonly Warning[];
}

/** Blocks for 20 to 200 ms per 60,000 words: long transcripts are finished by `TranscriptThread`. */
export function finishTranscript(
  provider: SpokenTranscript,
  wanted: Requirements,
  durationSeconds: number,
): FinishedTranscript {
  const warnings = [provider.words, provider.segments].some((pieces) => needShift(pieces, durationSeconds))
    ? [TIMES_CLAMPED]
    : [];
  if (isTextAlone(provider, wanted)) return { content: provider.text.trim(), segments: [], words: [], warnings };
  const timed = {
    words: provider.words.map(createTimeline(durationSeconds)),
    segments: provider.segments.map(createTimeline(durationSeconds)),
  };
  const words = inOrder(timed.words);
  const given =
    timed.segments.length > 0
      ? inOrder(alignPiecesToText(timed.segments, provider.text))
      : segmentsFromWords(inOrder(alignPiecesToText(timed.words, provider.text)));
  const labels = createLabels(wanted);
  if (wanted.features.includes("diarization")) for (const piece of inOrder([...given, ...words])) labels.hear(piece);
  const segments = given.map(labels.segment);
  const wireWords = wanted.wantsWords || isCaption(wanted.responseFormat) ? words.map(labels.word) : [];
  const content = isFromSegments(provider, wanted) ? contentOf(provider.text, segments) : provider.text.trim();
  return {
    content: render(wanted.responseFormat, content, segments, wireWords, durationSeconds),
    segments: wanted.wantsSegments ? segments : [],
    words: wanted.wantsWords ? wireWords : [],
    warnings,
  };
}

/** Most callers request the text alone, so the unused lists are not built. */
export function isTextAlone(provider: SpokenTranscript, wanted: Requirements): boolean {
  return !isFromSegments(provider, wanted) && !wanted.wantsWords && isJson(wanted.responseFormat);
}

/** Words may lack punctuation, so segments that were neither returned nor requested must not replace the provider's text. */
function isFromSegments({ text, segments }: SpokenTranscript, { wantsSegments }: Requirements): boolean {
  return segments.length > 0 || wantsSegments || text.trim() === "";
}

const TIMES_CLAMPED: Warning = {
  code: "TIMES_CLAMPED",
  message:
    "The provider returned times outside the audio or out of order. They were corrected; the order of the text is unchanged.",
  param: null,
  details: null,
};

/** Sorts across channels only: within a channel times already rise, and equal ones keep the provider's order. */
function inOrder<P extends ProviderWord>(pieces: readonly P[]): readonly P[] {
  return pieces.toSorted(byStart);
}

const MAX_BUILT_SEGMENT_SECONDS = 30;
const SEGMENT_PAUSE_SECONDS = 1.0;

/** Builds segments from timed words: a segment ends with a speaker, a channel, a sentence, or before a pause. */
function segmentsFromWords(words: readonly ProviderWord[]): readonly ProviderSegment[] {
  const channels = new Map<number | null, ProviderWord[][]>();
  for (const word of words) {
    const groups = channels.get(word.channel) ?? [];
    channels.set(word.channel, groups);
    const current = groups.at(-1);
    if (current === undefined || endsBefore(current, word)) groups.push([word]);
    else current.push(word);
  }
  return inOrder([...channels.values()].flat().flatMap(segmentOf));
}

function endsBefore(current: readonly ProviderWord[], next: ProviderWord): boolean {
  const first = current[0];
  const last = current.at(-1);
  if (first === undefined || last === undefined) return false;
  return (
    last.speaker !== next.speaker ||
    /[.!?…。！？]$/u.test(last.text.trim()) ||
    next.start - last.end > SEGMENT_PAUSE_SECONDS ||
    next.end - first.start > MAX_BUILT_SEGMENT_SECONDS
  );
}

function segmentOf(words: readonly ProviderWord[]): readonly ProviderSegment[] {
  const first = words[0];
  if (first === undefined) return [];
  const confidences = words.flatMap((word) => (word.confidence === null ? [] : [word.confidence]));
  return [
    {
      text: joinWords(words.map((word) => word.text.trim())),
      start: first.start,
      end: words.reduce((last, word) => Math.max(last, word.end), first.end),
      confidence:
        confidences.length === words.length ? confidences.reduce((sum, value) => sum + value, 0) / words.length : null,
      speaker: first.speaker,
      channel: first.channel,
    },
  ];
}

/** Segment texts always add up to the content. If the provider's own text differs, or channels interleave, the segments win. */
function contentOf(text: string, segments: readonly Segment[]): string {
  const joined = joinWords(segments.map((segment) => segment.text));
  const own = text.trim();
  if (segments.length === 0 || joined === own || stripToLetters(joined) === stripToLetters(own)) return own;
  return joined;
}

function render(
  format: ResponseFormat,
  content: string,
  segments: readonly Segment[],
  words: readonly Word[],
  durationSeconds: number,
): string {
  if (isJson(format)) return content;
  return format === "text" ? toPlainText(content, segments) : captionText({ format, segments, words, durationSeconds });
}

function isCaption(format: ResponseFormat): format is "srt" | "vtt" {
  return format === "srt" || format === "vtt";
}

type JsonFormat = "json" | "verbose_json" | "diarized_json";

function isJson(format: ResponseFormat): format is JsonFormat {
  return format === "json" || format === "verbose_json" || format === "diarized_json";
}
