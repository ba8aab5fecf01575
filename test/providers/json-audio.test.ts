// Audio inside a JSON body: whatever the chunks, the bytes come out as they went in and the length said is the length sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { audioBytesWithin, jsonWithAudio } from "../../src/providers/wire/json-audio.ts";
import { audioFixture } from "./suites/fixtures.ts";

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const list: Uint8Array[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return Buffer.concat(list);
}

test("providers.repeatable-body: audio in chunks of any size is whole in the document, at the declared length", async () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(parts, fc.string({ unit: "binary" }), async (chunks, text) => {
      const whole = Buffer.concat(chunks);
      const audio = audioFixture({
        sizeBytes: whole.byteLength,
        open: async function* () {
          yield* chunks;
        },
      });
      const { open, sizeBytes } = jsonWithAudio((base64) => ({ [text]: text, audio: { base64 } }), audio);
      const sent = await bytesOf(open());
      assert.equal(sent.byteLength, sizeBytes);
      assert.deepEqual(JSON.parse(sent.toString()), { [text]: text, audio: { base64: whole.toString("base64") } });
    }),
    { numRuns: 200, seed: 20261120 },
  );
});

test("providers.repeatable-body: a body opened twice is the same twice, so that every attempt reads from the beginning", async () => {
  const { open } = jsonWithAudio((base64) => ({ base64 }), audioFixture());
  assert.deepEqual(await bytesOf(open()), await bytesOf(open()));
});

test("providers.model-limits: the largest audio that a request accepts, with the JSON around it, is never larger than the request", () => {
  const most = audioBytesWithin(20_000_000);
  assert.ok(Math.ceil(most / 3) * 4 + 65_536 <= 20_000_000);
  assert.ok(Math.ceil((most + 3) / 3) * 4 + 65_536 > 20_000_000);
});
