// Every way in which a chat call can fail, on a real socket, and the kind of each, plain and streamed.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import type { ChatEvent } from "../../../src/providers/chat/chat-provider.ts";
import { ProviderError } from "../../../src/providers/io.ts";
import { eachOf } from "../../harness/each-of.ts";
import { httpServer, readAll, refusingUrl, socketServer } from "../../outbound/loopback.ts";
import { CHAT_WIRES, type ChatWire, chatIo, eventsOf, planFor, WIRE_NAMES } from "./fixtures.ts";
import { RECORDED } from "./recorded.ts";
import { STATUSES } from "../suites/failure-suite.ts";
import { CREDENTIAL } from "../suites/wire-suite.ts";

const PROVIDER_TEXT = `Dear Jane Doe, your key ${CREDENTIAL} and your prompt`;

const refusals: Readonly<Record<ChatWire, (status: number, code?: string) => object>> = {
  openai: (_status, code = "some_code") => ({ error: { message: PROVIDER_TEXT, type: "invalid", param: null, code } }),
  anthropic: (_status, code = "some_code") => ({
    type: "error",
    error: { type: code, message: PROVIDER_TEXT },
    request_id: CREDENTIAL,
  }),
  gemini: (status, code = "some_code") => ({ error: { code: status, message: PROVIDER_TEXT, status: code } }),
};

interface Failure {
  readonly error: ProviderError;
  /** What a stream gave before it failed. */
  readonly events: readonly ChatEvent[];
}

async function failureAt(
  t: TestContext,
  wire: ChatWire,
  stream: boolean,
  url: URL,
  options: Parameters<typeof chatIo>[2] = {},
  onEvent: (event: ChatEvent) => void = () => {},
): Promise<Failure> {
  const { provider } = CHAT_WIRES[wire];
  const io = chatIo(t, url, options);
  const plan = planFor(wire, { stream });
  const events: ChatEvent[] = [];
  const work = async (): Promise<void> => {
    if (!stream) return void (await provider.chat(plan, io));
    for await (const event of eachOf(provider.stream(plan, io))) {
      events.push(event);
      onEvent(event);
    }
  };
  const error = await work().then(
    () => assert.fail("it succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ProviderError, inspect(error));
  for (const text of [
    inspect(error, { depth: Infinity, showHidden: true }),
    JSON.stringify(error),
    String(error.stack),
  ]) {
    assert.ok(!text.includes(CREDENTIAL), "a credential in an error");
    assert.ok(!text.includes("Jane Doe"), "a provider's text in an error");
  }
  return { error, events };
}

async function failureOf(
  t: TestContext,
  wire: ChatWire,
  stream: boolean,
  answer: (response: ServerResponse) => void,
  options: Parameters<typeof chatIo>[2] = {},
): Promise<Failure> {
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    answer(response);
  });
  return failureAt(t, wire, stream, url, options);
}

