// Builds ElevenLabs' transcripts: spaces among the words, ISO 639-3, one object per channel unless the file is mono.
import type { ElevenLabsAsked } from "./elevenlabs-rules.ts";
import type { AudioFacts } from "../wire/measure-audio.ts";
import { type SimulatedChannel, type SimulatedWord, simulateChannels } from "../simulate.ts";
import type { Alteration } from "../wire/wire.ts";

const PROBABILITY = 0.98;
const LOGPROB = -0.02;

interface Transcribed {
  readonly id: string;
  readonly asked: ElevenLabsAsked;
  readonly facts: Extract<AudioFacts, { ok: true }>;
  readonly alteration: Alteration;
}

export function elevenLabsTranscript({ id, asked, facts, alteration }: Transcribed): Record<string, unknown> {
  const { drops } = alteration;
  // A mono file returns a single transcript, whatever was requested.
  const isSeparate = asked.isMultichannel && facts.channels > 1 && !drops.has("multichannel");
  const transcripts = simulateChannels(facts, alteration, isSeparate).map((channel, index) =>
    transcriptOf(channel, asked, alteration, isSeparate ? index : null),
  );
  const shared = { transcription_id: id, audio_duration_secs: alteration.duration ?? facts.durationSeconds };
  return isSeparate ? { transcripts, ...shared } : { ...transcripts[0], ...shared };
}

function transcriptOf(
  channel: SimulatedChannel,
  asked: ElevenLabsAsked,
  { drops }: Alteration,
  index: number | null,
): Record<string, unknown> {
  const hasWords = asked.hasTimes && !drops.has("timestamps.word");
  const isDiarized = asked.isDiarized && !drops.has("diarization");
  return {
    language_code: drops.has("language") ? null : threeLetters(asked.language),
    language_probability: PROBABILITY,
    text: channel.text,
    words: hasWords ? insertSpaces(channel.words, isDiarized, index) : [],
    entities: null,
    additional_formats: null,
    channel_index: index,
  };
}

function insertSpaces(words: readonly SimulatedWord[], isDiarized: boolean, index: number | null) {
  return words.flatMap((word, position) => {
    const shared = {
      speaker_id: isDiarized ? `speaker_${word.speaker}` : null,
      characters: null,
      channel_index: index,
    };
    const wordEntry = { text: word.text, start: word.start, end: word.end, type: "word", logprob: LOGPROB, ...shared };
    const space = { text: " ", start: word.start, end: word.start, type: "spacing", logprob: 0, ...shared };
    return position === 0 ? [wordEntry] : [space, wordEntry];
  });
}

const THREE_LETTERS: Readonly<Record<string, string>> = { en: "eng", de: "deu", fr: "fra", es: "spa", pt: "por" };

function threeLetters(language: string | null): string {
  return language === null ? "eng" : (THREE_LETTERS[language] ?? language);
}
