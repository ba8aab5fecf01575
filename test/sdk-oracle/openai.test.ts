// The official OpenAI client against the sandbox: if it reads the answers as its own, the protocol is right.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import OpenAI, { toFile } from "openai";
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

const client = (apiKey = "sk-oracle"): OpenAI => new OpenAI({ apiKey, baseURL: sandbox.openaiUrl, maxRetries: 0 });
const file = (seconds = 2.5, name = "speech.wav") => toFile(wav(seconds), name, { type: "audio/wav" });

type Options = OpenAI.Audio.TranscriptionCreateParamsNonStreaming;

/** The client types every `create` as the plain answer; the format asked decides what it is. */
async function diarized(
  options: Pick<Options, "chunking_strategy" | "known_speaker_names" | "known_speaker_references">,
) {
  const answer = await client().audio.transcriptions.create({
    ...options,
    file: await file(),
    model: "gpt-4o-transcribe-diarize",
    response_format: "diarized_json",
  });
  return answer as unknown as OpenAI.Audio.TranscriptionDiarized;
}

const PLAIN = ["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-transcribe"] as const;

for (const model of PLAIN) {
  test(`providers.sandbox-protocols: openai, ${model}, json: text and usage`, async () => {
    const answer = await client().audio.transcriptions.create({ file: await file(), model, response_format: "json" });
    assert.equal(answer.text, TEXT);
    assert.equal(answer.usage?.type, model.startsWith("gpt-4o") ? "tokens" : "duration");
  });
  test(`providers.sandbox-protocols: openai, ${model}, text: the bare transcript`, async () => {
    const answer: unknown = await client().audio.transcriptions.create({
      file: await file(),
      model,
      response_format: "text",
    });
    assert.equal(String(answer).trim(), TEXT);
  });
}

for (const [response_format, start] of [
  ["srt", "1\n00:00:00,000 --> 00:00:01,500\n"],
  ["vtt", "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n"],
] as const) {
  test(`providers.sandbox-protocols: openai, whisper-1, ${response_format}: a caption file`, async () => {
    const answer: unknown = await client().audio.transcriptions.create({
      file: await file(),
      model: "whisper-1",
      response_format,
    });
    assert.ok(String(answer).startsWith(start), String(answer));
  });
}

test("providers.sandbox-protocols: openai, whisper-1, verbose_json with both granularities: words, segments, an English language name, the measured length", async () => {
  const answer = await client().audio.transcriptions.create({
    file: await file(),
    model: "whisper-1",
    response_format: "verbose_json",
    timestamp_granularities: ["word", "segment"],
    language: "de",
  });
  assert.equal(answer.language, "german");
  assert.equal(answer.duration, 2.5);
  assert.deepEqual(answer.words?.at(-1), { word: "mono", start: 2, end: 2.5 });
  assert.equal(
    answer.segments
      ?.map(({ text }) => text)
      .join("")
      .trim(),
    TEXT,
  );
  assert.equal(answer.usage?.seconds, 3);
});

for (const chunking_strategy of ["auto", { type: "server_vad", threshold: 0.5 }] as const) {
  test(`providers.sandbox-protocols: openai, gpt-4o-transcribe-diarize accepts chunking_strategy ${JSON.stringify(chunking_strategy)} and answers speakers`, async () => {
    const answer = await diarized({ chunking_strategy });
    assert.deepEqual(
      answer.segments.map(({ speaker }) => speaker),
      ["A", "B"],
    );
    assert.equal(answer.duration, 2.5);
    assert.equal(answer.segments.map(({ text }) => text).join(" "), TEXT);
  });
}

test("providers.sandbox-protocols: openai, known speakers are named", async () => {
  const reference = `data:audio/wav;base64,${wav(3).toString("base64")}`;
  const answer = await diarized({
    chunking_strategy: "auto",
    known_speaker_names: ["agent"],
    known_speaker_references: [reference],
  });
  assert.deepEqual(
    answer.segments.map(({ speaker }) => speaker),
    ["agent", "B"],
  );
});

test("providers.sandbox-protocols: openai, gpt-transcribe accepts languages[] and keywords[] and reports the language", async () => {
  const answer = await client().audio.transcriptions.create({
    file: await file(),
    model: "gpt-transcribe",
    languages: ["fr"],
    keywords: ["Patchbay"],
  });
  assert.deepEqual(answer.languages, [{ code: "fr" }]);
  assert.deepEqual(
    sandbox.calls.at(-1)?.fields.filter(([name]) => name.endsWith("[]")),
    [
      ["languages[]", "fr"],
      ["keywords[]", "Patchbay"],
    ],
  );
});

