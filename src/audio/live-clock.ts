// Measures live audio while it arrives [measuring.live-clock]. PCM samples are counted. In a browser's recording only the duration that every Opus packet
// declares is used.
import { opusPacketSeconds } from "./readers/opus.ts";

export interface LiveClock {
  /** Seconds received so far, including this chunk. Null: the audio is not of the declared format. */
  hear(chunk: Uint8Array): number | null;
}

const BYTES_PER_SAMPLE = 2;

export function createSampleClock(sampleRate: number): LiveClock {
  let bytes = 0;
  return {
    hear: (chunk) => {
      bytes += chunk.byteLength;
      return bytes / (sampleRate * BYTES_PER_SAMPLE);
    },
  };
}

const EBML = 0x1a45dfa3;
/** Containers with children that are read. All other elements are skipped by their size. */
const CONTAINERS: ReadonlySet<number> = new Set([0x18538067, 0x1f43b675, 0xa0]);
const BLOCKS: ReadonlySet<number> = new Set([0xa3, 0xa1]);
/** Track, time and flags precede the packet, of which two bytes are read. */
const BLOCK_HEAD_BYTES = 6;
const LACING_FLAGS = 0x06;
/** No element header and no beginning of a block is longer. */
const MAX_HELD_BYTES = 32;

/** Supports one track, as browsers record. A second one would be video. */
export function createWebmClock(): LiveClock {
  let buffer = Buffer.alloc(0);
  let skip = 0;
  let seconds = 0;
  let track: number | null = null;
  let isFirst = true;
  let isBroken = false;

  /** False: more bytes are needed, or the recording is invalid. */
  function step(): boolean {
    const head = elementHead(buffer);
    if (head === "more") return false;
    if (head === "broken" || (isFirst && head.id !== EBML)) return broke();
    isFirst = false;
    if (CONTAINERS.has(head.id)) {
      buffer = buffer.subarray(head.headBytes);
      return true;
    }
    if (head.sizeBytes === null) return broke();
    if (BLOCKS.has(head.id)) {
      if (buffer.byteLength < head.headBytes + Math.min(BLOCK_HEAD_BYTES, head.sizeBytes)) return false;
      if (!count(buffer.subarray(head.headBytes), head.sizeBytes)) return broke();
    }
    skip = head.headBytes + head.sizeBytes;
    return true;
  }
  function count(block: Buffer, sizeBytes: number): boolean {
    const [number = 0] = block;
    // Track numbers below 127 take one byte.
    if (sizeBytes < BLOCK_HEAD_BYTES - 1 || number < 0x81) return false;
    if (((block[3] ?? 0) & LACING_FLAGS) !== 0) return false;
    track ??= number;
    if (number === track) seconds += opusPacketSeconds(block[4] ?? 0, block[5] ?? 0);
    return true;
  }
  function broke(): boolean {
    isBroken = true;
    return false;
  }
  return {
    hear: (chunk) => {
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      while (rest.byteLength > 0 && !isBroken) {
        const skippedBytes = Math.min(skip, rest.byteLength);
        skip -= skippedBytes;
        rest = rest.subarray(skippedBytes);
        buffer = Buffer.concat([buffer, rest]);
        rest = rest.subarray(rest.byteLength);
        while (buffer.byteLength > 0 && step()) {
          const stepBytes = Math.min(skip, buffer.byteLength);
          buffer = buffer.subarray(stepBytes);
          skip -= stepBytes;
        }
        if (skip === 0 && buffer.byteLength > MAX_HELD_BYTES) isBroken = true;
      }
      return isBroken ? null : seconds;
    },
  };
}

interface ElementHead {
  readonly id: number;
  readonly headBytes: number;
  /** Null: up to the next element. */
  readonly sizeBytes: number | null;
}

function elementHead(bytes: Buffer): ElementHead | "more" | "broken" {
  const idBytes = Math.clz32(bytes[0] ?? 0) - 23;
  if (idBytes > 4) return "broken";
  if (bytes.byteLength < idBytes + 1) return "more";
  const sizeLength = Math.clz32(bytes[idBytes] ?? 0) - 23;
  if (sizeLength > 8) return "broken";
  if (bytes.byteLength < idBytes + sizeLength) return "more";
  let size = (bytes[idBytes] ?? 0) & ((1 << (8 - sizeLength)) - 1);
  let isUnknown = size === (1 << (8 - sizeLength)) - 1;
  for (const byte of bytes.subarray(idBytes + 1, idBytes + sizeLength)) {
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  const id = bytes.readUIntBE(0, idBytes);
  return { id, headBytes: idBytes + sizeLength, sizeBytes: isUnknown ? null : size };
}