for (const wire of WIRE_NAMES) {
  for (const stream of [false, true]) {
    const name = `${wire}${stream ? ", streamed" : ""}`;

    for (const [status, kind] of STATUSES) {
      test(`providers.failure-kinds: ${name}: ${status} is ${kind}`, async (t) => {
        const { error, events } = await failureOf(t, wire, stream, (response) =>
          response
            .writeHead(status, { "content-type": "application/json", "x-echo": CREDENTIAL, location: "/elsewhere" })
            .end(JSON.stringify(refusals[wire](status))),
        );
        assert.deepEqual(
          [error.kind, error.status, error.reason, error.retryAfterSeconds],
          [kind, status, "some_code", null],
        );
        assert.deepEqual(events, []);
      });
    }

    test(`providers.retry-after: ${name}: 429 with Retry-After keeps the seconds`, async (t) => {
      const { error } = await failureOf(t, wire, stream, (response) =>
        response.writeHead(429, { "retry-after": "17" }).end(JSON.stringify(refusals[wire](429))),
      );
      assert.deepEqual([error.kind, error.retryAfterSeconds], ["rate_limited", 17]);
    });

    test(`providers.refusal-without-body: ${name}: a refusal counts though its body is cut or broken`, async (t) => {
      const { error } = await failureOf(t, wire, stream, (response) => {
        response.writeHead(500, { "content-length": "500" });
        response.write('{"error":', () => response.destroy());
      });
      assert.deepEqual([error.kind, error.status], ["server_error", 500]);
    });

    for (const [what, contentType, body] of [
      ["an error body under 200", "application/json", JSON.stringify(refusals[wire](500))],
      [
        "an error body under 200 that calls itself events",
        "text/event-stream",
        `data: ${JSON.stringify(refusals[wire](500))}\n\n`,
      ],
      ["broken JSON under 200", "application/json", '{"choices": [{'],
      ["broken JSON in an event", "text/event-stream", 'data: {"choices": [{\n\n'],
      ["a page under 200", "text/html", `<html>${PROVIDER_TEXT}</html>`],
      ["a page that calls itself events", "text/event-stream", `<html>\n${PROVIDER_TEXT}\n</html>`],
      ["nothing under 200", "application/json", ""],
      ["no events at all", "text/event-stream", ""],
      ["null", "application/json", "null"],
      ["a list", "application/json", "[]"],
      ["another protocol", "application/json", '{"request_id":"r"}'],
      [
        "bytes that are no UTF-8",
        "text/event-stream",
        Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0x0a, 0x0a]),
      ],
    ] as const) {
      test(`providers.strict-reply, providers.stream-framing: ${name}: ${what} is a bad_reply`, async (t) => {
        const { error, events } = await failureOf(t, wire, stream, (response) =>
          response.writeHead(200, { "content-type": contentType }).end(body),
        );
        assert.equal(error.kind, "bad_reply");
        assert.ok(!events.some((event) => event.type !== "open"));
      });
    }

    test(`providers.failure-kinds: ${name}: a compressed success is a bad_reply, because no compression was asked for`, async (t) => {
      const { error } = await failureOf(t, wire, stream, (response) =>
        response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" }).end("x"),
      );
      assert.equal(error.kind, "bad_reply");
    });

    test(`providers.failure-kinds: ${name}: a refused connection is connect, and nothing was sent`, async (t) => {
      const { error } = await failureAt(t, wire, stream, await refusingUrl());
      assert.equal(error.kind, "connect");
    });

    test(`providers.failure-kinds: ${name}: a reset after the request is unknown`, async (t) => {
      const url = await socketServer(t, (socket) => socket.once("data", () => socket.resetAndDestroy()));
      const { error } = await failureAt(t, wire, stream, url);
      assert.equal(error.kind, "unknown");
    });

    test(`providers.failure-kinds: ${name}: silence until the deadline is a timeout`, async (t) => {
      t.mock.timers.enable({ apis: ["setTimeout"] });
      const url = await socketServer(t, (socket) => socket.once("data", () => t.mock.timers.tick(60)));
      const limit = stream ? { firstByteTimeoutMs: 60 } : { deadlineMs: 60 };
      const { error } = await failureAt(t, wire, stream, url, limit);
      assert.equal(error.kind, "timeout");
    });

    test(`providers.abort: ${name}: a caller that hangs up is aborted, and the provider sees it`, async (t) => {
      const closed = Promise.withResolvers<void>();
      const leave = new AbortController();
      const url = await socketServer(t, (socket) => {
        socket.once("data", () => leave.abort());
        socket.once("close", () => closed.resolve());
      });
      const { error } = await failureAt(t, wire, stream, url, { signal: leave.signal });
      assert.equal(error.kind, "aborted");
      await closed.promise;
    });
  }

  test(`providers.refusal-without-body: ${wire}, streamed: a refusal whose body does not come counts by its status`, async (t) => {
    const url = await httpServer(t, async (request, response) => {
      await readAll(request);
      response.writeHead(429, { "content-type": "application/json", "retry-after": "9" }).write("{");
    });
    const { error } = await failureAt(t, wire, true, url, { idleTimeoutMs: 60 });
    assert.deepEqual([error.kind, error.status, error.retryAfterSeconds], ["rate_limited", 429, 9]);
  });

  // What can only go wrong once a stream has begun.

  const [recorded] = RECORDED;
  assert.ok(recorded);
  const whole = recorded.wires[wire].stream;
  const upTo = (piece: string): string => whole.slice(0, whole.indexOf("\n\n", whole.indexOf(piece)) + 2);
  const begun = upTo("Hello");

  /** Sends this as a chunk and leaves the end of it to the test. */
  const streaming = (t: TestContext, text: string, after: (socket: Socket) => void): Promise<URL> =>
    socketServer(t, (socket) =>
      socket.once("data", () => {
        const chunk = `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
          () => after(socket),
        );
      }),
    );
  const textIn = (events: readonly ChatEvent[]): string =>
    events.map((event) => (event.type === "text" ? event.text : "")).join("");

  for (const [what, after, kind] of [
    ["cut by an end of the connection", (socket: Socket) => void setImmediate(() => socket.end()), "unknown"],
    ["cut by a clean end", (socket: Socket) => socket.end("0\r\n\r\n"), "bad_reply"],
  ] as const) {
    test(`providers.stream-cut: ${wire}: a stream ${what} after its first content is ${kind}, and no finish is made up`, async (t) => {
      const { error, events } = await failureAt(t, wire, true, await streaming(t, begun, after));
      assert.deepEqual([error.kind, textIn(events)], [kind, "Hello"]);
      assert.ok(!events.some((event) => event.type === "finish"));
    });
  }

  test(`providers.failure-kinds: ${wire}: silence after the first content is a timeout by the idle limit`, async (t) => {
    const url = await streaming(t, begun, () => {});
    const { error, events } = await failureAt(t, wire, true, url, { idleTimeoutMs: 60 });
    assert.deepEqual([error.kind, textIn(events)], ["timeout", "Hello"]);
  });

  test(`providers.failure-kinds: ${wire}: a wait that the gateway limits ends with the kind it was stopped with`, async (t) => {
    const stop = new AbortController();
    const url = await streaming(t, begun, () => {});
    const { error } = await failureAt(t, wire, true, url, { signal: stop.signal }, (event) => {
      if (event.type === "text") stop.abort(new ProviderError("timeout", { reason: "first_content" }));
    });
    assert.deepEqual([error.kind, error.reason], ["timeout", "first_content"]);
  });

  test(`providers.abort: ${wire}: a caller that hangs up in the middle is aborted, and the provider sees it`, async (t) => {
    const closed = Promise.withResolvers<void>();
    const leave = new AbortController();
    const url = await streaming(t, begun, (socket) => socket.once("close", () => closed.resolve()));
    const { error } = await failureAt(t, wire, true, url, { signal: leave.signal }, (event) => {
      if (event.type === "text") leave.abort();
    });
    assert.equal(error.kind, "aborted");
    await closed.promise;
  });

  test(`providers.stream-cut: ${wire}: what breaks after the finish changes nothing`, async (t) => {
    const finished = wire === "openai" ? upTo('"finish_reason":"stop"') : whole.replace("data: [DONE]\n\n", "");
    const url = await streaming(t, finished, (socket) => void setImmediate(() => socket.end()));
    const { provider } = CHAT_WIRES[wire];
    const events = await eventsOf(provider.stream(planFor(wire, { stream: true }), chatIo(t, url)));
    assert.deepEqual(events.at(-1), { type: "finish", reason: "stop" });
  });
}

// Codes inside streams, and the providers' own ways of saying who is at fault.

for (const [wire, code, kind] of [
  ["openai", "server_error", "server_error"],
  ["openai", "rate_limit_exceeded", "rate_limited"],
  ["openai", "insufficient_quota", "payment"],
  ["openai", "never_heard_of", "bad_reply"],
  ["anthropic", "overloaded_error", "server_error"],
  ["anthropic", "api_error", "server_error"],
  ["anthropic", "rate_limit_error", "rate_limited"],
  ["anthropic", "billing_error", "payment"],
  ["anthropic", "authentication_error", "unauthorized"],
  ["anthropic", "timeout_error", "unknown"],
  ["gemini", "UNAVAILABLE", "server_error"],
  ["gemini", "RESOURCE_EXHAUSTED", "rate_limited"],
] as const) {
  test(`providers.failure-kinds: ${wire}: ${code} among the events is ${kind}`, async (t) => {
    const { error, events } = await failureOf(t, wire, true, (response) =>
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(`event: error\ndata: ${JSON.stringify(refusals[wire](503, code))}\n\n`),
    );
    assert.deepEqual([error.kind, error.reason], [kind, code]);
    assert.deepEqual(events, [{ type: "open", providerRequestId: null }]);
  });
}

for (const [what, status, body, kind, retryAfter] of [
  [
    "a bad key, which Gemini answers with 400",
    400,
    {
      error: {
        code: 400,
        message: PROVIDER_TEXT,
        status: "INVALID_ARGUMENT",
        details: [{ reason: "API_KEY_INVALID" }],
      },
    },
    "unauthorized",
    null,
  ],
  [
    "an account that may not be served",
    400,
    { error: { code: 400, message: PROVIDER_TEXT, status: "FAILED_PRECONDITION" } },
    "unauthorized",
    null,
  ],
  [
    "a delay that Gemini says in the body",
    429,
    {
      error: {
        code: 429,
        message: PROVIDER_TEXT,
        status: "RESOURCE_EXHAUSTED",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "37s" }],
      },
    },
    "rate_limited",
    37,
  ],
] as const) {
  test(`providers.failure-kinds: gemini: ${what} is ${kind}`, async (t) => {
    const { error } = await failureOf(t, "gemini", false, (response) =>
      response.writeHead(status).end(JSON.stringify(body)),
    );
    assert.deepEqual([error.kind, error.retryAfterSeconds], [kind, retryAfter]);
  });
}

test("providers.failure-kinds: an account out of credit is payment, whatever its status", async (t) => {
  const body = JSON.stringify(refusals.openai(429, "insufficient_quota"));
  for (const stream of [false, true]) {
    const { error } = await failureOf(t, "openai", stream, (response) => response.writeHead(429).end(body));
    assert.deepEqual([error.kind, error.reason], ["payment", "insufficient_quota"]);
  }
});

test("providers.failure-kinds: Mistral's error under 200 is an error", async (t) => {
  const body = JSON.stringify({
    object: "error",
    message: PROVIDER_TEXT,
    type: "internal_error",
    param: null,
    code: null,
  });
  const { error } = await failureOf(t, "openai", false, (response) => response.writeHead(200).end(body));
  assert.deepEqual([error.kind, error.reason], ["bad_reply", "internal_error"]);
});

for (const wire of WIRE_NAMES)
  test(`providers.reply-bounds: ${wire}: an answer of more than 8 MiB is a failed call`, async (t) => {
    const [answer] = RECORDED;
    assert.ok(answer);
    const padded = (bytes: number): string => JSON.stringify(answer.wires[wire].plain).padEnd(bytes, " ");
    const { provider } = CHAT_WIRES[wire];
    let sizeBytes = 8 * 1024 * 1024;
    const url = await httpServer(t, async (request, response) => {
      await readAll(request);
      response.on("error", () => {});
      response.writeHead(200, { "content-type": "application/json" }).end(padded(sizeBytes));
    });
    assert.equal((await provider.chat(planFor(wire), chatIo(t, url))).text, answer.text);
    sizeBytes += 1;
    const { error } = await failureAt(t, wire, false, url);
    assert.equal(error.kind, "bad_reply");
  });

test("providers.reply-bounds: an event of more than two million characters is a failed call", async (t) => {
  const event = (characters: number): string => {
    const [head, tail] = ['data: {"choices":[{"delta":{"content":"', '"}}]}'];
    return `${head}${"x".repeat(characters - head.length - tail.length)}${tail}\n\n`;
  };
  const ofEvent = (text: string) =>
    failureOf(t, "openai", true, (response) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).end(text),
    );
  const taken = await ofEvent(event(1_999_000));
  assert.deepEqual([taken.error.reason, taken.events.length], ["no_finish", 2]);
  assert.equal((await ofEvent(event(2_200_000))).error.reason, "event_too_long");
});

test("providers.reply-bounds: an event without an end is given up before it fills the memory", async (t) => {
  const mebibyte = "x".repeat(1024 * 1024);
  const { error } = await failureOf(t, "openai", true, (response) => {
    response.on("error", () => {});
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: ");
    const fill = (): void => {
      while (!response.destroyed && response.write(mebibyte));
      if (!response.destroyed) response.once("drain", fill);
    };
    fill();
  });
  assert.deepEqual([error.kind, error.reason], ["bad_reply", "event_too_long"]);
});
