// Simulates a transcript for every protocol: measured facts, never invented speech [providers.sandbox-honest], and the script of the bundled sample
// [providers.sandbox-sample]. Provides words, segments and channels.
import type { Alteration } from "./wire/wire.ts";

export interface SimulatedWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
}
export interface SimulatedSegment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
  readonly words: readonly SimulatedWord[];
}
export interface SimulatedChannel {
  readonly text: string;
  /** The words are those that are said. */
  readonly isScripted: boolean;
  readonly words: readonly SimulatedWord[];
}

interface Sound {
  readonly durationSeconds: number;
  readonly channels: number;
  /** See `AudioFacts`. */
  readonly script?: readonly SimulatedWord[] | null;
}
type Hearing = Pick<Alteration, "isEmpty">;

const SILENCE: SimulatedChannel = { text: "", isScripted: false, words: [] };

/** Separate channels, or all of them mixed into one. */
export function simulateChannels(sound: Sound, hearing: Hearing, isSeparate: boolean): readonly SimulatedChannel[] {
  if (!isSeparate) return [simulateMixed(sound, hearing)];
  const { channels } = sound;
  return Array.from({ length: channels }, (_, index) =>
    hearing.isEmpty ? SILENCE : simulateChannel(sound, `channel ${index + 1} of ${channels}`),
  );
}

export function simulateMixed(sound: Sound, { isEmpty }: Hearing): SimulatedChannel {
  return isEmpty ? SILENCE : simulateChannel(sound, layoutName(sound.channels));
}

function simulateChannel({ durationSeconds, script = null }: Sound, layout: string): SimulatedChannel {
  if (script !== null) return { text: script.map((word) => word.text).join(" "), isScripted: true, words: script };
  const text = `[simulated transcript, ${durationSeconds.toFixed(1)} s, ${layout}]`;
  const tokens = text.split(" ");
  const each = durationSeconds / tokens.length;
  const words = tokens.map((token, index) => ({
    text: token,
    start: milliseconds(index * each),
    end: milliseconds((index + 1) * each),
    speaker: index < tokens.length / 2 ? 0 : 1,
  }));
  return { text, isScripted: false, words };
}

/** Two halves, one per speaker, or the sentences of a script. Their texts joined by spaces are the channel's text. */
export function segmentsOf(channel: SimulatedChannel): SimulatedSegment[] {
  const groups: SimulatedWord[][] = [];
  for (const word of channel.words) {
    const last = groups.at(-1)?.at(-1);
    if (last === undefined || last.speaker !== word.speaker || (channel.isScripted && SENTENCE_END.test(last.text)))
      groups.push([word]);
    else groups.at(-1)?.push(word);
  }
  return groups.flatMap((words) => {
    const [first, last] = [words[0], words.at(-1)];
    if (first === undefined || last === undefined) return [];
    const text = words.map((word) => word.text).join(" ");
    return [{ text, start: first.start, end: last.end, speaker: first.speaker, words }];
  });
}

const SENTENCE_END = /[.?!]$/u;

/** One per speaker with diarization, otherwise one for the channel. A script has its sentences. */
export function partsOf(channel: SimulatedChannel, isDiarized: boolean): readonly SimulatedSegment[] {
  const halves = segmentsOf(channel);
  const [first, last] = [halves[0], halves.at(-1)];
  if (isDiarized || channel.isScripted || first === undefined || last === undefined) return halves;
  return [{ text: channel.text, start: first.start, end: last.end, speaker: 0, words: channel.words }];
}

/** A word without punctuation, which models report next to the punctuated form. */
export const bareWord = (text: string): string => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase();

export const milliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

function layoutName(channels: number): string {
  if (channels === 1) return "mono";
  return channels === 2 ? "stereo" : `${channels} channels`;
}
