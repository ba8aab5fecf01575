// Parses AssemblyAI's transcript object: its content, and the options that it repeats. Pure.
import { z } from "zod";
import { ProviderError } from "../io.ts";
import { languageTag } from "../wire/language-names.ts";
import type { ProviderSegment, ProviderWord } from "../provider.ts";
import { isText, isTextOrNone, listOf } from "../wire/reply-lists.ts";
import { confidenceOrNull, secondsOrNull } from "../wire/reply-values.ts";

interface Piece {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly confidence?: unknown;
  readonly speaker?: string | null;
  readonly channel?: string | number | null;
}

const pieces = listOf<Piece>(
  ({ text, start, end, speaker, channel }) =>
    isText(text) &&
    Number.isFinite(start) &&
    Number.isFinite(end) &&
    isTextOrNone(speaker) &&
    (isTextOrNone(channel) || Number.isFinite(channel)),
);

/** The object repeats the options that were sent. Only those that prove a feature are read. */
const echo = z.object({
  speech_model_used: z.string().nullish(),
  redact_pii: z.boolean().nullish(),
  redact_pii_policies: z.array(z.string()).nullish(),
  keyterms_prompt: z.array(z.string()).nullish(),
  filter_profanity: z.boolean().nullish(),
});

const body = echo.extend({
  id: z.string(),
  // Silence is an empty text. No text at all means a transcript that was deleted meanwhile.
  text: z.string(),
  audio_duration: z.unknown().optional(),
  audio_channels: z.number().nullish(),
  language_code: z.string().nullish(),
  language_confidence: z.unknown().optional(),
  words: pieces.nullish(),
  utterances: pieces.nullish(),
});

export type AssemblyAiEcho = z.infer<typeof echo>;

export interface AssemblyAiReply {
  readonly id: string;
  readonly text: string;
  readonly words: readonly ProviderWord[];
  readonly segments: readonly ProviderSegment[];
  readonly channels: number;
  readonly language: string | null;
  readonly languageConfidence: number | null;
  readonly seconds: number | null;
  readonly echo: AssemblyAiEcho;
}

interface Asked {
  readonly diarization: boolean;
  readonly multichannel: boolean;
}

export function readAssemblyAiReply(raw: unknown, asked: Asked): AssemblyAiReply {
  const parsed = body.safeParse(raw);
  if (!parsed.success) throw new ProviderError("bad_reply", { status: 200, reason: "missing_fields" });
  const reply = parsed.data;
  const toPiece = (each: Piece): ProviderWord => ({
    text: each.text,
    start: each.start / 1000,
    end: each.end / 1000,
    confidence: confidenceOrNull(each.confidence),
    // With channels alone, an utterance's speaker is its channel number and identifies no one.
    speaker: asked.diarization ? (each.speaker ?? null) : null,
    channel: asked.multichannel ? channelIndex(each.channel) : null,
  });
  return {
    id: reply.id,
    text: reply.text.trim(),
    words: (reply.words ?? []).map(toPiece),
    segments: (reply.utterances ?? []).map(toPiece),
    channels: reply.audio_channels ?? 1,
    language: bcp47(reply.language_code ?? null),
    languageConfidence: confidenceOrNull(reply.language_confidence),
    seconds: secondsOrNull(reply.audio_duration),
    echo: reply,
  };
}

/** Channels are strings that count from 1. */
function channelIndex(channel: string | number | null | undefined): number | null {
  const number = Number(channel ?? Number.NaN);
  return Number.isInteger(number) && number >= 1 ? number - 1 : null;
}

/** AssemblyAI's own spellings of English variants and of Javanese. */
const SPELLED: Readonly<Record<string, string>> = { en_us: "en-US", en_uk: "en-GB", en_au: "en-AU", jw: "jv" };

function bcp47(code: string | null): string | null {
  return code === null ? null : (SPELLED[code.toLowerCase()] ?? languageTag(code));
}
