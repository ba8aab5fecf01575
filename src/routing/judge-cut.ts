// Audio beyond a model's size or duration on a route with `split_long_audio`: how large its pieces may be, or what a cut would cost
// [routing.split-pieces] [routing.split-excluded]. Pure: whether the gateway can decode the recording is an argument.
import { WAV_HEADER_BYTES } from "../lib/wav.ts";
import type { Feature, Lack } from "../contract/features.ts";
import type { SpeechModel } from "../providers/provider.ts";
import type { Requirements } from "./required-features.ts";

/** Pieces are WAV files of 16-bit samples. */
export interface Cut {
  readonly sampleRate: number;
  readonly channels: number;
  /** The longest piece that both caps allow. */
  readonly maxFrames: number;
  /** Each channel is sent by itself. */
  readonly perChannel?: true;
}

export type CutVerdict =
  | { readonly ok: true; readonly cut: Cut }
  /** Besides the limit that the audio exceeds. */
  | { readonly ok: false; readonly missing: readonly Lack[] };

/** Speaker 1 of one piece is nobody in the next; a number read out across a cut is whole in neither; a stream has one file. */
const NEEDS_THE_WHOLE: ReadonlySet<Feature> = new Set<Feature>([
  "diarization",
  "redaction.pii",
  "redaction.pci",
  "redaction.phi",
  "redaction.numbers",
  "streaming",
]);

const BYTES_PER_SAMPLE = 2;
/** Shorter ones are all cuts and no speech. */
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

/** Each is a call, and is paid for. */
const MOST_SPLIT_CHANNELS = 8;

/** For a model that knows no channels: whole where a channel fits within its limits, else in pieces too. */
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
  // Of what is decoded: a measurement rounds, and a decoder may give a packet more.
  const frames = Math.ceil((audio.durationSeconds + SPLIT_SLACK_SECONDS) * sampleRate);
  if (audio.durationSeconds <= maxSeconds && frames <= bySize)
    return { ok: true, cut: { sampleRate, channels: audio.channels, maxFrames: frames, perChannel: true } };
  if (!splitLongAudio) return { ok: false, missing: [frames > bySize ? "size" : "duration"] };
  const verdict = judgeCut({ limits }, maxSeconds, wanted, { ...audio, channels: 1 });
  return verdict.ok ? { ok: true, cut: { ...verdict.cut, channels: audio.channels, perChannel: true } } : verdict;
}

/** Beyond it, what was decoded is not the recording that was measured (decode/decoded-recording). */
const SPLIT_SLACK_SECONDS = 1;
