// How the events of an HTTP client are handled, in whatever order they come: how much is held, who waits, what ends and when. Clock and
// client are the test's own.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { mock, type TestContext, test } from "node:test";
import { OutboundError } from "../../src/outbound/dial.ts";
import { createReplyMemory } from "../../src/outbound/reply-memory.ts";
import { StreamReply, type StreamTimes } from "../../src/outbound/stream-reply.ts";
import { WholeReply } from "../../src/outbound/whole-reply.ts";
import type { WireRequest } from "../../src/outbound/wire-call.ts";
import { ScriptedClient } from "./scripted-client.ts";
import { aWhile, eachSoon, soon } from "./soon.ts";
import { failureOf as failureIn } from "./way-out.ts";

type More = Partial<WireRequest & StreamTimes>;

const requestOf = (more: More): WireRequest & StreamTimes => ({
  method: "GET",
  url: new URL("http://provider.example/v1/do?x=1"),
  headers: {},
  ...more,
});

function setUp(t: TestContext, more: More = {}) {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  const client = new ScriptedClient();
  const sent = { count: 0 };
  const count = (): void => void sent.count++;
  return { client, sent, count, request: requestOf(more) };
}

/** Started, its head received, its body not read yet. */
async function opened(t: TestContext, more: More = {}, status = 200) {
  const { client, count, request } = setUp(t, more);
  const opening = new StreamReply(request, count).open(client);
  client.start();
  client.head(status);
  const { body } = await soon(opening);
  const reading = eachSoon(body);
  const next = async () => textOf((await reading.next()).value ?? []);
  /** Asked for before it is there: what has become of it so far. */
  const asked = async () => {
    const iterator = body[Symbol.asyncIterator]();
    let outcome: unknown = "waits";
    const look = async (): Promise<void> => {
      try {
        const { done, value } = await iterator.next();
        outcome = done === true ? "end" : textOf(value);
      } catch (error) {
        outcome = error instanceof OutboundError ? error.failure : error;
      }
    };
    void look();
    await aWhile();
    return async () => {
      await aWhile();
      return outcome;
    };
  };
  return { client, body, next, asked, leave: () => reading.return() };
}

const textOf = (chunks: readonly Uint8Array[]): string => Buffer.concat(chunks).toString();

const failureOf = (work: Promise<unknown>): Promise<OutboundError> => failureIn(soon(work));

const whole = (
  { request, count, client }: Pick<ReturnType<typeof setUp>, "request" | "count" | "client">,
  statusDecides = false,
) => new WholeReply(request, { statusDecides }, count).run(client);

test("providers.back-pressure: 64 KiB are held while nothing is read; one byte more pauses the other side until all of it was read", async (t) => {
  const { client, next, asked } = await opened(t);
  client.data(Buffer.alloc(65_536, "a"));
  assert.deepEqual(client.asked, []);
  client.data("b");
  client.data("c");
  assert.deepEqual(client.asked, ["pause"]);
  assert.equal((await next()).length, 65_538);
  assert.deepEqual(client.asked, ["pause"]);
  const reading = await asked();
  assert.deepEqual(client.asked, ["pause", "resume"]);
  client.data(Buffer.alloc(65_537, "d"));
  assert.equal(String(await reading()).length, 65_537);
  assert.deepEqual(client.asked, ["pause", "resume", "pause"]);
});

test("providers.back-pressure: what arrives while the other side is resumed is read, whatever its size, and so is the end", async (t) => {
  const { client, next, asked } = await opened(t);
  client.data(Buffer.alloc(65_537));
  await next();
  client.onResume = () => client.data(Buffer.alloc(65_537, "b"));
  const reading = await asked();
  assert.equal(String(await reading()).length, 65_537);
  assert.deepEqual(client.asked, ["pause", "resume", "pause"]);
  client.onResume = () => client.end();
  const last = await asked();
  assert.equal(await last(), "end");
});

test("providers.connection-reuse: a reply that is abandoned, and ends while it is resumed, is not aborted", async (t) => {
  const { client, next, leave } = await opened(t);
  client.data("one");
  await next();
  client.onResume = () => client.end();
  await leave();
  mock.timers.tick(100);
  assert.deepEqual(client.asked, ["resume"]);
});

