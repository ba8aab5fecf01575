// The routing decision over random routes: never a target that lacks what was required, never an unhealthy one or one that the audio does
// not fit, always the route's order, and what cannot matter does not.
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { FEATURES, type Feature } from "../../src/contract/features.ts";
import type { TranscriptionFields, TranslationFields } from "../../src/contract/transcription/transcription-fields.ts";
import type { FeatureSupport } from "../../src/providers/provider.ts";
import { decideRoute, type RouteDecision } from "../../src/routing/decide-route.ts";
import { type AudioDecision, decideAudio } from "../../src/routing/decide-translation.ts";
import type { AudioFacts } from "../../src/routing/judge-target.ts";
import type { Candidate } from "../../src/routing/pick-candidates.ts";
import type { Route, Target } from "../../src/routing/types.ts";
import { audioContext, model, purpose, route, speechTarget, textTarget } from "../routing/routing-fixtures.ts";
import type { Fuzz } from "./fuzz.ts";

const support: fc.Arbitrary<FeatureSupport> = fc.record(
  {
    support: fc.constantFrom("native", "exact", "weak"),
    grade: fc.constantFrom("shown", "echoed", "sent"),
    languages: fc.subarray(["en", "de", "fr"], { minLength: 1 }),
  },
  { requiredKeys: ["support", "grade"], noNullPrototype: true },
);
const speech = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...FEATURES), support, { maxKeys: 12, noNullPrototype: true }),
    fc.record({
      languages: fc.oneof(fc.constant("any" as const), fc.subarray(["en", "de", "fr"], { minLength: 1 })),
      defaultLanguage: fc.constantFrom("auto", "en", "de"),
      limits: fc.record(
        {
          maxBytes: fc.constantFrom(100, 999, 1_000, 100_000, 10_000_000),
          maxSeconds: fc.constantFrom(0.5, 9.9, 10, 100),
          maxChannels: fc.constantFrom(1, 2),
          formats: fc.subarray(["wav", "mp3", "mp4"] as const, { minLength: 1 }),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
      translatesInto: fc.constantFrom("any" as const, ["en"], ["en", "fr"]),
    }),
  )
  .map(([features, rest]) => model(features, rest));
const targets = fc
  .array(fc.option(speech, { freq: 6 }), { minLength: 1, maxLength: 5 })
  .map((all) => all.map((each, at) => (each === null ? textTarget(at + 1) : speechTarget(at + 1, each))));
const routes = fc
  .record({
    all: targets,
    acceptWeak: fc.subarray([...FEATURES]),
    profileOverrideAllowed: fc.boolean(),
    splitLongAudio: fc.boolean(),
    translateViaChat: fc.boolean(),
  })
  .map(({ all, ...rest }) => route("r", all, rest));
const audio: fc.Arbitrary<AudioFacts> = fc.record(
  {
    format: fc.constantFrom("wav", "mp3", "mp4"),
    sizeBytes: fc.constantFrom(500, 1_000, 1_001, 200_000),
    durationSeconds: fc.constantFrom(1, 10, 10.1, 1_000),
    channels: fc.constantFrom(1, 2, 3),
    pcmRate: fc.constantFrom(null, 8_000, 16_000),
  },
  { noNullPrototype: true },
);
const fields = fc.record(
  {
    diarization: fc.boolean(),
    timestamps: fc.constantFrom("word", "segment", "both"),
    redaction: fc.oneof(fc.boolean(), fc.subarray(["pii", "pci", "phi", "numbers"], { minLength: 1 })),
    keyterms: fc.constant(["Ada"]),
    multichannel: fc.boolean(),
    profanity_filter: fc.boolean(),
    detect_language: fc.boolean(),
    language: fc.constantFrom("en", "de-AT", "fr"),
    response_format: fc.constantFrom("json", "text", "verbose_json", "diarized_json", "srt", "vtt"),
    response_profile: fc.constantFrom("fast", "deep"),
    purpose: fc.constantFrom("meetings", "never-created"),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<TranscriptionFields>;

/** Read off the request by rules of our own. */
function requiredOf(asked: TranscriptionFields): readonly Feature[] {
  const { response_format: format = "json", timestamps, redaction } = asked;
  const groups =
    redaction === true ? (["pii"] as const) : redaction === undefined || redaction === false ? [] : redaction;
  return [
    ...(asked.diarization === true || format === "diarized_json" ? (["diarization"] as const) : []),
    ...(timestamps === "word" || timestamps === "both" ? (["timestamps.word"] as const) : []),
    ...(timestamps === "segment" || timestamps === "both" || ["verbose_json", "srt", "vtt"].includes(format)
      ? (["timestamps.segment"] as const)
      : []),
    ...groups.map((group) => `redaction.${group}` as const),
    ...(asked.keyterms === undefined ? [] : (["keyterms"] as const)),
    ...(asked.multichannel === true ? (["multichannel"] as const) : []),
    ...(asked.profanity_filter === true ? (["profanity_filter"] as const) : []),
  ];
}

function can(target: Target, feature: Feature, own: Route, asked: TranscriptionFields): boolean {
  const { features, defaultLanguage } = target.speech ?? model();
  const support = features[feature];
  if (support === undefined || (support.support === "weak" && !own.acceptWeak.includes(feature))) return false;
  const inForce = asked.language ?? (asked.detect_language === true ? "auto" : defaultLanguage);
  return support.languages === undefined || support.languages.includes(inForce.split("-")[0] ?? "");
}

/** What is sent to a target keeps within its limits: whole, or in pieces that lose nothing which was asked for. */
function assertFits(
  { target, verdict: { cut } }: Candidate,
  own: Route,
  facts: AudioFacts,
  required: readonly Feature[],
) {
  const { maxBytes = Infinity, maxSeconds = Infinity, maxChannels = Infinity, formats } = target.speech?.limits ?? {};
  if (required.includes("multichannel")) assert.ok(facts.channels <= maxChannels, "as many channels as it takes");
  if (cut === null) {
    assert.ok(facts.sizeBytes <= maxBytes && facts.durationSeconds <= maxSeconds, "whole, within its limits");
    assert.ok(formats === undefined || formats.includes(facts.format), "in a format it takes");
    return;
  }
  assert.ok(own.splitLongAudio, "cut only where the route splits");
  assert.ok(facts.sizeBytes > maxBytes || facts.durationSeconds > maxSeconds, "cut only where it has to be");
  assert.equal(cut.sampleRate, facts.pcmRate);
  assert.ok(cut.maxFrames / cut.sampleRate <= maxSeconds, "pieces short enough");
  assert.ok(44 + cut.maxFrames * 2 * cut.channels <= maxBytes, "pieces small enough");
  assert.equal(cut.channels, required.includes("multichannel") ? facts.channels : 1);
  assert.ok(
    !required.some((feature) => feature === "diarization" || feature.startsWith("redaction")),
    "nothing is lost",
  );
}

/** A translation is made by who translates, or where the route allows it of a transcript by chat; never by both. */
function assertTranslated({ decision, byChat }: AudioDecision, own: Route, asked: TranslationFields): void {
  if (byChat !== null) {
    assert.ok(own.translateViaChat && byChat.candidates.every(({ target }) => target.chat !== null));
    if (decision.ok) assert.ok(byChat.candidates.length > 0, "somebody translates it");
    return;
  }
  if (!decision.ok) return;
  for (const { target } of decision.candidates) {
    const into = target.speech?.translatesInto ?? ["en"];
    assert.ok(target.speech?.features.translation, "it translates");
    assert.ok(into === "any" || into.includes(asked.to_language ?? "en"), "into that language");
  }
}

const positions = (decision: RouteDecision) =>
  decision.ok ? decision.candidates.map(({ target }) => target.position) : [];

export const routing: Fuzz = {
  about: "routing decisions over random routes, models, requested features and health",
  shortRuns: 1_500,
  open: async () => ({
    property: fc.property(routes, fields, audio, fc.subarray([1, 2, 3, 4, 5]), (own, asked, facts, unhealthy) => {
      const decide = (among: Route) =>
        decideRoute(
          audioContext(among, [among], { boundPurposes: [purpose("meetings", "r")] }),
          {
            task: "transcribe",
            fields: asked,
            purpose: { body: asked.purpose ?? null, header: null, policy: null },
            audio: facts,
          },
          ({ position }) => (unhealthy.includes(position) ? { kind: "after_failures" } : null),
        );
      const decision = decide(own);
      assert.deepEqual(decide(own), decision, "the same question has the same answer");
      const chosen = positions(decision);
      assert.deepEqual(
        chosen.toSorted((one, other) => one - other),
        chosen,
        "the route's order",
      );
      const required = requiredOf(asked);
      if (decision.ok) for (const each of decision.candidates) assertFits(each, own, facts, required);
      for (const position of chosen) {
        const target = own.targets[position - 1];
        assert.ok(target?.speech, "a target that takes audio");
        assert.ok(!unhealthy.includes(position), "a healthy one");
        for (const feature of required) assert.ok(can(target, feature, own, asked), `${position} lacks ${feature}`);
        const covers = target.speech.languages;
        const primary = asked.language?.split("-")[0];
        assert.ok(primary === undefined || covers === "any" || covers.includes(primary), "it covers the language");
      }
      if (!decision.ok && decision.refusal.kind === "profile_not_allowed")
        assert.equal(own.profileOverrideAllowed, false);
      if (!decision.ok && decision.refusal.kind === "no_model")
        assert.ok(own.targets.every(({ speech }) => speech === null));
      // With all the wishes of a transcription hardly any is left that only lacks the translation.
      const { language, ...wishes } = asked;
      const plain = wishes.diarization === true ? wishes : {};
      const translation = { ...plain, ...(language === "fr" ? { language } : { to_language: "fr" }) };
      const question = { task: "translate", fields: translation, audio: facts } as const;
      const translated = decideAudio(
        audioContext(own, [own], { boundPurposes: [purpose("meetings", "r")] }),
        { ...question, purpose: { body: asked.purpose ?? null, header: null, policy: null } },
        () => ({ ok: true, plan: { path: "", query: [], headers: {}, body: {} }, dropped: [] }),
        ({ position }) => (unhealthy.includes(position) ? { kind: "after_failures" } : null),
      );
      assertTranslated(translated, own, translation);
      // Without the targets that were not chosen the decision is the same.
      const without = { ...own, targets: own.targets.filter(({ position }) => chosen.includes(position)) };
      if (chosen.length > 0) assert.deepEqual(positions(decide(without)), chosen);
    }) as fc.IProperty<unknown>,
    close: async () => undefined,
  }),
};
