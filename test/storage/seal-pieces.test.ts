// What is sealed opens in pieces as it opens as a whole.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createSeal, LARGE_COMPRESSED, plaintextBytes, SEAL_BYTES } from "../../src/storage/secrets/seal.ts";

const PLACE = ["jobs.result", "ws_1", "job_1"];
const seal = createSeal({ keys: [randomBytes(32)] });

test("tenancy.sealed-place, tenancy.sealed-pieces: sealed bytes open in pieces of any length, the empty text too", async () => {
  for (const plaintext of [Buffer.alloc(0), Buffer.from("a"), randomBytes(100)]) {
    const sealed = seal.seal(plaintext, PLACE);
    for (let length = 1; length <= sealed.length + 1; length += 1)
      assert.deepEqual(await opened(sealed, length), plaintext, `pieces of ${length}`);
  }
});

test("tenancy.sealed, tenancy.sealed-pieces: a compressed plaintext opens in pieces as it opens as a whole, and its length is known before", async () => {
  for (const words of [2_000, 60_000]) {
    const text = Buffer.from(JSON.stringify(Array.from({ length: words }, (_, at) => ({ text: "word", start: at }))));
    const sealed = await seal.sealCompressed(text, PLACE);
    assert.ok(sealed.length < text.length / 4);
    assert.equal(sealed[0] === LARGE_COMPRESSED, text.length > 1024 * 1024);
    assert.equal(plaintextBytes(sealed, sealed.length), text.length);
    assert.deepEqual(seal.open(sealed, PLACE), text);
    for (const length of [97, 4_096, sealed.length]) assert.deepEqual(await opened(sealed, length), text);
  }
});

test("tenancy.sealed: what does not get shorter by compression is sealed as it is", async () => {
  const noise = randomBytes(2 * 1024 * 1024);
  const sealed = await seal.sealCompressed(noise, PLACE);
  assert.equal(plaintextBytes(sealed, sealed.length), noise.length);
  assert.equal(sealed.length, noise.length + SEAL_BYTES);
});

test("tenancy.sealed-place, tenancy.sealed-pieces: compressed bytes that were changed, cut short or lengthened do not open, in pieces or as a whole", async () => {
  const sealed = await seal.sealCompressed(Buffer.alloc(5_000, "word "), PLACE);
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    await assert.rejects(opened(changed, 7), `byte ${index}`);
    assert.throws(() => seal.open(changed, PLACE), `byte ${index}`);
  }
  for (let length = 0; length < sealed.length; length += 1)
    await assert.rejects(opened(sealed.subarray(0, length), 7), `of length ${length}`);
  await assert.rejects(opened(Buffer.concat([sealed, Buffer.of(0)]), 7));
});

test("tenancy.sealed-place, tenancy.sealed-pieces: in pieces too nothing opens that was changed, cut short, lengthened or belongs elsewhere", async () => {
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
