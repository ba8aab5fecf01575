// The sandbox as an OpenAI-compatible server: how each dialect differs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { at, list, transcribe } from "./ask.ts";
import { wav } from "./wav.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());

const TEXT = "[simulated transcript, 2.5 s, mono]";
const VERBOSE = [
  ["model", "any"],
  ["response_format", "verbose_json"],
] as const;
const NO_KEY = { authorization: null };

test("providers.sandbox-dialects: every dialect answers json without a key and with any; speaches, vLLM and openai refuse a wrong one", async () => {
  for (const dialect of ["openai", "whisper-cpp", "speaches", "vllm"] as const) {
    const url = sandbox.compatibleUrl(dialect);
    assert.equal((await transcribe(url, [["model", "any"]], NO_KEY)).json?.["text"], TEXT, dialect);
    assert.equal((await transcribe(url, [["model", "any"]])).status, 200, dialect);
    assert.equal(
      (await transcribe(url, [["model", "any"]], { authorization: "Bearer invalid" })).status,
      dialect === "whisper-cpp" ? 200 : 401,
      dialect,
    );
  }
});

test("providers.sandbox-dialects: openai, any model name is a Whisper with top-level words, and unknown fields are still refused", async () => {
  const answer = await transcribe(sandbox.compatibleUrl("openai"), [...VERBOSE, ["timestamp_granularities[]", "word"]]);
  assert.equal(list(answer.json?.["words"]).length, 5);
  assert.equal(
    (
      await transcribe(sandbox.compatibleUrl("openai"), [
        ["model", "any"],
        ["hotwords", "a"],
      ])
    ).status,
    400,
  );
});

test("providers.sandbox-dialects: groq, an id of its own, three formats, a key, and no translation by the turbo model", async () => {
  const url = sandbox.compatibleUrl("groq");
  const { json } = await transcribe(url, VERBOSE);
  assert.match(String(at(json, "x_groq", "id")), /^req_/);
  for (const [fields, options, status] of [
    [
      [
        ["model", "whisper-large-v3"],
        ["response_format", "srt"],
      ],
      {},
      400,
    ],
    [[["model", "whisper-large-v3"]], { path: "translations" }, 200],
    [[["model", "whisper-large-v3-turbo"]], { path: "translations" }, 400],
    [[["model", "whisper-large-v3"]], NO_KEY, 401],
  ] as const) {
    assert.equal((await transcribe(url, fields, options)).status, status, JSON.stringify(fields));
  }
});

test("providers.sandbox-dialects: mistral, words in the place of segments, speakers only with a granularity, its own refusals", async () => {
  const url = sandbox.compatibleUrl("mistral");
  const model = ["model", "voxtral-mini-latest"] as const;
  const { json } = await transcribe(url, [model, ["timestamp_granularities", "word"], ["diarize", "true"]]);
  assert.deepEqual(
    [at(json, "segments", 0, "text"), at(json, "segments", 0, "speaker_id")],
    [" [simulated", "speaker_0"],
  );
  assert.equal(at(json, "usage", "prompt_audio_seconds"), 3);
  for (const fields of [
    [["response_format", "json"]],
    [["prompt", "a"]],
    [["timestamp_granularities[]", "word"]],
    [["diarize", "true"]],
    [["context_bias", "two words"]],
    [
      ["timestamp_granularities", "word"],
      ["language", "de"],
    ],
  ] as const) {
    assert.equal((await transcribe(url, [model, ...fields])).status, 422, JSON.stringify(fields));
  }
  assert.equal((await transcribe(url, [model], { path: "translations" })).status, 404);
  assert.equal((await transcribe(url, [model], { authorization: "Bearer invalid" })).status, 401);
});

test("providers.sandbox-dialects: whisper.cpp, words are tokens inside segments, with leading spaces, pieces and probability", async () => {
  const { json } = await transcribe(sandbox.compatibleUrl("whisper-cpp"), VERBOSE);
  assert.equal(json?.["words"], undefined);
  const tokens = list(json?.["segments"]).flatMap((segment) => list(at(segment, "words")));
  assert.ok(tokens.length > 5);
  assert.equal(tokens.map((token) => at(token, "word")).join(""), ` ${TEXT}`);
  assert.equal(at(tokens[0], "probability"), 0.99);
});

test("providers.sandbox-dialects: whisper.cpp, the default language is English, auto detects, the name is English", async () => {
  const url = sandbox.compatibleUrl("whisper-cpp");
  const plain = await transcribe(url, VERBOSE);
  assert.deepEqual([plain.json?.["language"], plain.json?.["detected_language"]], ["english", "english"]);
  const auto = await transcribe(url, [...VERBOSE, ["language", "auto"]]);
  assert.deepEqual([auto.json?.["detected_language"], auto.json?.["detected_language_probability"]], ["english", 0.99]);
  const german = await transcribe(url, [...VERBOSE, ["language", "de"]]);
  assert.deepEqual(
    [german.json?.["language"], german.json?.["detected_language"]],
    ["german", "english"],
    "a guess of its own, asked or not",
  );
});

