// The official OpenAI client against the compatible endpoints: chat, streams, tools, transcription in every format, errors and retries,
// as that client expects them.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, beforeEach, test } from "node:test";
import OpenAI, { toFile } from "openai";
import { FIRST_REQUESTS } from "../../src/http/pages/first-requests.ts";
import { answer, beginStream, chunk, endStream, json, TEXT } from "../harness/chat-upstream.ts";
import { KEY, neverResting } from "../harness/gateway.ts";
import { type ChatGateway, forget, startChatGateway } from "../http/chat/chat-gateway.ts";
import { wav } from "../sandbox/wav.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway({
    app: {
      audio_input_override: "speech",
      scopes: ["chat", "transcribe"],
      purposes: { brief: "chat", off: { route: "chat", is_enabled: false } },
    },
    gateway: { wrapGateway: neverResting },
    with: () => ({ routes: { speech: ["oa/whisper-1", "oa/gpt-4o-transcribe-diarize", "oa/gpt-4o-transcribe"] } }),
  });
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(answer);
  gateway.second.behave(answer);
});

const client = (maxRetries = 0): OpenAI => new OpenAI({ apiKey: KEY, baseURL: `${gateway.origin}/v1`, maxRetries });
const messages = [{ role: "user" as const, content: "Hello" }];
const file = () => toFile(wav(2.5), "speech.wav", { type: "audio/wav" });
const TOOL = {
  type: "function" as const,
  function: { name: "weather", parameters: { type: "object", properties: {} } },
};

test("compatible.completion, compatible.model-echoed, compatible.output-cap: chat completions", async () => {
  const completion = await client().chat.completions.create({ model: "auto", messages, max_completion_tokens: 50 });
  assert.equal(completion.choices[0]?.message.content, TEXT);
  assert.equal(completion.choices[0]?.finish_reason, "stop");
  assert.deepEqual(
    [
      completion.usage?.prompt_tokens,
      completion.usage?.completion_tokens,
      completion.usage?.prompt_tokens_details?.cached_tokens,
    ],
    [11, 3, 4],
  );
  assert.equal(completion.model, "auto");
  assert.equal(gateway.first.calls[0]?.body["max_tokens"], 50);
});

test("compatible.stream: a stream, read by the client's own helper, gives the whole answer and its usage", async () => {
  const stream = client().chat.completions.stream({ model: "auto", messages, stream_options: { include_usage: true } });
  let text = "";
  for await (const event of stream) text += event.choices[0]?.delta.content ?? "";
  assert.equal(text, TEXT);
  const whole = await stream.finalChatCompletion();
  assert.equal(whole.choices[0]?.message.content, TEXT);
  assert.equal(whole.usage?.total_tokens, 14);
});

test("compatible.tool-round-trip, compatible.tool-result-parts: the client assembles streamed parallel tool calls, and their results are accepted back", async () => {
  gateway.first.behave((call) => {
    beginStream(call);
    for (const [index, id] of ["call_a", "call_b"].entries()) {
      chunk(call, { tool_calls: [{ index, id, type: "function", function: { name: "weather", arguments: "" } }] });
      chunk(call, { tool_calls: [{ index, function: { arguments: '{"city":' } }] });
      chunk(call, { tool_calls: [{ index, function: { arguments: `"${id}"}` } }] });
    }
    endStream(call, "tool_calls");
  });
  const stream = client().chat.completions.stream({
    model: "auto",
    messages,
    tools: [TOOL],
    parallel_tool_calls: true,
  });
  const message = (await stream.finalChatCompletion()).choices[0]?.message;
  assert(message !== undefined);
  assert.deepEqual(
    message.tool_calls?.map((call) =>
      call.type === "function" ? [call.id, call.function.name, call.function.arguments] : [],
    ),
    [
      ["call_a", "weather", '{"city":"call_a"}'],
      ["call_b", "weather", '{"city":"call_b"}'],
    ],
  );
  gateway.first.behave(answer);
  const reply = await client().chat.completions.create({
    model: "auto",
    tools: [TOOL],
    messages: [
      ...messages,
      message,
      { role: "tool", tool_call_id: "call_a", content: "sunny" },
      { role: "tool", tool_call_id: "call_b", content: [{ type: "text", text: "rainy" }] },
    ],
  });
  assert.equal(reply.choices[0]?.message.content, TEXT);
});

