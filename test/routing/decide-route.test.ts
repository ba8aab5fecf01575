// Which targets are eligible, in which order, and what the refusal contains.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TranscriptionFields } from "../../src/contract/transcription/transcription-fields.ts";
import type { FeatureSupport } from "../../src/providers/provider.ts";
import { decideRoute, type RouteDecision } from "../../src/routing/decide-route.ts";
import type { Route } from "../../src/routing/types.ts";
import { audioContext, model, purpose, route, speechTarget, textTarget } from "./routing-fixtures.ts";

const NATIVE: FeatureSupport = { support: "native", grade: "shown" };
const ENGLISH: FeatureSupport = { ...NATIVE, languages: ["en"] };
const WEAK: FeatureSupport = { support: "weak", grade: "sent" };
const AUDIO = { format: "wav", sizeBytes: 1000, durationSeconds: 10, channels: 1 } as const;

function decide(
  own: Route,
  fields: TranscriptionFields,
  rest: { routes?: readonly Route[]; unhealthy?: readonly number[]; audio?: Partial<typeof AUDIO> | object } = {},
): RouteDecision {
  const question = {
    task: "transcribe" as const,
    fields,
    purpose: { body: fields.purpose ?? null, header: null, policy: null },
    audio: { ...AUDIO, ...rest.audio },
  };
  return decideRoute(audioContext(own, [own, ...(rest.routes ?? [])]), question, ({ position }) =>
    (rest.unhealthy ?? []).includes(position) ? { kind: "after_failures" } : null,
  );
}

function positions(decision: RouteDecision): readonly number[] | string {
  return decision.ok ? decision.candidates.map((candidate) => candidate.target.position) : decision.refusal.kind;
}

function lacks(decision: RouteDecision): readonly (readonly [number, readonly string[]])[] {
  return decision.considered.map((candidate) => [candidate.target.position, candidate.verdict.missing]);
}

test("routing.required-never-dropped: a target that would drop a required feature is skipped, at every position", () => {
  const own = route("r", [speechTarget(1), speechTarget(2, model({ diarization: NATIVE })), speechTarget(3)]);
  assert.deepEqual(positions(decide(own, { diarization: true })), [2]);
  assert.deepEqual(positions(decide(own, {})), [1, 2, 3]);
});

test("routing.unsupported: no target can do all: unsupported, with what each lacks and what all lack", () => {
  const own = route("r", [
    speechTarget(1, model({ diarization: NATIVE })),
    speechTarget(2, model({ keyterms: NATIVE })),
  ]);
  const decision = decide(own, { diarization: true, keyterms: ["Ada"], multichannel: true });
  assert(!decision.ok && decision.refusal.kind === "unsupported");
  assert.deepEqual(decision.refusal.missing, ["multichannel"]);
  assert.deepEqual(lacks(decision), [
    [1, ["keyterms", "multichannel"]],
    [2, ["diarization", "multichannel"]],
  ]);
  const split = decide(own, { diarization: true, keyterms: ["Ada"] });
  assert(!split.ok && split.refusal.kind === "unsupported");
  assert.deepEqual(split.refusal.missing, ["keyterms", "diarization"]);
});

test("routing.streaming-required: streaming is a required feature like any other", () => {
  const own = route("r", [speechTarget(1)]);
  assert.equal(positions(decide(own, { stream: true })), "unsupported");
  assert.equal(positions(decide(own, { mode: "realtime" })), "unsupported");
});

test("routing.response-format-needs: timestamps both needs words and segments; formats with times need segments; diarized_json needs speakers", () => {
  const wordsOnly = route("r", [speechTarget(1, model({ "timestamps.word": NATIVE }))]);
  assert.deepEqual(positions(decide(wordsOnly, { timestamps: "word" })), [1]);
  assert.equal(positions(decide(wordsOnly, { timestamps: "both" })), "unsupported");
  for (const response_format of ["verbose_json", "srt", "vtt", "diarized_json"] as const) {
    assert.equal(positions(decide(wordsOnly, { response_format })), "unsupported", response_format);
  }
  for (const response_format of ["json", "text"] as const)
    assert.deepEqual(positions(decide(wordsOnly, { response_format })), [1]);
});

