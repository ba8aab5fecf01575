// What is sealed opens in pieces as it opens as a whole.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createSeal, SEAL_BYTES } from "../../src/storage/seal.ts";

const PLACE = ["jobs.result", "ws_1", "job_1"];
const seal = createSeal({ keys: [randomBytes(32)] });

test("K-04: sealed bytes open in pieces of any length, the empty text too", async () => {
  for (const plaintext of [Buffer.alloc(0), Buffer.from("a"), randomBytes(100)]) {
    const sealed = seal.seal(plaintext, PLACE);
    for (let length = 1; length <= sealed.length + 1; length += 1)
      assert.deepEqual(await opened(sealed, length), plaintext, `pieces of ${length}`);
  }
});

test("a compressed result opens in pieces as it opens as a whole, and a large one is not compressed", async () => {
  const text = Buffer.from(JSON.stringify(Array.from({ length: 2_000 }, (_, at) => ({ text: "word", start: at }))));
  const sealed = seal.seal(text, PLACE);
  assert.ok(sealed.length < text.length / 4);
  for (const length of [1, 7, 4_096, sealed.length]) assert.deepEqual(await opened(sealed, length), text);
  const large = Buffer.alloc(2 * 1024 * 1024, "word ");
  assert.equal(seal.seal(large, PLACE).length, large.length + SEAL_BYTES);
});

test("K-04: in pieces too nothing opens that was changed, cut short, lengthened or belongs elsewhere", async () => {
  const sealed = seal.seal(randomBytes(50), PLACE);
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    await assert.rejects(opened(changed, 7), `byte ${index}`);
  }
  for (let length = 0; length < sealed.length; length += 1)
    await assert.rejects(opened(sealed.subarray(0, length), 7), `of length ${length}`);
  await assert.rejects(opened(Buffer.concat([sealed, Buffer.of(0)]), 7));
  await assert.rejects(opened(sealed, 7, ["jobs.result", "ws_2", "job_1"]));
  const other = createSeal({ keys: [randomBytes(32)] }).seal(Buffer.from("a"), PLACE);
  await assert.rejects(opened(other, 7), /encryption key/u);
});

async function opened(sealed: Buffer, length: number, place: readonly string[] = PLACE): Promise<Buffer> {
  const cut = async function* () {
    for (let from = 0; from < sealed.length; from += length) yield sealed.subarray(from, from + length);
  };
  return Buffer.concat(await Array.fromAsync(seal.openPieces(cut(), place)));
}
