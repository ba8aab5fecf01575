// Builds AssemblyAI's transcript object: times in whole milliseconds, and every option of the request repeated.
import type { AssemblyAiAsked, Submission } from "./assemblyai-rules.ts";
import type { AudioFacts } from "../wire/measure-audio.ts";
import { partsOf, type SimulatedChannel, type SimulatedWord, simulateChannels } from "../simulate.ts";
import type { Alteration, Droppable } from "../wire/wire.ts";

const CONFIDENCE = 0.97;

export interface Run {
  readonly id: string;
  readonly key: string;
  readonly audioUrl: string;
  readonly asked: AssemblyAiAsked;
  readonly facts: AudioFacts;
  readonly alteration: Alteration;
  unfinishedPolls: number;
}

export function assemblyAiTranscript(
  run: Run,
  status: "queued" | "processing" | "completed" | "error",
): Record<string, unknown> {
  const { id, asked, alteration } = run;
  const echo = { id, status, audio_url: run.audioUrl, ...echoOptions(asked.options, alteration.drops) };
  return status === "completed" && run.facts.ok
    ? { ...echo, ...resultOf(run, run.facts) }
    : { ...echo, text: null, words: null, utterances: null, audio_duration: null };
}

/** An option that was silently ignored is not repeated. */
function echoOptions(options: Submission, drops: ReadonlySet<Droppable>): Record<string, unknown> {
  const { audio_url: _, ...rest } = options;
  return {
    language_code: null,
    punctuate: true,
    format_text: true,
    ...rest,
    ...(drops.has("redaction") ? { redact_pii: false, redact_pii_policies: null } : {}),
    ...(drops.has("keyterms") ? { keyterms_prompt: null } : {}),
    ...(drops.has("profanity_filter") ? { filter_profanity: false } : {}),
  };
}

function resultOf(run: Run, facts: { durationSeconds: number; channels: number }): Record<string, unknown> {
  const { asked, alteration } = run;
  const { drops } = alteration;
  const isMultichannel = asked.options.multichannel === true && !drops.has("multichannel");
  const isDiarized = asked.options.speaker_labels === true && !drops.has("diarization");
  const channels = simulateChannels(facts, alteration, isMultichannel);
  const shape: Shape = { isMultichannel, isDiarized };
  const hasUtterances = (isMultichannel || isDiarized) && !drops.has("timestamps.segment");
  const language = asked.options.language_code ?? (asked.options.language_detection === true ? "en" : "en_us");
  return {
    text: channels
      .map(({ text }) => text)
      .join(" ")
      .trim(),
    confidence: CONFIDENCE,
    audio_duration: alteration.duration ?? Math.round(facts.durationSeconds),
    speech_model_used: alteration.otherModel ?? (drops.has("model") ? otherThan(asked.model) : asked.model),
    language_code: drops.has("language") ? null : language,
    language_confidence: asked.options.language_detection === true ? CONFIDENCE : null,
    ...(isMultichannel ? { audio_channels: channels.length } : {}),
    words: drops.has("timestamps.word")
      ? []
      : byStart(channels.flatMap((channel, index) => channel.words.map((word) => wordOf(word, index, shape)))),
    utterances: hasUtterances
      ? byStart(channels.flatMap((channel, index) => utterancesOf(channel, index, shape)))
      : null,
  };
}

interface Shape {
  readonly isMultichannel: boolean;
  readonly isDiarized: boolean;
}

function wordOf(word: SimulatedWord, index: number, shape: Shape) {
  return {
    text: word.text,
    start: Math.round(word.start * 1000),
    end: Math.round(word.end * 1000),
    confidence: CONFIDENCE,
    speaker: speakerOf(word.speaker, index, shape),
    ...(shape.isMultichannel ? { channel: String(index + 1) } : {}),
  };
}

/** `A`, with channels `1` for their number, with both `1A`. */
function speakerOf(speaker: number, index: number, { isMultichannel, isDiarized }: Shape): string | null {
  const letter = isDiarized ? String.fromCharCode(65 + speaker) : "";
  const channel = isMultichannel ? String(index + 1) : "";
  return `${channel}${letter}` === "" ? null : `${channel}${letter}`;
}

function utterancesOf(channel: SimulatedChannel, index: number, shape: Shape) {
  return partsOf(channel, shape.isDiarized).map((part) => ({
    ...wordOf(part, index, shape),
    words: part.words.map((word) => wordOf(word, index, shape)),
  }));
}

function byStart<P extends { readonly start: number }>(pieces: readonly P[]): readonly P[] {
  return pieces.toSorted((one, other) => one.start - other.start);
}

function otherThan(model: string): string {
  return model === "universal-2" ? "universal-3-5-pro" : "universal-2";
}
