// The OpenAI audio protocol, streamed: the same transcript as in one piece, however the bytes were split, and every way in which a
// stream can break.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { createIo } from "../../src/providers/wire/make-io.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import { type FailureKind, ProviderError, type StreamingIo } from "../../src/providers/io.ts";
import type { SpeechEvent, SpeechProvider } from "../../src/providers/provider.ts";
import { sandbox } from "../../src/providers/sandbox/sandbox.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { PROVIDER_TEXT, STATUSES } from "./suites/failure-suite.ts";
import { audioFixture, type GoldenModel, requestFor } from "./suites/fixtures.ts";
import { OPENAI_GOLDEN } from "./golden/openai.ts";
import { SANDBOX_GOLDEN } from "./golden/simulated.ts";
import { targetOf } from "./suites/subject.ts";
import { CREDENTIAL, outboundFor } from "./suites/wire-suite.ts";
import { testReplies } from "../harness/replies.ts";

const EVENTS = [
  { type: "transcript.text.delta", delta: "Grüezi" },
  { type: "transcript.text.delta", delta: ", 世界 👋." },
  { type: "transcript.text.unheard_of", anything: true },
  {
    type: "transcript.text.done",
    text: "Grüezi, 世界 👋.",
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  },
];
const DIARIZED = [
  { type: "transcript.text.segment", id: "seg_1", start: 0, end: 1.5, text: " Hi there.", speaker: "A" },
  { type: "transcript.text.segment", id: "seg_2", start: 1.5, end: 2, text: " Yes.", speaker: "B" },
  { type: "transcript.text.done", text: "Hi there. Yes." },
];
const text = (events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

function golden(model: string) {
  const found = OPENAI_GOLDEN.find((each) => each.model === model);
  assert.ok(found);
  const { speech, target } = targetOf(openai, found);
  return { speech, target };
}

async function ioTo(t: TestContext, answer: (response: ServerResponse) => unknown): Promise<StreamingIo> {
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    answer(response);
  });
  const { signal } = new AbortController();
  return createIo({
    outbound: outboundFor(t),
    replies: testReplies(),
    baseUrl: url.href,
    credential: CREDENTIAL,
    signal,
    deadlineMs: 5_000,
  });
}

async function streamed(io: StreamingIo, model = "gpt-4o-transcribe", wishes = {}) {
  const { speech, target } = golden(model);
  const request = requestFor(speech, { stream: true, ...wishes });
  const result = openai.plan(request, target);
  assert.ok(result.ok && openai.stream);
  const events: SpeechEvent[] = [];
  for await (const event of openai.stream(result.plan, audioFixture(), io)) events.push(event);
  const end = events.at(-1);
  assert.ok(end?.type === "end");
  return { events: events.slice(0, -1), transcript: openai.normalise(end.raw, request, target, audioFixture()) };
}

const sse = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_1" });

test("providers.stream-equals-plain: openai, a stream's pieces joined are the text, and its end is the transcript of the plain reply", async (t) => {
  const { events, transcript } = await streamed(await ioTo(t, (response) => sse(response).end(text(EVENTS))));
  assert.deepEqual(events, [
    { type: "text", text: "Grüezi" },
    { type: "text", text: ", 世界 👋." },
  ]);
  assert.equal(transcript.text, "Grüezi, 世界 👋.");
  assert.equal(transcript.providerRequestId, "req_1");
  assert.deepEqual(transcript.receipts, [{ feature: "streaming", grade: "shown", delivered: true }]);
});

test("providers.keep-alives: FLD-10, openai, keep-alives among the events of a transcript are ignored", async (t) => {
  const keepAlives = 'data:\n\ndata: null\n\ndata: ""\n\nevent: ping\ndata:\n\ndata: : comment\n\n';
  const all = EVENTS.map((event) => keepAlives + text([event])).join("") + keepAlives;
  const { transcript } = await streamed(await ioTo(t, (response) => sse(response).end(all)));
  assert.equal(transcript.text, "Grüezi, 世界 👋.");
});

test("providers.stream-equals-plain: openai, speakers come segment by segment, and all of them with the end", async (t) => {
  const io = await ioTo(t, (response) => sse(response).end(text(DIARIZED)));
  const { events, transcript } = await streamed(io, "gpt-4o-transcribe-diarize", { diarization: true });
  assert.deepEqual(
    events.map((event) => event.type === "segment" && [event.segment.text, event.segment.start, event.segment.speaker]),
    [
      ["Hi there.", 0, "A"],
      ["Yes.", 1.5, "B"],
    ],
  );
  assert.deepEqual(
    transcript.segments.map(({ speaker }) => speaker),
    ["A", "B"],
  );
  assert.ok(transcript.receipts.length > 0 && transcript.receipts.every(({ delivered }) => delivered));
});

test("providers.stream-splits: openai, a byte at a time is the same stream", async (t) => {
  const io = await ioTo(t, async (response) => {
    sse(response);
    for (const byte of Buffer.from(text(EVENTS))) if (!response.write(Buffer.of(byte))) await new Promise(setImmediate);
    response.end();
  });
  const { transcript } = await streamed(io);
  assert.equal(transcript.text, "Grüezi, 世界 👋.");
});

