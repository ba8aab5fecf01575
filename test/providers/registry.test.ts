// The registry and the chat catalogue, as data.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { CHAT_MODELS } from "../../src/providers/catalog.ts";
import { languageTag } from "../../src/providers/wire/language-names.ts";
import { PROVIDER_KINDS } from "../../src/providers/provider.ts";
import { USUAL_GRADE } from "../../src/providers/receipts.ts";
import { chatProviders, providers } from "../../src/providers/registry.ts";

test("providers.golden-requests: each provider has a contract test", () => {
  assert.ok(providers.size >= 6);
  for (const kind of providers.keys()) {
    assert.ok(existsSync(new URL(`${kind}.contract.test.ts`, import.meta.url)), kind);
  }
});

test("providers.golden-requests: every chat provider is one of those whose requests, replies and failures are tested", () => {
  assert.deepEqual([...chatProviders.keys()].toSorted(), [
    "anthropic",
    "gemini",
    "openai",
    "openai-compatible",
    "sandbox",
  ]);
});

test("providers.feature-grades: every feature of every model has the grade of its receipt", () => {
  for (const provider of providers.values()) {
    for (const [name, model] of Object.entries(provider.models)) {
      for (const [feature, support] of Object.entries(model.features)) {
        const usual = USUAL_GRADE[feature as keyof typeof USUAL_GRADE];
        // Where a feature does not show, a provider that repeats its options proves more than the request does.
        const grades = usual === "sent" ? ["sent", "echoed"] : [usual];
        assert.ok(grades.includes(support.grade), `${name} ${feature}`);
      }
    }
  }
});

test("providers.chat-catalogue: the catalogue knows chat models of openai, anthropic and gemini, and of them only Gemini's with audio parts accept speech too", () => {
  assert.deepEqual(Object.keys(CHAT_MODELS).toSorted(), ["anthropic", "gemini", "openai"]);
  for (const kind of PROVIDER_KINDS) {
    for (const [name, { features }] of Object.entries(CHAT_MODELS[kind] ?? {})) {
      const isHearing = kind === "gemini" && features.includes("audio_parts");
      assert.equal(providers.get(kind)?.models[name] !== undefined, isHearing, `${kind} ${name}`);
    }
  }
});

for (const [said, tag] of [
  ["english", "en"],
  ["English", "en"],
  ["Haitian Creole", "ht"],
  ["cantonese", "yue"],
  ["en", "en"],
  ["pt_br", "pt-BR"],
  ["EN", "en"],
  ["cmn-hans-cn", "cmn-Hans-CN"],
  ["eng", "en"],
  ["ger", "de"],
  ["deu", "de"],
  ["haw", "haw"],
  ["yue", "yue"],
  ["jw", "jv"],
  ["en_us", "en-US"],
  ["und", null],
  ["mul", null],
  ["auto", null],
  ["multi", null],
  ["en-US-", null],
  ["<script>", null],
  ["zh-Hans", "zh-Hans"],
  ["old high martian", null],
  ["", null],
  ["toString", null],
] as const) {
  test(`providers.language-codes: a provider's language ${JSON.stringify(said)} is ${tag} in BCP-47`, () => {
    assert.equal(languageTag(said), tag);
  });
}
