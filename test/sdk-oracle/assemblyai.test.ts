// The official AssemblyAI client against the sandbox.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { AssemblyAI, type TranscribeParams, type Transcript } from "assemblyai";
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

const client = (apiKey = "aa-oracle"): AssemblyAI => new AssemblyAI({ apiKey, baseUrl: sandbox.assemblyaiUrl });

function transcribe(options: Omit<TranscribeParams, "audio" | "audio_url">, audio = wav(10)): Promise<Transcript> {
  const params = { speech_models: ["universal-3-5-pro"], ...options, audio } as TranscribeParams;
  return client().transcripts.transcribe(params, { pollingInterval: 1 });
}

test("providers.sandbox-protocols: assemblyai, upload, submit and poll: transcript, words in milliseconds, the model used", async () => {
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 2 } });
  const transcript = await transcribe({});
  assert.equal(transcript.status, "completed");
  assert.equal(transcript.text, "[simulated transcript, 10.0 s, mono]");
  assert.equal(transcript.words?.length, 5);
  assert.equal(transcript.words?.at(-1)?.end, 10_000);
  assert.equal(transcript.audio_duration, 10);
  assert.equal((transcript as { speech_model_used?: string }).speech_model_used, "universal-3-5-pro");
  assert.deepEqual(
    sandbox.calls.map(({ method, path }) => `${method} ${path.split("/").slice(0, 4).join("/")}`),
    [
      "POST /assemblyai/v2/upload",
      "POST /assemblyai/v2/transcript",
      "GET /assemblyai/v2/transcript",
      "GET /assemblyai/v2/transcript",
      "GET /assemblyai/v2/transcript",
    ],
  );
});

test("providers.sandbox-protocols: assemblyai, speaker_labels with a bound: speakers A and B, one utterance each", async () => {
  const transcript = await transcribe({ speaker_labels: true, speaker_options: { max_speakers_expected: 3 } });
  assert.deepEqual(
    transcript.utterances?.map(({ speaker }) => speaker),
    ["A", "B"],
  );
  assert.deepEqual(
    transcript.words?.map(({ speaker }) => speaker),
    ["A", "A", "A", "B", "B"],
  );
});

test("providers.sandbox-protocols: assemblyai, multichannel: channels numbered from 1", async () => {
  const transcript = await transcribe({ multichannel: true }, wav(4, 2));
  assert.equal(transcript.audio_channels, 2);
  assert.deepEqual(
    transcript.utterances?.map(({ channel, speaker }) => [channel, speaker]),
    [
      ["1", "1"],
      ["2", "2"],
    ],
  );
});

test("providers.sandbox-protocols: assemblyai, the options come back with the transcript", async () => {
  const transcript = await transcribe({
    redact_pii: true,
    redact_pii_policies: ["person_name", "phone_number"],
    redact_pii_sub: "entity_name",
    keyterms_prompt: ["Patchbay"],
    filter_profanity: true,
  });
  assert.equal(transcript.redact_pii, true);
  assert.deepEqual(transcript.redact_pii_policies, ["person_name", "phone_number"]);
  assert.deepEqual((transcript as { keyterms_prompt?: string[] }).keyterms_prompt, ["Patchbay"]);
  assert.equal(transcript.filter_profanity, true);
});

test("providers.sandbox-protocols: assemblyai, language_detection reports the language and its confidence", async () => {
  const transcript = await transcribe({ language_detection: true });
  assert.deepEqual([transcript.language_code, transcript.language_confidence], ["en", 0.97]);
});

test("providers.sandbox-protocols: assemblyai, a feature that the asked language lacks is a 400 that names it", async () => {
  await assert.rejects(
    transcribe({
      speech_models: ["universal-2"],
      language_code: "sw",
      redact_pii: true,
      redact_pii_policies: ["person_name"],
    } as never),
    /The following models are not available in this language: redact_pii/,
  );
});

test("providers.sandbox-protocols: assemblyai, a run that fails is a transcript with status error, under 200", async () => {
  const transcript = await transcribe({}, wav(0.1));
  assert.deepEqual([transcript.status, transcript.error], ["error", "Audio duration is too short."]);
  const broken = await transcribe({}, Buffer.from("no audio at all") as never);
  assert.match(broken.error ?? "", /^File does not appear to contain audio/);
});

test("providers.sandbox-protocols: assemblyai, delete: the transcript is gone", async () => {
  const { id } = await transcribe({});
  await client().transcripts.delete(id);
  await assert.rejects(client().transcripts.get(id), /transcript id not found/);
});

test("providers.sandbox-protocols, providers.sandbox-kept: assemblyai, an upload belongs to its key: 403, and a transcript too", async () => {
  const url = await client().files.upload(wav(1));
  const other = client("aa-other");
  const params = { audio_url: url, speech_models: ["universal-2"] } as TranscribeParams;
  await assert.rejects(other.transcripts.submit(params), /Cannot access uploaded file/);
  const { id } = await client().transcripts.submit(params);
  await assert.rejects(other.transcripts.get(id), /transcript id not found/);
});

test("providers.sandbox-protocols: assemblyai, a wrong key, and too many requests", async () => {
  await assert.rejects(client("invalid").files.upload(wav(1)), /Authentication error/);
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "status", status: 429, retryAfterSeconds: 3 } });
  await assert.rejects(transcribe({}), /Too Many Requests/);
});
