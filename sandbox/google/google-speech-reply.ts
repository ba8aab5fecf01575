// Builds results of Google's speech API v2 in proto3 JSON, which omits zero and empty values.
import { type GoogleConfig, SEPARATE } from "./google-speech-rules.ts";
import { segmentsOf, type SimulatedSegment, type SimulatedWord, simulateChannels } from "../simulate.ts";
import type { Alteration } from "../wire/wire.ts";

interface Heard {
  readonly config: GoogleConfig;
  readonly facts: { readonly durationSeconds: number; readonly channels: number };
  readonly alteration: Alteration;
}

export function googleResults({ config, facts, alteration }: Heard): readonly object[] {
  if (alteration.isEmpty) return [];
  const { features, languageCodes } = config;
  const isSeparate = features.multiChannelMode === SEPARATE && !alteration.drops.has("multichannel");
  const language = languageCodes[0] === "auto" ? "en-US" : languageCodes[0];
  return simulateChannels(facts, alteration, isSeparate).flatMap((channel, index) =>
    segmentsOf(channel).map((segment, position) => ({
      alternatives: [
        { transcript: `${position === 0 ? "" : " "}${segment.text}`, ...wordsOf(segment, config, alteration) },
      ],
      ...(isSeparate ? { channelTag: index + 1 } : {}),
      resultEndOffset: offset(segment.end),
      ...(alteration.drops.has("language") ? {} : { languageCode: language }),
    })),
  );
}

export function billedDuration(facts: Heard["facts"], { duration }: Alteration): string {
  return `${duration ?? Math.ceil(facts.durationSeconds)}s`;
}

/** Words contain times, speakers and confidences only as requested, and no words are returned unless times or speakers are. */
function wordsOf(
  segment: SimulatedSegment,
  { features }: GoogleConfig,
  { drops }: Alteration,
): { readonly words?: readonly object[]; readonly confidence?: number } {
  const isTimed = features.enableWordTimeOffsets === true && !drops.has("timestamps.word");
  const isDiarized = features.diarizationConfig !== undefined && !drops.has("diarization");
  const confidence = 0.95;
  if (!isTimed && !isDiarized) return { confidence };
  const word = ({ text, start, end, speaker }: SimulatedWord): object => ({
    ...(isTimed && start > 0 ? { startOffset: offset(start) } : {}),
    ...(isTimed ? { endOffset: offset(end) } : {}),
    word: text,
    ...(features.enableWordConfidence === true ? { confidence: 0.9 } : {}),
    ...(isDiarized ? { speakerLabel: String(speaker + 1) } : {}),
  });
  return { confidence, words: segment.words.map(word) };
}

const offset = (seconds: number): string => `${seconds.toFixed(3)}s`;