test("routing.language-in-force: conditions on language are judged against the language in force; an unknown one meets none", () => {
  const detecting = model(
    { "redaction.pii": ENGLISH },
    { defaultLanguage: "en", preferences: ["detect_language", "language"] },
  );
  const own = route("r", [speechTarget(1, detecting)]);
  assert.deepEqual(positions(decide(own, { redaction: true, language: "en-GB" })), [1], "asked and met");
  assert.deepEqual(positions(decide(own, { redaction: true })), [1], "the documented default counts");
  assert.equal(positions(decide(own, { redaction: true, language: "de" })), "unsupported");
  assert.equal(
    positions(decide(own, { redaction: true, detect_language: true })),
    "unsupported",
    "detection makes it unknown",
  );
  const auto = route("r", [speechTarget(1, model({ "redaction.pii": ENGLISH }))]);
  assert.equal(
    positions(decide(auto, { redaction: true })),
    "unsupported",
    "a model without a default leaves it unknown",
  );
});

test("routing.limits-are-features: limits of size, duration, format, channels and language are required features", () => {
  const limited = model(
    { multichannel: NATIVE },
    { languages: ["en"], limits: { maxBytes: 1000, maxSeconds: 10, formats: ["wav"], maxChannels: 2 } },
  );
  const own = route("r", [speechTarget(1, limited)]);
  assert.deepEqual(
    positions(decide(own, { language: "en", multichannel: true }, { audio: { channels: 2 } })),
    [1],
    "exactly at every limit",
  );
  for (const [lack, fields, audio] of [
    ["size", {}, { sizeBytes: 1001 }],
    ["duration", {}, { durationSeconds: 10.001 }],
    ["format", {}, { format: "mp3" }],
    ["channels", { multichannel: true }, { channels: 3 }],
    ["language", { language: "fr" }, {}],
  ] as const) {
    const decision = decide(own, fields, { audio });
    assert.deepEqual(lacks(decision), [[1, [lack]]], lack);
  }
});

test("routing.language-family: a model that covers Norwegian covers Bokmål, by which telephones and browsers name it", () => {
  const norwegian = model({ "redaction.pii": { ...NATIVE, languages: ["no"] } }, { languages: ["no"] });
  const own = route("r", [speechTarget(1, norwegian)]);
  for (const language of ["no", "nb", "nb-NO"])
    assert.deepEqual(positions(decide(own, { redaction: true, language })), [1], language);
});

test("routing.keyterm-limits: key terms are judged by number, length and tokens, merged from both fields without duplicates", () => {
  const own = route("r", [
    speechTarget(1, model({ keyterms: NATIVE }, { limits: { keyterms: { maxTerms: 2, maxTermCharacters: 5 } } })),
  ]);
  assert.deepEqual(positions(decide(own, { keyterms: ["a", "b"], custom_vocabulary: ["b", "a"] })), [1]);
  assert.equal(positions(decide(own, { keyterms: ["a", "b"], custom_vocabulary: ["c"] })), "unsupported");
  assert.equal(positions(decide(own, { keyterms: ["abcdef"] })), "unsupported");
  const tokens = route("r", [
    speechTarget(1, model({ keyterms: NATIVE }, { limits: { keyterms: { maxTotalTokens: 3 } } })),
  ]);
  assert.deepEqual(positions(decide(tokens, { keyterms: ["abcd", "e"] })), [1]);
  assert.equal(positions(decide(tokens, { keyterms: ["abcd", "efgh"] })), "unsupported");
  assert.deepEqual(positions(decide(tokens, { keyterms: ["東京"] })), [1], "three bytes a character");
  assert.equal(positions(decide(tokens, { keyterms: ["東京都"] })), "unsupported", "a token or two a character");
});

test("routing.weak-emulation: weak emulation satisfies nothing unless the route accepts it, and then it is named", () => {
  const weak = speechTarget(1, model({ keyterms: WEAK }));
  assert.equal(positions(decide(route("r", [weak]), { keyterms: ["Ada"] })), "unsupported");
  const decision = decide(route("r", [weak], { acceptWeak: ["keyterms"] }), { keyterms: ["Ada"] });
  assert(decision.ok);
  assert.deepEqual(decision.candidates[0]?.verdict.emulated, ["keyterms"]);
});

