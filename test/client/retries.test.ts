// When `patchbay-gateway/client` repeats a call, and that it is still paid once [client.retry-same-key].
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { Patchbay, PatchbayConnectionError, PatchbayError, type PatchbayOptions } from "../../src/client/client.ts";
import { answerError, answerJson, ENVELOPE, fakeGateway, type Received } from "../cli/fake-gateway.ts";
import { speech } from "../harness/client.ts";
import { type FaultProxy, startFaultProxy } from "../harness/fault-proxy.ts";
import { KEY, standardFile, startGateway, type TestGateway } from "../harness/gateway.ts";

let gateway: TestGateway;
let proxy: FaultProxy;
before(async () => {
  gateway = await startGateway({ file: standardFile });
  proxy = await startFaultProxy(gateway.origin);
});
after(async () => {
  await proxy.close();
  await gateway.close();
});
beforeEach(() => gateway.sandbox.clearCalls());

interface Waited {
  readonly client: Patchbay;
  /** In milliseconds, in their order. */
  readonly delays: readonly number[];
}

/** No time passes between its tries. */
function clientOf(baseUrl: string, options: PatchbayOptions = {}, onWait = () => {}): Waited {
  const delays: number[] = [];
  const wait = async (delayMs: number): Promise<void> => {
    delays.push(delayMs);
    onWait();
  };
  return { client: new Patchbay({ apiKey: KEY, baseUrl, wait, random: () => 0.5, ...options }), delays };
}

async function thrown(failing: PromiseLike<unknown>): Promise<PatchbayError> {
  const error = await Promise.resolve(failing).catch((reason: unknown) => reason);
  assert.ok(error instanceof PatchbayError, String(error));
  return error;
}

const keysOf = (received: readonly Received[]) => received.map(({ headers }) => headers["idempotency-key"]);

test("client.retry-same-key: a connection that breaks after the answer was made is tried again under the same key, and paid once", async () => {
  proxy.set({ kind: "cut", way: "back", afterBytes: 0 });
  const { client, delays } = clientOf(proxy.url, {}, () => proxy.clear());
  const { data, response } = await client.transcribe(speech()).withResponse();
  assert.equal(data.status, "completed");
  assert.equal(response.headers.get("x-svc-idempotent-replay"), "true");
  assert.equal(gateway.sandbox.callCount, 1);
  assert.equal(delays.length, 1);
});

test("client.retry-same-key: a connection that breaks in the middle of the answer, and a job's submission, are tried again and paid once", async () => {
  proxy.set({ kind: "cut", way: "back", afterBytes: 700 });
  const { client } = clientOf(proxy.url, {}, () => proxy.clear());
  const { response } = await client.transcribe(speech(), { timestamps: "word" }).withResponse();
  assert.equal(response.headers.get("x-svc-idempotent-replay"), "true");
  proxy.set({ kind: "cut", way: "back", afterBytes: 0 });
  const { job_id: id } = await client.jobs.submit(speech());
  assert.deepEqual(
    (await client.jobs.list()).data.map(({ job_id }) => job_id),
    [id],
  );
  assert.equal((await client.jobs.wait(id)).status, "succeeded");
  assert.equal(gateway.sandbox.callCount, 2);
});

test("client.retry-limit: a server that cannot be reached is a connection error after two retries, retryable under the key that it names", async () => {
  const { url } = await (async () => {
    await using closed = await fakeGateway(() => {});
    return closed;
  })();
  const { client, delays } = clientOf(url);
  const error = await thrown(client.transcribe(speech()));
  assert.ok(error instanceof PatchbayConnectionError);
  assert.deepEqual([error.code, error.retryable, error.status], ["CONNECTION_FAILED", true, null]);
  assert.match(error.message, /ECONNREFUSED/u);
  assert.match(error.idempotencyKey ?? "", /^[0-9a-f-]{36}$/u);
  assert.deepEqual(delays, [500, 1000]);
  await thrown(client.transcribe(speech(), {}, { maxRetries: 0 }));
  assert.equal(delays.length, 2);
});

