// Every way in which a provider can fail, on a real socket, and the kind of each.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { type FailureKind, ProviderError } from "../../../src/providers/io.ts";
import { httpServer, readAll, refusingUrl, socketServer } from "../../outbound/loopback.ts";
import { audioFixture, requestFor } from "./fixtures.ts";
import { type ContractSubject, targetOf } from "./subject.ts";
import { CREDENTIAL, ioFor, outboundFor } from "./wire-suite.ts";

export const PROVIDER_TEXT = "Dear Jane Doe, your transcript about invoices";

export const STATUSES: readonly (readonly [number, FailureKind])[] = [
  [307, "server_error"],
  [400, "rejected"],
  [401, "unauthorized"],
  [402, "payment"],
  [403, "unauthorized"],
  [404, "not_found"],
  [408, "unknown"],
  [409, "server_error"],
  [411, "rejected"],
  [413, "rejected"],
  // Many key terms in a query: of one caller's making, and no reason to rest for the others.
  [414, "rejected"],
  [415, "rejected"],
  [422, "rejected"],
  [429, "rate_limited"],
  [431, "rejected"],
  [499, "unknown"],
  [500, "server_error"],
  [502, "unknown"],
  [503, "server_error"],
  [504, "unknown"],
  [529, "server_error"],
];

