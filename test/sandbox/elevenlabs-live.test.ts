// The sandbox as ElevenLabs' WebSocket: what it refuses, commits and records.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, beforeEach, test } from "node:test";
import { WebSocket } from "ws";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

type Message = Readonly<Record<string, unknown>>;
const BASE = { model_id: "scribe_v2_realtime", audio_format: "pcm_16000", include_timestamps: "true" };
const SECOND = new Uint8Array(32_000);

const chunk = (samples: Uint8Array, commit = false): object => ({
  message_type: "input_audio_chunk",
  audio_base_64: Buffer.from(samples).toString("base64"),
  commit,
  sample_rate: 16_000,
});

/** Sends each message, closes when `until` arrived, and returns what was said and how it was closed. */
async function converse(
  query: Readonly<Record<string, string>>,
  messages: readonly object[],
  { key = "el-wire", until = "committed_transcript_with_timestamps" } = {},
) {
  const url = `${sandbox.elevenlabsUrl.replace("http", "ws")}/v1/speech-to-text/realtime?${new URLSearchParams(query).toString()}`;
  const socket = new WebSocket(url, { headers: { "xi-api-key": key } });
  const said: Message[] = [];
  socket.on("message", (data: Buffer) => {
    said.push(JSON.parse(data.toString()) as Message);
    if (said.at(-1)?.["message_type"] === until) socket.close(1000);
  });
  socket.once("open", () => {
    for (const message of messages) socket.send(JSON.stringify(message));
  });
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  return { said, types: said.map(({ message_type: type }) => type), code, reason: reason.toString() };
}

test("providers.sandbox-protocols: elevenlabs' socket answers a commit with the text, and again with times from the start of the session", async () => {
  const { said, types } = await converse(BASE, [
    chunk(SECOND),
    chunk(SECOND),
    chunk(SECOND),
    chunk(new Uint8Array(0), true),
  ]);
  assert.deepEqual(types, [
    "session_started",
    "partial_transcript",
    "partial_transcript",
    "final_transcript",
    "committed_transcript",
    "committed_transcript_with_timestamps",
  ]);
  assert.equal(said[4]?.["text"], "[simulated, 0.0 s to 2.0 s] [simulated, 2.0 s to 3.0 s]");
  const words = said[5]?.["words"] as readonly { type: string; end: number }[];
  assert.deepEqual([words[0]?.type, words[1]?.type, words.at(-1)?.end], ["word", "spacing", 3]);
  const call = await sandbox.waitForCall(({ file }) => file !== null, 5_000);
  assert.deepEqual([call.model, call.outcome, call.aborted, call.file?.sizeBytes], [BASE.model_id, 101, false, 96_000]);
});

test("providers.sandbox-protocols: elevenlabs' socket that is closed before its audio is committed is an aborted call", async () => {
  await converse(BASE, [chunk(SECOND), chunk(SECOND)], { until: "partial_transcript" });
  const call = await sandbox.waitForCall(({ aborted }) => aborted, 5_000);
  assert.equal(call.file, null);
});

test("providers.sandbox-refusals: elevenlabs' socket ignores a commit of less than 0.3 s, and says so", async () => {
  const { said } = await converse(BASE, [chunk(SECOND.subarray(0, 3_200), true)], { until: "commit_throttled" });
  assert.match(String(said.at(-1)?.["error"]), /^Commit request ignored: only 0\.10s of uncommitted audio/u);
});

for (const [why, query, type] of [
  ["an unknown model", { ...BASE, model_id: "scribe_v2" }, "invalid_request"],
  ["an unknown parameter", { ...BASE, diarize: "true" }, "invalid_request"],
  ["a flag that is none", { ...BASE, include_timestamps: "1" }, "invalid_request"],
  ["a format that is not PCM", { ...BASE, audio_format: "opus_48000" }, "invalid_request"],
  ["its own detection of voices", { ...BASE, commit_strategy: "vad" }, "invalid_request"],
  ["a language that is no code", { ...BASE, language_code: "pt-BR" }, "invalid_request"],
  ["a long key term", { ...BASE, keyterms: "x".repeat(21) }, "invalid_request"],
] as const) {
  test(`providers.sandbox-refusals: elevenlabs' socket refuses ${why} with a message and a close of the same name`, async () => {
    const { types, code, reason } = await converse(query, []);
    assert.deepEqual([types, code, reason], [[type], 1008, type]);
  });
}

for (const [why, messages, type] of [
  ["a message that is no chunk", [{ message_type: "commit" }], "input_error"],
  ["audio that is not in base64", [{ message_type: "input_audio_chunk", audio_base_64: "#" }], "input_error"],
  ["samples of another rate", [{ ...chunk(SECOND), sample_rate: 8_000 }], "input_error"],
  ["a chunk of more than a second", [chunk(new Uint8Array(32_002))], "chunk_size_exceeded"],
] as const) {
  test(`providers.sandbox-refusals: elevenlabs' socket refuses ${why}`, async () => {
    const { types, reason } = await converse(BASE, messages);
    assert.deepEqual([types, reason], [["session_started", type], type]);
  });
}

test("providers.sandbox-refusals: elevenlabs' socket refuses an invalid key after it opened", async () => {
  const { types, code } = await converse(BASE, [], { key: "invalid" });
  assert.deepEqual([types, code], [["auth_error"], 1008]);
});