test("providers.back-pressure: what was not paused is not resumed", async (t) => {
  const { client, asked } = await opened(t);
  const reading = await asked();
  client.data("one");
  assert.equal(await reading(), "one");
  assert.deepEqual(client.asked, []);
});

test("providers.reply-whole: the end wakes a waiting reader, and what came before a connection broke is read first", async (t) => {
  const ended = await opened(t);
  const waiting = await ended.asked();
  assert.equal(await waiting(), "waits");
  ended.client.end();
  assert.equal(await waiting(), "end");
  mock.timers.reset();
  const broken = await opened(t);
  broken.client.data("one");
  broken.client.fail(new Error("gone"));
  broken.client.end();
  assert.equal(await broken.next(), "one");
  assert.equal((await failureOf(broken.next())).failure, "connection");
});

test("providers.reply-whole: a connection that breaks behind the last declared byte costs nothing, one byte earlier it fails the reply", async (t) => {
  const context = setUp(t);
  const { client } = context;
  const replying = whole(context);
  client.start();
  client.head(200, { "content-length": "5" });
  client.data("hello");
  client.fail(new Error("gone"));
  assert.equal((await soon(replying)).text, "hello");
  mock.timers.reset();
  const shorter = setUp(t);
  const failing = failureOf(whole(shorter));
  shorter.client.start();
  shorter.client.head(200, { "content-length": "5" });
  shorter.client.data("hell");
  shorter.client.fail(new Error("gone"));
  assert.equal((await failing).failure, "connection");
});

test("providers.abort: what was received is not handed over once the caller gave up", async (t) => {
  const hangUp = new AbortController();
  const { client, next } = await opened(t, { signal: hangUp.signal });
  client.data("one");
  assert.equal(await next(), "one");
  client.data("two");
  hangUp.abort();
  assert.equal((await failureOf(next())).failure, "aborted");
  assert.deepEqual([client.asked, getEventListeners(hangUp.signal, "abort").length], [["abort"], 0]);
});

test("providers.call-timeouts: the wait for a head ends with the head, that for a chunk with the chunk", async (t) => {
  const { client, asked } = await opened(t, { firstByteTimeoutMs: 1_000, idleTimeoutMs: 2_000 });
  mock.timers.tick(1_000);
  assert.deepEqual(client.asked, []);
  const reading = await asked();
  mock.timers.tick(1_999);
  client.data("one");
  assert.equal(await reading(), "one");
  mock.timers.tick(60_000);
  assert.deepEqual(client.asked, []);
  const silent = await asked();
  mock.timers.tick(1_999);
  assert.equal(await silent(), "waits");
  mock.timers.tick(1);
  assert.equal(await silent(), "timeout");
  assert.deepEqual(client.asked, ["abort"]);
});

test("providers.call-timeouts: a head that does not come in its time is a timeout", async (t) => {
  const { client, count, request, sent } = setUp(t, { firstByteTimeoutMs: 1_000 });
  const opening = failureOf(new StreamReply(request, count).open(client));
  client.start();
  mock.timers.tick(1_000);
  const { failure, dispatched } = await opening;
  assert.deepEqual([failure, dispatched, client.asked, sent.count], ["timeout", true, ["abort"], 1]);
});

for (const [status, idleTimeoutMs, limitMs] of [
  [400, undefined, 5_000],
  [500, 60_000, 5_000],
  [429, 1_000, 1_000],
] as const)
  test(`providers.refusal-without-body: the rest of a reply with ${status} is waited for ${limitMs} ms, where ${idleTimeoutMs ?? "nothing"} was asked for`, async (t) => {
    const { client, asked } = await opened(t, idleTimeoutMs === undefined ? {} : { idleTimeoutMs }, status);
    const reading = await asked();
    mock.timers.tick(limitMs - 1);
    assert.deepEqual([await reading(), client.asked], ["waits", []]);
    mock.timers.tick(1);
    assert.deepEqual([await reading(), client.asked], ["timeout", ["abort"]]);
  });

