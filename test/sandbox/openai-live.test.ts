// The sandbox as OpenAI's transcription sessions: what it refuses, and that it continues afterwards.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
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

interface Message {
  readonly type: string;
  readonly error?: { readonly code: string; readonly message: string; readonly param: string | null };
}

const open = (query: string, key = "sk-wire"): WebSocket =>
  new WebSocket(`${sandbox.openaiUrl.replace("http", "ws")}/realtime${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });

/** The answers to messages: one to each but to audio that was accepted. */
async function answers(...messages: readonly object[]): Promise<readonly Message[]> {
  return answersTo(messages, messages.length);
}

async function answersTo(messages: readonly object[], count: number): Promise<readonly Message[]> {
  const socket = open("?intent=transcription");
  const received: Message[] = [];
  const arrived = Promise.withResolvers<void>();
  socket.on("message", (data: Buffer) => {
    received.push(JSON.parse(data.toString()) as Message);
    // After `session.created`.
    if (received.length === count + 1) arrived.resolve();
  });
  await once(socket, "open");
  for (const message of messages) socket.send(JSON.stringify(message));
  await arrived.promise;
  socket.terminate();
  return received.slice(1);
}

const configured = (transcription: object, input: object = {}) => ({
  type: "session.update",
  session: {
    type: "transcription",
    audio: { input: { format: { type: "audio/pcm", rate: 24_000 }, transcription, ...input } },
  },
});
const LIVE = { model: "gpt-live-transcribe" };
const WHISPER = { model: "gpt-realtime-whisper" };

const REFUSED: readonly (readonly [why: string, message: object, param: RegExp])[] = [
  ["an unknown model", configured({ model: "gpt-transcribe" }), /transcription\.model/],
  ["an option that is not documented", configured({ ...LIVE, key_terms: [] }), /transcription/],
  ["the older field of the language", configured({ ...LIVE, language: "en" }), /transcription/],
  ["a language that is none", configured({ ...LIVE, languages: ["english"] }), /languages/],
  ["a key term with an unsafe character", configured({ ...LIVE, keywords: ["a<b"] }), /keywords/],
  ["a prompt of more than 1,024 characters", configured({ ...LIVE, prompt: "a".repeat(1_025) }), /prompt/],
  ["a prompt for gpt-realtime-whisper", configured({ ...WHISPER, prompt: "a" }), /transcription/],
  ["key terms for gpt-realtime-whisper", configured({ ...WHISPER, keywords: ["a"] }), /transcription/],
  ["turn detection", configured(LIVE, { turn_detection: { type: "server_vad" } }), /turn_detection/],
  ["another sample rate", configured(LIVE, { format: { type: "audio/pcm", rate: 16_000 } }), /rate/],
];
for (const [why, message, param] of REFUSED) {
  test(`providers.sandbox-refusals: openai's session, ${why}, after which another configuration is accepted`, async () => {
    const [refused, accepted] = await answers(message, configured(LIVE));
    assert.equal(refused?.error?.code, "invalid_value");
    assert.match(String(refused?.error?.param), param);
    assert.equal(accepted?.type, "session.updated");
  });
}

const audio = (bytes: number) => ({
  type: "input_audio_buffer.append",
  audio: Buffer.alloc(bytes).toString("base64"),
});

test("providers.sandbox-refusals: openai's session, audio before a configuration, what is no event, and a commit of less than 0.1 s", async () => {
  const messages = [
    audio(4_800),
    configured(LIVE),
    { type: "input_audio_buffer.append", audio: "no base64!" },
    { type: "nonsense" },
    audio(4_798),
    { type: "input_audio_buffer.commit" },
  ];
  const replies = await answersTo(messages, messages.length - 1);
  assert.deepEqual(
    replies.map(({ type, error }) => error?.code ?? type),
    ["invalid_session", "session.updated", "invalid_event", "invalid_event", "input_audio_buffer_commit_empty"],
  );
});

for (const [what, query, key, status] of [
  ["a conversation", "?model=gpt-realtime", "sk-wire", 400],
  ["a session that names a model", "?intent=transcription&model=gpt-live-transcribe", "sk-wire", 400],
  ["an invalid key", "?intent=transcription", "invalid", 401],
] as const) {
  test(`providers.sandbox-refusals: openai's socket, ${what}: ${status}`, async () => {
    const socket = open(query, key);
    socket.on("error", () => undefined);
    const [, reply] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
    assert.equal(reply.statusCode, status);
    reply.destroy();
  });
}

test("providers.sandbox-answers: openai's session, faults of one model wait until its configuration names it", async () => {
  sandbox.addFault({ model: "gpt-live-transcribe", times: 1, fault: { kind: "error_body" } });
  assert.equal((await answers(configured(WHISPER)))[0]?.type, "session.updated");
  assert.equal((await answers(configured(LIVE)))[0]?.type, "error");
  assert.equal((await answers(configured(LIVE)))[0]?.type, "session.updated");
});
