// The purpose table at the level of the pure rule; test/http/transcription repeats it over HTTP.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decideRoute } from "../../src/routing/decide-route.ts";
import { type PurposeRequest, resolvePurpose } from "../../src/routing/resolve-purpose.ts";
import type { RoutingContext } from "../../src/routing/types.ts";
import { audioContext, purpose, route, textTarget, speechTarget } from "./routing-fixtures.ts";

const speech = route("speech", [speechTarget(1)], {
  purposes: [
    purpose("meetings", "meetings-route"),
    purpose("off", "speech", { isEnabled: false }),
    purpose("draft", "speech", { isPublished: false }),
    purpose("typing", "text"),
  ],
});
const meetings = route("meetings-route", [speechTarget(1)]);
const text = route("text", [textTarget(1)]);
const other = route("other", [speechTarget(1)], { purposes: [purpose("calls", "other")] });
const routes = [speech, meetings, text, other];

const UNUSABLE = [
  ["misspelled", "meetngs", "unknown"],
  ["outside the grammar", "Meetings & more", "unknown"],
  ["disabled", "off", "disabled"],
  ["unpublished", "draft", "unpublished"],
  ["bound to a text-only route", "typing", "no_audio_model"],
] as const;

function resolveAudioPurpose(context: RoutingContext, request: PurposeRequest) {
  return resolvePurpose(context, "audio_input", request);
}

test("routing.purpose-usable: one target for the work is enough of a purpose's route; a route that does not exist has none", () => {
  const mixed = route("mixed", [textTarget(1), speechTarget(2)]);
  const own = route("own", [speechTarget(1)], { purposes: [purpose("mixed", "mixed"), purpose("gone", "nowhere")] });
  const ask = (body: string) =>
    resolveAudioPurpose(audioContext(own, [own, mixed]), { body, header: null, policy: "strict" });
  const found = ask("mixed");
  assert(found.ok && found.route.id === "mixed");
  const lost = ask("gone");
  assert(!lost.ok && lost.reason === "no_audio_model");
});

test("routing.purpose-strict: under the strict policy an unusable purpose ends the decision before any target is judged", () => {
  const decision = decideRoute(
    audioContext(speech, routes),
    { task: "transcribe", fields: {}, purpose: { body: "off", header: null, policy: "strict" }, audio: null },
    () => null,
  );
  assert(!decision.ok);
  assert.deepEqual(decision.refusal, { kind: "purpose_unavailable", reason: "disabled" });
  assert.deepEqual([decision.route, decision.considered, decision.warnings], [null, [], []]);
});

test("routing.purpose-fields: no purpose: the key's route, all three fields say so", () => {
  const outcome = resolveAudioPurpose(audioContext(speech, routes), { body: null, header: null, policy: null });
  assert(outcome.ok);
  assert.equal(outcome.route.id, "speech");
  assert.deepEqual(outcome.fields, {
    svc_requested_purpose: null,
    svc_applied_purpose: null,
    svc_purpose_source: "none",
  });
});

for (const [name, body, header, source, requested] of [
  ["body", "meetings", null, "body", "meetings"],
  ["header", null, "meetings", "header", "meetings"],
  ["both, the body wins", "meetings", "off", "body", "meetings"],
] as const) {
  test(`routing.purpose-selects-route, routing.purpose-fields: a usable purpose by ${name} selects its route under both policies`, () => {
    for (const policy of [null, "fallback", "strict"] as const) {
      const outcome = resolveAudioPurpose(audioContext(speech, routes), { body, header, policy });
      assert(outcome.ok);
      assert.equal(outcome.route.id, "meetings-route");
      assert.deepEqual(outcome.fields, {
        svc_requested_purpose: requested,
        svc_applied_purpose: "meetings",
        svc_purpose_source: source,
      });
    }
  });
}

