// The official ElevenLabs client's socket against the sandbox.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AudioFormat, CommitStrategy, ElevenLabsClient, RealtimeEvents } from "@elevenlabs/elevenlabs-js";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";

let sandbox: Sandbox;

before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());

const connect = (apiKey: string, modelId = "scribe_v2_realtime") =>
  new ElevenLabsClient({ apiKey, baseUrl: sandbox.elevenlabsUrl }).speechToText.realtime.connect({
    modelId,
    audioFormat: AudioFormat.PCM_16000,
    sampleRate: 16_000,
    commitStrategy: CommitStrategy.MANUAL,
    includeTimestamps: true,
    includeLanguageDetection: true,
    languageCode: "en",
    keyterms: ["Patchbay"],
    noVerbatim: true,
  });

test("providers.sandbox-protocols: elevenlabs, chunks there, interim and committed transcripts here, with times after each commit", async () => {
  const connection = await connect("el-oracle");
  const started = Promise.withResolvers<{ session_id: string; config: { model_id?: string; keyterms?: string[] } }>();
  const timed = Promise.withResolvers<void>();
  const texts: string[] = [];
  const committed: string[] = [];
  const ends: (number | undefined)[] = [];
  connection.on(RealtimeEvents.SESSION_STARTED, started.resolve);
  connection.on(RealtimeEvents.PARTIAL_TRANSCRIPT, ({ text }) => void texts.push(text));
  connection.on(RealtimeEvents.COMMITTED_TRANSCRIPT, ({ text }) => void committed.push(text));
  connection.on(RealtimeEvents.COMMITTED_TRANSCRIPT_WITH_TIMESTAMPS, ({ words, language_code: language }) => {
    ends.push(words?.at(-1)?.end);
    assert.equal(language, "eng");
    if (ends.length === 2) timed.resolve();
  });
  connection.on(RealtimeEvents.ERROR, timed.reject);
  const { session_id: id, config } = await started.promise;
  assert.match(id, /^[0-9a-f]{32}$/u);
  assert.deepEqual([config.model_id, config.keyterms], ["scribe_v2_realtime", ["Patchbay"]]);
  const audioBase64 = Buffer.alloc(3_200).toString("base64");
  for (let sent = 0; sent < 25; sent += 1) connection.send({ audioBase64 });
  connection.commit();
  for (let sent = 0; sent < 5; sent += 1) connection.send({ audioBase64 });
  connection.commit();
  await timed.promise;
  connection.close();
  assert.deepEqual(committed, [
    "[simulated, 0.0 s to 2.0 s] [simulated, 2.0 s to 2.5 s]",
    "[simulated, 2.5 s to 3.0 s]",
  ]);
  assert.equal(texts[0], "[simulated, 0.0 s to 2.0 s]");
  assert.deepEqual(ends, [2.5, 3]);
  const call = await sandbox.waitForCall(({ file }) => file !== null, 5_000);
  assert.deepEqual(
    [call.outcome, call.model, call.headers["xi-api-key"], call.aborted],
    [101, "scribe_v2_realtime", "…acle", false],
  );
});

for (const [what, key, model, event] of [
  ["a bad key", "invalid", "scribe_v2_realtime", RealtimeEvents.AUTH_ERROR],
  ["an unknown model", "el-oracle", "scribe_realtime_v2", RealtimeEvents.INVALID_REQUEST],
] as const) {
  test(`providers.sandbox-protocols: elevenlabs, ${what} is refused after the socket opened, by the client's event`, async () => {
    const connection = await connect(key, model);
    const refused = Promise.withResolvers<{ error: string }>();
    connection.on(RealtimeEvents.ERROR, () => undefined);
    connection.on(event, refused.resolve);
    assert.match((await refused.promise).error, /invalid/iu);
  });
}
