// What each field of a request makes required and what it merely prefers, field by field.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TranslationFields } from "../../src/contract/transcription/transcription-fields.ts";
import { decideRoute } from "../../src/routing/decide-route.ts";
import { requiredFeatures } from "../../src/routing/required-features.ts";
import { withDefaults } from "../../src/routing/purpose-defaults.ts";
import { audioContext, model, route, speechTarget, textTarget } from "./routing-fixtures.ts";

const NOTHING = {
  task: "transcribe",
  features: [],
  keyterms: [],
  redaction: [],
  toLanguage: null,
  language: null,
  detectLanguage: false,
  speakerCountHint: null,
  smartFormatting: null,
  prompt: null,
  preferences: [],
  responseFormat: "json",
  wantsSegments: false,
  wantsWords: false,
};
const TIMES = { features: ["timestamps.segment"], wantsSegments: true };

const FIELDS: readonly (readonly [TranslationFields, Partial<Record<keyof typeof NOTHING, unknown>>])[] = [
  [{}, {}],
  [{ diarization: true }, { features: ["diarization"], wantsSegments: true }],
  [{ diarization: false }, {}],
  [{ timestamps: "word" }, { features: ["timestamps.word"], wantsWords: true }],
  [{ timestamps: "segment" }, TIMES],
  [{ timestamps: "both" }, { ...TIMES, features: ["timestamps.word", "timestamps.segment"], wantsWords: true }],
  [{ redaction: true }, { features: ["redaction.pii"], redaction: ["pii"] }],
  [{ redaction: false }, {}],
  [{ redaction: ["pci", "pci", "phi"] }, { features: ["redaction.pci", "redaction.phi"], redaction: ["pci", "phi"] }],
  [{ keyterms: ["Ada"] }, { features: ["keyterms"], keyterms: ["Ada"] }],
  [
    { custom_vocabulary: ["Ada", "Eve"], keyterms: ["Ada", "Bob"] },
    { features: ["keyterms"], keyterms: ["Ada", "Eve", "Bob"] },
  ],
  [{ multichannel: true }, { features: ["multichannel"], wantsSegments: true }],
  [{ multichannel: false }, {}],
  [{ profanity_filter: true }, { features: ["profanity_filter"] }],
  [{ profanity_filter: false }, {}],
  [{ stream: true }, { features: ["streaming"] }],
  [{ mode: "realtime" }, { features: ["streaming"] }],
  [{ stream: false, mode: "batch" }, {}],
  [{ response_format: "text" }, { responseFormat: "text" }],
  [{ response_format: "verbose_json" }, { ...TIMES, responseFormat: "verbose_json" }],
  [{ response_format: "srt" }, { ...TIMES, responseFormat: "srt" }],
  [{ response_format: "vtt" }, { ...TIMES, responseFormat: "vtt" }],
  [
    { response_format: "diarized_json" },
    { features: ["diarization"], wantsSegments: true, responseFormat: "diarized_json" },
  ],
  [{ detect_language: true }, { detectLanguage: true, preferences: ["detect_language"] }],
  [{ detect_language: false }, {}],
  [{ speaker_count_hint: 3 }, { speakerCountHint: 3, preferences: ["speaker_count_hint"] }],
  [{ smart_formatting: true }, { smartFormatting: true, preferences: ["smart_formatting"] }],
  [{ smart_formatting: false }, { smartFormatting: false, preferences: ["smart_formatting"] }],
  [{ prompt: "Names." }, { prompt: "Names.", preferences: ["prompt"] }],
  [{ language: "de-AT" }, { language: "de-AT", preferences: ["language"] }],
];

for (const [fields, expected] of FIELDS)
  test(`routing.required-never-dropped, routing.preference-dropped: ${JSON.stringify(fields)} is required, preferred or neither`, () => {
    assert.deepEqual(requiredFeatures(fields, "transcribe"), { ...NOTHING, ...expected });
  });

test("routing.translation-native: a translation requires translation, into English unless sent, and a transcription into nothing", () => {
  const translated = { ...NOTHING, task: "translate", features: ["translation"], toLanguage: "en" };
  assert.deepEqual(requiredFeatures({}, "translate"), translated);
  assert.deepEqual(requiredFeatures({ to_language: "fr" }, "translate"), { ...translated, toLanguage: "fr" });
  assert.deepEqual(requiredFeatures({ to_language: "fr" }, "transcribe"), NOTHING);
});

test("routing.purpose-defaults: a purpose's defaults fill fields that were not sent and change nothing that was", () => {
  assert.deepEqual(withDefaults({ diarization: false }, { diarization: true, language: "de" }), {
    diarization: false,
    language: "de",
  });
});

test("routing.purpose-defaults: a purpose's terms apply where the request sends none, under whichever name either of them is written", () => {
  for (const own of ["keyterms", "custom_vocabulary"])
    for (const sent of ["keyterms", "custom_vocabulary"])
      assert.deepEqual(withDefaults({ [sent]: ["mine"] }, { [own]: ["theirs"], language: "de" }), {
        [sent]: ["mine"],
        language: "de",
      });
  assert.deepEqual(withDefaults({}, { keyterms: ["theirs"] }), { keyterms: ["theirs"] });
});

test("routing.keyterm-limits: one term beyond a target's limits is enough to skip it", () => {
  const limited = (keyterms: object) =>
    route("r", [speechTarget(1, model({ keyterms: { support: "native", grade: "sent" } }, { limits: { keyterms } }))]);
  const isAble = (keyterms: object, ...terms: string[]) =>
    decideRoute(
      audioContext(limited(keyterms), []),
      {
        task: "transcribe",
        fields: { keyterms: terms },
        purpose: { body: null, header: null, policy: null },
        audio: null,
      },
      () => null,
    ).ok;
  for (const [limits, fits, exceeds] of [
    [{ maxTerms: 2 }, ["a", "b"], ["a", "b", "c"]],
    [{ maxTermCharacters: 3 }, ["abc", "x"], ["x", "abcd"]],
    [{ maxTermWords: 2 }, [" a b ", "x"], ["x", "a b c"]],
    [{ forbiddenCharacters: [";"] }, ["a", "b"], ["a", "b;"]],
    [{ maxTotalTokens: 3 }, ["ab", "cdef"], ["ab", "cdefg"]],
  ] as const) {
    assert.equal(isAble(limits, ...fits), true, JSON.stringify(fits));
    assert.equal(isAble(limits, ...exceeds), false, JSON.stringify(exceeds));
  }
});

test("routing.profile-not-applied: without a profile there is no warning of one; with one that no target serves there is", () => {
  const own = route("r", [speechTarget(1, model(), { profiles: ["deep"] }), textTarget(2)]);
  const warnings = (fields: TranslationFields) =>
    decideRoute(
      audioContext(own, [own]),
      { task: "transcribe", fields, purpose: { body: null, header: null, policy: null }, audio: null },
      () => null,
    ).warnings.map(({ code }) => code);
  assert.deepEqual(warnings({}), []);
  assert.deepEqual(warnings({ response_profile: "deep" }), []);
  assert.deepEqual(warnings({ response_profile: "fast" }), ["PROFILE_NOT_APPLIED"]);
});
