// Real recordings with their structure broken, through the measuring path: a clear verdict, no hang, no crash, and this thread stays free
// [measuring.no-crash]. And the readers alone, a hundred times as often, whose steps are counted.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import * as fc from "fast-check";
import { createMeasurer } from "../../src/audio/measure.ts";
import { measureBytes } from "../../src/audio/measure-source.ts";
import { type ByteReader, readBytes } from "../../src/audio/readers/byte-reader.ts";
import { fixture } from "../audio/build-audio.ts";
import { assertSane } from "../audio/sane.ts";
import type { Fuzz } from "./fuzz.ts";

const BLOCK_MS = 50;
const names = readdirSync(new URL("../fixtures/audio/", import.meta.url)).filter((name) => name !== "truth.json");

const EXTREMES = [0, 1, 7, 8, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
/** Of MP4 boxes, of EBML elements (tracks, cluster, block, codec, duration, lacing), of RIFF, MPEG and Xing heads. */
const WORDS = [
  ..."ftyp moov mvhd trak tkhd mdhd hdlr minf stbl stsd mp4a esds alac Opus dOps stts stsc stsz stco co64 moof tfhd trun mvex".split(
    " ",
  ),
  ..."mdat fmt  data LIST RIFF Xing Info VBRI ID3 A_OPUS A_VORBIS".split(" ").filter((word) => word !== ""),
  "\x1a\x45\xdf\xa3",
  "\x18\x53\x80\x67",
  "\x16\x54\xae\x6b",
  "\x1f\x43\xb6\x75",
  "\x44\x89",
  "\xa3",
  "\xa1",
  "\xae",
  "\xff\xfb",
  "\x00\x00\x01\xba",
  "\x00\x00\x01\xbd",
  "\x00\x00\x01\xc0",
];
/** Structure is at the start, and in mp4 at the end too. */
const place = fc.oneof(
  fc.double({ min: 0, max: 0.02, noNaN: true }),
  fc.double({ min: 0.98, max: 1, noNaN: true }),
  fc.double({ min: 0, max: 1, noNaN: true }),
);
type Change = (bytes: Uint8Array) => Uint8Array;

const at = (bytes: Uint8Array, share: number) =>
  Math.min(Math.floor(share * bytes.length), Math.max(0, bytes.length - 1));
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(place, fc.constantFrom(...EXTREMES), fc.boolean(), fc.constantFrom(1, 2, 4)).map(
    ([where, value, isLittle, width]): Change =>
      (bytes) => {
        const copy = Buffer.from(bytes);
        const offset = at(bytes, where);
        if (offset + width > copy.length) return copy;
        const kept = Number(BigInt.asUintN(width * 8, BigInt(value)));
        if (isLittle) copy.writeUIntLE(kept, offset, width);
        else copy.writeUIntBE(kept, offset, width);
        return copy;
      },
  ),
  fc.tuple(place, fc.nat(255)).map(
    ([where, value]): Change =>
      (bytes) => {
        const copy = Uint8Array.from(bytes);
        copy[at(bytes, where)] = value;
        return copy;
      },
  ),
  place.map(
    (where): Change =>
      (bytes) =>
        bytes.slice(0, at(bytes, where)),
  ),
  // A piece missing, or there twice.
  fc.tuple(place, fc.nat(600)).map(
    ([where, length]): Change =>
      (bytes) => {
        const start = at(bytes, where);
        return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + length)]);
      },
  ),
  fc.tuple(place, fc.nat(600)).map(
    ([where, length]): Change =>
      (bytes) => {
        const start = at(bytes, where);
        return Buffer.concat([bytes.subarray(0, start + length), bytes.subarray(start)]);
      },
  ),
  // A size, a count or an offset next to one of the words that structure is made of.
  fc
    .tuple(
      fc.constantFrom(...WORDS),
      fc.nat(3),
      fc.integer({ min: -8, max: 48 }),
      fc.constantFrom(...EXTREMES),
      fc.boolean(),
    )
    .map(
      ([word, which, distance, value, isLittle]): Change =>
        (bytes) => {
          const copy = Buffer.from(bytes);
          let found = copy.indexOf(word, 0, "latin1");
          for (let next = found, left = which; left > 0 && next !== -1; left -= 1) {
            next = copy.indexOf(word, found + 1, "latin1");
            if (next !== -1) found = next;
          }
          const offset = found + distance;
          if (found === -1 || offset < 0 || offset + 4 > copy.length) return copy;
          if (isLittle) copy.writeUInt32LE(value, offset);
          else copy.writeUInt32BE(value, offset);
          return copy;
        },
    ),
  // The head of one recording before the rest of another.
  fc.tuple(fc.constantFrom(...names), place).map(
    ([other, where]): Change =>
      (bytes) => {
        const head = fixture(other);
        return Buffer.concat([head.subarray(0, Math.min(at(head, where), 4_096)), bytes.subarray(at(bytes, where))]);
      },
  ),
);

const broken = fc
  .tuple(fc.constantFrom(...names), fc.array(change, { minLength: 1, maxLength: 5 }))
  .map(([name, changes]) => changes.reduce<Uint8Array>((bytes, apply) => apply(bytes), fixture(name)));

/** Whatever a file says of itself: to read each of its bytes this often is more than any reader needs. */
const STEPS_A_BYTE = 4;
const STEPS_BESIDES = 50_000;

/** A reader that counts what is asked of it; beyond the bound a reader is in an endless loop. */
function counting(bytes: Uint8Array): ByteReader {
  const reader = readBytes(bytes);
  let left = bytes.byteLength * STEPS_A_BYTE + STEPS_BESIDES;
  const step = (): void => {
    left -= 1;
    if (left < 0) throw new Error("does not come to an end");
  };
  return {
    size: reader.size,
    read: (offset, length) => {
      step();
      return reader.read(offset, length);
    },
    u8: (offset) => {
      step();
      return reader.u8(offset);
    },
    u32: (offset) => {
      step();
      return reader.u32(offset);
    },
    indexOf: (byte, from) => {
      step();
      return reader.indexOf(byte, from);
    },
  };
}

export const readers: Fuzz = {
  about: "the same through the readers alone: a verdict after so many steps, whatever a recording declares",
  shortRuns: 1_000,
  open: async () => ({
    property: fc.property(broken, (bytes) => {
      const measurement = measureBytes(counting(bytes));
      assertSane(measurement, bytes);
    }) as fc.IProperty<unknown>,
    close: async () => undefined,
  }),
};

export const media: Fuzz = {
  about: "recordings of every container with sizes, bytes and pieces changed",
  shortRuns: 120,
  open: async () => {
    // The kill limit is a wall clock; here a busy machine must not decide.
    const measurer = createMeasurer({ killAfterMs: () => 60_000 });
    const measure = (bytes: Uint8Array) => measurer.measure({ kind: "bytes", bytes });
    return {
      property: fc.asyncProperty(broken, async (bytes) => {
        let ownMs = Number.POSITIVE_INFINITY;
        // Real work costs as much every time; a collection of garbage that happens to fall into it does not.
        for (let attempt = 0; attempt < 3 && ownMs >= BLOCK_MS; attempt += 1) {
          const before = process.threadCpuUsage();
          assertSane(await measure(bytes), bytes);
          const own = process.threadCpuUsage(before);
          ownMs = (own.user + own.system) / 1000;
        }
        assert.ok(ownMs < BLOCK_MS, `this thread worked for ${ownMs} ms`);
      }) as fc.IAsyncProperty<unknown>,
      close: () => measurer.close(),
    };
  },
};
