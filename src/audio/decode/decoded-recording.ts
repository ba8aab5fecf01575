// Decodes a recording once into the spool, to be sent in pieces (`split_long_audio`). Each piece is a WAV file that is generated while it is read, with exactly
// the samples between two cuts [transcription.split].
import { createReadStream } from "node:fs";
import type { AudioSource } from "../measure.ts";
import { WAV_HEADER_BYTES, wavHeader } from "../../lib/wav.ts";
import type { Spool, SpooledAudio } from "../spool.ts";
import type { Decoder } from "./decoder.ts";
import { type Levels, levelMeter } from "./levels.ts";
import { type DecodeWish, type EncodedAudio, Undecodable } from "./pcm.ts";
import type { Span } from "./plan-cuts.ts";

export interface DecodedRecording {
  readonly sampleRate: number;
  readonly channels: number;
  readonly levels: Levels;
  /** A WAV file of that span, with all channels or one. `sizeBytes` is exact. */
  piece(span: Span, channel?: number): { readonly sizeBytes: number; readonly open: () => AsyncIterable<Uint8Array> };
  /** All samples without a WAV header. `sizeBytes` is exact. */
  samples(): Pick<SpooledAudio, "sizeBytes" | "open">;
  dispose(): Promise<void>;
}

const BYTES_PER_SAMPLE = 2;
/** The same tolerance as for a provider's reported duration: beyond it, this is not the recording that was measured [measuring.decoder-length]. */
const TOLERATED_SECONDS = 1;
const TOLERATED_SHARE = 0.02;

/** Throws `Undecodable`. */
export async function decodeRecording(
  { decoder, spool }: { readonly decoder: Decoder; readonly spool: Pick<Spool, "begin"> },
  audio: EncodedAudio,
  wish: DecodeWish,
): Promise<DecodedRecording> {
  const pcm = decoder.decode(audio, wish);
  const { sampleRate, channels } = pcm;
  const tolerated = toleratedSeconds(audio);
  const frameBytes = channels * BYTES_PER_SAMPLE;
  const maxBytes = Math.ceil((audio.durationSeconds + tolerated) * sampleRate) * frameBytes;
  const leastBytes = Math.floor(Math.max(0, audio.durationSeconds - tolerated) * sampleRate) * frameBytes;
  const writer = spool.begin({ maxBytes: maxBytes + frameBytes * sampleRate, param: "audio", leastBytes });
  const meter = levelMeter(pcm);
  try {
    let bytes = 0;
    for await (const chunk of pcm.chunks) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new Undecodable("longer_than_measured");
      meter.add(chunk);
      await writer.write(littleEndian(chunk));
    }
    const levels = meter.end();
    if (levels.samples / sampleRate < audio.durationSeconds - tolerated) throw new Undecodable("shorter_than_measured");
    const spooled = await writer.finish();
    return {
      sampleRate,
      channels,
      levels,
      piece: ({ from, to }, channel) => {
        const isOne = channel !== undefined && channels > 1;
        const bodyBytes = (to - from) * (isOne ? BYTES_PER_SAMPLE : frameBytes);
        return {
          sizeBytes: WAV_HEADER_BYTES + bodyBytes,
          async *open() {
            yield wavHeader(sampleRate, isOne ? 1 : channels, bodyBytes);
            const bytes = bytesBetween(spooled.source, from * frameBytes, to * frameBytes);
            yield* isOne ? channelOf(bytes, channel, frameBytes) : bytes;
          },
        };
      },
      samples: () => ({ sizeBytes: spooled.sizeBytes, open: spooled.open }),
      dispose: () => spooled.dispose(),
    };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

export function toleratedSeconds({ durationSeconds }: Pick<EncodedAudio, "durationSeconds">): number {
  return Math.max(TOLERATED_SECONDS, durationSeconds * TOLERATED_SHARE);
}

/** Samples are in the machine's byte order, which is little-endian already on all but two of Node's platforms. */
function littleEndian(samples: Int16Array): Uint8Array {
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  return IS_LITTLE_ENDIAN ? bytes : Buffer.from(bytes).swap16();
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

async function* bytesBetween(source: AudioSource, from: number, to: number): AsyncGenerator<Uint8Array> {
  if (source.kind === "bytes") yield Buffer.from(source.bytes.subarray(from, to));
  else yield* createReadStream(source.path, { start: from, end: to - 1 }) as AsyncIterable<Buffer>;
}

/** Picks one channel of interleaved samples. Chunks may end within a frame. */
async function* channelOf(
  chunks: AsyncIterable<Uint8Array>,
  channel: number,
  frameBytes: number,
): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    const frames = Math.floor(bytes.length / frameBytes);
    const samples = Buffer.alloc(frames * BYTES_PER_SAMPLE);
    for (let frame = 0; frame < frames; frame++)
      samples.writeUInt16LE(
        bytes.readUInt16LE(frame * frameBytes + channel * BYTES_PER_SAMPLE),
        frame * BYTES_PER_SAMPLE,
      );
    rest = bytes.subarray(frames * frameBytes);
    yield samples;
  }
}
