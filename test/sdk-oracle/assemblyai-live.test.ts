// The official AssemblyAI client's socket against the sandbox.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { StreamingTranscriber, type TurnEvent } from "assemblyai";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";

let sandbox: Sandbox;

before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());

/** It insists on TLS; the sandbox has none. */
function transcriber(apiKey: string): StreamingTranscriber {
  const client = new StreamingTranscriber({
    apiKey,
    websocketBaseUrl: `${sandbox.assemblyaiUrl.replace("http", "wss")}/v3/ws`,
    sampleRate: 16_000,
    encoding: "pcm_s16le",
    speechModel: "universal-streaming-english",
    formatTurns: true,
    speakerLabels: true,
    keytermsPrompt: ["Patchbay"],
    maxConnectionRetries: 0,
    connectTimeout: 10_000,
  });
  const inner = client as unknown as { connectionUrl: () => URL };
  const original = inner.connectionUrl.bind(client);
  inner.connectionUrl = () => new URL(original().href.replace("wss:", "ws:"));
  return client;
}

test("providers.sandbox-protocols: assemblyai, samples there, turns here, each again with its punctuation, until both sides end the session", async () => {
  const client = transcriber("aa-oracle");
  const turns: TurnEvent[] = [];
  client.on("turn", (event) => void turns.push(event));
  const begin = await client.connect();
  assert.match(begin.id, /^[\w-]+$/u);
  for (let sent = 0; sent < 25; sent += 1) client.sendAudio(new ArrayBuffer(3_200));
  await client.close();
  assert.deepEqual(
    turns.map(({ turn_order: order, turn_is_formatted: isFormatted, speaker_label: speaker }) => [
      order,
      isFormatted,
      speaker,
    ]),
    [
      [0, false, "A"],
      [0, true, "A"],
      [1, false, "B"],
      [1, true, "B"],
    ],
  );
  assert.equal(turns[1]?.transcript, "[simulated, 0.0 s to 2.0 s]");
  assert.equal(turns[1]?.words.at(-1)?.end, 2_000);
  const [call] = sandbox.calls;
  assert.deepEqual(
    [call?.outcome, call?.model, call?.headers["authorization"]],
    [101, "universal-streaming-english", "…acle"],
  );
});

test("providers.sandbox-protocols: assemblyai, a bad key is refused after the socket opened", async () => {
  await assert.rejects(transcriber("invalid").connect(), /Unauthorized Connection/u);
});