test("client.retry-header: an answer that is not worth a retry is not repeated, and its header wins over its body", async () => {
  const codes = ["INTERNAL", "PROVIDER_RESULT_UNKNOWN", "INVALID_REQUEST"];
  await using server = await fakeGateway((response, _request, count) =>
    answerError(response, 500, codes[count - 1] ?? "", count === 3, { "x-should-retry": "false" }),
  );
  const { client } = clientOf(server.url);
  for (const code of codes) {
    const error = await thrown(client.chat({ messages: [] }));
    assert.deepEqual([error.code, error.retryable, error.requestId], [code, false, "req_test"]);
  }
  assert.equal(server.received.length, 3);
});

test("client.retry-same-key, client.retry-after: a retryable answer is requested again under the same key, not before Retry-After, twice at most", async () => {
  await using server = await fakeGateway((response, _request, count) =>
    answerError(response, 503, "OVERLOADED", true, count === 2 ? { "retry-after": "7" } : {}),
  );
  const { client, delays } = clientOf(server.url);
  const error = await thrown(client.transcribe(speech(), {}, { idempotencyKey: "mine" }));
  assert.deepEqual([error.code, error.idempotencyKey], ["OVERLOADED", "mine"]);
  assert.deepEqual(keysOf(server.received), ["mine", "mine", "mine"]);
  assert.deepEqual(delays, [500, 7000]);
  assert.equal(new Set(server.received.map(({ body }) => body.toString("latin1"))).size, 1, "the same bytes each time");
});

test("client.retry-after: an answer that asks for more than a minute is thrown, with its Retry-After", async () => {
  await using server = await fakeGateway((response) =>
    answerError(response, 429, "RATE_LIMITED", true, { "retry-after": "61" }),
  );
  const { client, delays } = clientOf(server.url);
  const { retryAfterSeconds, code } = await thrown(client.me());
  assert.deepEqual([code, retryAfterSeconds, delays], ["RATE_LIMITED", 61, []]);
});

test("client.retry-in-progress: while the first request with the key runs its answer is waited for, however often it takes", async () => {
  await using server = await fakeGateway((response, _request, count) =>
    count <= 6
      ? answerError(response, 409, "IDEMPOTENCY_REPLAY_IN_PROGRESS", true, { "retry-after": "2" })
      : answerJson(response, 200, ENVELOPE),
  );
  const { client, delays } = clientOf(server.url);
  assert.equal((await client.transcribe(speech())).content, ENVELOPE.content);
  assert.deepEqual(delays, [2000, 2000, 2000, 4000, 8000, 8000]);
  assert.equal(new Set(keysOf(server.received)).size, 1);
});

test("client.retry-same-key: keys are the client's own, another for each call, and none is sent where none counts", async () => {
  await using server = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const { client } = clientOf(server.url);
  await client.transcribe(speech());
  await client.chat({ messages: [] });
  await client.chat({ messages: [] }, { idempotencyKey: null });
  await client.me();
  await client.jobs.cancel("job_1");
  await thrown(client.chatStream({ messages: [] }).withResponse());
  const [first, second, ...none] = keysOf(server.received);
  assert.ok(first !== undefined && second !== undefined && first !== second);
  assert.deepEqual(none, [undefined, undefined, undefined, undefined]);
});

test("client.retry-unkeyed: a call without a key is repeated after 429 alone", async () => {
  const tell = (response: ServerResponse, status: number, code: string) => answerError(response, status, code, true);
  await using server = await fakeGateway((response, _request, count) => {
    if (count % 2 === 1) tell(response, 429, "CONCURRENCY_LIMITED");
    else tell(response, 503, "all_providers_exhausted");
  });
  const { client } = clientOf(server.url);
  const error = await thrown(client.chatStream({ messages: [] })[Symbol.asyncIterator]().next());
  assert.deepEqual([error.code, server.received.length], ["all_providers_exhausted", 2]);
  await thrown(client.chat({ messages: [] }, { idempotencyKey: null }));
  assert.equal(server.received.length, 4);
  await using broken = await fakeGateway((response) => response.destroy());
  const cut = await thrown(clientOf(broken.url).client.chatStream({ messages: [] }).withResponse());
  assert.deepEqual([cut.code, cut.retryable, broken.received.length], ["CONNECTION_FAILED", false, 1]);
});

