// The providers' limits as required features: what fits is eligible, one more of anything is not, and the target names the limit. Every
// model of every catalogue, at its own figures.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lack } from "../../src/contract/features.ts";
import type { TranscriptionFields } from "../../src/contract/transcription/transcription-fields.ts";
import type { SpeechModel } from "../../src/providers/provider.ts";
import { providers } from "../../src/providers/registry.ts";
import { type AudioFacts, judgeTarget } from "../../src/routing/judge-target.ts";
import { requiredFeatures } from "../../src/routing/required-features.ts";

function lacks(model: SpeechModel, fields: TranscriptionFields, facts: Partial<AudioFacts>): readonly Lack[] {
  const audio: AudioFacts = {
    format: "wav",
    sizeBytes: 1000,
    durationSeconds: 1,
    channels: 1,
    pcmRate: 16_000,
    // A model that accepts no recordings.
    ...(model.limits.formats?.length === 0 ? { live: "pcm_s16le" } : {}),
    ...facts,
  };
  const asked = model.streamsOnly === true ? { ...fields, stream: true } : fields;
  return judgeTarget(model, requiredFeatures(asked, "transcribe"), audio, {
    acceptWeak: ["keyterms"],
    splitLongAudio: false,
  }).missing;
}

const terms = (count: number): string[] => Array.from({ length: count }, (_, index) => `t${index}`);
const words = (count: number): string => terms(count).join(" ");

for (const [kind, { models }] of providers) {
  for (const [name, model] of Object.entries(models)) {
    const { maxBytes, maxSeconds, maxChannels, keyterms } = model.limits;
    test(`routing.limits-are-features, providers.model-limits: ${kind}/${name} accepts its limits and not one more`, () => {
      if (maxBytes !== undefined) {
        assert.deepEqual(lacks(model, {}, { sizeBytes: maxBytes }), []);
        assert.deepEqual(lacks(model, {}, { sizeBytes: maxBytes + 1 }), ["size"]);
      }
      if (maxSeconds !== undefined) {
        assert.deepEqual(lacks(model, {}, { durationSeconds: maxSeconds }), []);
        assert.deepEqual(lacks(model, {}, { durationSeconds: maxSeconds + 0.001 }), ["duration"]);
      }
      if (maxChannels !== undefined && model.features.multichannel !== undefined) {
        assert.deepEqual(lacks(model, { multichannel: true }, { channels: maxChannels }), []);
        assert.deepEqual(lacks(model, { multichannel: true }, { channels: maxChannels + 1 }), ["channels"]);
        assert.deepEqual(lacks(model, {}, { channels: maxChannels + 1 }), [], "mixed down, they are not counted");
      }
      if (keyterms === undefined || model.features.keyterms === undefined) return;
      const asked = (list: readonly string[]) => lacks(model, { keyterms: [...list] }, {});
      const { maxTerms, maxTermCharacters, maxTermWords, forbiddenCharacters = [] } = keyterms;
      if (maxTerms !== undefined) {
        assert.deepEqual(asked(terms(maxTerms)), []);
        assert.deepEqual(asked(terms(maxTerms + 1)), ["keyterms_limit"]);
      }
      if (maxTermCharacters !== undefined) {
        assert.deepEqual(asked(["x".repeat(maxTermCharacters)]), []);
        assert.deepEqual(asked(["x".repeat(maxTermCharacters + 1)]), ["keyterms_limit"]);
      }
      if (maxTermWords !== undefined) {
        assert.deepEqual(asked([words(maxTermWords)]), []);
        assert.deepEqual(asked([words(maxTermWords + 1)]), ["keyterms_limit"]);
      }
      for (const character of forbiddenCharacters) assert.deepEqual(asked([`a${character}b`]), ["keyterms_limit"]);
    });

    test(`routing.limits-are-features, providers.model-limits: ${kind}/${name} accepts the languages it lists and no other`, () => {
      // For a model that accepts one recording only.
      const facts = model.limits.recordings?.[0] ?? {};
      if (model.languages === "any") return assert.deepEqual(lacks(model, { language: "eo" }, facts), []);
      for (const language of model.languages) assert.deepEqual(lacks(model, { language }, facts), [], language);
      assert.deepEqual(lacks(model, { language: "eo" }, facts), ["language"]);
    });
  }
}

test("providers.model-limits: OpenAI's figures are those of its refusals: 1400 s with speakers, 1500 s without, 25 MiB with the form around it", () => {
  const models = providers.get("openai")?.models ?? {};
  assert.equal(models["gpt-4o-transcribe-diarize"]?.limits.maxSeconds, 1400);
  assert.equal(models["gpt-4o-transcribe"]?.limits.maxSeconds, 1500);
  for (const { limits, streamsOnly } of Object.values(models))
    assert.equal(limits.maxBytes, streamsOnly === true ? undefined : 25 * 1024 * 1024 - 64 * 1024);
});

test("routing.limits-are-features, providers.model-limits: OpenAI's live models accept no recording, streamed or not", () => {
  const models = providers.get("openai")?.models ?? {};
  for (const name of ["gpt-live-transcribe", "gpt-realtime-whisper"]) {
    const model = models[name];
    assert.ok(model);
    const judge = (fields: TranscriptionFields, live?: "pcm_s16le") => {
      const audio: AudioFacts = { format: "wav", sizeBytes: 1000, durationSeconds: 1, channels: 1, pcmRate: 24_000 };
      const facts = live === undefined ? audio : { ...audio, live };
      return judgeTarget(model, requiredFeatures(fields, "transcribe"), facts, { acceptWeak: [], splitLongAudio: true })
        .missing;
    };
    assert.deepEqual(judge({ stream: true }), ["format"]);
    assert.ok(judge({}).includes("format"));
    assert.deepEqual(judge({ stream: true }, "pcm_s16le"), []);
  }
});
