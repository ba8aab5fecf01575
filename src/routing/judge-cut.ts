// Judges whether audio beyond a model's size or duration may be cut into pieces on a route with `split_long_audio`, and how large they may be
// [routing.split-pieces] [routing.split-excluded]. Pure: whether the gateway can decode the recording is an argument.
import { WAV_HEADER_BYTES } from "../lib/wav.ts";
import type { Feature, Lack } from "../contract/features.ts";
import type { SpeechModel } from "../providers/provider.ts";
import type { Requirements } from "./required-features.ts";

/** Pieces are WAV files of 16-bit samples. */
export interface Cut {
  readonly sampleRate: number;
  readonly channels: number;
  /** The longest piece within both the size and the duration limit. */
  readonly maxFrames: number;
  /** Each channel is sent on its own. */
  readonly perChannel?: true;
}

export type CutVerdict =
  | { readonly ok: true; readonly cut: Cut }
  /** In addition to the limit that the audio exceeds. */
  | { readonly ok: false; readonly missing: readonly Lack[] };

/**
 * Features that a cut would break: speaker 1 of one piece is not speaker 1 of the next, a number read out across a cut is incomplete in both, and a stream is
 * one file.
 */
const NEEDS_THE_WHOLE: ReadonlySet<Feature> = new Set<Feature>([
  "diarization",
  "redaction.pii",
  "redaction.pci",
  "redaction.phi",
  "redaction.numbers",
  "streaming",
]);

const BYTES_PER_SAMPLE = 2;
/** Shorter pieces would hold no complete words. */
const LEAST_PIECE_SECONDS = 1;

export function judgeCut(
  { limits }: Pick<SpeechModel, "limits">,
  maxSeconds: number,
  wanted: Requirements,
  audio: { readonly channels: number; readonly pcmRate?: number | null } | null,
): CutVerdict {
  const lost = wanted.features.filter((feature) => NEEDS_THE_WHOLE.has(feature));
  if (lost.length > 0) return { ok: false, missing: lost };
  const sampleRate = audio?.pcmRate ?? null;
  if (audio === null || sampleRate === null) return { ok: false, missing: ["decoder"] };
  if (limits.formats !== undefined && !limits.formats.includes("wav")) return { ok: false, missing: ["format"] };
  const channels = wanted.features.includes("multichannel") ? audio.channels : 1;
  const bySize = ((limits.maxBytes ?? Number.POSITIVE_INFINITY) - WAV_HEADER_BYTES) / (BYTES_PER_SAMPLE * channels);
  const maxFrames = Math.floor(Math.min(bySize, maxSeconds * sampleRate));
  if (maxFrames < LEAST_PIECE_SECONDS * sampleRate) return { ok: false, missing: [] };
  return { ok: true, cut: { sampleRate, channels, maxFrames } };
}

/** Each channel is a separate call with its own cost. */
const MOST_SPLIT_CHANNELS = 8;

/** For a model without multichannel support. A channel is sent whole if it fits within the model's limits, otherwise in pieces. */
export function judgeChannelSplit(
  { limits }: Pick<SpeechModel, "limits">,
  maxSeconds: number,
  wanted: Requirements,
  audio: { readonly channels: number; readonly durationSeconds: number; readonly pcmRate?: number | null },
  splitLongAudio: boolean,
): CutVerdict {
  const sampleRate = audio.pcmRate ?? null;
  if (sampleRate === null) return { ok: false, missing: ["decoder"] };
  if (audio.channels > MOST_SPLIT_CHANNELS) return { ok: false, missing: ["channels"] };
  if (limits.formats !== undefined && !limits.formats.includes("wav")) return { ok: false, missing: ["format"] };
  const bySize = ((limits.maxBytes ?? Number.POSITIVE_INFINITY) - WAV_HEADER_BYTES) / BYTES_PER_SAMPLE;
  // Bounds the decoded length: the measured duration is rounded, and a decoder may return one packet more.
  const frames = Math.ceil((audio.durationSeconds + SPLIT_SLACK_SECONDS) * sampleRate);
  if (audio.durationSeconds <= maxSeconds && frames <= bySize)
    return { ok: true, cut: { sampleRate, channels: audio.channels, maxFrames: frames, perChannel: true } };
  if (!splitLongAudio) return { ok: false, missing: [frames > bySize ? "size" : "duration"] };
  const verdict = judgeCut({ limits }, maxSeconds, wanted, { ...audio, channels: 1 });
  return verdict.ok ? { ok: true, cut: { ...verdict.cut, channels: audio.channels, perChannel: true } } : verdict;
}

/** A decoded recording that is longer by more than this is not the one that was measured (`decode/decoded-recording`). */
const SPLIT_SLACK_SECONDS = 1;