test("routing.order, routing.no-model, routing.all-unavailable: a route without audio is 503 before capability, capability before health", () => {
  assert.equal(positions(decide(route("r", [textTarget(1)]), { diarization: true })), "no_model");
  const own = route("r", [speechTarget(1), speechTarget(2)]);
  assert.equal(positions(decide(own, { diarization: true }, { unhealthy: [1, 2] })), "unsupported");
  assert.equal(positions(decide(own, {}, { unhealthy: [1, 2] })), "unhealthy");
  assert.deepEqual(positions(decide(own, {}, { unhealthy: [1] })), [2]);
});

test("routing.profile-picks-targets, routing.profile-settings, routing.profile-not-applied: the profile picks among targets, its settings are applied over theirs, and an unserved one warns", () => {
  const fast = speechTarget(1, model(), {
    profiles: ["fast"],
    settings: { a: 1, b: 1 },
    profileSettings: { fast: { b: 2 } },
  });
  const deep = speechTarget(2, model(), { profiles: ["deep"] });
  const own = route("r", [fast, deep]);
  assert.deepEqual(positions(decide(own, { response_profile: "fast" })), [1]);
  assert.deepEqual(positions(decide(own, { response_profile: "deep" })), [2]);
  assert.deepEqual(positions(decide(own, {})), [1, 2]);
  const decision = decide(own, { response_profile: "fast" });
  assert(decision.ok);
  assert.deepEqual(decision.candidates[0]?.settings, { a: 1, b: 2 });
  const unserved = decide(own, { response_profile: "balanced" });
  assert.deepEqual(positions(unserved), [1, 2]);
  assert.deepEqual(
    unserved.warnings.map((warning) => warning.code),
    ["PROFILE_NOT_APPLIED"],
  );
});

test("routing.profile-picks-targets, routing.profile-not-applied: a target without profiles serves each; settings of a profile that no target serves are not used", () => {
  const fast = speechTarget(2, model(), { profiles: ["fast"] });
  assert.deepEqual(positions(decide(route("r", [speechTarget(1), fast]), { response_profile: "fast" })), [1, 2]);
  const stray = { ...fast, settings: { a: 1 }, profileSettings: { deep: { a: 2 } } };
  const decision = decide(route("r", [stray]), { response_profile: "deep" });
  assert.deepEqual(decision.considered[0]?.settings, { a: 1 });
});

test("routing.language-in-force: a model that finds the language out by itself has no default language", () => {
  const languageOf = (defaultLanguage: string) =>
    decide(route("r", [speechTarget(1, model({}, { defaultLanguage }))]), {}).considered[0]?.verdict.language;
  assert.deepEqual(languageOf("auto"), { kind: "auto" });
  assert.deepEqual(languageOf("en"), { kind: "default", tag: "en" });
});

test("routing.profile-forbidden: a route may forbid the profile override", () => {
  const own = route("r", [speechTarget(1)], { profileOverrideAllowed: false });
  assert.equal(positions(decide(own, { response_profile: "fast" })), "profile_not_allowed");
  assert.deepEqual(positions(decide(own, {})), [1]);
});

test("routing.purpose-defaults: a purpose's defaults apply to fields that the request does not send", () => {
  const target = route("target", [speechTarget(1), speechTarget(2, model({ diarization: NATIVE }))]);
  const own = route("r", [speechTarget(1)], {
    purposes: [purpose("meetings", "target", { defaults: { diarization: true } })],
  });
  assert.deepEqual(positions(decide(own, { purpose: "meetings" }, { routes: [target] })), [2]);
  assert.deepEqual(positions(decide(own, { purpose: "meetings", diarization: false }, { routes: [target] })), [1, 2]);
});

test("routing.exclusive-features: features that exclude each other are not both met", () => {
  const own = route("r", [
    speechTarget(
      1,
      model({ diarization: NATIVE, multichannel: NATIVE }, { excludes: [["diarization", "multichannel"]] }),
    ),
  ]);
  assert.deepEqual(lacks(decide(own, { diarization: true, multichannel: true })), [[1, ["multichannel"]]]);
});
