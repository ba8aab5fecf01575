// Turns a provider's normalised words and segments into the caller's transcript: speakers S1, S2… by first appearance, times within the audio and in order,
// texts that match the content [transcription.times] [transcription.text-preserved]. Pure.
import { buildCues } from "../../captions/cues.ts";
import { toPlainText } from "../../captions/plain-text.ts";
import { toSrt } from "../../captions/srt.ts";
import { toVtt } from "../../captions/vtt.ts";
import type { ResponseFormat, Segment, Warning, Word } from "../../contract/transcription.ts";
import { yieldToEventLoop, runCooperatively } from "../../lib/concurrency/run-cooperatively.ts";
import {
  CHUNK_SIZE,
  flatMapCooperatively,
  mapCooperatively,
  type CooperativeTask,
} from "../../lib/concurrency/cooperative-task.ts";
import { joinWords } from "../../lib/text/join-words.ts";
import { stripToLetters } from "../../lib/text/strip-to-letters.ts";
import type { ProviderSegment, ProviderTranscript, ProviderWord } from "../../providers/provider.ts";
import type { Requirements } from "../../routing/required-features.ts";
import { alignPiecesToText } from "./align-text.ts";
import { byStart, createLabels, createTimeline, needMoving } from "./wire-pieces.ts";

export interface FinishedTranscript {
  readonly content: string;
  readonly segments: readonly Segment[];
  readonly words: readonly Word[];
  readonly warnings: readonly Warning[];
}

/** Runs over many event-loop ticks if it is long, starting in a later one than the parsing: ten hours have 100,000 words. */
export function finishTranscript(
  provider: ProviderTranscript,
  wanted: Requirements,
  durationSeconds: number,
): Promise<FinishedTranscript> {
  const steps = finishing(provider, wanted, durationSeconds);
  return provider.words.length > CHUNK_SIZE
    ? yieldToEventLoop().then(() => runCooperatively(steps))
    : runCooperatively(steps);
}

export function* finishing(
  provider: ProviderTranscript,
  wanted: Requirements,
  durationSeconds: number,
): CooperativeTask<FinishedTranscript> {
  const warnings = [provider.words, provider.segments].some((pieces) => needMoving(pieces, durationSeconds))
    ? [TIMES_CLAMPED]
    : [];
  // Words may lack punctuation, so segments that were neither returned nor requested must not replace the provider's text.
  const isText = provider.segments.length > 0 || wanted.wantsSegments || provider.text.trim() === "";
  // Most callers request the text alone, so the unused lists are not built.
  if (!isText && !wanted.wantsWords && isJson(wanted.responseFormat))
    return { content: provider.text.trim(), segments: [], words: [], warnings };
  const timed = {
    words: yield* mapCooperatively(provider.words, createTimeline(durationSeconds)),
    segments: yield* mapCooperatively(provider.segments, createTimeline(durationSeconds)),
  };
  const words = inOrder(timed.words);
  yield;
  const given =
    timed.segments.length > 0
      ? inOrder(yield* alignPiecesToText(timed.segments, provider.text))
      : yield* segmentsFromWords(inOrder(yield* alignPiecesToText(timed.words, provider.text)));
  yield;
  const labels = createLabels(wanted);
  if (wanted.features.includes("diarization")) for (const piece of inOrder([...given, ...words])) labels.hear(piece);
  yield;
  const segments = yield* mapCooperatively(given, labels.segment);
  const wireWords =
    wanted.wantsWords || isCaption(wanted.responseFormat) ? yield* mapCooperatively(words, labels.word) : [];
  yield;
  const content = isText ? contentOf(provider.text, segments) : provider.text.trim();
  yield;
  return {
    content: yield* render(wanted.responseFormat, content, segments, wireWords, durationSeconds),
    segments: wanted.wantsSegments ? segments : [],
    words: wanted.wantsWords ? wireWords : [],
    warnings,
  };
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
function* segmentsFromWords(words: readonly ProviderWord[]): CooperativeTask<readonly ProviderSegment[]> {
  const channels = new Map<number | null, ProviderWord[][]>();
  for (const [index, word] of words.entries()) {
    if (index % CHUNK_SIZE === CHUNK_SIZE - 1) yield;
    const groups = channels.get(word.channel) ?? [];
    channels.set(word.channel, groups);
    const current = groups.at(-1);
    if (current === undefined || endsBefore(current, word)) groups.push([word]);
    else current.push(word);
  }
  return inOrder(yield* flatMapCooperatively([...channels.values()].flat(), segmentOf));
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

function* render(
  format: ResponseFormat,
  content: string,
  segments: readonly Segment[],
  words: readonly Word[],
  durationSeconds: number,
): CooperativeTask<string> {
  if (isJson(format)) return content;
  switch (format) {
    case "text":
      return toPlainText(content, segments);
    case "srt":
      return toSrt(yield* buildCues(segments, words, durationSeconds));
    case "vtt":
      return toVtt(yield* buildCues(segments, words, durationSeconds));
  }
}

function isCaption(format: ResponseFormat): format is "srt" | "vtt" {
  return format === "srt" || format === "vtt";
}

type JsonFormat = "json" | "verbose_json" | "diarized_json";

function isJson(format: ResponseFormat): format is JsonFormat {
  return format === "json" || format === "verbose_json" || format === "diarized_json";
}
