// POST /v1/translation: what it refuses. Nothing is called and nothing billed.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { detailsOf, envelopeOf, postForm } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { KEYS, translate, translators } from "./translators.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: translators });
});
after(() => gateway.close());
beforeEach(() => gateway.sandbox.clearCalls());

const uncalled = () => assert.equal(gateway.sandbox.callCount, 0);

test("translation.unsupported: a route without a target that translates refuses: 422, the lack named, nothing called", async () => {
  const answer = await translate(gateway.origin, { key: KEYS.deaf });
  assert.deepEqual([answer.status, answer.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
  assert.deepEqual(detailsOf(answer)["missing"], ["translation"]);
  uncalled();
});

test("translation.to-language-required: to_language is required: a language that no target translates into is refused, never replaced", async () => {
  const answer = await translate(gateway.origin, { fields: { to_language: "fr" } });
  assert.equal(answer.code, "REQUIRED_FEATURE_UNSUPPORTED");
  assert.deepEqual(detailsOf(answer)["candidates"], [
    { position: 1, missing: ["translation"] },
    { position: 2, missing: ["to_language"] },
  ]);
  uncalled();
});

test("translation.features: word times of a translation are refused where the model gives them for transcripts alone", async () => {
  const answer = await translate(gateway.origin, { fields: { timestamps: "word" } });
  assert.equal(answer.code, "REQUIRED_FEATURE_UNSUPPORTED");
  uncalled();
});

test("translation.features, providers.declared-features: what a server declares and its protocol cannot ask of a translation is refused, and no internal error", async () => {
  for (const fields of [{ timestamps: "word" }, { diarization: "true" }]) {
    const answer = await translate(gateway.origin, { key: KEYS.local, fields });
    assert.deepEqual([answer.status, answer.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
    uncalled();
  }
  envelopeOf(await translate(gateway.origin, { key: KEYS.local, fields: { timestamps: "segment" } }));
  envelopeOf(await postForm(gateway.origin, { key: KEYS.local, fields: { timestamps: "word" } }));
});

for (const [what, fields, code] of [
  ["a to_language that is no tag", { to_language: "english please" }, "INVALID_REQUEST"],
  ["an unknown field", { to_lang: "en" }, "INVALID_REQUEST"],
  ["a model", { model: "whisper-1" }, "ROUTE_CONTROL_FIELD_REJECTED"],
  ["a provider", { provider: "openai" }, "ROUTE_CONTROL_FIELD_REJECTED"],
] as const) {
  test(`translation.refused-fields: ${what} is refused with ${code}`, async () => {
    const answer = await translate(gateway.origin, { fields });
    assert.deepEqual([answer.status, answer.code], [400, code]);
    uncalled();
  });
}

test("translation.to-language: to_language is no field of a transcription", async () => {
  const answer = await postForm(gateway.origin, { key: KEYS.acme, fields: { to_language: "en" } });
  assert.equal(answer.code, "INVALID_REQUEST");
  uncalled();
});

test("translation.idempotency: a key used for a transcription is not valid for a translation, nor for another target language", async () => {
  const headers = { "Idempotency-Key": "one-key-1" };
  envelopeOf(await postForm(gateway.origin, { key: KEYS.acme, headers }));
  assert.equal((await translate(gateway.origin, { headers })).code, "IDEMPOTENCY_KEY_REUSED");
  const other = { "Idempotency-Key": "one-key-2" };
  envelopeOf(await translate(gateway.origin, { headers: other, fields: { to_language: "en" } }));
  const changed = await translate(gateway.origin, { headers: other, fields: { to_language: "de" } });
  assert.equal(changed.code, "IDEMPOTENCY_KEY_REUSED");
});

test("translation.routing: under a strict policy an unknown purpose refuses a translation: 503, nothing called", async () => {
  const answer = await translate(gateway.origin, { key: KEYS.strict, fields: { purpose: "nowhere" } });
  assert.deepEqual([answer.status, answer.code], [503, "audio_purpose_unavailable"]);
  uncalled();
});
