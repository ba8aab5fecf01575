// The official OpenAI client's socket for transcription sessions against the sandbox.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import type { RealtimeServerEvent, SessionUpdateEvent } from "openai/resources/realtime/realtime";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";

let sandbox: Sandbox;

before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());

interface Session {
  readonly client: OpenAIRealtimeWS;
  /** The first event of this type, past or coming. */
  readonly event: (type: string) => Promise<RealtimeServerEvent>;
  readonly events: RealtimeServerEvent[];
  readonly errors: (string | undefined)[];
}

/** It insists on TLS; the sandbox has none. */
async function session(apiKey: string): Promise<Session> {
  const { port, hostname } = new URL(sandbox.openaiUrl);
  const options = { createConnection: () => connect(Number(port), hostname) } as object;
  const client = new OpenAIRealtimeWS(
    { intent: "transcription", options },
    new OpenAI({ apiKey, baseURL: sandbox.openaiUrl }),
  );
  const events: RealtimeServerEvent[] = [];
  const errors: (string | undefined)[] = [];
  const waiting: (() => void)[] = [];
  client.on("event", (event) => {
    events.push(event);
    for (const wake of waiting.splice(0)) wake();
  });
  client.on("error", (error) => void errors.push(error.error?.code ?? error.message));
  await new Promise<void>((resolve) => {
    client.socket.once("open", () => resolve());
    client.socket.once("close", () => resolve());
  });
  const event: Session["event"] = async (type) => {
    for (;;) {
      const found = events.find((each) => each.type === type);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  return { client, event, events, errors };
}

const update = (transcription: object): SessionUpdateEvent => ({
  type: "session.update",
  session: {
    type: "transcription",
    audio: { input: { format: { type: "audio/pcm", rate: 24_000 }, transcription, turn_detection: null } },
  },
});
const TRANSCRIPTION = "conversation.item.input_audio_transcription";

test("providers.sandbox-protocols: openai, a session is configured, samples there, pieces of text here, and the whole text after the commit", async () => {
  const { client, event, events, errors } = await session("sk-oracle");
  const transcription = { model: "gpt-live-transcribe", languages: ["en"], keywords: ["Patchbay"], prompt: "A call." };
  client.send(update(transcription));
  await event("session.updated");
  const audio = Buffer.alloc(4_800).toString("base64");
  for (let sent = 0; sent < 25; sent += 1) client.send({ type: "input_audio_buffer.append", audio });
  client.send({ type: "input_audio_buffer.commit" });
  const completed = await event(`${TRANSCRIPTION}.completed`);
  assert.ok(completed.type === "conversation.item.input_audio_transcription.completed");
  assert.equal(completed.transcript, "[simulated, 0.0 s to 2.0 s] [simulated, 2.0 s to 2.5 s]");
  assert.deepEqual(completed.usage, { type: "duration", seconds: 3 });
  const deltas = events.flatMap((each) =>
    each.type === "conversation.item.input_audio_transcription.delta" ? [each.delta] : [],
  );
  assert.equal(deltas.join(""), completed.transcript);
  const committed = await event("input_audio_buffer.committed");
  assert.ok(committed.type === "input_audio_buffer.committed");
  assert.deepEqual([committed.item_id, errors], [completed.item_id, []]);
  // The session stays open until the client closes it.
  assert.equal(client.socket.readyState, client.socket.OPEN);
  client.close();
  await once(client.socket, "close");
  const [call] = sandbox.calls;
  assert.deepEqual(
    [call?.outcome, call?.model, call?.headers["authorization"], call?.file?.sizeBytes],
    [101, "gpt-live-transcribe", "Bearer …acle", 120_000],
  );
});

test("providers.sandbox-protocols: openai, errors of a session are events, after which it continues", async () => {
  const { client, event, errors } = await session("sk-oracle");
  client.send(update({ model: "gpt-realtime-whisper", prompt: "A call." }));
  await event("error");
  client.send(update({ model: "gpt-realtime-whisper", language: "en" }));
  await event("session.updated");
  assert.deepEqual(errors, ["invalid_value"]);
  client.close();
  await once(client.socket, "close");
});

test("providers.sandbox-protocols: openai, a bad key is refused before the socket opens", async () => {
  const { errors } = await session("invalid");
  assert.match(String(errors[0]), /401/u);
});
