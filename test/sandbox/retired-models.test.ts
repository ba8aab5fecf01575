// Chat models on the sandbox's clock: answered until the day of their end, refused with the provider's own error from then on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { at, list, transcribe } from "./ask.ts";
import { chatClient } from "./chat-client.ts";

let sandbox: Sandbox;
let now = 0;
before(async () => {
  sandbox = await startSandbox({ nowMs: () => now });
});
after(() => sandbox.close());
const { ask } = chatClient(() => sandbox.origin);

test("providers.sandbox-retirement: openai answers 404 model_not_found from the day of a model's end", async () => {
  now = Date.parse("2027-01-13T23:59:59Z");
  assert.equal((await ask("openai", { model: "gpt-4o-mini" })).status, 200);
  now = Date.parse("2027-01-14T00:00:00Z");
  const refused = await ask("openai", { model: "gpt-4o-mini" });
  assert.equal(refused.status, 404);
  assert.deepEqual(at(refused.json, "error"), {
    message:
      "The model `gpt-4o-mini` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations",
    type: "invalid_request_error",
    param: null,
    code: "model_not_found",
  });
  assert.equal((await ask("openai", { model: "gpt-6-luna" })).status, 200);
});

test("providers.sandbox-retirement: anthropic answers 404 not_found_error, for the alias and for the snapshot", async () => {
  now = Date.parse("2026-11-29T23:59:59Z");
  assert.equal((await ask("anthropic", { model: "claude-sonnet-4-5" })).status, 200);
  now = Date.parse("2026-11-30T00:00:00Z");
  for (const model of ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"]) {
    const refused = await ask("anthropic", { model });
    assert.equal(refused.status, 404);
    assert.deepEqual(at(refused.json, "error"), { type: "not_found_error", message: `model: ${model}` });
  }
});

test("providers.sandbox-retirement: groq answers 400 model_decommissioned, and another server serves what it has", async () => {
  const model = "llama-3.3-70b-versatile";
  const to = (dialect: string) => ({ path: `/compatible/${dialect}/v1/chat/completions` });
  now = Date.parse("2026-08-15T23:59:59Z");
  assert.equal((await ask("openai", { model }, to("groq"))).status, 200);
  now = Date.parse("2026-08-16T00:00:00Z");
  const refused = await ask("openai", { model }, to("groq"));
  assert.equal(refused.status, 400);
  assert.equal(at(refused.json, "error", "code"), "model_decommissioned");
  assert.equal((await ask("openai", { model }, to("vllm"))).status, 200);
});

test("providers.sandbox-retirement: mistral answers 404 to audio for a model that has ended, and serves its other models", async () => {
  const status = async (model: string) =>
    (await transcribe(sandbox.compatibleUrl("mistral"), [["model", model]])).status;
  now = Date.parse("2026-05-30T23:59:59Z");
  assert.equal(await status("voxtral-mini-2507"), 200);
  now = Date.parse("2026-05-31T00:00:00Z");
  assert.equal(await status("voxtral-mini-2507"), 404);
  assert.equal(await status("voxtral-mini-transcribe-3"), 200);
});

test("providers.sandbox-retirement: gemini answers the old name by the newer model, and says so", async () => {
  now = Date.parse("2026-10-07T23:59:59Z");
  assert.equal(at((await ask("gemini")).json, "modelVersion"), "gemini-3.5-flash");
  now = Date.parse("2026-10-08T00:00:00Z");
  const { status, json } = await ask("gemini");
  assert.equal(status, 200);
  assert.equal(at(json, "modelVersion"), "gemini-3.6-flash");
  const path = "/gemini/v1beta/models/gemini-3.7-flash:generateContent";
  assert.equal(at((await ask("gemini", {}, { path })).json, "modelVersion"), "gemini-3.8-flash");
});

test("providers.sandbox-retirement: a list has no model that has ended, and openai's names the announced days", async () => {
  now = Date.parse("2026-12-11T00:00:00Z");
  const listed = async (url: string, headers: Record<string, string>): Promise<ReadonlyMap<unknown, unknown>> => {
    const json: unknown = await (await fetch(url, { headers })).json();
    return new Map(list(at(json, "data")).map((each) => [at(each, "id"), at(each, "shutdown_date")]));
  };
  const openai = await listed(`${sandbox.openaiUrl}/models`, { authorization: "Bearer sk-1" });
  assert.ok(!openai.has("gpt-5") && !openai.has("gpt-4.1-nano"));
  assert.equal(openai.get("gpt-4o"), "2027-01-14");
  assert.equal(openai.get("gpt-6-luna"), null);
  const anthropic = await listed(`${sandbox.anthropicUrl}/v1/models?limit=100`, {
    "x-api-key": "sk-1",
    "anthropic-version": "2023-06-01",
  });
  assert.ok(!anthropic.has("claude-sonnet-4-5-20250929") && anthropic.has("claude-haiku-5-5"));
});

test("providers.sandbox-retirement: without a clock no model ends", async () => {
  const timeless = await startSandbox();
  try {
    const client = chatClient(() => timeless.origin);
    assert.equal((await client.ask("openai", { model: "gpt-4.1-nano" })).status, 200);
  } finally {
    await timeless.close();
  }
});