test("routing.purpose-suggestion: an unknown label that is close to a published one is answered with it, never with one that cannot be used", () => {
  const messageOf = (body: string): string => {
    const outcome = resolveAudioPurpose(audioContext(speech, routes), { body, header: null, policy: null });
    assert(outcome.ok);
    return outcome.warnings[0]?.message ?? "";
  };
  assert.equal(
    messageOf("meetngs"),
    "The purpose was not applied (unknown; did you mean `meetings`?); the request used the key's default routing.",
  );
  for (const label of ["of", "drafts", "something-else", "m".repeat(200)])
    assert.equal(
      messageOf(label),
      "The purpose was not applied (unknown); the request used the key's default routing.",
    );
  const request = {
    task: "transcribe",
    fields: {},
    purpose: { body: "meetngs", header: null, policy: "strict" },
  } as const;
  const strict = decideRoute(audioContext(speech, routes), { ...request, audio: null }, () => null);
  assert(!strict.ok);
  assert.deepEqual(strict.refusal, { kind: "purpose_unavailable", reason: "unknown", suggestion: "meetings" });
});

for (const [name, label, reason] of UNUSABLE) {
  test(`routing.purpose-fallback: a ${name} purpose falls back with a warning`, () => {
    const outcome = resolveAudioPurpose(audioContext(speech, routes), { body: label, header: null, policy: null });
    assert(outcome.ok);
    assert.equal(outcome.route.id, "speech");
    assert.deepEqual(outcome.fields, {
      svc_requested_purpose: label,
      svc_applied_purpose: null,
      svc_purpose_source: "fallback",
    });
    assert.deepEqual(
      outcome.warnings.map((warning) => [warning.code, warning.details]),
      [["PURPOSE_NOT_APPLIED", { reason }]],
    );
  });
  test(`routing.purpose-strict: a ${name} purpose is refused by the strict policy of key or request`, () => {
    for (const [keyPolicy, requestPolicy] of [
      ["strict", null],
      ["fallback", "strict"],
      ["strict", "fallback"],
    ] as const) {
      const outcome = resolveAudioPurpose(audioContext(speech, routes, { audioPurposePolicy: keyPolicy }), {
        body: label,
        header: null,
        policy: requestPolicy,
      });
      assert(!outcome.ok);
      assert.equal(outcome.reason, reason);
      assert.equal(outcome.fields.svc_applied_purpose, null);
    }
  });
}

test("routing.purpose-override-context: with an audio_input_override only that route's purposes count", () => {
  const context = audioContext(speech, routes, { audioInputOverride: other });
  const foreign = resolveAudioPurpose(context, { body: "meetings", header: null, policy: null });
  assert(foreign.ok);
  assert.equal(foreign.route.id, "other");
  assert.equal(foreign.fields.svc_applied_purpose, null);
  const own = resolveAudioPurpose(context, { body: "calls", header: null, policy: null });
  assert(own.ok);
  assert.equal(own.fields.svc_applied_purpose, "calls");
});

test("routing.purpose-precedence: on equal labels the key's binding wins over the app's, and that over the route's", () => {
  const app = purpose("meetings", "other");
  const key = purpose("meetings", "speech");
  const viaApp = resolveAudioPurpose(audioContext(speech, routes, { boundPurposes: [app] }), {
    body: "meetings",
    header: null,
    policy: null,
  });
  const viaKey = resolveAudioPurpose(audioContext(speech, routes, { boundPurposes: [key, app] }), {
    body: "meetings",
    header: null,
    policy: null,
  });
  assert(viaApp.ok && viaKey.ok);
  assert.equal(viaApp.route.id, "other");
  assert.equal(viaKey.route.id, "speech");
});

test("routing.purpose-default: a default purpose applies where the request sends none, and falls back under strict too", () => {
  const applied = resolveAudioPurpose(audioContext(speech, routes, { defaultPurpose: "meetings" }), {
    body: null,
    header: null,
    policy: null,
  });
  assert(applied.ok);
  assert.deepEqual(applied.fields, {
    svc_requested_purpose: null,
    svc_applied_purpose: "meetings",
    svc_purpose_source: "app_default",
  });
  const unusable = resolveAudioPurpose(
    audioContext(speech, routes, { defaultPurpose: "off", audioPurposePolicy: "strict" }),
    { body: null, header: null, policy: "strict" },
  );
  assert(unusable.ok);
  assert.deepEqual(unusable.fields, {
    svc_requested_purpose: null,
    svc_applied_purpose: null,
    svc_purpose_source: "fallback",
  });
});
