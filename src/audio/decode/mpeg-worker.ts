// The worker thread of mpeg.ts: decodes pieces of one recording, in order, and answers each with the samples that are complete.
import { parentPort, workerData } from "node:worker_threads";
import { type MPEGDecodedAudio, MPEGDecoder } from "mpg123-decoder";

export interface MpegJob {
  /** As measured. The decoder returns both channels of every frame. */
  readonly channels: number;
  readonly sampleRate: number;
  readonly isMono: boolean;
}

export interface MpegAnswer {
  readonly samples: Int16Array<ArrayBuffer>;
}

async function work({ channels, sampleRate, isMono }: MpegJob): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error("this is a worker thread's file");
  const decoder = new MPEGDecoder();
  await decoder.ready;
  port.on("message", (piece: Uint8Array) => {
    const parts: Int16Array[] = [];
    for (let at = 0; at < piece.byteLength; at += STEP_BYTES) {
      const decoded = decoder.decode(piece.subarray(at, at + STEP_BYTES));
      // Noise can look like a frame of another rate. Damaged parts are skipped, and the length of the whole is compared with the measured one.
      if (decoded.sampleRate === sampleRate) parts.push(toSamples(decoded, channels, isMono));
    }
    const samples = joined(parts);
    port.postMessage({ samples } satisfies MpegAnswer, [samples.buffer]);
  });
}

/** A frame of 128 kbit/s has 417 bytes. */
const STEP_BYTES = 1_024;

function toSamples(
  { channelData: [left = NOTHING, right = left], samplesDecoded: frames }: MPEGDecodedAudio,
  channels: number,
  isMono: boolean,
): Int16Array {
  const count = isMono ? 1 : channels;
  const samples = new Int16Array(frames * count);
  for (let frame = 0; frame < frames; frame++) {
    const [one, other] = [left[frame] ?? 0, right[frame] ?? 0];
    if (count === 2) {
      samples[frame * 2] = toInteger(one);
      samples[frame * 2 + 1] = toInteger(other);
    } else samples[frame] = toInteger(channels === 1 ? one : (one + other) / 2);
  }
  return samples;
}

function joined(parts: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return samples;
}

const NOTHING = new Float32Array(0);

function toInteger(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768)));
}

await work(workerData as MpegJob);
