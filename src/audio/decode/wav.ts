// Streaming WAV decoder without an external program: PCM of 8 to 32 bits, floats, A-law and µ-law [measuring.decoder-exact]. Uses the measured length
// (readers/wav.ts), because a header can be wrong.
import { endianness } from "node:os";
import { setImmediate } from "node:timers/promises";
import { hasPadByte } from "../readers/riff-chunks.ts";
import { type DecodableAudio, type EncodedAudio, SPEECH_RATE, Undecodable } from "./pcm.ts";

/** Codec names of readers/wav.ts. */
export const WAV_CODECS: ReadonlySet<string> = new Set(["pcm", "float", "alaw", "mulaw"]);

const FRAMES_AT_ONCE = 16_384;
/** Chunks before the sound are titles and cover pictures. With more bytes it is not a recording. */
const MAX_BYTES_BEFORE_SOUND = 16_777_216;

export async function* decodeWav(
  audio: EncodedAudio,
  { isMono, signal }: { readonly isMono: boolean; readonly signal: AbortSignal },
): AsyncGenerator<Int16Array> {
  const bytes = byteQueue(audio.open("passing")[Symbol.asyncIterator](), signal);
  try {
    const { format, claimedBytes } = await findSound(bytes);
    const readSample = sampleReader(format);
    const { channels, bytesPerSample, sampleRate } = format;
    const frameBytes = channels * bytesPerSample;
    for (let remainingFrames = soundFrames(audio, claimedBytes, frameBytes, sampleRate); remainingFrames > 0; ) {
      const block = await bytes.take(Math.min(remainingFrames, FRAMES_AT_ONCE) * frameBytes);
      const frames = Math.floor(block.byteLength / frameBytes);
      if (frames === 0) return;
      remainingFrames -= frames;
      // Yields to the event loop: bytes in memory arrive without a tick between them.
      await setImmediate();
      yield isMono && channels > 1
        ? mixToMono(block, frames, format, readSample)
        : readAllChannels(block, frames, format, readSample);
    }
  } finally {
    await bytes.close();
  }
}

/** Has the wanted samples already. Starting ffmpeg for them takes some 70 ms of a processor, reading them below 1 ms [measuring.decoder-direct]. */
export function isSpeechWav({ format, codec, sampleRate }: DecodableAudio): boolean {
  return format === "wav" && codec === "pcm" && sampleRate === SPEECH_RATE;
}

export interface PlainSound {
  /** Where the samples begin in the file. */
  readonly offset: number;
  readonly frames: number;
}

/** Finds samples that are 16-bit PCM already. Null: they are wider or narrower. */
export async function findPlainSound(audio: EncodedAudio, signal: AbortSignal): Promise<PlainSound | null> {
  const bytes = byteQueue(audio.open("passing")[Symbol.asyncIterator](), signal);
  try {
    const { format, claimedBytes } = await findSound(bytes);
    const { channels, bytesPerSample, sampleRate } = format;
    if (!isPlain(format)) return null;
    return {
      offset: bytes.position(),
      frames: soundFrames(audio, claimedBytes, channels * bytesPerSample, sampleRate),
    };
  } finally {
    await bytes.close();
  }
}

/** Frames that the header declares, if the measured duration agrees to its rounding of a millisecond. Otherwise the measured ones. */
function soundFrames(
  { durationSeconds }: EncodedAudio,
  claimedBytes: number,
  frameBytes: number,
  sampleRate: number,
): number {
  const claimed = Math.floor(claimedBytes / frameBytes);
  const measured = Math.round(durationSeconds * sampleRate);
  return Math.abs(claimed - measured) <= sampleRate / 1000 ? claimed : measured;
}

interface WavFormat {
  readonly codec: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSample: number;
}

async function findSound(bytes: ByteQueue): Promise<{ readonly format: WavFormat; readonly claimedBytes: number }> {
  await bytes.take(12);
  let format: WavFormat | null = null;
  for (let skippedBytes = 0; skippedBytes < MAX_BYTES_BEFORE_SOUND; ) {
    const head = await bytes.take(8);
    if (head.byteLength < 8) break;
    const id = String.fromCharCode(...new Uint8Array(head.buffer, head.byteOffset, 4));
    const size = head.getUint32(4, true);
    if (id === "data") {
      if (format === null) break;
      return { format, claimedBytes: size };
    }
    if (size > MAX_BYTES_BEFORE_SOUND) break;
    const body = await bytes.take(size);
    if (id === "fmt ") format = readFormat(body);
    if (size % 2 === 1) await skipPadByte(bytes);
    skippedBytes += 8 + size;
  }
  throw new Undecodable("wav_structure");
}

