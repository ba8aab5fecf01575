// The official Deepgram client's socket against the sandbox.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DeepgramClient } from "@deepgram/sdk";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";

let sandbox: Sandbox;

before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());

interface Message {
  readonly type: string;
  readonly is_final?: boolean;
  readonly duration?: number;
  readonly channel?: {
    readonly alternatives: readonly { readonly transcript: string; readonly words: readonly object[] }[];
  };
}

test("providers.sandbox-protocols: deepgram, samples there, final results and at the end the metadata here", async () => {
  const client = new DeepgramClient({ apiKey: "dg-oracle", baseUrl: sandbox.deepgramUrl.replace("http", "ws") });
  const socket = await client.listen.v1.connect({
    model: "nova-3",
    encoding: "linear16",
    sample_rate: 16_000,
    Authorization: "Token dg-oracle",
    reconnectAttempts: 0,
  });
  const messages: Message[] = [];
  const ended = Promise.withResolvers<void>();
  socket.on("message", (message) => {
    messages.push(message as unknown as Message);
    if (messages.at(-1)?.type === "Metadata") ended.resolve();
  });
  socket.on("error", ended.reject);
  socket.connect();
  await socket.waitForOpen();
  for (let sent = 0; sent < 30; sent += 1) socket.sendMedia(new Uint8Array(3_200));
  socket.sendCloseStream({ type: "CloseStream" });
  await ended.promise;
  socket.close();
  assert.deepEqual(
    messages.map(({ type, is_final: isFinal }) => [type, isFinal]),
    [
      ["Results", true],
      ["Results", true],
      ["Metadata", undefined],
    ],
  );
  assert.equal(messages[0]?.channel?.alternatives[0]?.transcript, "[simulated, 0.0 s to 2.0 s]");
  assert.equal(messages[0]?.channel?.alternatives[0]?.words.length, 6);
  assert.equal(messages.at(-1)?.duration, 3);
  const [call] = sandbox.calls;
  assert.deepEqual([call?.outcome, call?.model, call?.headers["authorization"]], [101, "nova-3", "Token …acle"]);
});