test("providers.sandbox-protocols: openai, include logprobs: one per token, with its bytes", async () => {
  const answer = await client().audio.transcriptions.create({
    file: await file(),
    model: "gpt-4o-transcribe",
    response_format: "json",
    include: ["logprobs"],
  });
  assert.equal(answer.logprobs?.map(({ token }) => token).join(""), TEXT);
});

for (const model of ["gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-transcribe"] as const) {
  test(`providers.sandbox-protocols: openai, ${model} streams deltas that add up to the done event`, async () => {
    const stream = await client().audio.transcriptions.create({ file: await file(), model, stream: true });
    let text = "";
    let done: string | null = null;
    for await (const event of stream) {
      if (event.type === "transcript.text.delta") text += event.delta;
      if (event.type === "transcript.text.done") done = event.text;
    }
    assert.equal(text, TEXT);
    assert.equal(done, TEXT);
  });
}

test("providers.sandbox-protocols: openai, a diarized stream sends segment events with speakers", async () => {
  const stream = await client().audio.transcriptions.create({
    file: await file(),
    model: "gpt-4o-transcribe-diarize",
    response_format: "diarized_json",
    chunking_strategy: "auto",
    stream: true,
  });
  const speakers: string[] = [];
  for await (const event of stream) if (event.type === "transcript.text.segment") speakers.push(event.speaker);
  assert.deepEqual(speakers, ["A", "B"]);
});

test("providers.sandbox-protocols: openai, translations: json and verbose_json, English, no usage", async () => {
  const plain = await client().audio.translations.create({ file: await file(), model: "whisper-1" });
  assert.deepEqual({ ...plain }, { text: TEXT });
  const asked = await client().audio.translations.create({
    file: await file(),
    model: "whisper-1",
    response_format: "verbose_json",
  });
  const verbose = asked as unknown as OpenAI.Audio.TranslationVerbose;
  assert.equal(verbose.language, "english");
  assert.equal(Number(verbose.duration), 2.5);
  assert.equal(verbose.segments?.length, 2);
});

test("providers.sandbox-protocols: openai, a request id comes with every answer", async () => {
  const answer = await client().audio.transcriptions.create({ file: await file(), model: "whisper-1" });
  assert.match(String((answer as { _request_id?: string })._request_id), /^req_[0-9a-f]{32}$/);
});

async function failure(run: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error: unknown = await run.then(
    () => assert.fail("the call succeeded"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof OpenAI.APIError, String(error));
  return error;
}

test("providers.sandbox-protocols: openai, a wrong key is an AuthenticationError with code invalid_api_key", async () => {
  const error = await failure(
    client("invalid").audio.transcriptions.create({ file: await file(), model: "whisper-1" }),
  );
  assert.ok(error instanceof OpenAI.AuthenticationError);
  assert.equal(error.code, "invalid_api_key");
});

test("providers.sandbox-protocols: openai, verbose_json of gpt-4o-transcribe is a BadRequestError naming the internal model", async () => {
  const error = await failure(
    client().audio.transcriptions.create({
      file: await file(),
      model: "gpt-4o-transcribe",
      response_format: "verbose_json",
    }),
  );
  assert.ok(error instanceof OpenAI.BadRequestError);
  assert.deepEqual(
    [error.code, error.param, error.type],
    ["unsupported_value", "response_format", "invalid_request_error"],
  );
  assert.match(error.message, /gpt-4o-transcribe-api-ev3/);
});

test("providers.sandbox-protocols: openai, diarization without chunking_strategy is a BadRequestError about it", async () => {
  const error = await failure(
    client().audio.transcriptions.create({ file: await file(), model: "gpt-4o-transcribe-diarize" }),
  );
  assert.deepEqual([error.status, error.code, error.param], [400, "invalid_value", "chunking_strategy"]);
});

for (const [status, Kind] of [
  [429, OpenAI.RateLimitError],
  [500, OpenAI.InternalServerError],
  [404, OpenAI.NotFoundError],
] as const) {
  test(`providers.sandbox-protocols: openai, status ${status} is the client's ${Kind.name}`, async () => {
    sandbox.addFault({ wire: "openai", fault: { kind: "status", status, retryAfterSeconds: 3 } });
    const error = await failure(client().audio.transcriptions.create({ file: await file(), model: "whisper-1" }));
    assert.ok(error instanceof Kind);
    assert.equal(error.headers?.get("retry-after"), "3");
  });
}

test("providers.sandbox-protocols: openai, a reset connection is an APIConnectionError", async () => {
  sandbox.addFault({ fault: { kind: "reset_after_body" } });
  const error = await failure(client().audio.transcriptions.create({ file: await file(), model: "whisper-1" }));
  assert.ok(error instanceof OpenAI.APIConnectionError);
});
