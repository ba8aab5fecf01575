// POST /v1/translation: requests that succeed.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { routingDecision } from "../../../src/contract/transcription/transcription-envelope.ts";
import { envelopeOf, postJson, speech } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { KEYS, translate, translators } from "./translators.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: translators });
});
after(() => gateway.close());
beforeEach(() => gateway.sandbox.clearCalls());

const paths = () => gateway.sandbox.calls.map((call) => [call.path, call.model, call.outcome]);

test("routing.translation-native, translation.to-language: a translation goes to the first target that translates, and its object is translation", async () => {
  const envelope = envelopeOf(await translate(gateway.origin));
  assert.equal(envelope.object, "translation");
  assert.match(envelope.id, /^tr_/);
  assert.match(envelope.content, /simulated transcript/);
  assert.deepEqual(paths(), [["/openai/v1/audio/translations", "whisper-1", 200]]);
});

test("translation.source-language: the language of the answer's text is not reported as the language that was spoken", async () => {
  const envelope = envelopeOf(await translate(gateway.origin, { fields: { response_format: "verbose_json" } }));
  assert.equal(envelope.language, null);
  assert.equal(envelope.segments.length, 2);
});

test("translation.to-language: to_language is en unless sent, and sending it, region or not, changes nothing", async () => {
  const bodies = [{}, { to_language: "en" }, { to_language: "en-GB" }, { to_language: null }];
  for (const fields of bodies) {
    const audio = Buffer.from(speech()).toString("base64");
    const answer = await postJson(gateway.origin, { audio, ...fields }, { key: KEYS.acme, path: "/v1/translation" });
    assert.equal(envelopeOf(answer).object, "translation");
  }
  assert.equal(gateway.sandbox.callCount, bodies.length);
});

test("translation.formats: srt of a translation is made from its segments", async () => {
  const envelope = envelopeOf(await translate(gateway.origin, { fields: { response_format: "srt" } }));
  assert.match(envelope.content, /^1\n00:00:00,000 --> /);
});

test("translation.preferences: detection of the spoken language, which the endpoint does not report, is named as dropped", async () => {
  const envelope = envelopeOf(await translate(gateway.origin, { fields: { detect_language: "true" } }));
  assert.deepEqual(
    envelope.warnings.map(({ code, param }) => [code, param]),
    [["PREFERENCE_DROPPED", "detect_language"]],
  );
});

test("translation.billing: a metered model bills a translation's seconds, a caller's own account none", async () => {
  const metered = envelopeOf(await translate(gateway.origin));
  const own = envelopeOf(await translate(gateway.origin, { key: KEYS.own }));
  assert.equal(metered.usage.billable_audio_seconds, metered.usage.audio_seconds);
  assert(metered.usage.billable_audio_seconds > 4);
  assert.deepEqual([own.usage.audio_seconds, own.usage.billable_audio_seconds], [metered.usage.audio_seconds, 0]);
  assert.equal(gateway.sandbox.callCount, 2, "one call each");
});

test("translation.idempotency: the same key and payload: the first translation again, byte for byte, and one call", async () => {
  const headers = { "Idempotency-Key": "translation-1" };
  const first = await translate(gateway.origin, { headers });
  const again = await translate(gateway.origin, { headers });
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
  assert.equal(gateway.sandbox.callCount, 1);
});

test("translation.routing: purpose and profile route a translation as they route a transcription", async () => {
  const envelope = envelopeOf(
    await translate(gateway.origin, {
      fields: { response_profile: "balanced" },
      headers: { "X-SVC-Purpose": "abroad" },
    }),
  );
  assert.deepEqual(
    [envelope.svc_requested_purpose, envelope.svc_applied_purpose, envelope.svc_purpose_source],
    ["abroad", "abroad", "header"],
  );
});

test("translation.dry-run: dry_run shows which targets could translate, and calls none", async () => {
  const answer = await translate(gateway.origin, { fields: { dry_run: "true", to_language: "en" } });
  const decision = routingDecision.parse(answer.json);
  assert.deepEqual(
    decision.candidates.map(({ position, eligible, missing }) => [position, eligible, missing]),
    [
      [1, false, ["translation"]],
      [2, true, []],
    ],
  );
  assert.equal(gateway.sandbox.callCount, 0);
});