test("client.retry-stream-body: a stream of bytes is sent once, under a key that a second stream may be sent with", async () => {
  await using server = await fakeGateway((response, _request, count) =>
    count === 1 ? answerError(response, 503, "SHUTTING_DOWN", true) : answerJson(response, 200, ENVELOPE),
  );
  const { client } = clientOf(server.url);
  const stream = () => new Blob([new Uint8Array(speech())]).stream();
  const { code, idempotencyKey } = await thrown(client.transcribe(stream()));
  assert.deepEqual([code, server.received.length], ["SHUTTING_DOWN", 1]);
  await client.transcribe(stream(), {}, { idempotencyKey });
  assert.deepEqual(keysOf(server.received), [idempotencyKey, idempotencyKey]);
});

test("client.timeout: time that is up has its own error, different from a failed connection and from an abort", async () => {
  await using server = await fakeGateway(() => {});
  const { client } = clientOf(server.url);
  const error = await thrown(client.transcribe(speech(), {}, { timeoutMs: 20 }));
  assert.ok(error instanceof PatchbayConnectionError);
  assert.deepEqual([error.code, error.retryable], ["TIMED_OUT", true]);
  assert.ok(error.idempotencyKey !== null);
  const streamed = await thrown(client.chatStream({ messages: [] }, { timeoutMs: 20 }).withResponse());
  assert.deepEqual([streamed.code, streamed.retryable], ["TIMED_OUT", false]);
  const waited = await thrown(client.jobs.wait("job_1", { timeoutMs: 20 }));
  assert.equal(waited.code, "TIMED_OUT");
});

test("client.stream-failure: a stream that breaks, ends early or contains an error is thrown after its events", async () => {
  const started = 'event: chat.started\ndata: {"id":"chat_1","created_at":"now"}\n\n';
  const error = { code: "PROVIDER_RESULT_UNKNOWN", message: "It broke.", retryable: false, request_id: "req_2" };
  const endings: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ["STREAM_INCOMPLETE", (response) => response.end(started)],
    ["CONNECTION_FAILED", (response) => response.write(started, () => response.destroy())],
    [
      "PROVIDER_RESULT_UNKNOWN",
      (response) => response.end(`${started}event: error\ndata: ${JSON.stringify({ error })}\n\n`),
    ],
    ["UNEXPECTED_ANSWER", (response) => response.end(`${started}event: error\ndata: {}\n\n`)],
  ];
  for (const [code, end] of endings) {
    await using server = await fakeGateway((response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "req_1" });
      end(response);
    });
    const seen: string[] = [];
    const failure = await thrown(
      (async () => {
        for await (const { event } of clientOf(server.url).client.chatStream({ messages: [] })) seen.push(event);
      })(),
    );
    assert.deepEqual([failure.code, seen, failure.retryable], [code, ["chat.started"], false]);
    assert.equal(failure.requestId, code === "PROVIDER_RESULT_UNKNOWN" ? "req_2" : "req_1");
    assert.equal(failure instanceof PatchbayConnectionError, /STREAM|CONNECTION/u.test(code));
  }
});

test("client.retry-proxy: a proxy's report that the gateway is unavailable counts as a failed connection: repeated where it cannot be paid twice", async () => {
  for (const status of [502, 503, 504]) {
    await using proxied = await fakeGateway((response, _request, count) => {
      if (count % 2 === 0) answerJson(response, 200, ENVELOPE);
      else response.writeHead(status, { "content-type": "text/html" }).end("<html>");
    });
    const { client } = clientOf(proxied.url);
    assert.equal((await client.transcribe(speech())).content, ENVELOPE.content);
    const [first, second] = keysOf(proxied.received);
    assert.ok(first !== undefined && first === second);
    const { code, retryable } = await thrown(client.chat({ messages: [] }, { idempotencyKey: null }));
    assert.deepEqual([code, retryable, proxied.received.length], ["UNEXPECTED_ANSWER", false, 3]);
  }
});

test("client.retry-after: a Retry-After that is a date is honoured as well", async () => {
  await using server = await fakeGateway((response, _request, count) => {
    const retryAfter = count === 3 ? "soon" : new Date(Date.now() + 30_000).toUTCString();
    answerError(response, 503, "OVERLOADED", true, { "retry-after": retryAfter });
  });
  const { client, delays } = clientOf(server.url);
  assert.equal((await thrown(client.me())).retryAfterSeconds, null);
  assert.equal(delays.length, 2);
  assert.ok(
    delays.every((delay) => delay > 20_000 && delay <= 30_000),
    String(delays),
  );
});

