// The official clients' own ways of asking what `patchbay providers test` asks, against the sandbox: if they read the answers as
// theirs, the wire format is right.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { ElevenLabsClient, ElevenLabsError } from "@elevenlabs/elevenlabs-js";
import { ApiError, GoogleGenAI } from "@google/genai";
import { AssemblyAI } from "assemblyai";
import OpenAI from "openai";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());

test("providers.sandbox-protocols: openai, models.list, and a wrong key", async () => {
  const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: sandbox.openaiUrl, maxRetries: 0 });
  const { data } = await client("sk-oracle").models.list();
  assert.ok(data.some(({ id, object }) => id === "whisper-1" && object === "model"));
  await assert.rejects(
    async () => client("invalid").models.list(),
    (error) => error instanceof OpenAI.AuthenticationError && error.code === "invalid_api_key",
  );
});

test("providers.sandbox-protocols: anthropic, models.list page by page, and a wrong key", async () => {
  const client = (apiKey: string) => new Anthropic({ apiKey, baseURL: sandbox.anthropicUrl, maxRetries: 0 });
  const ids = (await Array.fromAsync(client("sk-ant-oracle").models.list({ limit: 4 }))).map(({ id }) => id);
  assert.ok(ids.includes("claude-opus-5") && ids.includes("claude-haiku-4-5-20251001"));
  assert.equal(new Set(ids).size, 12);
  await assert.rejects(async () => client("invalid").models.list(), Anthropic.AuthenticationError);
});

test("providers.sandbox-protocols: gemini, models.list page by page, and a wrong key", async () => {
  const client = (apiKey: string) =>
    new GoogleGenAI({
      apiKey,
      httpOptions: { baseUrl: sandbox.geminiUrl, apiVersion: "v1beta", retryOptions: { attempts: 1 } },
    });
  const models = await Array.fromAsync(await client("key-oracle").models.list({ config: { pageSize: 3 } }));
  const found = models.find(({ name }) => name === "models/gemini-2.5-pro");
  assert.deepEqual([found?.inputTokenLimit, found?.supportedActions?.[0]], [1_048_576, "generateContent"]);
  assert.equal(models.length, 12);
  await assert.rejects(client("invalid").models.list(), (error) => error instanceof ApiError && error.status === 400);
});

test("providers.sandbox-protocols: assemblyai, transcripts.list, and a wrong key", async () => {
  const client = (apiKey: string) => new AssemblyAI({ apiKey, baseUrl: sandbox.assemblyaiUrl });
  const { page_details: page, transcripts } = await client("aa-oracle").transcripts.list({ limit: 1 });
  assert.deepEqual([page.limit, page.result_count, transcripts], [1, 0, []]);
  await assert.rejects(client("invalid").transcripts.list({ limit: 1 }), /Authentication error/u);
});

test("providers.sandbox-protocols: elevenlabs, models.list, and a wrong key", async () => {
  const client = (apiKey: string) => new ElevenLabsClient({ apiKey, baseUrl: sandbox.elevenlabsUrl, maxRetries: 0 });
  const models = await client("el-oracle").models.list();
  assert.deepEqual([models[0]?.modelId, models[0]?.canDoTextToSpeech], ["eleven_multilingual_v2", true]);
  await assert.rejects(
    client("invalid").models.list(),
    (error) => error instanceof ElevenLabsError && error.statusCode === 401,
  );
});