test("providers.call-timeouts: below 400 a reply has no time limit unless one was asked for", async (t) => {
  const { asked } = await opened(t, {}, 399);
  const reading = await asked();
  mock.timers.tick(3_600_000);
  assert.equal(await reading(), "waits");
});

test("providers.connection-reuse: an abandoned reply is dropped, continues for 100 ms and is then aborted", async (t) => {
  const { client, next, leave } = await opened(t);
  client.data(Buffer.alloc(65_537));
  await next();
  await leave();
  assert.deepEqual(client.asked, ["pause", "resume"]);
  client.data(Buffer.alloc(65_537));
  mock.timers.tick(99);
  assert.deepEqual(client.asked, ["pause", "resume"]);
  mock.timers.tick(1);
  assert.deepEqual(client.asked, ["pause", "resume", "abort"]);
});

test("providers.connection-reuse: a reply that ends within that moment keeps its connection, and so does one that had ended", async (t) => {
  const left = await opened(t);
  left.client.data("one");
  await left.next();
  await left.leave();
  left.client.end();
  mock.timers.tick(100);
  assert.deepEqual(left.client.asked, ["resume"]);
  mock.timers.reset();
  const ended = await opened(t);
  ended.client.data("one");
  ended.client.end();
  await ended.next();
  await ended.leave();
  mock.timers.tick(100);
  assert.deepEqual(ended.client.asked, []);
});

test("providers.connection-reuse: a second start would send the request twice and is aborted; the first one counts", async (t) => {
  const context = setUp(t);
  const replying = whole(context);
  context.client.start();
  context.client.start();
  assert.deepEqual([context.client.asked, context.sent.count], [["abort"], 1]);
  context.client.head(204);
  context.client.end();
  assert.equal((await soon(replying)).status, 204);
});

test("providers.dispatch: a request that was stopped while it waited for a connection is aborted when it gets one: nothing was sent", async (t) => {
  let announced = 0;
  const context = setUp(t, { timeoutMs: 1_000, onDispatch: () => announced++ });
  const replying = failureOf(whole(context));
  mock.timers.tick(999);
  assert.equal(context.client.requests.length, 1);
  mock.timers.tick(1);
  const { failure, dispatched, message } = await replying;
  assert.deepEqual([failure, dispatched], ["timeout", false]);
  assert.equal(message, "timeout before the first byte was sent");
  context.client.start();
  assert.deepEqual([context.client.asked, context.sent.count, announced], [["abort"], 0, 0]);
});

test("providers.dispatch: a request that was aborted before is not handed to the client at all", async (t) => {
  const context = setUp(t, { signal: AbortSignal.abort() });
  const { failure, dispatched } = await failureOf(whole(context));
  assert.deepEqual([failure, dispatched, context.client.requests.length], ["aborted", false, 0]);
});

test("providers.call-timeouts: a finished call has neither a timer nor a listener, however it ended", async (t) => {
  const { signal } = new AbortController();
  const ends: readonly ((client: ScriptedClient) => void)[] = [
    (client) => {
      client.head(200);
      client.end();
    },
    (client) => client.fail(new Error("gone")),
  ];
  for (const end of ends) {
    mock.timers.reset();
    const context = setUp(t, { signal, timeoutMs: 1_000 });
    const replying = whole(context).catch(() => null);
    context.client.start();
    end(context.client);
    await soon(replying);
    assert.equal(getEventListeners(signal, "abort").length, 0);
    mock.timers.tick(1_000);
    assert.deepEqual(context.client.asked, []);
  }
});

test("remote-audio.interim-replies: ten interim heads may precede the answer and are not part of it; with the eleventh it is given up (RFC 9110, 15.2)", async (t) => {
  const answered = setUp(t);
  const opening = new StreamReply(answered.request, answered.count).open(answered.client);
  answered.client.start();
  for (let head = 0; head < 10; head++) answered.client.head(103, { "x-early": "1" });
  answered.client.head(200, { "x-answer": "1" });
  const { status, headers } = await soon(opening);
  assert.deepEqual([status, headers, answered.client.asked], [200, { "x-answer": "1" }, []]);
  mock.timers.reset();
  const endless = setUp(t);
  const failing = failureOf(new StreamReply(endless.request, endless.count).open(endless.client));
  endless.client.start();
  for (let head = 0; head < 11; head++) endless.client.head(103);
  assert.deepEqual(endless.client.asked, ["abort"]);
  assert.equal((await failing).failure, "connection");
});

