// Builds Deepgram's success body.
import { createHash, randomUUID } from "node:crypto";
import type { DeepgramAsked } from "./deepgram-rules.ts";
import type { AudioFacts } from "../wire/measure-audio.ts";
import { bareWord, partsOf, type SimulatedChannel, type SimulatedWord, simulateChannels } from "../simulate.ts";
import { type Alteration, jsonAnswer, type WireAnswer } from "../wire/wire.ts";

const CONFIDENCE = 0.99;

interface ReplyFacts {
  readonly asked: DeepgramAsked;
  readonly facts: Extract<AudioFacts, { ok: true }>;
  readonly requestId: string;
  readonly sha256: string;
  readonly alteration: Alteration;
}
/** Features that are still delivered after faults have dropped theirs. */
interface Delivered {
  readonly asked: DeepgramAsked;
  readonly diarization: "v1" | "v2" | null;
  readonly hasWords: boolean;
  readonly language: string;
}

export function deepgramReply({ asked, facts, requestId, sha256, alteration }: ReplyFacts): WireAnswer {
  const { drops } = alteration;
  const isMultichannel = asked.isMultichannel && !drops.has("multichannel");
  const channels = simulateChannels(facts, alteration, isMultichannel);
  const delivered: Delivered = {
    asked,
    diarization: drops.has("diarization") ? null : asked.diarization,
    hasWords: !drops.has("timestamps.word"),
    language: !asked.detectsLanguage && asked.language !== null && asked.language !== "multi" ? asked.language : "en",
  };
  const hasUtterances = asked.hasUtterances && !drops.has("timestamps.segment");
  const hasLanguage = asked.detectsLanguage && !drops.has("language");
  const body = {
    metadata: metadataOf({ asked, facts, requestId, sha256, alteration }, channels.length),
    results: {
      channels: channels.map((channel) => ({
        alternatives: [alternativeOf(channel, delivered)],
        ...(hasLanguage ? { detected_language: delivered.language, language_confidence: CONFIDENCE } : {}),
      })),
      ...(hasUtterances ? { utterances: utterancesOf(channels, delivered) } : {}),
    },
  };
  return jsonAnswer(200, body, { "dg-request-id": requestId });
}

function metadataOf(
  { asked, facts, requestId, sha256, alteration }: ReplyFacts,
  channels: number,
): Record<string, unknown> {
  const model = alteration.otherModel ?? (alteration.drops.has("model") ? "nova-2-general" : asked.model);
  const [, family = model, variant = "general"] = /^(nova-\d|nova|enhanced|base)(?:-(.+))?$/.exec(model) ?? [];
  const uuid = uuidFor(model);
  return {
    transaction_key: "deprecated",
    request_id: requestId,
    sha256,
    created: new Date().toISOString(),
    duration: alteration.duration ?? facts.durationSeconds,
    channels,
    models: [uuid],
    model_info: { [uuid]: { name: `${variant}-${family}`, version: "2026-01-01.0", arch: family } },
    ...(asked.tags.length > 0 ? { tags: asked.tags } : {}),
  };
}

function alternativeOf(channel: SimulatedChannel, delivered: Delivered): Record<string, unknown> {
  const { asked } = delivered;
  return {
    transcript: channel.text,
    confidence: channel.text === "" ? 0 : CONFIDENCE,
    ...(asked.language === "multi" && !asked.detectsLanguage ? { languages: ["en"] } : {}),
    words: delivered.hasWords ? channel.words.map((word) => wordOf(word, delivered)) : [],
    ...(asked.hasParagraphs ? { paragraphs: paragraphsOf(channel, delivered) } : {}),
  };
}

function wordOf(word: SimulatedWord, { asked, diarization }: Delivered): Record<string, unknown> {
  return {
    word: asked.isPunctuated ? bareWord(word.text) : word.text,
    start: word.start,
    end: word.end,
    confidence: CONFIDENCE,
    ...(diarization !== null ? { speaker: word.speaker } : {}),
    ...(diarization === "v1" ? { speaker_confidence: 0.75 } : {}),
    ...(asked.isPunctuated ? { punctuated_word: word.text } : {}),
    ...(asked.language === "multi" && !asked.detectsLanguage ? { language: "en" } : {}),
  };
}

function utterancesOf(channels: readonly SimulatedChannel[], delivered: Delivered): Record<string, unknown>[] {
  const utterances = channels.flatMap((channel, index) =>
    partsOf(channel, delivered.diarization !== null).map((part) => ({ part, index })),
  );
  utterances.sort((left, right) => left.part.start - right.part.start || left.index - right.index);
  return utterances.map(({ part, index }) => ({
    start: part.start,
    end: part.end,
    confidence: CONFIDENCE,
    channel: index,
    transcript: part.text,
    words: delivered.hasWords ? part.words.map((word) => wordOf(word, delivered)) : [],
    ...(delivered.diarization !== null ? { speaker: part.speaker } : {}),
    id: randomUUID(),
  }));
}

function paragraphsOf(channel: SimulatedChannel, delivered: Delivered): Record<string, unknown> {
  return {
    transcript: channel.text === "" ? "" : `\n${channel.text}`,
    paragraphs: partsOf(channel, delivered.diarization !== null).map(({ text, start, end, speaker, words }) => ({
      sentences: [{ text, start, end }],
      ...(delivered.diarization !== null ? { speaker } : {}),
      num_words: words.length,
      start,
      end,
    })),
  };
}

/** Model ids are stable: the same name has the same id. */
function uuidFor(model: string): string {
  const hex = createHash("sha256").update(model).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
