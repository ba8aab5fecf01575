// The official Google client against the sandbox's Gemini with audio: interactions of the transcription model, and a general
// model asked for text.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { GoogleGenAI } from "@google/genai";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { wav } from "../sandbox/wav.ts";

const TEXT = "[simulated transcript, 2.5 s, mono]";
let sandbox: Sandbox;

before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

const client = (apiKey = "gm-oracle"): GoogleGenAI =>
  new GoogleGenAI({
    apiKey,
    httpOptions: { baseUrl: sandbox.geminiUrl, apiVersion: "v1beta", retryOptions: { attempts: 1 } },
  });
const base64 = (seconds = 2.5): string => wav(seconds).toString("base64");

const interact = (mode: { diarization_mode?: string; timestamp_granularities?: string[] }, apiKey?: string) =>
  client(apiKey).interactions.create({
    model: "gemini-3.5-transcribe",
    store: false,
    input: [{ type: "audio", data: base64(), mime_type: "audio/wav" }],
    generation_config: {
      transcription_config: {
        mode: { type: "verbatim", ...mode },
        custom_vocabulary: ["Patchbay"],
        language_codes: ["en"],
      },
    },
  });

test("providers.sandbox-protocols: gemini, gemini-3.5-transcribe: text and words with offsets and speakers, as the client types them", async () => {
  const answer = await interact({ diarization_mode: "speaker", timestamp_granularities: ["word"] });
  assert.equal(answer.status, "completed");
  const output = answer.steps?.find((step) => step.type === "model_output");
  const [content] = output?.type === "model_output" ? (output.content ?? []) : [];
  assert.ok(content?.type === "text");
  assert.equal(content.text, TEXT);
  const words = (content.annotations ?? []).flatMap((each) => (each.type === "word_info" ? [each] : []));
  assert.equal(words.map(({ text }) => text).join(" "), TEXT);
  assert.deepEqual(
    [words[0]?.start_offset, words.at(-1)?.end_offset, words[0]?.speaker, words.at(-1)?.speaker],
    ["0s", "2.5s", "spk_1", "spk_2"],
  );
  assert.equal(sandbox.calls[0]?.file?.contentType, "audio/wav");
  assert.equal(sandbox.calls[0]?.headers["x-goog-api-key"], "…acle");
});

test("providers.sandbox-protocols: gemini, gemini-3.5-transcribe: nothing asked, nothing marked", async () => {
  const answer = await interact({});
  const output = answer.steps?.find((step) => step.type === "model_output");
  const [content] = output?.type === "model_output" ? (output.content ?? []) : [];
  assert.deepEqual(
    [content?.type === "text" && content.text, content?.type === "text" && content.annotations],
    [TEXT, undefined],
  );
});

test("providers.sandbox-protocols: gemini, a general model: text in the schema, finished, with the audio's tokens", async () => {
  const answer = await client().models.generateContent({
    model: "gemini-2.5-flash",
    contents: [{ role: "user", parts: [{ inlineData: { mimeType: "audio/wav", data: base64() } }] }],
    config: {
      systemInstruction: "Write down the speech.",
      temperature: 0,
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  });
  assert.deepEqual(JSON.parse(answer.text ?? ""), { text: TEXT });
  assert.equal(answer.candidates?.[0]?.finishReason, "STOP");
  assert.equal(answer.usageMetadata?.promptTokensDetails?.[0]?.modality, "AUDIO");
});

test("providers.sandbox-protocols: gemini, a bad key is a 400 that names API_KEY_INVALID, on both APIs", async () => {
  await assert.rejects(interact({}, "invalid"), (error: Error & { status?: number }) => error.status === 400);
  const asked = client("invalid").models.generateContent({
    model: "gemini-2.5-flash",
    contents: [{ role: "user", parts: [{ inlineData: { mimeType: "audio/wav", data: base64() } }] }],
  });
  await assert.rejects(
    asked,
    (error: Error & { status?: number }) => error.status === 400 && error.message.includes("API_KEY_INVALID"),
  );
});

test("providers.sandbox-protocols: gemini, a model that does not transcribe is not found, and a fault's status reaches the client", async () => {
  const wrong = client().interactions.create({
    model: "gemini-2.5-flash",
    input: [{ type: "audio", data: base64(), mime_type: "audio/wav" }],
  });
  await assert.rejects(wrong, (error: Error & { status?: number }) => error.status === 404);
  sandbox.addFault({ wire: "gemini", fault: { kind: "status", status: 429 } });
  await assert.rejects(interact({}), (error: Error & { status?: number }) => error.status === 429);
});
