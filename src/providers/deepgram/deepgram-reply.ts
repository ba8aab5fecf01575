// Parses Deepgram's success body: lenient in what is optional, strict in what every transcript has. Pure.
import { z } from "zod";
import { ProviderError } from "../io.ts";
import { languageTag } from "../wire/language-names.ts";
import type { ProviderSegment, ProviderWord } from "../provider.ts";
import { isText, isTextOrNone, listOf } from "../wire/reply-lists.ts";
import { confidenceOrNull, secondsOrNull } from "../wire/reply-values.ts";

/** A number in every documented body. Accepted as text too, so that a string label would work. */
const speaker = z.union([z.number(), z.string()]).nullish();

interface DeepgramWord {
  readonly word: string;
  readonly punctuated_word?: string | null;
  readonly start: number;
  readonly end: number;
  readonly confidence?: unknown;
  readonly speaker?: string | number | null;
}

const words = listOf<DeepgramWord>(
  ({ word, start, end, punctuated_word: punctuated, speaker: who }) =>
    isText(word) &&
    Number.isFinite(start) &&
    Number.isFinite(end) &&
    isTextOrNone(punctuated) &&
    (isTextOrNone(who) || Number.isFinite(who)),
);

const utterance = z.object({
  transcript: z.string(),
  start: z.number(),
  end: z.number(),
  confidence: z.unknown().optional(),
  channel: z.number().nullish(),
  speaker,
});

const channel = z.object({
  alternatives: z
    .array(
      z.object({
        transcript: z.string(),
        words: words.nullish(),
        languages: z.array(z.string()).nullish(),
      }),
    )
    .min(1),
  detected_language: z.string().nullish(),
  language_confidence: z.unknown().optional(),
});

/** A new version shows that the model was changed under its name. */
const modelInfo = z.object({
  name: z.string().nullish(),
  arch: z.string().nullish(),
  version: z.string().nullish().catch(null),
});

const body = z.object({
  metadata: z.object({
    request_id: z.string().nullish(),
    duration: z.unknown().optional(),
    model_info: z.record(z.string(), modelInfo).nullish(),
  }),
  results: z.object({ channels: z.array(channel).min(1), utterances: z.array(utterance).nullish() }),
});

export interface DeepgramReply {
  readonly text: string;
  readonly words: readonly ProviderWord[];
  readonly segments: readonly ProviderSegment[];
  readonly channels: number;
  readonly language: string | null;
  readonly languageConfidence: number | null;
  readonly seconds: number | null;
  readonly requestId: string | null;
  /** One entry per model that was used, with name, architecture and version. */
  readonly models: readonly string[];
}

export function readDeepgramReply(raw: unknown, multichannel: boolean): DeepgramReply {
  const parsed = body.safeParse(raw);
  if (!parsed.success) throw new ProviderError("bad_reply", { status: 200, reason: "missing_fields" });
  const { metadata, results } = parsed.data;
  const labelled = results.channels.filter((each) => languageOf(each) !== null);
  // Without speech, a channel's language is a guess or missing.
  const source = labelled.find((each) => (each.alternatives[0]?.transcript ?? "").trim() !== "") ?? labelled[0];
  const alternatives = results.channels.map((each) => each.alternatives[0]);
  return {
    text: alternatives
      .map((alternative) => alternative?.transcript ?? "")
      .join("\n")
      .trim(),
    words: alternatives.flatMap((alternative, index) =>
      (alternative?.words ?? []).map((each) => ({
        text: each.punctuated_word ?? each.word,
        start: each.start,
        end: each.end,
        confidence: confidenceOrNull(each.confidence),
        speaker: label(each.speaker),
        channel: multichannel ? index : null,
      })),
    ),
    segments: (results.utterances ?? []).map((each) => ({
      text: each.transcript,
      start: each.start,
      end: each.end,
      confidence: confidenceOrNull(each.confidence),
      speaker: label(each.speaker),
      channel: multichannel ? (each.channel ?? null) : null,
    })),
    channels: results.channels.length,
    language: source === undefined ? null : languageOf(source),
    languageConfidence: confidenceOrNull(source?.language_confidence),
    seconds: secondsOrNull(metadata.duration),
    requestId: metadata.request_id ?? null,
    models: Object.values(metadata.model_info ?? {}).map(({ name, arch, version }) =>
      [name, arch, version].filter((part) => part != null).join(" "),
    ),
  };
}

function languageOf({
  detected_language: detected,
  alternatives: [alternative],
}: z.infer<typeof channel>): string | null {
  return languageTag(detected ?? alternative?.languages?.[0] ?? null);
}

function label(value: string | number | null | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
