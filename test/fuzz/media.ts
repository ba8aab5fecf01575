// Real recordings with their structure broken, through the measuring path: a clear verdict, no hang, no crash, and this thread
// free (contract 3 "Seconds"; reliability 5).
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import * as fc from "fast-check";
import { createMeasurer } from "../../src/audio/measure.ts";
import { fixture } from "../audio/build-audio.ts";
import { assertSane } from "../audio/sane.ts";
import type { Fuzz } from "./fuzz.ts";

const BLOCK_MS = 50;
const names = readdirSync(new URL("../fixtures/audio/", import.meta.url)).filter((name) => name !== "truth.json");

const EXTREMES = [0, 1, 7, 8, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
/** Structure stands at the start, and in mp4 at the end too. */
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
  // A piece left out, or there twice.
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
  // The head of one recording before the rest of another.
  fc.tuple(fc.constantFrom(...names), place).map(
    ([other, where]): Change =>
      (bytes) => {
        const head = fixture(other);
        return Buffer.concat([head.subarray(0, Math.min(at(head, where), 4_096)), bytes.subarray(at(bytes, where))]);
      },
  ),
);

export const media: Fuzz = {
  about: "recordings of every container with sizes, bytes and pieces changed",
  shortRuns: 120,
  open: async () => {
    // The kill limit is a wall clock; here a busy machine must not decide.
    const measurer = createMeasurer({ killAfterMs: () => 60_000 });
    const measure = (bytes: Uint8Array) => measurer.measure({ kind: "bytes", bytes });
    return {
      property: fc.asyncProperty(
        fc.constantFrom(...names),
        fc.array(change, { minLength: 1, maxLength: 5 }),
        async (name, changes) => {
          const bytes = changes.reduce((broken, apply) => apply(broken), fixture(name));
          let ownMs = Number.POSITIVE_INFINITY;
          // Real work costs as much every time; a collection of garbage that happens to fall into it does not.
          for (let attempt = 0; attempt < 3 && ownMs >= BLOCK_MS; attempt += 1) {
            const before = process.threadCpuUsage();
            assertSane(await measure(bytes), bytes);
            const own = process.threadCpuUsage(before);
            ownMs = (own.user + own.system) / 1000;
          }
          assert.ok(ownMs < BLOCK_MS, `this thread worked for ${ownMs} ms`);
        },
      ) as fc.IAsyncProperty<unknown>,
      close: () => measurer.close(),
    };
  },
};
