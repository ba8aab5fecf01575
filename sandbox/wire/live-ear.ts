// Measures audio received over a WebSocket: PCM as it arrives, a WAV file from its header on, other formats when complete.
import type { AudioMeter } from "./measure-audio.ts";
import { heardPiece, type LivePiece, PIECE_SECONDS, type SampleRate } from "./live-wire.ts";
import { createSpool, type Spooled } from "./spool.ts";

export interface Ear {
  /** Returns the pieces that this chunk completes. */
  hear(chunk: Uint8Array): Promise<readonly LivePiece[]>;
  /** The rest of the PCM so far, as a piece of its own, and the seconds of all of it. */
  flush(): { readonly pieces: readonly LivePiece[]; readonly seconds: number };
  /** The remaining pieces. Null: not audio. The caller removes the file of `heard`. */
  end(): Promise<{
    readonly pieces: readonly LivePiece[];
    readonly seconds: number;
    readonly channels: number;
    readonly heard: Spooled;
  } | null>;
  remove(): Promise<void>;
  readonly channels: () => number;
}

const BYTES_PER_SAMPLE = 2;
const MAX_HEAD_BYTES = 4096;

export function createEar(declared: SampleRate | null, meter: AudioMeter): Ear {
  const spool = createSpool();
  let head = Buffer.alloc(0);
  let samples = declared;
  let bytes = 0;
  let sentSeconds = 0;
  let index = 0;

  const seconds = (): number =>
    samples === null ? 0 : bytes / (samples.sampleRate * samples.channels * BYTES_PER_SAMPLE);
  const due = (until: number, isLast: boolean): readonly LivePiece[] => {
    const pieces: LivePiece[] = [];
    const wholePieces = Math.floor((until - sentSeconds) / PIECE_SECONDS) * PIECE_SECONDS;
    const last = isLast ? until : sentSeconds + wholePieces;
    while (sentSeconds < last) {
      const end = Math.min(sentSeconds + PIECE_SECONDS, until);
      pieces.push(heardPiece(index, sentSeconds, end));
      index += 1;
      sentSeconds = end;
    }
    return pieces;
  };
  return {
    channels: () => samples?.channels ?? 1,
    hear: async (chunk) => {
      await spool.write(chunk);
      if (samples === null && head.byteLength < MAX_HEAD_BYTES) {
        head = Buffer.concat([head, chunk]);
        const wav = waveHead(head);
        if (wav === null) return [];
        samples = wav.rate;
        bytes = head.byteLength - wav.dataAt;
      } else bytes += chunk.byteLength;
      return due(seconds(), false);
    },
    flush: () => ({ pieces: due(seconds(), true), seconds: seconds() }),
    end: async () => {
      const heard = await spool.finish();
      if (samples !== null) {
        return { pieces: due(seconds(), true), seconds: seconds(), channels: samples.channels, heard };
      }
      const facts = await meter.measure(heard);
      if (!facts.ok) {
        await heard.remove();
        return null;
      }
      const { durationSeconds, channels } = facts;
      return { pieces: due(durationSeconds, true), seconds: durationSeconds, channels, heard };
    },
    remove: () => spool.remove(),
  };
}

/** Only 16-bit PCM. Null until its samples begin, or if it is another file. */
function waveHead(head: Buffer): { readonly rate: SampleRate; readonly dataAt: number } | null {
  if (head.toString("latin1", 0, 4) !== "RIFF" || head.toString("latin1", 8, 12) !== "WAVE") return null;
  let rate: SampleRate | null = null;
  for (let at = 12; at + 8 <= head.byteLength; ) {
    const name = head.toString("latin1", at, at + 4);
    if (name === "data") return rate === null ? null : { rate, dataAt: at + 8 };
    if (name === "fmt " && at + 24 <= head.byteLength) {
      if (head.readUInt16LE(at + 8) !== 1 || head.readUInt16LE(at + 22) !== 16) return null;
      rate = { channels: head.readUInt16LE(at + 10), sampleRate: head.readUInt32LE(at + 12) };
    }
    at += 8 + head.readUInt32LE(at + 4) + (head.readUInt32LE(at + 4) % 2);
  }
  return null;
}
