// Decodes a recording to 16-bit PCM with bounded memory, for `split_long_audio` and the empty-transcript guard [measuring.decoder]. Uses ffmpeg if it is
// installed, otherwise the built-in readers of WAV and MP3 (docs/decisions/0013, docs/decisions/0051).
import { availableParallelism } from "node:os";
import type { AudioFormat } from "../../contract/transcription/audio-formats.ts";
import { createKeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.ts";
import { decodeByFfmpeg } from "./ffmpeg.ts";
import { createFfmpegProcess } from "./ffmpeg-process.ts";
import { decodeMpeg, isSpeechMpeg, MPEG_CODECS } from "./mpeg.ts";
import { createMpegThreads } from "./mpeg-threads.ts";
import { type DecodableAudio, type DecodeWish, type EncodedAudio, type Pcm, SPEECH_RATE, Undecodable } from "./pcm.ts";
import { decodeWav, isSpeechWav, WAV_CODECS } from "./wav.ts";

export interface Decoder {
  readonly name: "ffmpeg" | "built-in";
  /** Sample rate of the decoded recording. Null: the decoder cannot read it. */
  rateOf(audio: DecodableAudio): number | null;
  /** Runs `work` under a semaphore for decoding whole recordings, fair by owner. Rejects if the signal aborts while waiting. */
  inTurn<T>(turn: DecodeTurn, work: () => Promise<T>): Promise<T>;
  /** Its chunks throw `Undecodable` where the content is not what was measured. */
  decode(audio: EncodedAudio, wish: DecodeWish): Pcm;
}

export interface DecodeTurn {
  readonly signal: AbortSignal;
  readonly owner: string;
}

export interface DecoderOptions {
  /** Path of ffmpeg. Null: only WAV and MP3 can be decoded. */
  readonly ffmpeg: string | null;
  /** Directory of the file that ffmpeg reads. */
  readonly directory: string;
}

export function createDecoder({ ffmpeg, directory }: DecoderOptions): Decoder {
  // Half of the processors keep serving requests.
  const total = Math.max(1, Math.floor(availableParallelism() / 2));
  const places = createKeyedSemaphore({ total, perKind: total });
  const inTurn: Decoder["inTurn"] = ({ signal, owner }, work) => places.run("decode", signal, work, owner);
  const threads = createMpegThreads();
  if (ffmpeg !== null) {
    const starter = createFfmpegProcess();
    return {
      name: "ffmpeg",
      inTurn,
      // Audio without a codec was not measured: it is a live stream, not a recording.
      rateOf: ({ codec }) => (codec === undefined ? null : SPEECH_RATE),
      decode: (audio, { channels, signal }) => {
        const count = channels === "mono" ? 1 : audio.channels;
        if (isSpeechWav(audio) && count === audio.channels)
          return { sampleRate: SPEECH_RATE, channels: count, chunks: decodeWav(audio, { isMono: false, signal }) };
        if (isSpeechMpeg(audio)) {
          const isMono = channels === "mono";
          return { sampleRate: SPEECH_RATE, channels: count, chunks: decodeMpeg(audio, { threads, isMono, signal }) };
        }
        const chunks = decodeByFfmpeg({
          starter,
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
  }
  return {
    name: "built-in",
    inTurn,
    // The file's own rate, because only a good resampler would do no harm.
    rateOf: readableRate,
    decode: (audio, { channels, signal }) => {
      const sampleRate = readableRate(audio);
      if (sampleRate === null) throw new Undecodable("no_decoder");
      const isMono = channels === "mono";
      const chunks =
        audio.format === "wav" ? decodeWav(audio, { isMono, signal }) : decodeMpeg(audio, { threads, isMono, signal });
      return { sampleRate, channels: channels === "mono" ? 1 : audio.channels, chunks };
    },
  };
}

function readableRate({ format, codec, sampleRate }: DecodableAudio): number | null {
  const codecs = OWN_CODECS[format];
  return codec !== undefined && codecs?.has(codec) === true ? (sampleRate ?? null) : null;
}

const OWN_CODECS: Partial<Readonly<Record<AudioFormat, ReadonlySet<string>>>> = { wav: WAV_CODECS, mp3: MPEG_CODECS };
