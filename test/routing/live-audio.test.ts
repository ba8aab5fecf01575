// Which models stream, and which accept live audio: every model of every catalogue, by its own data.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LIVE_ENCODINGS, type LiveEncoding } from "../../src/providers/provider.ts";
import { providers } from "../../src/providers/registry.ts";
import { judgeTarget } from "../../src/routing/judge-target.ts";
import { requiredFeatures } from "../../src/routing/required-features.ts";

const FACTS = { format: "wav", sizeBytes: 0, durationSeconds: 0, channels: 1, pcmRate: 16_000 } as const;

const NOTHING = { acceptWeak: [], splitLongAudio: false };

for (const [kind, { models, stream }] of providers) {
  for (const [name, model] of Object.entries(models)) {
    const streams = model.features.streaming !== undefined;
    test(`routing.streaming-required: ${kind}/${name} ${streams ? "streams" : "is not eligible for a stream"}, and accepts live audio only as declared`, () => {
      const wanted = requiredFeatures({ stream: true }, "transcribe");
      const lacks = (live?: LiveEncoding) =>
        judgeTarget(model, wanted, live === undefined ? FACTS : { ...FACTS, live }, NOTHING).missing;
      assert.equal(lacks().includes("streaming"), !streams);
      assert.equal(streams && stream === undefined, false, "a model that streams has an adapter that does");
      for (const encoding of LIVE_ENCODINGS) {
        assert.equal(lacks(encoding).includes("live_audio"), model.live?.includes(encoding) !== true);
      }
      if (model.live !== undefined) assert.ok(streams, "live audio is a stream");
    });
  }
}

test("routing.decoder: a model that accepts bare samples alone lacks a decoder where this gateway cannot decode the recording", () => {
  const model = providers.get("assemblyai")?.models["universal-streaming-english"];
  assert.ok(model);
  const lacks = (pcmRate: number | null) =>
    judgeTarget(model, requiredFeatures({ stream: true }, "transcribe"), { ...FACTS, pcmRate }, NOTHING).missing;
  assert.deepEqual([lacks(null), lacks(16_000)], [["decoder"], []]);
});

test("routing.streaming-required: a model that only streams is asked for nothing else", () => {
  const [, deepgram] = [...providers].find(([kind]) => kind === "deepgram") ?? [];
  const model = deepgram?.models["nova-3"];
  assert.ok(model);
  const judge = (fields: object) =>
    judgeTarget({ ...model, streamsOnly: true }, requiredFeatures(fields, "transcribe"), FACTS, NOTHING).missing;
  assert.deepEqual([judge({}), judge({ stream: true })], [["batch"], []]);
});
