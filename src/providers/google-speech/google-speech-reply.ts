// Parses the results of Google's speech API v2, of a recognition or a batch: proto3 JSON, which omits zero and empty values. Pure.
import { joinWords } from "../../lib/text/join-words.ts";
import { z } from "zod";
import { tagOfLocale } from "./google-speech-models.ts";
import { ProviderError } from "../io.ts";
import { languageTag } from "../wire/language-names.ts";
import type { ProviderSegment, ProviderWord } from "../provider.ts";
import { isText, isTextOrNone, listOf } from "../wire/reply-lists.ts";
import { confidenceOrNull, offsetSeconds } from "../wire/reply-values.ts";

interface Word {
  readonly word: string;
  readonly startOffset?: unknown;
  readonly endOffset?: unknown;
  readonly confidence?: unknown;
  readonly speakerLabel?: string | null;
}

const words = listOf<Word>(({ word, speakerLabel }) => isText(word) && isTextOrNone(speakerLabel));

const result = z.object({
  alternatives: z
    .array(
      z.object({
        transcript: z.string().nullish(),
        confidence: z.unknown().optional(),
        words: words.nullish(),
      }),
    )
    .nullish(),
  channelTag: z.number().nullish(),
  resultEndOffset: z.unknown().optional(),
  languageCode: z.string().nullish(),
});

const body = z
  .object({
    results: z.array(result).nullish(),
    metadata: z.object({ requestId: z.string().nullish(), totalBilledDuration: z.unknown().optional() }).nullish(),
  })
  // Silence has no results, only metadata.
  .refine(({ results, metadata }) => results != null || metadata != null);

type Result = z.infer<typeof result>;

export interface GoogleReply {
  readonly text: string;
  readonly words: readonly ProviderWord[];
  readonly segments: readonly ProviderSegment[];
  readonly channels: number;
  readonly language: string | null;
  readonly seconds: number | null;
  readonly requestId: string | null;
}

export function readGoogleReply(raw: unknown, multichannel: boolean): GoogleReply {
  const parsed = body.safeParse(raw);
  if (!parsed.success) throw new ProviderError("bad_reply", { status: 200, reason: "missing_fields" });
  const { results, metadata } = parsed.data;
  const speech = (results ?? []).filter(({ alternatives }) => (alternatives?.[0]?.transcript ?? "").trim() !== "");
  const ends = new Map<number, number>();
  const pieces = speech.map((each) => readResult(each, multichannel, ends));
  const tags = [...new Set(speech.map(tagOf))].toSorted((one, other) => one - other);
  return {
    text: tags.map((tag) => joinWords(speech.filter((each) => tagOf(each) === tag).map(transcriptOf))).join("\n"),
    words: pieces.flatMap(({ words }) => words),
    segments: pieces.flatMap(({ segments }) => segments),
    // Tags count from 1, and a silent channel may have an empty result or none. Without separation only the first channel is transcribed.
    channels: (results ?? []).reduce((most, each) => Math.max(most, tagOf(each)), 1),
    language: languageTag(tagOfLocale(speech.find(({ languageCode }) => languageCode != null)?.languageCode ?? "")),
    seconds: offsetSeconds(metadata?.totalBilledDuration),
    requestId: metadata?.requestId ?? null,
  };
}

const tagOf = ({ channelTag }: Result): number => channelTag ?? 1;
const transcriptOf = ({ alternatives }: Result): string => (alternatives?.[0]?.transcript ?? "").trim();

/** `ends`: the end of each channel's last result, which is the start of the next one if its words have no times. */
function readResult(
  each: Result,
  multichannel: boolean,
  ends: Map<number, number>,
): { readonly words: readonly ProviderWord[]; readonly segments: readonly ProviderSegment[] } {
  const alternative = each.alternatives?.[0];
  const channel = multichannel ? tagOf(each) - 1 : null;
  const wireWords = alternative?.words ?? [];
  const words = wireWords.flatMap((one) => timedWord(one, channel));
  const from = words[0]?.start ?? ends.get(tagOf(each)) ?? 0;
  const to = offsetSeconds(each.resultEndOffset) ?? words.at(-1)?.end ?? from;
  ends.set(tagOf(each), to);
  const turns = turnsOf(wireWords);
  const segment = {
    text: transcriptOf(each),
    start: from,
    end: Math.max(from, to),
    confidence: certainty(alternative?.confidence),
    speaker: turns[0]?.speaker ?? null,
    channel,
  };
  if (turns.length < 2) return { words, segments: [segment] };
  const segments = turns.map(({ speaker, text, words: said }) => ({
    ...segment,
    ...placeOf(said, channel, segment),
    speaker,
    text,
  }));
  return { words, segments };
}

/** "0.0 means not set", and zero is omitted anyway. */
function certainty(value: unknown): number | null {
  const confidence = confidenceOrNull(value);
  return confidence === 0 ? null : confidence;
}

/** A start of zero is omitted. A word without an end has no times at all. */
function timedWord(one: Word, channel: number | null): readonly ProviderWord[] {
  const end = offsetSeconds(one.endOffset);
  if (end === null) return [];
  return [
    {
      text: one.word,
      start: offsetSeconds(one.startOffset) ?? 0,
      end,
      confidence: certainty(one.confidence),
      speaker: one.speakerLabel ?? null,
      channel,
    },
  ];
}

interface Turn {
  readonly speaker: string | null;
  readonly text: string;
  readonly words: readonly Word[];
}

/** A result may contain several speakers: it is split where the speaker changes. */
function turnsOf(words: readonly Word[]): readonly Turn[] {
  const turns: { speaker: string | null; words: Word[] }[] = [];
  for (const one of words) {
    const speaker = one.speakerLabel ?? null;
    const last = turns.at(-1);
    if (last?.speaker === speaker) last.words.push(one);
    else turns.push({ speaker, words: [one] });
  }
  return turns.map((turn) => ({ ...turn, text: joinWords(turn.words.map((one) => one.word)) }));
}

/** If its words have no times, a turn gets the times of its whole result. */
function placeOf(
  words: readonly Word[],
  channel: number | null,
  segment: ProviderSegment,
): Pick<ProviderSegment, "start" | "end"> {
  const timed = words.flatMap((one) => timedWord(one, channel));
  return { start: timed[0]?.start ?? segment.start, end: timed.at(-1)?.end ?? segment.end };
}