test("providers.sandbox-dialects: whisper.cpp, unknown fields are ignored, a 400 is the text Invalid request, translations do not exist", async () => {
  const url = sandbox.compatibleUrl("whisper-cpp");
  assert.equal((await transcribe(url, [["nonsense", "1"]])).status, 200);
  const refused = await transcribe(url, [], { audio: null });
  assert.deepEqual([refused.status, refused.text], [400, "Invalid request"]);
  assert.equal((await transcribe(url, VERBOSE, { path: "translations" })).status, 404);
});

test("providers.sandbox-dialects: whisper.cpp, diarize distinguishes two channels and does nothing for one", async () => {
  const url = sandbox.compatibleUrl("whisper-cpp");
  const speakers = async (channels: number): Promise<unknown[]> =>
    list(
      (await transcribe(url, [...VERBOSE, ["diarize", "true"]], { audio: wav(2, channels) })).json?.["segments"],
    ).map((segment) => at(segment, "speaker"));
  assert.deepEqual(await speakers(2), ["0", "1"]);
  assert.deepEqual(await speakers(1), [undefined, undefined]);
});

test("providers.sandbox-dialects: whisper.cpp, content types of text, srt and vtt are its own", async () => {
  for (const [format, contentType] of [
    ["text", "text/html; charset=utf-8"],
    ["srt", "application/x-subrip"],
    ["vtt", "text/vtt"],
  ] as const) {
    assert.equal(
      (await transcribe(sandbox.compatibleUrl("whisper-cpp"), [["response_format", format]])).headers.get(
        "content-type",
      ),
      contentType,
    );
  }
});

test("providers.sandbox-dialects: speaches, top-level words on demand, a language code, speakers with diarization=true, hotwords accepted", async () => {
  const { json } = await transcribe(sandbox.compatibleUrl("speaches"), [
    ...VERBOSE,
    ["timestamp_granularities[]", "word"],
    ["timestamp_granularities[]", "segment"],
    ["language", "de"],
    ["diarization", "true"],
    ["hotwords", "a, b"],
  ]);
  assert.equal(
    list(json?.["words"])
      .map((word) => at(word, "word"))
      .join(""),
    ` ${TEXT}`,
  );
  assert.equal(json?.["language"], "de");
  assert.deepEqual(
    list(json?.["segments"]).map((segment) => at(segment, "speaker")),
    ["SPEAKER_00", "SPEAKER_01"],
  );
});

test("providers.sandbox-dialects: speaches, FastAPI's errors: 422 with detail, 404 for a model not installed, 500 for a failed assertion", async () => {
  const url = sandbox.compatibleUrl("speaches");
  const missing = await transcribe(url, []);
  assert.equal(missing.status, 422);
  assert.deepEqual(at(missing.json, "detail", 0, "loc"), ["body", "model"]);
  const unknown = await transcribe(url, [["model", "not-installed"]]);
  assert.deepEqual(
    [unknown.status, unknown.json?.["detail"]],
    [404, "Model 'not-installed' is not installed locally."],
  );
  assert.equal(
    (
      await transcribe(url, [
        ["model", "any"],
        ["timestamp_granularities[]", "word"],
      ])
    ).status,
    500,
  );
});

test("providers.sandbox-dialects: vLLM, duration is a string, word granularity is ignored, text is answered as JSON, errors carry a numeric code", async () => {
  const url = sandbox.compatibleUrl("vllm");
  const { json } = await transcribe(url, [...VERBOSE, ["timestamp_granularities[]", "word"]]);
  assert.deepEqual(
    [json?.["duration"], json?.["words"], at(json, "segments", 0, "no_speech_prob")],
    ["2.5", null, null],
  );
  const text = await transcribe(url, [["response_format", "text"]]);
  assert.deepEqual(text.json, { text: TEXT, usage: { type: "duration", seconds: 3 } });
  const refused = await transcribe(url, [["response_format", "srt"]]);
  assert.deepEqual([refused.status, at(refused.json, "error", "code")], [400, 400]);
});

test("providers.sandbox-dialects: vLLM, a stream is chat-like chunks and ends with [DONE]; not with verbose_json", async () => {
  const url = sandbox.compatibleUrl("vllm");
  const answer = await transcribe(url, [
    ["model", "any"],
    ["stream", "true"],
  ]);
  const lines = answer.text
    .trimEnd()
    .split("\n\n")
    .map((line) => line.replace(/^data: /, ""));
  assert.equal(lines.pop(), "[DONE]");
  assert.equal(lines.map((line) => at(JSON.parse(line), "choices", 0, "delta", "content")).join(""), TEXT);
  assert.equal((await transcribe(url, [...VERBOSE, ["stream", "true"]])).status, 400);
});
