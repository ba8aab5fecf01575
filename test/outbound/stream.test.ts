// Replies read while they arrive: bounded in memory, timed, aborted at once, and exact about what was sent.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { OutboundStream, StreamRequest } from "../../src/outbound/dial.ts";
import { eachOf } from "../harness/each-of.ts";
import { httpServer, readAll, refusingUrl, socketServer } from "./loopback.ts";
import { aWhile, soon } from "./soon.ts";
import { failureOf, outboundFor } from "./way-out.ts";

const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

function post(url: URL, more: Partial<StreamRequest> = {}): StreamRequest {
  const open = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from("x");
  };
  return { trust: "operator", method: "POST", url, headers: {}, body: { sizeBytes: 1, open }, ...more };
}

/** A server that sends these pieces after the request, and then calls `after`. */
async function serverOf(t: TestContext, after: (socket: Socket) => void, ...pieces: string[]): Promise<URL> {
  return socketServer(t, (socket) =>
    socket.once("data", () => {
      socket.write(HEAD + pieces.map(chunked).join(""), () => after(socket));
    }),
  );
}

async function textOf(body: OutboundStream["body"], onChunk: (text: string) => void = () => {}): Promise<string> {
  let text = "";
  for await (const chunk of eachOf(body)) {
    text += Buffer.from(chunk).toString("latin1");
    onChunk(text);
  }
  return text;
}

test("providers.reply-whole: the head is returned before the body arrives, and the body as it is sent", async (t) => {
  const outbound = outboundFor(t);
  const go = Promise.withResolvers<void>();
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    response.writeHead(201, { "x-one": "1" }).flushHeaders();
    await go.promise;
    response.write("first,");
    response.end("last");
  });
  const { status, headers, body } = await outbound.open(post(url));
  assert.deepEqual([status, headers["x-one"]], [201, "1"]);
  go.resolve();
  assert.equal(await textOf(body), "first,last");
  assert.equal(outbound.dispatched(), 1);
});

test("providers.dispatch: a refused connection of a stream is a failure before the first byte", async (t) => {
  const error = await failureOf(outboundFor(t).open(post(await refusingUrl())));
  assert.deepEqual([error.failure, error.dispatched, error.reason], ["connection", false, "ECONNREFUSED"]);
});

test("providers.call-timeouts: a head that does not come in time is a timeout with the request sent", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const url = await socketServer(t, (socket) => socket.once("data", () => t.mock.timers.tick(50)));
  const error = await failureOf(outboundFor(t).open(post(url, { firstByteTimeoutMs: 50 })));
  assert.deepEqual([error.failure, error.dispatched], ["timeout", true]);
});

for (const [limit, more] of [
  ["the wait for a next chunk", { idleTimeoutMs: 50 }],
  ["the whole reply", { timeoutMs: 50 }],
] as const) {
  test(`providers.call-timeouts: ${limit} has a limit; what came before it is handed over`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const url = await serverOf(t, () => {}, "one");
    const { body } = await outboundFor(t).open(post(url, more));
    const seen: string[] = [];
    const onText = (text: string): void => {
      seen.push(text);
      // By then the reader waits again.
      setImmediate(() => t.mock.timers.tick(50));
    };
    const error = await failureOf(textOf(body, onText));
    assert.deepEqual([error.failure, error.dispatched, seen], ["timeout", true, ["one"]]);
  });
}

test("providers.call-timeouts: a slow reader's own time does not count", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const done = Promise.withResolvers<void>();
  const url = await serverOf(t, (socket) => socket.end(`${chunked("two")}0\r\n\r\n`, () => done.resolve()), "one");
  const { body } = await outboundFor(t).open(post(url, { idleTimeoutMs: 50 }));
  let text = "";
  for await (const chunk of eachOf(body)) {
    text += Buffer.from(chunk).toString();
    await done.promise;
    t.mock.timers.tick(120);
  }
  assert.equal(text, "onetwo");
});

for (const [what, after] of [
  ["a reset", (socket: Socket) => socket.resetAndDestroy()],
  ["an end of stream in the middle", (socket: Socket) => socket.end()],
] as const) {
  test(`providers.stream-cut: ${what} is a failure after what came before it, never an end`, async (t) => {
    const url = await serverOf(t, (socket) => void setImmediate(() => after(socket)), "one");
    const { body } = await outboundFor(t).open(post(url));
    const error = await failureOf(textOf(body));
    assert.deepEqual([error.failure, error.dispatched], ["connection", true]);
  });
}