async function skipPadByte(bytes: ByteQueue): Promise<void> {
  const next = await bytes.take(5);
  const ids = String.fromCharCode(...new Uint8Array(next.buffer, next.byteOffset, next.byteLength));
  const padBytes = hasPadByte(ids.slice(0, 4), ids.slice(1)) ? 1 : 0;
  bytes.putBack(new Uint8Array(next.buffer, next.byteOffset + padBytes, Math.max(0, next.byteLength - padBytes)));
}

function readFormat(body: DataView): WavFormat {
  if (body.byteLength < 16) throw new Undecodable("wav_structure");
  const tag = body.getUint16(0, true);
  const codec = tag === 0xfffe && body.byteLength >= 26 ? body.getUint16(24, true) : tag;
  const bits = body.getUint16(14, true);
  return {
    codec,
    channels: body.getUint16(2, true),
    sampleRate: body.getUint32(4, true),
    bytesPerSample: codec === 1 || codec === 3 ? Math.ceil(bits / 8) : 1,
  };
}

/** Reads the sample at an offset as 16 bits. */
type ReadSample = (view: DataView, offset: number) => number;

function sampleReader({ codec, bytesPerSample }: WavFormat): ReadSample {
  if (codec === 6) return (view, offset) => fromAlaw(view.getUint8(offset));
  if (codec === 7) return (view, offset) => fromMulaw(view.getUint8(offset));
  if (codec === 3 && bytesPerSample === 4) return (view, offset) => fromFloat(view.getFloat32(offset, true));
  if (codec === 3 && bytesPerSample === 8) return (view, offset) => fromFloat(view.getFloat64(offset, true));
  if (codec === 1 && bytesPerSample === 1) return (view, offset) => (view.getUint8(offset) - 128) << 8;
  // Wider samples are truncated to their two highest bytes.
  if (codec === 1 && bytesPerSample >= 2) return (view, offset) => view.getInt16(offset + bytesPerSample - 2, true);
  throw new Undecodable("wav_codec");
}

function fromFloat(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.round(Math.max(-1, Math.min(1, value)) * 32_767);
}

/** ITU-T G.711. */
function fromAlaw(byte: number): number {
  const value = byte ^ 0x55;
  const exponent = (value & 0x70) >> 4;
  const mantissa = (value & 0x0f) << 4;
  const magnitude = exponent === 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return value & 0x80 ? magnitude : -magnitude;
}

function fromMulaw(byte: number): number {
  const value = ~byte & 0xff;
  const magnitude = ((((value & 0x0f) << 3) + 0x84) << ((value & 0x70) >> 4)) - 0x84;
  return value & 0x80 ? -magnitude : magnitude;
}

function readAllChannels(
  block: DataView,
  frames: number,
  { codec, channels, bytesPerSample }: WavFormat,
  readSample: ReadSample,
): Int16Array {
  // The bytes are the samples, in a buffer of their own: 0.3 instead of 4 ms for a minute at 16 kHz.
  if (isPlain({ codec, bytesPerSample }) && endianness() === "LE")
    return new Int16Array(block.buffer, block.byteOffset, frames * channels);
  const samples = new Int16Array(frames * channels);
  for (let index = 0; index < samples.length; index++) samples[index] = readSample(block, index * bytesPerSample);
  return samples;
}

function isPlain({ codec, bytesPerSample }: Pick<WavFormat, "codec" | "bytesPerSample">): boolean {
  return codec === 1 && bytesPerSample === 2;
}

function mixToMono(
  block: DataView,
  frames: number,
  { channels, bytesPerSample }: WavFormat,
  readSample: ReadSample,
): Int16Array {
  const samples = new Int16Array(frames);
  let offset = 0;
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++, offset += bytesPerSample) sum += readSample(block, offset);
    samples[frame] = Math.round(sum / channels);
  }
  return samples;
}

interface ByteQueue {
  /** Returns `length` bytes, fewer only at the end. */
  take(length: number): Promise<DataView>;
  /** Prepends bytes to those that `take` returns next. */
  putBack(bytes: Uint8Array): void;
  /** Number of bytes that were taken. */
  position(): number;
  close(): Promise<void>;
}

function byteQueue(source: AsyncIterator<Uint8Array>, signal: AbortSignal): ByteQueue {
  let rest: Uint8Array = new Uint8Array(0);
  let position = 0;
  return {
    async take(length) {
      const output = new Uint8Array(length);
      let filled = 0;
      while (filled < length) {
        if (rest.length === 0) {
          signal.throwIfAborted();
          const next = await source.next();
          if (next.done === true) break;
          rest = next.value;
        }
        const part = rest.subarray(0, length - filled);
        output.set(part, filled);
        rest = rest.subarray(part.length);
        filled += part.length;
      }
      position += filled;
      return new DataView(output.buffer, 0, filled);
    },
    putBack(bytes) {
      rest = Buffer.concat([bytes, rest]);
      position -= bytes.byteLength;
    },
    position: () => position,
    async close() {
      await source.return?.();
    },
  };
}