test("client.timeout: a timeout longer than a timer can be is the longest one", async () => {
  await using server = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const { client } = clientOf(server.url);
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31])
    assert.equal((await client.transcribe(speech(), {}, { timeoutMs })).content, ENVELOPE.content);
});

test("client.unreadable-file: a file that cannot be read is reported by its path or reason", async () => {
  await using server = await fakeGateway((response) => answerJson(response, 200, ENVELOPE));
  const { client } = clientOf(server.url);
  await assert.rejects(client.transcribe({ path: "none.mp3" }), /^TypeError: No readable file at none\.mp3/u);
  const { message } = await thrown(client.transcribe({ path: import.meta.dirname }));
  assert.match(message, /could not be read/u);
  const { client: bare } = clientOf(server.url, { fetch: () => Promise.reject(undefined) });
  assert.equal((await thrown(bare.me())).code, "CONNECTION_FAILED");
});

test("client.stream-events: a stream is one request, and its events are read once", async () => {
  const completed = "event: chat.completed\ndata: {}\n\n";
  await using server = await fakeGateway((response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(completed),
  );
  const stream = clientOf(server.url).client.chatStream({ messages: [] });
  const { data } = await stream.withResponse();
  const names: string[] = [];
  for await (const { event } of stream) names.push(event);
  for (const read of [stream, data]) await assert.rejects(read[Symbol.asyncIterator]().next(), TypeError);
  assert.deepEqual([names, server.received.length], [["chat.completed"], 1]);
});

test("client.not-a-gateway: a server that is not a gateway is reported as one, and is not sent the key a second time", async () => {
  for (const status of [200, 302, 500]) {
    await using server = await fakeGateway((response) =>
      response.writeHead(status, { "content-type": "text/html", location: "/elsewhere" }).end("<html>"),
    );
    const { code, message } = await thrown(clientOf(server.url).client.me());
    assert.equal(code, "UNEXPECTED_ANSWER");
    assert.match(message, new RegExp(`${status}.*${server.url}`, "u"));
    assert.equal(server.received.length, 1);
  }
});

test("client.job-wait: a gateway that holds no look, because it stops, is not asked without a pause", async () => {
  await using server = await fakeGateway((response, _request, count) =>
    answerJson(response, 200, { job_id: "job_1", status: count < 5 ? "processing" : "succeeded" }),
  );
  const { client, delays } = clientOf(server.url);
  await client.jobs.wait("job_1");
  assert.equal(server.received.length, 5);
  assert.equal(delays.length, 3, "none after the first look, which is not held, and none after the last");
  assert.ok(delays.every((delay) => delay > 0 && delay <= 1_000));
});

test("client.job-wait: waiting for a job continues after a failed connection and while the gateway is unavailable", async () => {
  const ended = { job_id: "job_1", status: "succeeded" };
  await using server = await fakeGateway((response, { path }, count) => {
    if (count === 1) answerJson(response, 200, { job_id: "job_1", status: "queued" });
    else if (count <= 5) response.destroy();
    else if (count <= 8) answerError(response, 503, "SHUTTING_DOWN", true);
    else if (count <= 12) response.writeHead(502, { "content-type": "text/html" }).end("<html>");
    else answerJson(response, 200, { ...ended, path });
  });
  const { client, delays } = clientOf(server.url);
  assert.equal((await client.jobs.wait("job_1")).status, "succeeded");
  assert.ok(delays.length >= 7);
  assert.ok(server.received.slice(1).every(({ path }) => path === "/v1/transcription/jobs/job_1?wait=30"));
  await using refusing = await fakeGateway((response, _request, count) =>
    count === 1
      ? answerJson(response, 200, { job_id: "job_1", status: "queued" })
      : answerError(response, 401, "UNAUTHENTICATED"),
  );
  assert.equal((await thrown(clientOf(refusing.url).client.jobs.wait("job_1"))).code, "UNAUTHENTICATED");
});

test("client.configuration: without a key, or with an address that is none, the constructor throws and does not quote the key", () => {
  for (const apiKey of ["", "secret key", "secret\nkey"])
    assert.throws(
      () => new Patchbay({ apiKey }),
      (error: Error) => error instanceof TypeError && !error.message.includes("secret"),
    );
  for (const baseUrl of ["file:///etc", "http://user:pass@host", "http://:pass@host", "here", "http://host/?a=1"])
    assert.throws(() => new Patchbay({ apiKey: KEY, baseUrl }), TypeError);
});