test("compatible.stream-broken: a stream that breaks ends in an error of the client, not in half an answer", async () => {
  gateway.first.behave((call) => {
    beginStream(call);
    chunk(call, { content: "Hel" });
    call.response.end("data: {broken\n\n");
  });
  await assert.rejects(async () => {
    const stream = await client().chat.completions.create({ model: "auto", messages, stream: true });
    for await (const _ of stream);
  }, OpenAI.APIError);
});

test("compatible.model-selects-purpose, compatible.model-not-selectable, compatible.models-list, compatible.models-get: model selects a purpose, and nothing else", async () => {
  const list = await client().models.list();
  assert.deepEqual(
    list.data.map((model) => model.id),
    ["auto", "purpose/brief"],
  );
  for (const model of list.data) assert.deepEqual(await client().models.retrieve(model.id), model);
  await assert.rejects(client().models.retrieve("purpose/off"), OpenAI.NotFoundError);
  const { response } = await client().chat.completions.create({ model: "purpose/brief", messages }).withResponse();
  assert.equal(response.status, 200);
  await assert.rejects(client().chat.completions.create({ model: "gpt-4o", messages }), (error: unknown) => {
    assert(error instanceof OpenAI.BadRequestError);
    assert.deepEqual([error.code, error.param, error.type], ["MODEL_NOT_SELECTABLE", "model", "invalid_request_error"]);
    return true;
  });
});

test("compatible.data-policy: the client sends data_policy of a chat as JSON and of audio as a form, and a target without proof is a 422 of its own class", async () => {
  const asked = [
    () =>
      client().chat.completions.create({
        model: "auto",
        messages,
        ...{ data_policy: { training: "never", regions: ["eu"] } },
      }),
    async () =>
      client().audio.transcriptions.create({
        model: "auto",
        file: await file(),
        ...{ data_policy: { training: "never", regions: ["eu", "us"] } },
      }),
    async () =>
      client().audio.translations.create({ model: "auto", file: await file(), ...{ data_policy: { retention: 30 } } }),
  ];
  const missing: unknown[] = [];
  for (const ask of asked)
    await assert.rejects(ask, (error: unknown) => {
      assert(error instanceof OpenAI.UnprocessableEntityError);
      assert.equal(error.code, "REQUIRED_FEATURE_UNSUPPORTED");
      missing.push((error.error as { details: { missing: unknown } }).details.missing);
      return true;
    });
  const both = ["data_policy.training", "data_policy.regions"];
  assert.deepEqual(missing, [both, both, ["data_policy.retention"]]);
  assert.equal(gateway.first.calls.length, 0);
});

test("compatible.error-classes: errors are of the client's own classes, with code, param and request id", async () => {
  const wrong = new OpenAI({ apiKey: "wrong-key-of-nobody-at-all-1", baseURL: `${gateway.origin}/v1`, maxRetries: 0 });
  await assert.rejects(wrong.models.list(), OpenAI.AuthenticationError);
  await assert.rejects(
    client().chat.completions.create({ model: "auto", messages, temperature: 3 }),
    (error: unknown) => {
      assert(error instanceof OpenAI.BadRequestError);
      assert.deepEqual([error.code, error.param], ["INVALID_REQUEST", "temperature"]);
      assert.match(error.requestID ?? "", /^req_/);
      return true;
    },
  );
});