test("providers.reply-bounds: at most as many bytes as are asked for are read, and not one more", async (t) => {
  const fits = setUp(t, { maxReplyBytes: 5 });
  const replying = whole(fits);
  fits.client.start();
  fits.client.head(200, { "x-many": "1" });
  fits.client.data("hel");
  fits.client.data("lo");
  fits.client.end();
  const { text } = await soon(replying);
  assert.deepEqual([text, fits.client.asked], ["hello", []]);
  mock.timers.reset();
  const larger = setUp(t, { maxReplyBytes: 5 });
  const failing = failureOf(whole(larger));
  larger.client.start();
  larger.client.head(200);
  larger.client.data("hello!");
  assert.deepEqual(larger.client.asked, ["abort"]);
  assert.equal((await failing).failure, "reply_too_large");
});

test("providers.reply-whole: a reply that has ended stays as it is, whatever the socket reports in the same turn", async (t) => {
  const context = setUp(t);
  const replying = whole(context);
  context.client.start();
  context.client.head(200);
  context.client.data("whole");
  context.client.end();
  context.client.data(", and more");
  context.client.fail(new Error("gone"));
  const { status, text } = await soon(replying);
  assert.deepEqual([status, text], [200, "whole"]);
});

test("providers.bounded-work: a reply counts as light only if its values were counted while it arrived", async (t) => {
  const admission = { memory: createReplyMemory({ totalBytes: 1_048_576 }), owner: "acme", maxValues: 1_000_000 };
  for (const [more, status, text, isLight] of [
    [{ admission }, 200, "[1]", true],
    [{ admission }, 400, "[1]", false],
    [{}, 200, "[1]", false],
    [{ admission }, 200, `[${"1,".repeat(20_000)}1]`, undefined],
  ] as const) {
    const context = setUp(t, more);
    const replying = whole(context);
    context.client.start();
    context.client.head(status);
    context.client.data(text);
    context.client.end();
    const reply = await soon(replying);
    assert.equal(reply.isLight, isLight);
    reply.lease?.[Symbol.dispose]();
    mock.timers.reset();
  }
});

test("providers.reply-whole: headers that came more than once are joined into one text", async (t) => {
  const context = setUp(t);
  const replying = whole(context);
  context.client.start();
  context.client.head(200, { "x-one": "1", "set-cookie": ["a=1", "b=2"] });
  context.client.end();
  assert.deepEqual((await soon(replying)).headers, { "x-one": "1", "set-cookie": "a=1, b=2" });
});

test("providers.refusal-without-body: without a head no status decides", async (t) => {
  const context = setUp(t);
  const replying = failureOf(whole(context, true));
  context.client.start();
  context.client.fail(new Error("gone"));
  assert.deepEqual([(await replying).failure, (await replying).reason], ["connection", null]);
});

for (const [what, error, reason] of [
  ["a system's code", Object.assign(new Error("x"), { code: "ECONNRESET" }), "ECONNRESET"],
  ["no code", new Error("canary"), null],
  ["what is no code", Object.assign(new Error("x"), { code: "GET /canary" }), null],
  ["a code that is no text", Object.assign(new Error("x"), { code: ["ECONNRESET"] }), null],
  ["a code of one letter", Object.assign(new Error("x"), { code: "E" }), null],
] as const)
  test(`providers.failure-kinds: a failure names ${what} as ${reason}, and nothing else of the error`, async (t) => {
    const context = setUp(t);
    const replying = failureOf(whole(context));
    context.client.start();
    context.client.fail(error);
    const failure = await replying;
    assert.deepEqual([failure.failure, failure.dispatched, failure.reason], ["connection", true, reason]);
    assert.equal(failure.message, "connection after the first byte was sent");
  });
