// The official ElevenLabs client against the sandbox.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { ElevenLabsClient, ElevenLabsError } from "@elevenlabs/elevenlabs-js";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { wav } from "../sandbox/wav.ts";

let sandbox: Sandbox;

before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

const client = (apiKey = "el-oracle") =>
  new ElevenLabsClient({ apiKey, baseUrl: sandbox.elevenlabsUrl, maxRetries: 0 }).speechToText;
type Options = Omit<Parameters<ReturnType<typeof client>["convert"]>[0], "file" | "modelId">;

async function convert(options: Options = {}, audio: Buffer<ArrayBuffer> = wav(10), modelId = "scribe_v2") {
  const file = new Blob([audio], { type: "audio/wav" });
  return client().convert({ ...options, modelId, file } as Parameters<ReturnType<typeof client>["convert"]>[0]);
}

async function single(options: Options = {}, audio?: Buffer<ArrayBuffer>) {
  const answer = await convert(options, audio);
  assert.ok("words" in answer, "the single shape");
  return answer;
}

const sentValues = (name: string): string[] =>
  (sandbox.calls.at(-1)?.fields ?? []).filter(([key]) => key === name).map(([, value]) => value);

test("providers.sandbox-protocols: elevenlabs, a plain request: transcript, words and the spaces between them, language in three letters, an id", async () => {
  const answer = await single();
  assert.equal(answer.text, "[simulated transcript, 10.0 s, mono]");
  assert.deepEqual(
    answer.words.map(({ type }) => type),
    ["word", "spacing", "word", "spacing", "word", "spacing", "word", "spacing", "word"],
  );
  assert.equal(answer.words.at(-1)?.end, 10);
  assert.deepEqual([answer.languageCode, answer.languageProbability], ["eng", 0.98]);
  assert.equal(answer.audioDurationSecs, 10);
  assert.match(answer.transcriptionId ?? "", /^[0-9a-f]{32}$/);
});

test("providers.sandbox-protocols: elevenlabs, diarize: speakers by their ids", async () => {
  const answer = await single({ diarize: true, numSpeakers: 2, tagAudioEvents: false });
  assert.deepEqual(
    answer.words.filter(({ type }) => type === "word").map(({ speakerId }) => speakerId),
    ["speaker_0", "speaker_0", "speaker_0", "speaker_1", "speaker_1"],
  );
});

test("providers.sandbox-protocols: elevenlabs, channels: one transcript each; a mono file comes back in the single shape all the same", async () => {
  const answer = await convert({ useMultiChannel: true }, wav(4, 2));
  assert.ok("transcripts" in answer);
  const transcripts = answer.transcripts as { channelIndex?: number; text: string }[];
  assert.deepEqual(
    transcripts.map(({ channelIndex, text }) => [channelIndex, text]),
    [
      [0, "[simulated transcript, 4.0 s, channel 1 of 2]"],
      [1, "[simulated transcript, 4.0 s, channel 2 of 2]"],
    ],
  );
  assert.ok("words" in (await convert({ useMultiChannel: true }, wav(4, 1))));
});

test("providers.sandbox-protocols: elevenlabs, terms and redaction as lists repeat their fields and are accepted", async () => {
  await single({ keyterms: ["Patchbay", "flux capacitor"], entityDetection: ["pii", "pci"], entityRedaction: ["pii"] });
  assert.deepEqual(sentValues("keyterms"), ["Patchbay", "flux capacitor"]);
  assert.deepEqual([sentValues("entity_detection"), sentValues("entity_redaction")], [["pii", "pci"], ["pii"]]);
});

test("providers.sandbox-protocols: elevenlabs, the client drops redaction given as a text without a word, which is why no adapter uses it", async () => {
  await single({ entityDetection: "pii", entityRedaction: "pii", entityRedactionMode: "redacted" });
  assert.deepEqual([sentValues("entity_redaction"), sentValues("entity_redaction_mode")], [[], ["redacted"]]);
});

test("providers.sandbox-protocols, providers.sandbox-kept: elevenlabs, a kept transcript is read again, and deleted; with zero retention there is none", async () => {
  const { transcriptionId = "" } = await single();
  const again = await client().transcripts.get(transcriptionId);
  assert.ok("text" in again);
  await client().transcripts.delete(transcriptionId);
  await failure(client().transcripts.get(transcriptionId), 404);
  const { transcriptionId: unkept = "" } = await single({ enableLogging: false });
  await failure(client().transcripts.get(unkept), 404);
});

async function failure(run: Promise<unknown>, status: number): Promise<unknown> {
  const error: unknown = await run.then(
    () => assert.fail("the call succeeded"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ElevenLabsError, String(error));
  assert.equal(error.statusCode, status);
  return error.body;
}

test("providers.sandbox-protocols: elevenlabs, a wrong key: 401 invalid_api_key", async () => {
  const file = new Blob([wav(1)]);
  const body = await failure(client("invalid").convert({ modelId: "scribe_v2", file }), 401);
  assert.deepEqual(body, { detail: { status: "invalid_api_key", message: "Invalid API key" } });
});

test("providers.sandbox-protocols: elevenlabs, a term with forbidden characters: 400 invalid_keyword; an unknown model: 422 with a list", async () => {
  const refused = (await failure(convert({ keyterms: ["<b>"] }), 400)) as { detail: { status: string; param: string } };
  assert.deepEqual([refused.detail.status, refused.detail.param], ["invalid_keyword", "keyterms"]);
  const invalid = (await failure(convert({}, wav(1), "scribe_v9"), 422)) as { detail: { loc: string[] }[] };
  assert.deepEqual(invalid.detail[0]?.loc, ["body", "model_id"]);
});

test("providers.sandbox-protocols: elevenlabs, too many at once: 429", async () => {
  sandbox.addFault({ wire: "elevenlabs", fault: { kind: "status", status: 429 } });
  await failure(convert(), 429);
});
