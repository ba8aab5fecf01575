// Decodes a recording to 16-bit samples with bounded memory, for `split_long_audio` and the empty-transcript guard [measuring.decoder].
// By ffmpeg where the machine has it, else by the gateway's own reader, which knows WAV alone (docs/decisions/0013).
import { availableParallelism } from "node:os";
import { createKeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.ts";
import { decodeByFfmpeg } from "./ffmpeg.ts";
import { type DecodableAudio, type DecodeWish, type EncodedAudio, type Pcm, SPEECH_RATE, Undecodable } from "./pcm.ts";
import { decodeWav, WAV_CODECS } from "./wav.ts";

export interface Decoder {
  readonly name: "ffmpeg" | "wav";
  /** Samples a second it would give of this recording; null: it cannot read it. */
  rateOf(audio: DecodableAudio): number | null;
  /** Whoever decodes a whole recording waits for one of few places, each owner in its turn; rejects when the signal aborts first. */
  inTurn<T>(turn: DecodeTurn, work: () => Promise<T>): Promise<T>;
  /** Its chunks throw `Undecodable` where the content is not what its measurement promised. */
  decode(audio: EncodedAudio, wish: DecodeWish): Pcm;
}

export interface DecodeTurn {
  readonly signal: AbortSignal;
  readonly owner: string;
}

export interface DecoderOptions {
  /** The program; null: only WAV. */
  readonly ffmpeg: string | null;
  /** Where a recording rests while ffmpeg reads it. */
  readonly directory: string;
}

export function createDecoder({ ffmpeg, directory }: DecoderOptions): Decoder {
  // Half of the machine goes on answering.
  const total = Math.max(1, Math.floor(availableParallelism() / 2));
  const places = createKeyedSemaphore({ total, perKind: total });
  const inTurn: Decoder["inTurn"] = ({ signal, owner }, work) => places.run("decode", signal, work, owner);
  if (ffmpeg !== null)
    return {
      name: "ffmpeg",
      inTurn,
      // What nobody measured is no recording: audio that is still being spoken.
      rateOf: ({ codec }) => (codec === undefined ? null : SPEECH_RATE),
      decode: (audio, { channels, signal }) => {
        const count = channels === "mono" ? 1 : audio.channels;
        const chunks = decodeByFfmpeg({
          program: ffmpeg,
          directory,
          audio,
          rate: SPEECH_RATE,
          channels: count,
          signal,
        });
        return { sampleRate: SPEECH_RATE, channels: count, chunks };
      },
    };
  return {
    name: "wav",
    inTurn,
    // The file's own: a resampler would have to be a good one to do no harm.
    rateOf: readableRate,
    decode: (audio, { channels, signal }) => {
      const sampleRate = readableRate(audio);
      if (sampleRate === null) throw new Undecodable("no_decoder");
      const chunks = decodeWav(audio, { isMono: channels === "mono", signal });
      return { sampleRate, channels: channels === "mono" ? 1 : audio.channels, chunks };
    },
  };
}

function readableRate({ format, codec, sampleRate }: DecodableAudio): number | null {
  return format === "wav" && codec !== undefined && WAV_CODECS.has(codec) ? (sampleRate ?? null) : null;
}