export function failureContract(subject: ContractSubject): void {
  const { kind } = subject.provider;
  /** A connection that breaks before the submission has broken nothing that is paid for. */
  const brokenAtOnce = (kindWhenPaid: FailureKind): FailureKind =>
    subject.before === undefined ? kindWhenPaid : "connect";
  for (const [status, expected] of STATUSES) {
    test(`providers.failure-kinds: ${kind} answers ${status}: ${expected}`, async (t) => {
      const error = await failureOf(t, subject, (response) => {
        const body = JSON.stringify(subject.refusal("some_code", `${PROVIDER_TEXT} ${CREDENTIAL}`));
        response.writeHead(status, { "x-echo": CREDENTIAL, location: "/elsewhere" }).end(body);
      });
      assert.deepEqual([error.kind, error.status, error.retryAfterSeconds], [expected, status, null]);
      assert.equal(error.reason, subject.hasNoCodes === true ? null : "some_code");
    });
  }

  test(`providers.retry-after: ${kind}, 429 with Retry-After keeps the seconds`, async (t) => {
    const error = await failureOf(t, subject, (response) => response.writeHead(429, { "retry-after": "17" }).end("{}"));
    assert.deepEqual([error.kind, error.retryAfterSeconds], ["rate_limited", 17]);
  });

  test(`providers.failure-kinds: ${kind}, 429 of an account without credit is payment`, async (t) => {
    const body = {
      error: { message: PROVIDER_TEXT, type: "insufficient_quota", param: null, code: "insufficient_quota" },
    };
    const error = await failureOf(t, subject, (response) => response.writeHead(429).end(JSON.stringify(body)));
    assert.deepEqual([error.kind, error.reason], ["payment", "insufficient_quota"]);
  });

  const badReplies: readonly (readonly [string, string])[] = [
    ["an error body under status 200", JSON.stringify(subject.refusal("some_code", PROVIDER_TEXT))],
    ["broken JSON under status 200", `{"text": "${PROVIDER_TEXT}`],
    ["an HTML page under status 200", `<html>${PROVIDER_TEXT} ${CREDENTIAL}</html>`],
    ["an empty body under status 200", ""],
    ["JSON null under status 200", "null"],
    ["an object without the protocol's fields", '{"request_id":"r"}'],
    ["a list instead of an object", "[]"],
  ];
  for (const [what, body] of badReplies) {
    test(`providers.strict-reply: ${kind}, ${what}: bad_reply`, async (t) => {
      const error = await failureOf(t, subject, (response) => response.writeHead(200).end(body));
      assert.equal(error.kind, "bad_reply");
    });
  }

  test(`providers.failure-kinds: ${kind}, a compressed success is a bad_reply, because no compression was asked for`, async (t) => {
    const error = await failureOf(t, subject, (response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(JSON.stringify(subject.success)),
    );
    assert.deepEqual([error.kind, error.reason], ["bad_reply", "content_encoding"]);
  });

  test(`providers.failure-kinds: ${kind}, a success that is cut in its body: unknown`, async (t) => {
    const error = await failureOf(t, subject, (response) => {
      response.writeHead(200, { "content-length": "500" });
      response.write("{", () => response.destroy());
    });
    assert.equal(error.kind, "unknown");
  });

  test(`providers.unended-body: ${kind}, a success that only the end of its connection would end, broken off: unknown, unless it is a page`, async (t) => {
    for (const [begun, expected] of [
      ['{"text": "', "unknown"],
      ["[", "unknown"],
      ["", "unknown"],
      ["<html>", "bad_reply"],
    ] as const) {
      const unframed = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${begun}`;
      const error = await failureOf(t, subject, ({ socket }) => socket?.end(unframed));
      assert.equal(error.kind, expected, JSON.stringify(begun));
    }
    // By its status it has no body (RFC 9112, 6.3): nothing of it can be missing.
    const whole = await failureOf(t, subject, ({ socket }) => socket?.end("HTTP/1.1 204 No Content\r\n\r\n"));
    assert.equal(whole.kind, "bad_reply");
  });

  test(`providers.failure-kinds: ${kind}, a reset after the first byte: unknown`, async (t) => {
    const url = await socketServer(t, (socket) => socket.once("data", () => socket.resetAndDestroy()));
    assert.equal((await failureAt(t, subject, url)).kind, brokenAtOnce("unknown"));
  });

  test(`providers.failure-kinds, providers.dispatch: ${kind}, a refused connection: connect, and nothing dispatched`, async (t) => {
    const outbound = outboundFor(t);
    const error = await failureAt(t, subject, await refusingUrl(), { outbound });
    assert.deepEqual([error.kind, error.reason, outbound.dispatched()], ["connect", "ECONNREFUSED", 0]);
  });

  test(`providers.failure-kinds: ${kind}, no first byte by the deadline: timeout`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const url = await socketServer(t, (socket) => socket.once("data", () => t.mock.timers.tick(250)));
    assert.equal((await failureAt(t, subject, url, { deadlineMs: 250 })).kind, brokenAtOnce("timeout"));
  });

  test(`providers.failure-kinds: ${kind}, a body that trickles past the deadline: timeout`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const url = await socketServer(t, (socket) => {
      const begun = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{";
      socket.once("data", () => socket.write(begun, () => setImmediate(() => t.mock.timers.tick(250))));
    });
    assert.equal((await failureAt(t, subject, url, { deadlineMs: 250 })).kind, brokenAtOnce("timeout"));
  });

  test(`providers.abort: ${kind}, a caller that hangs up: aborted`, async (t) => {
    const caller = new AbortController();
    const url = await socketServer(t, (socket) => socket.once("data", () => caller.abort()));
    assert.equal((await failureAt(t, subject, url, { signal: caller.signal })).kind, "aborted");
  });
}

function failureOf(
  t: TestContext,
  subject: ContractSubject,
  answer: (response: ServerResponse) => unknown,
): Promise<ProviderError> {
  return failingServer(t, subject, answer).then((url) => failureAt(t, subject, url));
}

function failingServer(
  t: TestContext,
  subject: ContractSubject,
  answer: (response: ServerResponse) => unknown,
): Promise<URL> {
  return httpServer(t, async (request, response) => {
    await readAll(request);
    const before = subject.before?.(request.url ?? "");
    if (before === undefined) answer(response);
    else response.end(JSON.stringify(before));
  });
}

/** Runs the whole exchange, normalising included, and looks through the failure for what must never be in one. */
export async function failureAt(
  t: TestContext,
  subject: ContractSubject,
  url: URL,
  options: Parameters<typeof ioFor>[2] = {},
  golden = subject.golden[0],
): Promise<ProviderError> {
  assert.ok(golden);
  const { speech, target } = targetOf(subject.provider, golden);
  const audio = audioFixture();
  const request = requestFor(speech, {});
  const planned = subject.provider.plan(request, target);
  assert.ok(planned.ok, JSON.stringify(planned));
  const error = await subject.provider
    .transcribe(planned.plan, audio, ioFor(t, url, options))
    .then((raw) => subject.provider.normalise(raw, request, target, audio))
    .then(
      () => assert.fail("it succeeded"),
      (thrown: unknown) => thrown,
    );
  assert.ok(error instanceof ProviderError, inspect(error));
  assertSaysNothing(error);
  return error;
}

/** As any logger could print it: message, stack, every own field, the chain of causes. */
export function assertSaysNothing(error: ProviderError): void {
  const printed = [
    inspect(error, { depth: Infinity, showHidden: true }),
    JSON.stringify(error),
    error.stack,
    String(error.cause),
  ];
  for (const text of printed) {
    assert.ok(!text?.includes(CREDENTIAL), "a credential in an error");
    assert.ok(!text?.includes("Jane Doe"), "a provider's text in an error");
  }
}
