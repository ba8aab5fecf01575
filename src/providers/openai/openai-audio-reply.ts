// Parses the success bodies of the OpenAI audio protocol: json, verbose_json and diarized_json of every supported dialect. Pure.
import { z } from "zod";
import { gapBetween } from "../../lib/text/join-words.ts";
import { ProviderError } from "../io.ts";
import { languageTag } from "../wire/language-names.ts";
import type { Dialect } from "./openai-audio-dialects.ts";
import type { ProviderSegment, ProviderWord } from "../provider.ts";
import { isText, listOf } from "../wire/reply-lists.ts";
import { confidenceOrNull, secondsOrNull } from "../wire/reply-values.ts";

interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  readonly probability?: unknown;
}

const words = listOf<Word>(({ word, start, end }) => isText(word) && Number.isFinite(start) && Number.isFinite(end));

const segment = z.object({
  text: z.string(),
  start: z.number(),
  end: z.number(),
  speaker: z.union([z.string(), z.number()]).nullish(),
  /** Mistral's field name. */
  speaker_id: z.union([z.string(), z.number()]).nullish(),
  words: words.nullish(),
});

/** Optional fields differ by server: one of an unexpected type is ignored and does not fail the transcript. */
const body = z.object({
  text: z.string(),
  language: z.string().nullish().catch(null),
  languages: z
    .array(z.object({ code: z.string() }))
    .nullish()
    .catch(null),
  detected_language: z.string().nullish().catch(null),
  detected_language_probability: z.unknown().optional(),
  duration: z.unknown().optional(),
  segments: z.array(segment).nullish(),
  words: words.nullish(),
  usage: z
    .object({ seconds: z.unknown().optional(), prompt_audio_seconds: z.unknown().optional() })
    .nullish()
    .catch(null),
  x_groq: z.object({ id: z.string().nullish() }).nullish().catch(null),
});

export interface OpenAiReply {
  readonly text: string;
  readonly language: string | null;
  readonly languageConfidence: number | null;
  readonly segments: readonly ProviderSegment[];
  readonly words: readonly ProviderWord[];
  readonly seconds: number | null;
  readonly requestId: string | null;
}

/**
 * whisper.cpp's server reports in `language` the one that it used, and in `detected_language` its own guess, requested or not: the guess counts if detection
 * was requested. `asked` removes what a format contains without being requested. `wordsIn`: words as tokens inside segments, instead of segments, or next to
 * them.
 */
export function readOpenAiReply(
  raw: unknown,
  asked: { readonly words: boolean; readonly segments: boolean; readonly detection: boolean },
  wordsIn: Dialect["words"],
): OpenAiReply {
  const parsed = body.safeParse(raw);
  if (!parsed.success) throw new ProviderError("bad_reply", { status: 200, reason: "missing_fields" });
  const reply = parsed.data;
  const pieces = reply.segments ?? [];
  const inPlace = wordsIn === "segments" && asked.words;
  const words = inPlace
    ? pieces.map(wholeSegment)
    : wordsOf(reply, wordsIn).map(assignSpeaker(pieces.map(wholeSegment)));
  const segments = inPlace ? [] : pieces;
  return {
    text: reply.text.trim(),
    language: languageTag(
      (asked.detection ? reply.detected_language : null) ?? reply.language ?? reply.languages?.[0]?.code ?? null,
    ),
    languageConfidence: asked.detection ? confidenceOrNull(reply.detected_language_probability) : null,
    segments: asked.segments ? segments.map(wholeSegment).filter((each) => each.text !== "") : [],
    words: asked.words ? words.filter((each) => each.text !== "") : [],
    seconds:
      secondsOrNull(reply.duration) ??
      secondsOrNull(reply.usage?.seconds) ??
      secondsOrNull(reply.usage?.prompt_audio_seconds),
    requestId: reply.x_groq?.id ?? null,
  };
}

function wordsOf(reply: z.infer<typeof body>, wordsIn: Dialect["words"]): readonly ProviderWord[] {
  if (wordsIn === "tokens") return (reply.segments ?? []).flatMap((each) => joinTokens(each.words ?? []));
  return (reply.words ?? []).map(wholeWord);
}

/** If only segments name speakers, a word gets its segment's. */
function assignSpeaker(segments: readonly ProviderSegment[]): (word: ProviderWord) => ProviderWord {
  const labelled = segments.filter(({ speaker }) => speaker !== null).toSorted((one, other) => one.start - other.start);
  return (word) => {
    const middle = (word.start + word.end) / 2;
    const home = labelled[lastStartedIndex(labelled, middle)];
    return home === undefined || home.end < middle ? word : { ...word, speaker: home.speaker };
  };
}

/** Pieces are sorted by start. Returns the index of the last that has begun by then, or -1. */
function lastStartedIndex(pieces: readonly ProviderSegment[], seconds: number): number {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.start ?? 0) <= seconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function wholeWord(each: Word): ProviderWord {
  return {
    text: each.word.trim(),
    start: each.start,
    end: each.end,
    confidence: confidenceOrNull(each.probability),
    speaker: null,
    channel: null,
  };
}

function wholeSegment(each: z.infer<typeof segment>): ProviderSegment {
  const speaker = each.speaker ?? each.speaker_id;
  return {
    text: each.text.trim(),
    start: each.start,
    end: each.end,
    // `avg_logprob` or `score` measures the decoder, not the text.
    confidence: null,
    speaker: speaker === null || speaker === undefined ? null : String(speaker),
    channel: null,
  };
}

/**
 * whisper.cpp returns tokens: a new word begins at a leading space, and at each token of a script without spaces. A word's confidence is its lowest token's.
 */
function joinTokens(tokens: readonly Word[]): readonly ProviderWord[] {
  const words: ProviderWord[] = [];
  for (const token of tokens) {
    if (/^\[_.*\]$/u.test(token.word.trim())) continue;
    const last = words.at(-1);
    if (last === undefined || beginsWord(token.word, last.text)) words.push(wholeWord(token));
    else words[words.length - 1] = appendToken(last, wholeWord(token));
  }
  return words;
}

function beginsWord(token: string, previous: string): boolean {
  return /^\s/u.test(token) || (/[\p{L}\p{N}]/u.test(token) && previous !== "" && gapBetween(previous, token) === "");
}

function appendToken(word: ProviderWord, token: ProviderWord): ProviderWord {
  const sure = word.confidence !== null && token.confidence !== null;
  return {
    ...word,
    text: word.text + token.text,
    end: Math.max(word.end, token.end),
    confidence: sure ? Math.min(word.confidence, token.confidence) : null,
  };
}