test("compatible.client-retries: the client retries what X-Should-Retry allows, and only that", async () => {
  const failure = { error: { message: "no", type: "server_error" } };
  gateway.second.behave((call) => json(call, 500, failure));
  let failures = 0;
  gateway.first.behave((call) => (failures++ === 0 ? json(call, 500, failure) : answer(call)));
  const completion = await client(1).chat.completions.create({ model: "auto", messages });
  assert.equal(completion.choices[0]?.message.content, TEXT);
  assert.equal(gateway.first.calls.length, 2);
  await forget(gateway);
  // 502, which the client by itself would retry.
  gateway.first.behave((call) => json(call, 400, failure));
  gateway.second.behave((call) => json(call, 400, failure));
  await assert.rejects(client(2).chat.completions.create({ model: "auto", messages }), (error: unknown) => {
    assert(error instanceof OpenAI.InternalServerError);
    assert.equal(error.code, "PROVIDER_REJECTED");
    return true;
  });
  assert.equal(gateway.first.calls.length, 1);
});

test("compatible.audio-formats, compatible.audio-fields, compatible.audio-verbose: transcription in every format", async () => {
  const { audio } = client();
  const text = "[simulated transcript, 2.5 s, mono]";
  const plain = await audio.transcriptions.create({ model: "auto", file: await file() });
  assert.equal(plain.text, text);
  assert.equal(
    String(await audio.transcriptions.create({ model: "auto", file: await file(), response_format: "text" })).trim(),
    text,
  );
  assert.match(
    String(await audio.transcriptions.create({ model: "auto", file: await file(), response_format: "srt" })),
    /^1\n00:00:00,000 --> /u,
  );
  assert.match(
    String(await audio.transcriptions.create({ model: "auto", file: await file(), response_format: "vtt" })),
    /^WEBVTT\n/u,
  );
  const verbose = await audio.transcriptions.create({
    model: "auto",
    file: await file(),
    response_format: "verbose_json",
    timestamp_granularities: ["word", "segment"],
  });
  assert.equal(verbose.text, text);
  assert((verbose.words?.length ?? 0) > 0 && (verbose.segments?.length ?? 0) > 0);
  const diarized = (await audio.transcriptions.create({
    model: "auto",
    file: await file(),
    response_format: "diarized_json",
    chunking_strategy: "auto",
  })) as unknown as OpenAI.Audio.TranscriptionDiarized;
  assert.match(diarized.segments[0]?.speaker ?? "", /^S1$/);
});

test("compatible.audio-stream: a transcription as a stream: events as the client types them, the pieces joined are the text", async () => {
  const stream = await client().audio.transcriptions.create({ model: "auto", file: await file(), stream: true });
  const events: OpenAI.Audio.TranscriptionStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  const done = events.at(-1);
  assert(done?.type === "transcript.text.done");
  const pieces = events.flatMap((event) =>
    event.type === "transcript.text.delta"
      ? [event.delta]
      : event.type === "transcript.text.segment"
        ? [event.text]
        : [],
  );
  assert.equal(pieces.join(""), done.text);
});

test("compatible.audio-translation: translation into English", async () => {
  const translated = await client().audio.translations.create({ model: "auto", file: await file() });
  assert.equal(typeof translated.text, "string");
});

test("api.first-requests: the documentation's example for this client works as it is", async () => {
  const code = FIRST_REQUESTS.find(({ language }) => language === "js")?.code ?? "";
  const folder = await mkdtemp(join(import.meta.dirname, "example-"));
  try {
    await copyFile(join(import.meta.dirname, "../../sandbox/samples/dialogue.mp3"), join(folder, "call.mp3"));
    await writeFile(join(folder, "example.mjs"), code);
    const env = { ...process.env, PATCHBAY_URL: gateway.origin, PATCHBAY_API_KEY: KEY };
    const { stdout } = await promisify(execFile)(process.execPath, ["example.mjs"], { cwd: folder, env });
    assert.equal(stdout, `${TEXT}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