test("providers.abort: the caller's signal ends a wait at once and closes the socket", async (t) => {
  const closed = Promise.withResolvers<void>();
  const url = await serverOf(t, (socket) => socket.once("close", () => closed.resolve()), "one");
  const hangUp = new AbortController();
  const { body } = await outboundFor(t).open(post(url, { signal: hangUp.signal }));
  const error = await failureOf(textOf(body, () => setImmediate(() => hangUp.abort())));
  assert.deepEqual([error.failure, error.dispatched], ["aborted", true]);
  await soon(closed.promise);
});

test("providers.abort: what was sent before the caller's signal is not handed over after it", async (t) => {
  const url = await serverOf(t, () => {}, "one", "two", "three");
  const hangUp = new AbortController();
  const { body } = await outboundFor(t).open(post(url, { signal: hangUp.signal }));
  const error = await failureOf(textOf(body, () => hangUp.abort()));
  assert.equal(error.failure, "aborted");
});

test("providers.abort: leaving the loop closes the connection of a reply that continues", async (t) => {
  const closed = Promise.withResolvers<void>();
  const url = await serverOf(t, (socket) => socket.once("close", () => closed.resolve()), "one");
  const { body } = await outboundFor(t).open(post(url));
  for await (const _ of body) break;
  await soon(closed.promise);
});

test("providers.connection-reuse: leaving the loop at a reply's last event keeps its connection for the next request", async (t) => {
  // The moment that is left to the reply's end does not pass.
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const ports = new Set<number | undefined>();
  const ended = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const url = await httpServer(t, async (request, response) => {
    ports.add(request.socket.remotePort);
    await readAll(request);
    response.write("data: [DONE]\n\n");
    response.end(() => ended[ports.size === 1 ? 0 : 1]?.resolve());
  });
  const outbound = outboundFor(t);
  for (let round = 0; round < 5; round++) {
    const { body } = await outbound.open(post(url));
    for await (const _ of body) break;
    await ended[0]?.promise;
    await aWhile();
  }
  assert.ok(ports.size <= 2, `${ports.size} sockets for 5 requests`);
});

/** What was written has been sent, or the connection is closed. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off("drain", go);
      response.off("close", go);
      resolve();
    };
    response.once("drain", go);
    response.once("close", go);
  });
}

test("providers.back-pressure: a slow reader makes the other side wait: little is held", async (t) => {
  const mebibyte = Buffer.alloc(1024 * 1024, 32);
  let sent = 0;
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    response.on("error", () => {});
    while (sent < 48 && !response.destroyed) {
      sent++;
      if (!response.write(mebibyte)) await drained(response);
    }
    response.end();
  });
  const { body } = await outboundFor(t).open(post(url));
  let received = 0;
  for await (const chunk of eachOf(body)) {
    if (received === 0) {
      // Loopback buffers swallow a few MiB; a reader without back-pressure would have all 48 within these turns.
      for (let turn = 0; turn < 2_000; turn++) await new Promise((resolve) => setImmediate(resolve));
      assert.ok(sent < 24, `${sent} MiB were sent while nothing was read`);
    }
    received += chunk.byteLength;
  }
  assert.equal(received, 48 * mebibyte.byteLength);
});

test("providers.reply-whole: a reply that arrived completely before its connection was closed is complete for a slow reader too", async (t) => {
  for (const sizeBytes of [70_000, 200_000]) {
    const answered = Promise.withResolvers<void>();
    const url = await socketServer(t, (socket) =>
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${sizeBytes}\r\n\r\n`);
        socket.end(Buffer.alloc(sizeBytes), () => answered.resolve());
      }),
    );
    const { body } = await outboundFor(t).open(post(url));
    await soon(answered.promise);
    let received = 0;
    for await (const chunk of eachOf(body)) {
      await aWhile();
      received += chunk.byteLength;
    }
    assert.equal(received, sizeBytes);
  }
});

test("providers.reply-bounds: a reply above 64 MiB is cut while it is read", async (t) => {
  const mebibyte = Buffer.alloc(1024 * 1024, 32);
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    response.on("error", () => {});
    for (let sent = 0; sent < 200 && !response.destroyed; sent++) {
      if (response.write(mebibyte)) continue;
      await drained(response);
    }
    response.end();
  });
  const { body } = await outboundFor(t).open(post(url));
  const error = await failureOf(
    (async () => {
      for await (const _ of body) continue;
    })(),
  );
  assert.deepEqual([error.failure, error.dispatched], ["reply_too_large", true]);
});
