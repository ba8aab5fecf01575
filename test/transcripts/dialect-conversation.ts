// How Gemini, Groq, Mistral and speaches report a conversation: only what the request asked for comes back.
import type { SpeechPlan } from "../../src/providers/provider.ts";
import { type Asked, type Conversation, idOf, type Spoken, textOf, turnsOf } from "./conversation.ts";

const asked = (plan: SpeechPlan, ...field: readonly [string, string]): boolean =>
  plan.kind === "multipart" && plan.fields.some(([name, value]) => name === field[0] && value === field[1]);
const seconds = (value: number): string => `${value}s`;

/** One content a turn, in steps of two; every other word by its place in the text, which is counted in bytes; a start of zero is omitted. */
export function asGeminiInteraction(conversation: Conversation, { diarization }: Asked, plan: SpeechPlan): object {
  const isTimed = plan.kind === "json" && JSON.stringify(plan.body).includes('"timestamp_granularities":["word"]');
  const annotated = (words: readonly Spoken[]): readonly object[] => {
    let at = 0;
    return words.map((word, index) => {
      const bytes = Buffer.byteLength(word.text);
      const place = { start_index: at, end_index: at + bytes };
      at += bytes + 1;
      return {
        type: "word_info",
        ...(index % 2 === 0 ? { text: word.text } : {}),
        ...place,
        ...(word.start === 0 ? {} : { start_offset: seconds(word.start) }),
        end_offset: seconds(word.end),
        ...(diarization ? { speaker: `spk_${word.speaker + 1}` } : {}),
      };
    });
  };
  const contents = turnsOf(conversation).map(({ text, words }) => ({
    type: "text",
    text,
    annotations: isTimed ? [...annotated(words), { type: "url_citation", url: "https://example.com" }] : null,
  }));
  const steps = Array.from({ length: Math.ceil(contents.length / 2) }, (_, index) => ({
    type: "model_output",
    content: contents.slice(index * 2, index * 2 + 2),
  }));
  return {
    id: "i",
    status: "completed",
    steps: [{ type: "thought", content: [{ type: "text", text: "people talk" }] }, ...steps],
  };
}

/** JSON in pieces, between thoughts. */
export function asGeminiGenerated(conversation: Conversation): object {
  const json = JSON.stringify({ text: textOf(conversation.words) });
  const middle = json.length >> 1;
  const parts = [
    { text: "I listen.", thought: true },
    { text: json.slice(0, middle) },
    { text: "I go on listening.", thought: true },
    { text: json.slice(middle) },
  ];
  return {
    candidates: [{ content: { parts }, finishReason: "STOP" }],
    modelVersion: "gemini-3.5-flash",
    responseId: "r",
  };
}

/** Bare words; each list only where its granularity was asked. */
export function asGroq(conversation: Conversation, _asked: Asked, plan: SpeechPlan): object {
  const text = ` ${textOf(conversation.words)}`;
  if (!asked(plan, "response_format", "verbose_json")) return { text, x_groq: { id: "req_1" } };
  return {
    task: "transcribe",
    language: "English",
    duration: conversation.durationSeconds,
    text,
    ...(asked(plan, "timestamp_granularities[]", "word")
      ? { words: conversation.words.map(({ text: said, start, end }) => ({ word: idOf(said), start, end })) }
      : {}),
    ...(asked(plan, "timestamp_granularities[]", "segment")
      ? {
          segments: turnsOf(conversation).map(({ text: said, start, end }, id) => ({
            id,
            seek: 0,
            start,
            end,
            text: ` ${said}`,
            avg_logprob: -0.2,
          })),
        }
      : {}),
    x_groq: { id: "req_1" },
  };
}

/** One list, of words or of segments as asked. */
export function asMistral(conversation: Conversation, { diarization }: Asked, plan: SpeechPlan): object {
  const pieces = asked(plan, "timestamp_granularities", "word")
    ? conversation.words
    : asked(plan, "timestamp_granularities", "segment")
      ? turnsOf(conversation)
      : [];
  return {
    model: "voxtral-mini-2602",
    text: textOf(conversation.words),
    language: null,
    segments: pieces.map(({ text, start, end, speaker }) => ({
      type: "transcription_segment",
      text: ` ${text}`,
      start,
      end,
      score: null,
      speaker_id: diarization ? `speaker_${speaker}` : null,
    })),
    usage: { prompt_audio_seconds: Math.round(conversation.durationSeconds) },
  };
}

/** faster-whisper: segments come with every verbose_json, and they alone name speakers. */
export function asSpeaches(conversation: Conversation, { diarization }: Asked, plan: SpeechPlan): object {
  const text = textOf(conversation.words);
  if (!asked(plan, "response_format", "verbose_json")) return { text };
  return {
    task: "transcribe",
    language: "en",
    duration: conversation.durationSeconds,
    text,
    words: asked(plan, "timestamp_granularities[]", "word")
      ? conversation.words.map((word) => ({
          word: ` ${word.text}`,
          start: word.start,
          end: word.end,
          probability: word.confidence,
        }))
      : null,
    segments: turnsOf(conversation).map(({ text: said, start, end, speaker }, id) => ({
      id,
      text: ` ${said}`,
      start,
      end,
      ...(diarization ? { speaker: `SPEAKER_0${speaker}` } : {}),
    })),
  };
}
