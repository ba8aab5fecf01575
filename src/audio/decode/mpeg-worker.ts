// The worker thread of mpeg-threads.ts: decodes pieces of one recording after the other, in order, and answers each with the samples that are complete.
import { type MessagePort, parentPort } from "node:worker_threads";
import { type MPEGDecodedAudio, MPEGDecoder } from "mpg123-decoder";

export interface MpegJob {
  /** As measured. The decoder returns both channels of every frame. */
  readonly channels: number;
  readonly sampleRate: number;
  readonly isMono: boolean;
}

/** `begin` takes a decoder with memory of its own, so that nothing of a recording is there for the next. */
export type MpegOrder =
  | { readonly begin: MpegJob }
  | { readonly piece: Uint8Array<ArrayBuffer> }
  | { readonly end: true };

export interface MpegAnswer {
  readonly samples: Int16Array<ArrayBuffer>;
}

interface Recording {
  readonly job: MpegJob;
  readonly decoder: Promise<MPEGDecoder>;
}

function work(port: MessagePort): void {
  let recording: Recording | null = null;
  // Created between two recordings: it takes 0.4 ms, and 5 ms where the memory of earlier decoders is collected for it.
  let next: Promise<MPEGDecoder> | null = createDecoder();
  let timer: NodeJS.Timeout | undefined;
  // The library writes a line for each damaged frame. A reader of this thread's stderr would keep the process alive while the thread is idle.
  process.stderr.write = () => true;
  port.on("message", (order: MpegOrder) => {
    if ("begin" in order) {
      clearTimeout(timer);
      recording = { job: order.begin, decoder: next ?? createDecoder() };
      next = null;
    } else if ("end" in order) {
      recording = null;
      timer = setTimeout(() => {
        next = createDecoder();
      }, NEXT_AFTER_MS);
    } else if (recording !== null) void decode(port, recording, order.piece);
  });
}

/** Not at once, when the samples of a sentence are on their way to a model and need the processors: later, while the model works on them. */
const NEXT_AFTER_MS = 6;

async function createDecoder(): Promise<MPEGDecoder> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  return decoder;
}

async function decode(port: MessagePort, { job, decoder }: Recording, piece: Uint8Array): Promise<void> {
  const { channels, sampleRate, isMono } = job;
  const ready = await decoder;
  const parts: Int16Array[] = [];
  for (let at = 0; at < piece.byteLength; at += STEP_BYTES) {
    const decoded = ready.decode(piece.subarray(at, at + STEP_BYTES));
    // Noise can look like a frame of another rate. Damaged parts are skipped, and the length of the whole is compared with the measured one.
    if (decoded.sampleRate === sampleRate) parts.push(toSamples(decoded, channels, isMono));
  }
  const samples = joined(parts);
  port.postMessage({ samples } satisfies MpegAnswer, [samples.buffer]);
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
    // Two lines, because taking both out of an array takes as long as half of the decoding.
    const one = left[frame] ?? 0;
    const other = right[frame] ?? 0;
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

/** Rounds as `Math.round` does, which takes six times as long for sound, because it branches. */
function toInteger(value: number): number {
  const scaled = value * 32_768;
  return Math.floor((scaled > 32_767 ? 32_767 : scaled < -32_768 ? -32_768 : scaled) + 0.5);
}

if (parentPort === null) throw new Error("this is a worker thread's file");
work(parentPort);
