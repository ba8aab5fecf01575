// What a declaration changes of a model, and what it cannot.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chatModel } from "../../src/directory/chat-model.ts";
import { speechModel } from "../../src/directory/speech-model.ts";
import { storedConnection } from "../../src/directory/stored-schemas.ts";
import { openaiCompatible } from "../../src/providers/openai/openai-compatible.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/elevenlabs.ts";
import { geminiAudio } from "../../src/providers/gemini/gemini-audio.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import type { SpeechProvider } from "../../src/providers/provider.ts";
import { chatProviders } from "../../src/providers/registry.ts";

const EVERYTHING = {
  diarization: true,
  timestamps: ["word", "segment"],
  keyterms: true,
  redaction: ["pii"],
  multichannel: true,
  profanityFilter: true,
  streaming: true,
  translation: true,
} as const;

function declared(provider: SpeechProvider, name: string, features: object, dialect: string | null = null) {
  const { models } = storedConnection.parse({
    models: { [name]: { capabilities: ["audio_input"], features, dialect } },
  });
  const model = speechModel(provider, name, models[name], {});
  assert.ok(model);
  return { features: Object.keys(model.features).toSorted(), excludes: model.excludes ?? [] };
}

test("providers.declared-features: a declared feature that neither the protocol nor the gateway has is not offered", () => {
  assert.deepEqual(declared(openaiCompatible, "m", EVERYTHING, "groq").features, [
    "keyterms",
    "multichannel",
    "profanity_filter",
    "timestamps.segment",
    "timestamps.word",
    "translation",
  ]);
  assert.deepEqual(declared(openaiCompatible, "m", EVERYTHING, "mistral").features, [
    "diarization",
    "keyterms",
    "multichannel",
    "profanity_filter",
    "timestamps.segment",
    "timestamps.word",
  ]);
  assert.deepEqual(declared(openai, "whisper-1", { diarization: true }).features.includes("diarization"), false);
});

test("providers.declared-features: what a server does for transcripts alone is not offered for a translation", () => {
  for (const dialect of ["openai", "groq", "speaches", "whisper-cpp"]) {
    const { excludes } = declared(
      openaiCompatible,
      "m",
      { translation: true, timestamps: ["word", "segment"] },
      dialect,
    );
    assert.deepEqual(excludes, [["translation", "timestamps.word"]], dialect);
  }
});

test("providers.declared-features, providers.declaration-wins: streaming is declared and removed like any feature, where the adapter can stream", () => {
  const of = (provider: SpeechProvider, name: string, streaming: boolean) =>
    declared(provider, name, { streaming }).features.includes("streaming");
  assert.deepEqual(
    [of(openai, "gpt-4o-transcribe-2026-12-01", true), of(openai, "gpt-4o-transcribe", false)],
    [true, false],
  );
  assert.deepEqual(
    [of(openai, "whisper-1", true), of(openaiCompatible, "m", true), of(geminiAudio, "gemini-3.8-flash", true)],
    [false, false, false],
  );
});

test("configuration.models: a name that every object has is no model of the catalogue", () => {
  for (const name of ["constructor", "toString", "__proto__"]) {
    assert.equal(speechModel(openai, name, undefined, {}), null, name);
    assert.equal(chatModel("openai", chatProviders.get("openai"), name, undefined), null, name);
  }
});

test("providers.declaration-wins: what a declaration can keep stays, and what the catalogue has of it", () => {
  const { features, excludes } = declared(elevenlabs, "scribe_v2", { keyterms: false });
  assert.deepEqual(
    features,
    Object.keys(elevenlabs.models["scribe_v2"]?.features ?? {})
      .filter((each) => each !== "keyterms")
      .toSorted(),
  );
  assert.deepEqual(excludes, [["multichannel", "diarization"]]);
});
