// Parses Gemini's success bodies: an interaction of the transcription model, and generated text of a general one. Pure.
import { z } from "zod";
import { modelField } from "../answered-model.ts";
import { ProviderError } from "../io.ts";
import type { ProviderWord } from "../provider.ts";
import { offsetSeconds } from "../wire/reply-values.ts";

export interface GeminiReply {
  readonly text: string;
  readonly words: readonly ProviderWord[];
  readonly requestId: string | null;
  /** Null: the answer reports no model. */
  readonly model: string | null;
}

const wordInfo = z.object({
  type: z.literal("word_info"),
  text: z.string().nullish(),
  start_offset: z.unknown().optional(),
  end_offset: z.unknown().optional(),
  speaker: z.string().nullish(),
  start_index: z.number().nullish(),
  end_index: z.number().nullish(),
});
type WordInfo = z.infer<typeof wordInfo>;
type SpokenWord = WordInfo & { readonly text: string };

const content = z.object({
  type: z.string(),
  text: z.string().nullish(),
  annotations: z.array(z.unknown()).nullish(),
});

const interaction = z.object({
  id: z.string().nullish(),
  status: z.string(),
  steps: z.array(z.object({ type: z.string(), content: z.array(content).nullish() })),
});

/** The transcript is in the model's own steps. Other steps repeat the input or are thoughts. */
export function readInteraction(raw: unknown): GeminiReply {
  const parsed = interaction.safeParse(raw);
  if (!parsed.success) throw new ProviderError("bad_reply", { status: 200, reason: "missing_fields" });
  const { id, status, steps } = parsed.data;
  // `incomplete` is a transcript truncated at its end.
  if (status !== "completed") throw new ProviderError("bad_reply", { status: 200, reason: "not_completed" });
  const texts = steps
    .filter((step) => step.type === "model_output")
    .flatMap((step) => (step.content ?? []).filter(({ type }) => type === "text"));
  return {
    text: texts
      .map((each) => each.text ?? "")
      .join("\n")
      .trim(),
    words: placedWords(texts.flatMap(wordsOf)),
    requestId: id ?? null,
    model: modelField(raw, "model"),
  };
}

function wordsOf({ text, annotations }: z.infer<typeof content>): readonly SpokenWord[] {
  const bytes = Buffer.from(text ?? "");
  return (annotations ?? []).flatMap((annotation) => {
    const { data } = wordInfo.safeParse(annotation);
    return data === undefined ? [] : [{ ...data, text: textOfWord(data, bytes) }];
  });
}

/** All words or none: segments are built from them, and a word without a position would silently be missing. Protobuf omits an offset of zero. */
function placedWords(infos: readonly SpokenWord[]): readonly ProviderWord[] {
  const words: ProviderWord[] = [];
  for (const { text, start_offset: from, end_offset: to, speaker } of infos.filter((info) => info.text !== "")) {
    const start = from === undefined && words.length === 0 ? 0 : offsetSeconds(from);
    const end = offsetSeconds(to);
    if (start === null || end === null) return [];
    words.push({ text, start, end, confidence: null, speaker: speaker ?? null, channel: null });
  }
  return words;
}

/** Its indexes are "measured in bytes". */
function textOfWord({ text, start_index: from, end_index: to }: WordInfo, bytes: Buffer): string {
  return (text ?? bytes.subarray(from ?? 0, to ?? 0).toString()).trim();
}

const generated = z.object({
  candidates: z
    .array(
      z.object({
        content: z
          .object({
            parts: z.array(z.object({ text: z.string().nullish(), thought: z.boolean().nullish() })).nullish(),
          })
          .nullish(),
        finishReason: z.string().nullish(),
      }),
    )
    .nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
  responseId: z.string().nullish(),
});

const answer = z.object({ text: z.string() });

/** Finish reasons that depend on this input: a retry would end the same. */
const REFUSALS = new Set(["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"]);

export function readGenerated(raw: unknown): GeminiReply {
  const parsed = generated.safeParse(raw);
  if (!parsed.success) throw new ProviderError("bad_reply", { status: 200, reason: "missing_fields" });
  const { candidates, promptFeedback, responseId } = parsed.data;
  const blocked = promptFeedback?.blockReason ?? null;
  if (blocked !== null) throw new ProviderError("rejected", { status: 200, reason: "prompt_blocked" });
  const candidate = candidates?.[0];
  if (candidate === undefined) throw new ProviderError("bad_reply", { status: 200, reason: "missing_fields" });
  const reason = candidate.finishReason ?? "";
  if (REFUSALS.has(reason)) throw new ProviderError("rejected", { status: 200, reason });
  // Above all MAX_TOKENS: truncated text is incomplete and must not pass as a transcript.
  if (reason !== "STOP") throw new ProviderError("bad_reply", { status: 200, reason: "not_finished" });
  const parts = (candidate.content?.parts ?? []).filter((part) => part.thought !== true);
  return {
    text: textOf(parts.map((part) => part.text ?? "").join("")),
    words: [],
    requestId: responseId ?? null,
    model: modelField(raw, "modelVersion"),
  };
}

function textOf(json: string): string {
  try {
    return answer.parse(JSON.parse(json)).text.trim();
  } catch {
    throw new ProviderError("bad_reply", { status: 200, reason: "not_in_schema" });
  }
}
