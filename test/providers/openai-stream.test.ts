// The OpenAI audio wire, streamed: the same transcript as in one piece, whatever way the bytes were split, and every way a
// stream can break (contract 1, 3).
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { createIo } from "../../src/providers/make-io.ts";
import { openai } from "../../src/providers/openai.ts";
import { type FailureKind, ProviderError, type StreamingIo } from "../../src/providers/io.ts";
import type { SpeechEvent } from "../../src/providers/provider.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { audioFixture, requestFor } from "./fixtures.ts";
import { OPENAI_GOLDEN } from "./golden/openai.ts";
import { targetOf } from "./subject.ts";
import { CREDENTIAL, outboundFor } from "./wire-suite.ts";

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
  return createIo({ outbound: outboundFor(t), baseUrl: url.href, credential: CREDENTIAL, signal, deadlineMs: 5_000 });
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

test("contract 3: openai, a stream's pieces are the whole, and its end is the transcript of one piece", async (t) => {
  const { events, transcript } = await streamed(await ioTo(t, (response) => sse(response).end(text(EVENTS))));
  assert.deepEqual(events, [
    { type: "text", text: "Grüezi" },
    { type: "text", text: ", 世界 👋." },
  ]);
  assert.equal(transcript.text, "Grüezi, 世界 👋.");
  assert.equal(transcript.providerRequestId, "req_1");
  assert.deepEqual(transcript.receipts, [{ feature: "streaming", grade: "shown", delivered: true }]);
});

test("contract 3: openai, speakers come segment by segment, and all of them with the end", async (t) => {
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
  assert.ok(transcript.receipts.every(({ delivered }) => delivered));
});

test("contract 3: openai, a byte at a time is the same stream", async (t) => {
  const io = await ioTo(t, async (response) => {
    sse(response);
    for (const byte of Buffer.from(text(EVENTS))) if (!response.write(Buffer.of(byte))) await new Promise(setImmediate);
    response.end();
  });
  const { transcript } = await streamed(io);
  assert.equal(transcript.text, "Grüezi, 世界 👋.");
});

const DELTA = text(EVENTS.slice(0, 1));
for (const [what, answer, kind] of [
  ["a refusal before the stream", (r) => r.writeHead(429, { "retry-after": "3" }).end("{}"), "rate_limited"],
  [
    "an answer in one piece, though a stream was asked",
    (r) => r.writeHead(200, { "content-type": "application/json" }).end('{"text":"Hi."}'),
    "bad_reply",
  ],
  ["a stream without its end", (r) => sse(r).end(DELTA), "bad_reply"],
  ["a stream of nothing", (r) => sse(r).end(), "bad_reply"],
  ["a stream that is cut", (r) => sse(r).write(DELTA, () => r.destroy()), "unknown"],
  ["an event that is no JSON", (r) => sse(r).end(`${DELTA}data: {"type"\n\n`), "bad_reply"],
  [
    "an error as an event",
    (r) => sse(r).end(`${DELTA}${text([{ error: { message: "Jane Doe", type: "server_error", code: null } }])}`),
    "server_error",
  ],
] as const satisfies readonly (readonly [string, (response: ServerResponse) => unknown, FailureKind])[]) {
  test(`contract 1: openai, ${what}: ${kind}`, async (t) => {
    await assert.rejects(streamed(await ioTo(t, answer)), (error) => {
      assert.ok(error instanceof ProviderError, inspect(error));
      assert.equal(error.kind, kind);
      assert.ok(!inspect(error, { depth: Infinity }).includes("Jane Doe"));
      return true;
    });
  });
}
