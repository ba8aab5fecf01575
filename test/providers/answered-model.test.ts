// Which names in an answer are the model that was asked, by the rules of each provider.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isSameModel,
  isSubstitution,
  MODEL_NAMES,
  modelField,
  modelReceipt,
  reportedModel,
} from "../../src/providers/answered-model.ts";
import { openaiCompatibleChat } from "../../src/providers/openai/openai-chat.ts";

type Names = keyof typeof MODEL_NAMES;
const SAME: readonly (readonly [Names, asked: string, answered: string])[] = [
  ["openai", "gpt-4o", "gpt-4o"],
  ["openai", "gpt-4o", "gpt-4o-2024-08-06"],
  ["openai", "gpt-4o-mini", "gpt-4o-mini-2024-07-18"],
  ["openai", "gpt-4o-audio-preview", "gpt-4o-audio-preview-2024-12-17"],
  ["anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929"],
  ["anthropic", "claude-opus-4-6", "claude-opus-4-6"],
  ["gemini", "gemini-3.8-flash", "models/gemini-3.8-flash"],
  ["gemini", "models/gemini-3.8-flash", "gemini-3.8-flash"],
  ["gemini", "gemini-flash-latest", "gemini-3.8-flash"],
  ["mistral", "mistral-large-latest", "mistral-large-latest"],
  ["mistral", "mistral-large-latest", "mistral-large-2512"],
  ["mistral", "mistral-large-latest", "mistral-large-4-0"],
  ["mistral", "voxtral-mini-transcribe-3", "voxtral-mini-transcribe-3-0"],
  ["assemblyai", "universal-2", "universal-2"],
  ["compatible", "gpt-4o", "openai/gpt-4o-2024-08-06"],
  ["compatible", "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5-20250929"],
  ["compatible", "Meta-Llama/Llama-3.3-70B", "meta-llama/llama-3.3-70b"],
  ["compatible", "llama3.2", "llama3.2:latest"],
  ["compatible", "qwen3-8b", "/models/Qwen3-8B.gguf"],
];
const OTHER: typeof SAME = [
  ["openai", "gpt-4o", "gpt-4o-mini-2024-07-18"],
  ["openai", "gpt-4o", "gpt-4o-mini"],
  ["openai", "gpt-4o-mini", "gpt-4o-2024-08-06"],
  ["openai", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"],
  ["openai", "gpt-4o-2024-08-06", "gpt-4o"],
  ["openai", "gpt-4o", "gpt-4o-2024-13-06"],
  ["openai", "gpt-4o", "gpt-4o-20240806"],
  ["openai", "gpt-4o", "GPT-4o"],
  ["openai", "gpt-5", "gpt-5.1-2025-11-13"],
  ["openai", "gpt-4o", "openai/gpt-4o"],
  ["anthropic", "claude-sonnet-4", "claude-sonnet-4-5-20250929"],
  ["anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5-2025-09-29"],
  ["anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20251001"],
  ["gemini", "gemini-3.5-flash", "gemini-3.6-flash"],
  ["gemini", "gemini-2.5-flash", "gemini-2.5-flash-lite"],
  ["gemini", "gemini-2.5-flash", "gemini-2.5-flash-001"],
  ["gemini", "gemini-flash-latest", "gemini-3.8-flash-lite"],
  ["mistral", "mistral-large-latest", "mistral-small-2512"],
  ["mistral", "mistral-large-latest", "mistral-large-instruct"],
  ["mistral", "voxtral-mini-transcribe-3-0", "voxtral-mini-transcribe-3-1"],
  ["mistral", "voxtral-mini-2507", "voxtral-mini-2507-1"],
  ["assemblyai", "universal-2", "universal-2-20260101"],
  ["assemblyai", "universal-3-5-pro", "universal-2"],
  ["compatible", "gpt-4o", "gpt-4o-mini-2024-07-18"],
  ["compatible", "one/llama-3", "other/llama-3"],
  ["compatible", "llama-3", "/models/"],
  ["compatible", "llama-3", "llama-3-instruct"],
];
for (const [expected, rows] of [
  [true, SAME],
  [false, OTHER],
] as const)
  for (const [names, asked, answered] of rows)
    test(`providers.answered-model: ${names}: ${asked} answered by ${answered} is ${expected ? "the same" : "another"} model`, () => {
      assert.equal(isSameModel(MODEL_NAMES[names], asked, answered), expected);
    });

test("providers.answered-model: a target of a compatible server names the model that answers, and its dialect has the rules", () => {
  const isSame = (target: { model: string; settings: object }, answered: string): boolean =>
    openaiCompatibleChat.isSameModel({ ...target, settings: { ...target.settings } }, answered);
  const deployed = { model: "production", settings: { answers_as: "gpt-4o" } };
  assert.ok(
    isSame(deployed, "gpt-4o-2024-08-06") && !isSame(deployed, "production") && !isSame(deployed, "gpt-4o-mini"),
  );
  const mistral = { model: "mistral-large-latest", settings: { dialect: "mistral" } };
  assert.ok(isSame(mistral, "mistral-large-2512") && !isSame({ ...mistral, settings: {} }, "mistral-large-2512"));
  assert.ok(openaiCompatibleChat.settings.safeParse(deployed.settings).success);
});

test("providers.answered-model: every rule has its source", () => {
  for (const { source } of Object.values(MODEL_NAMES)) assert.ok(source.length > 20);
});

test("providers.answered-model: a server's text is recorded only if it can be a name", () => {
  assert.equal(reportedModel(" gpt-4o "), "gpt-4o");
  for (const nothing of [undefined, null, 7, {}, "", "  "]) assert.equal(reportedModel(nothing), null);
  for (const text of ["a\nb", "<b>x</b>", "Hallo, ich bin’s", "x".repeat(129)])
    assert.equal(reportedModel(text), "(not a name)");
  assert.equal(modelField([{ model: "a" }], "model"), null);
  assert.equal(modelField({ model: "a" }, "model"), "a");
});

test("providers.answered-model: only an answer that reports another model is a substitution", () => {
  const isSame = (name: string): boolean => name === "a";
  assert.deepEqual([isSubstitution(modelReceipt("a", isSame)), modelReceipt("a", isSame).delivered], [false, true]);
  assert.deepEqual([isSubstitution(modelReceipt("b", isSame)), modelReceipt("b", isSame).delivered], [true, false]);
  assert.deepEqual([isSubstitution(modelReceipt(null, isSame)), modelReceipt(null, isSame).delivered], [false, false]);
});
