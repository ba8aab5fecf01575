// Audio inside a JSON body: whatever the chunks, the bytes come out as they went in and the length said is the length sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { audioBytesWithin, jsonWithAudio } from "../../src/providers/json-audio.ts";
import { audioFixture } from "./fixtures.ts";

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const list: Uint8Array[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return Buffer.concat(list);
}

test("the audio of any chunks stands whole in the document, at the length that was said", async () => {
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

test("a body opened twice is the same twice: every attempt reads from the beginning", async () => {
  const { open } = jsonWithAudio((base64) => ({ base64 }), audioFixture());
  assert.deepEqual(await bytesOf(open()), await bytesOf(open()));
});

test("the most audio that a request takes, with its frame, is never more than the request", () => {
  const most = audioBytesWithin(20_000_000);
  assert.ok(Math.ceil(most / 3) * 4 + 65_536 <= 20_000_000);
  assert.ok(Math.ceil((most + 3) / 3) * 4 + 65_536 > 20_000_000);
});