const DELTA = text(EVENTS.slice(0, 1));
const SEGMENT = text(DIARIZED.slice(0, 1));
const REFUSAL = { error: { message: `${PROVIDER_TEXT} ${CREDENTIAL}`, type: "server_error", code: null } };
const DEADLINE_MS = 10_000;
const streaming = (provider: SpeechProvider, all: readonly GoldenModel[]) =>
  all
    // Live models speak over a socket.
    .filter(({ features, path }) => features.streaming !== undefined && !path.endsWith("/realtime"))
    .map((model) => ({ provider, model }));
const SUBJECTS = [
  ...streaming(openai, OPENAI_GOLDEN),
  ...streaming(
    sandbox,
    SANDBOX_GOLDEN.filter(({ model }) => model.startsWith("openai/")),
  ),
];

test("providers.failure-kinds, providers.stream-cut: every model that streams events: each status, and every way in which its stream can break", async (t) => {
  let answer: (response: ServerResponse) => unknown = () => undefined;
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    answer(response);
  });
  const outbound = outboundFor(t);
  assert.ok(SUBJECTS.length > 10);

  for (const { provider, model } of SUBJECTS) {
    await t.test(
      `providers.failure-kinds, providers.stream-cut: ${provider.kind}/${model.model} ${JSON.stringify(model.settings ?? {})}`,
      async (each) => {
        const { speech, target } = targetOf(provider, model);
        const caller = new AbortController();
        const { signal } = caller;
        const planned = provider.plan(requestFor(speech, { stream: true }), target);
        assert.ok(planned.ok && provider.stream);
        const ask = async (what: string, kind: FailureKind, reply: typeof answer): Promise<ProviderError> => {
          answer = reply;
          const options = {
            replies: testReplies(),
            outbound,
            baseUrl: url.href,
            credential: CREDENTIAL,
            signal,
            deadlineMs: DEADLINE_MS,
          };
          const error = await drained(provider.stream?.(planned.plan, audioFixture(), createIo(options)));
          assert.ok(error instanceof ProviderError, inspect(error));
          assert.equal(error.kind, kind, what);
          const inspected = inspect(error, { depth: Infinity, showHidden: true });
          assert.ok(!inspected.includes(CREDENTIAL) && !inspected.includes("Jane Doe"), inspected);
          return error;
        };

        for (const [status, kind] of STATUSES) {
          const error = await ask(String(status), kind, (r) => r.writeHead(status).end(JSON.stringify(REFUSAL)));
          assert.equal(error.status, status);
        }
        const limited = await ask("429", "rate_limited", (r) => r.writeHead(429, { "retry-after": "17" }).end("{}"));
        assert.equal(limited.retryAfterSeconds, 17);
        await ask("one piece, though a stream was asked", "bad_reply", (r) => r.writeHead(200).end('{"text":"Hi."}'));
        const cut = { "content-type": "application/json", "content-length": 100 };
        const inOne = (r: ServerResponse, text: string) => r.writeHead(200, cut).write(text, () => r.destroy());
        await ask("one piece that is cut", "unknown", (r) => inOne(r, '{"text":'));
        await ask("an error body", "server_error", (r) => sse(r).end(text([REFUSAL])));
        await ask("a stream of nothing", "bad_reply", (r) => sse(r).end());
        for (const begun of [DELTA, SEGMENT]) {
          await ask("a stream without its end", "bad_reply", (r) => sse(r).end(begun));
          const unframed = `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${begun}`;
          await ask("a stream that only its connection ends", "unknown", (r) => r.socket?.end(unframed));
          const inEvent = `${unframed}data: {"type"`;
          await ask("the same in the middle of an event", "unknown", (r) => r.socket?.end(inEvent));
          await ask("an end without its text", "bad_reply", (r) => sse(r).end(`${begun}${text([{ type: DONE }])}`));
          await ask("a stream that is cut", "unknown", (r) => sse(r).write(begun, () => r.destroy()));
          await ask("an event that is no JSON", "bad_reply", (r) => sse(r).end(`${begun}data: {"type"\n\n`));
          await ask("an error as an event", "server_error", (r) => sse(r).end(`${begun}${text([REFUSAL])}`));
        }
        await ask("a reset", "unknown", (r) => r.socket?.resetAndDestroy());

        each.mock.timers.enable({ apis: ["setTimeout"] });
        await ask("no first byte", "timeout", () => each.mock.timers.tick(DEADLINE_MS));
        await ask("no further byte", "timeout", (r) => sse(r).write(DELTA, () => each.mock.timers.tick(DEADLINE_MS)));
        each.mock.timers.reset();
        await ask("the caller gone", "aborted", () => caller.abort());
      },
    );
  }
});

const DONE = "transcript.text.done";

async function drained(events: AsyncIterable<SpeechEvent> | undefined): Promise<unknown> {
  assert.ok(events);
  try {
    for await (const _ of events);
    return null;
  } catch (error) {
    return error;
  }
}
