// The routing decision over random routes (spec 1.6; contract 1 step 5, 3, 4): never a target that lacks what was required, never
// an unhealthy one, always the route's order, and what cannot matter does not.
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { FEATURES, type Feature } from "../../src/contract/features.ts";
import type { TranscriptionFields } from "../../src/contract/transcription.ts";
import type { FeatureSupport } from "../../src/providers/provider.ts";
import { decideRoute, type RouteDecision } from "../../src/routing/decide-route.ts";
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
    }),
  )
  .map(([features, rest]) => model(features, rest));
const targets = fc
  .array(fc.option(speech, { freq: 6 }), { minLength: 1, maxLength: 5 })
  .map((all) => all.map((each, at) => (each === null ? textTarget(at + 1) : speechTarget(at + 1, each))));
const routes = fc
  .record({ all: targets, acceptWeak: fc.subarray([...FEATURES]), profileOverrideAllowed: fc.boolean() })
  .map(({ all, ...rest }) => route("r", all, rest));
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
    purpose: fc.constantFrom("meetings", "nobody-made-this"),
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

const positions = (decision: RouteDecision) =>
  decision.ok ? decision.candidates.map(({ target }) => target.position) : [];

export const routing: Fuzz = {
  about: "routing decisions over random routes, models, wishes and health",
  shortRuns: 1_500,
  open: async () => ({
    property: fc.property(routes, fields, fc.subarray([1, 2, 3, 4, 5]), (own, asked, unhealthy) => {
      const decide = (among: Route) =>
        decideRoute(
          audioContext(among, [among], { boundPurposes: [purpose("meetings", "r")] }),
          {
            task: "transcribe",
            fields: asked,
            purpose: { body: asked.purpose ?? null, header: null, policy: null },
            audio: { format: "wav", sizeBytes: 1_000, durationSeconds: 10, channels: 1 },
          },
          ({ position }) => !unhealthy.includes(position),
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
      // Whom nobody chose is not missed.
      const without = { ...own, targets: own.targets.filter(({ position }) => chosen.includes(position)) };
      if (chosen.length > 0) assert.deepEqual(positions(decide(without)), chosen);
    }) as fc.IProperty<unknown>,
    close: async () => undefined,
  }),
};
