// The official Deepgram client against the sandbox.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { DeepgramClient, DeepgramError, Deepgram } from "@deepgram/sdk";
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

const media = (apiKey = "dg-oracle") =>
  new DeepgramClient({ apiKey, baseUrl: sandbox.deepgramUrl, maxRetries: 0 }).listen.v1.media;
type Options = NonNullable<Parameters<ReturnType<typeof media>["transcribeFile"]>[1]>;

async function transcribe(options: Options, audio: Buffer<ArrayBuffer> = wav(10)) {
  const answer = await media().transcribeFile(audio, options);
  assert.ok("results" in answer, "an immediate answer, not a callback's");
  return answer;
}
const sentValues = (name: string): string[] =>
  (sandbox.calls.at(-1)?.query ?? []).filter(([key]) => key === name).map(([, value]) => value);

test("providers.sandbox-protocols: deepgram, a plain request: transcript, words with times, the measured length, the model", async () => {
  const answer = await transcribe({ model: "nova-3" });
  const [alternative] = answer.results.channels[0]?.alternatives ?? [];
  assert.equal(alternative?.transcript, "[simulated transcript, 10.0 s, mono]");
  assert.equal(alternative?.words?.length, 5);
  assert.equal(alternative?.words?.at(-1)?.end, 10);
  assert.equal(answer.metadata.duration, 10);
  assert.deepEqual(
    Object.values(answer.metadata.model_info ?? {}).map((info) => (info as { arch?: string }).arch),
    ["nova-3"],
  );
});

test("providers.sandbox-protocols: deepgram, diarize_model, utterances and smart_format: two speakers, two utterances, punctuated words", async () => {
  const answer = await transcribe({ model: "nova-3", diarize_model: "latest", utterances: true, smart_format: true });
  assert.deepEqual(
    answer.results.utterances?.map(({ speaker }) => speaker),
    [0, 1],
  );
  const words = answer.results.channels[0]?.alternatives?.[0]?.words ?? [];
  assert.deepEqual(
    words.map(({ speaker }) => speaker),
    [0, 0, 0, 1, 1],
  );
  assert.equal((words[0] as { punctuated_word?: string } | undefined)?.punctuated_word, "[simulated");
});

test("providers.sandbox-protocols: deepgram, the deprecated diarize stays on v1, with speaker_confidence", async () => {
  const answer = await transcribe({ model: "nova-2", diarize: true });
  assert.equal(answer.results.channels[0]?.alternatives?.[0]?.words?.[0]?.speaker_confidence, 0.75);
});

test("providers.sandbox-protocols: deepgram, keyterm and redact lists arrive as repeated parameters and are accepted", async () => {
  // The client's type for `redact` is narrower than the API.
  const options = {
    model: "nova-3",
    keyterm: ["Patchbay", "flux capacitor"],
    redact: ["pci", "ssn"] as unknown as string,
  };
  await transcribe(options);
  assert.deepEqual(sentValues("keyterm"), ["Patchbay", "flux capacitor"]);
  assert.deepEqual(sentValues("redact"), ["pci", "ssn"]);
});

test("providers.sandbox-protocols: deepgram, multichannel: one result per channel", async () => {
  const answer = await transcribe({ model: "nova-3", multichannel: true }, wav(4, 2));
  assert.deepEqual(
    answer.results.channels.map((channel) => channel.alternatives?.[0]?.transcript),
    ["[simulated transcript, 4.0 s, channel 1 of 2]", "[simulated transcript, 4.0 s, channel 2 of 2]"],
  );
  assert.equal(answer.metadata.channels, 2);
});

test("providers.sandbox-protocols: deepgram, detect_language reports the language", async () => {
  const answer = await transcribe({ model: "nova-3", detect_language: true });
  assert.equal(answer.results.channels[0]?.detected_language, "en");
});

async function failure(run: Promise<unknown>): Promise<DeepgramError> {
  const error: unknown = await run.then(
    () => assert.fail("the call succeeded"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof DeepgramError, String(error));
  return error;
}

test("providers.sandbox-protocols: deepgram, a wrong key: 401 INVALID_AUTH", async () => {
  const error = await failure(media("invalid").transcribeFile(wav(1), { model: "nova-3" }));
  assert.equal(error.statusCode, 401);
  assert.equal((error.body as { err_code?: string }).err_code, "INVALID_AUTH");
});

test("providers.sandbox-protocols: deepgram, a refused combination is the client's BadRequestError with err_code", async () => {
  const error = await failure(media().transcribeFile(wav(1), { model: "nova-3", keywords: ["a:2"] }));
  assert.ok(error instanceof Deepgram.BadRequestError);
  assert.equal((error.body as { err_code?: string }).err_code, "INVALID_QUERY_PARAMETER");
});

test("providers.sandbox-protocols: deepgram, corrupt audio: 400 Bad Request", async () => {
  const error = await failure(media().transcribeFile(Buffer.from("no audio at all"), { model: "nova-3" }));
  assert.equal(error.statusCode, 400);
  assert.equal((error.body as { err_code?: string }).err_code, "Bad Request");
});
