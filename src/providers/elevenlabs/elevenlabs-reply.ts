// Parses ElevenLabs' transcript, single or one per channel. A mono file with channels requested returns a single one. Pure.
import { z } from "zod";
import { ProviderError } from "../io.ts";
import type { ProviderWord } from "../provider.ts";
import { isNumberOrNone, isText, isTextOrNone, listOf } from "../wire/reply-lists.ts";
import { languageTag } from "../wire/language-names.ts";
import { confidenceOrNull, secondsOrNull } from "../wire/reply-values.ts";

interface Word {
  readonly text: string;
  readonly start?: number | null;
  readonly end?: number | null;
  readonly type: string;
  readonly speaker_id?: string | null;
  readonly logprob?: number | null;
}

const words = listOf<Word>(
  ({ text, start, end, type, speaker_id: speaker, logprob }) =>
    isText(text) &&
    isText(type) &&
    isNumberOrNone(start) &&
    isNumberOrNone(end) &&
    isTextOrNone(speaker) &&
    isNumberOrNone(logprob),
);

const transcript = z.object({
  text: z.string(),
  language_code: z.string().nullish(),
  language_probability: z.unknown().optional(),
  words: words.nullish(),
  channel_index: z.number().nullish(),
});

const single = transcript.extend({ audio_duration_secs: z.unknown().optional() });
const separate = z.object({ transcripts: z.array(transcript).min(1), audio_duration_secs: z.unknown().optional() });
const body = z.union([separate, single]);

export interface ElevenLabsReply {
  readonly text: string;
  readonly words: readonly ProviderWord[];
  readonly channels: number;
  readonly language: string | null;
  readonly languageConfidence: number | null;
  readonly seconds: number | null;
}

export function readElevenLabsReply(
  raw: unknown,
  asked: { readonly diarization: boolean; readonly multichannel: boolean },
): ElevenLabsReply {
  const parsed = body.safeParse(raw);
  if (!parsed.success) throw new ProviderError("bad_reply", { status: 200, reason: "missing_fields" });
  const reply = parsed.data;
  const transcripts = "transcripts" in reply ? byChannel(reply.transcripts) : [reply];
  // Without speech, the language is a guess.
  const spoken = transcripts.find(({ text }) => text.trim() !== "") ?? transcripts[0];
  return {
    text: transcripts
      .map(({ text }) => text.trim())
      .join("\n")
      .trim(),
    words: transcripts.flatMap(({ words, channel_index: channel }, index) =>
      (words ?? []).flatMap((each) => wordOf(each, asked, channel ?? index)),
    ),
    channels: transcripts.length,
    language: languageTag(spoken?.language_code ?? null),
    languageConfidence: confidenceOrNull(spoken?.language_probability),
    seconds: secondsOrNull(reply.audio_duration_secs),
  };
}

function byChannel<T extends { readonly channel_index?: number | null | undefined }>(transcripts: readonly T[]) {
  return transcripts.toSorted((one, other) => (one.channel_index ?? 0) - (other.channel_index ?? 0));
}

/** The list of words also contains spaces and audio events. */
function wordOf(
  { text, start, end, type, speaker_id: speaker, logprob }: Word,
  asked: { readonly diarization: boolean; readonly multichannel: boolean },
  channel: number,
): readonly ProviderWord[] {
  if (type !== "word" || start === null || start === undefined) return [];
  return [
    {
      text: text.trim(),
      start,
      end: end ?? start,
      confidence: confidenceOrNull(typeof logprob === "number" ? Math.exp(logprob) : null),
      speaker: asked.diarization ? (speaker ?? null) : null,
      channel: asked.multichannel ? channel : null,
    },
  ];
}
