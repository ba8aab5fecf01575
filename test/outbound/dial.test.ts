// The outbound client (src/outbound/dial.ts): what is certain about a failed exchange, and what it never does on its own.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { mock, test } from "node:test";
import type { OpenBytes } from "../../src/lib/open-bytes.ts";
import type { OutboundRequest } from "../../src/outbound/dial.ts";
import { httpServer, httpsServer, readAll, refusingUrl, socketServer, TLS } from "./loopback.ts";
import { until } from "../harness/until.ts";
import { soon } from "./soon.ts";
import { failureOf, outboundFor } from "./way-out.ts";

function get(url: URL): OutboundRequest {
  return { trust: "operator", method: "GET", url, headers: {} };
}

function post(url: URL, chunks: readonly Uint8Array[]): OutboundRequest {
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const open = async function* (): AsyncGenerator<Uint8Array> {
    yield* chunks;
  };
  return { trust: "operator", method: "POST", url, headers: {}, body: { sizeBytes, open } };
}

test("providers.repeatable-body: an upload is sent with its exact length, unchunked, byte for byte", async (t) => {
  const outbound = outboundFor(t);
  const url = await httpServer(t, async (request, response) => {
    const body = await readAll(request);
    response.end(JSON.stringify({ headers: request.headers, body: body.toString("latin1") }));
  });
  const reply = await outbound.exchange(post(url, [Buffer.from("abc"), Buffer.alloc(0), Buffer.from("defg")]));
  const seen = JSON.parse(reply.text) as { headers: Record<string, string>; body: string };
  assert.equal(seen.headers["content-length"], "7");
  assert.equal(seen.headers["transfer-encoding"], undefined);
  assert.equal(seen.headers["accept-encoding"], "identity");
  assert.equal(seen.body, "abcdefg");
  assert.equal(outbound.dispatched(), 1);
});

test("providers.back-pressure: a large upload is never held in memory: the source is read as the socket drains", async (t) => {
  const outbound = outboundFor(t);
  const stalled = Promise.withResolvers<Socket>();
  const url = await socketServer(t, (socket) => {
    socket.pause();
    stalled.resolve(socket);
  });
  const chunk = Buffer.alloc(1024 * 1024);
  let read = 0;
  const open = async function* (): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < 256; index++) {
      read++;
      yield chunk;
    }
  };
  const hangUp = new AbortController();
  const exchange = failureOf(
    outbound.exchange({ ...post(url, []), body: { sizeBytes: 256 * chunk.byteLength, open }, signal: hangUp.signal }),
  );
  await stalled.promise;
  // Loopback buffers swallow a few MiB; a sender without back-pressure would be through all 256 within a few turns.
  for (let turn = 0; turn < 2_000; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(read < 64, `${read} MiB were read while the server took nothing`);
  hangUp.abort();
  assert.equal((await exchange).failure, "aborted");
});

for (const scheme of ["http", "https"] as const) {
  test(`providers.repeatable-body: the memory of a piece is reused for the next one, and a slow reader over ${scheme} gets what was sent`, async (t) => {
    const outbound = outboundFor(t, { connect: { ca: TLS.ca, servername: TLS.host } });
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const hash = createHash("sha256");
      for await (const bytes of request) {
        hash.update(bytes as Buffer);
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      response.end(hash.digest("hex"));
    };
    const url = await (scheme === "http" ? httpServer(t, answer) : httpsServer(t, answer));
    const memory = Buffer.alloc(300_000);
    const small = Array.from({ length: 20 }, () => [60_000, 16_384, 1]).flat();
    const lengths = Array.from({ length: 5 }, () => [...small, 65_535, 65_536, 300_000, 65_537, 262_144]).flat();
    const piece = (index: number) => memory.fill(index + 1).subarray(0, lengths[index]);
    const sent = createHash("sha256");
    for (const index of lengths.keys()) sent.update(piece(index));
    const open: OpenBytes = async function* (mode) {
      assert.equal(mode, scheme === "http" ? "whole" : "passing");
      for (const index of lengths.keys()) yield piece(index);
    };
    const body = { sizeBytes: lengths.reduce((sum, length) => sum + length, 0), open };
    assert.equal((await outbound.exchange({ ...post(url, []), body })).text, sent.digest("hex"));
  });
}

test("providers.file-address: a WebSocket to the operator's address is not judged by the guard", async (t) => {
  const outbound = outboundFor(t);
  const url = await httpServer(t, (_request, response) => void response.writeHead(401).end("who are you"));
  const request = { trust: "operator", url, headers: {}, timeoutMs: 10_000, idleTimeoutMs: 10_000 } as const;
  const opened = await outbound.connect(request);
  assert.ok(!opened.ok);
  assert.deepEqual([opened.reply.status, opened.reply.text], [401, "who are you"]);
});

test("providers.dispatch: a refused connection is a failure before the first byte", async (t) => {
  const outbound = outboundFor(t);
  const error = await failureOf(outbound.exchange(post(await refusingUrl(), [Buffer.from("x")])));
  assert.deepEqual([error.failure, error.dispatched, error.reason], ["connection", false, "ECONNREFUSED"]);
  assert.equal(outbound.dispatched(), 0);
});

test("providers.dispatch: a host name that does not resolve is a failure before the first byte", async (t) => {
  const outbound = outboundFor(t);
  const error = await failureOf(outbound.exchange(get(new URL("http://nowhere.invalid/"))));
  assert.deepEqual([error.failure, error.dispatched], ["connection", false]);
});

test("providers.dispatch: a deadline that passes while the socket is being opened leaves nothing sent", async (t) => {
  const outbound = outboundFor(t, { connect: () => {} });
  const error = await failureOf(outbound.exchange({ ...get(new URL("http://127.0.0.1:9/")), timeoutMs: 20 }));
  assert.deepEqual([error.failure, error.dispatched], ["timeout", false]);
});

test("providers.dispatch: a body that cannot be opened sends nothing, although the socket was open", async (t) => {
  const outbound = outboundFor(t);
  let bytes = 0;
  const url = await socketServer(t, (socket) => socket.on("data", (chunk) => (bytes += chunk.byteLength)));
  const open = async function* (): AsyncGenerator<Uint8Array> {
    yield* [];
    throw Object.assign(new Error("gone"), { code: "ENOENT" });
  };
  const error = await failureOf(outbound.exchange({ ...post(url, []), body: { sizeBytes: 5, open } }));
  assert.deepEqual([error.failure, error.dispatched, error.reason], ["connection", false, "ENOENT"]);
  assert.equal(bytes, 0);
  assert.equal(outbound.dispatched(), 0);
});

test("providers.dispatch: a body that begins with an empty piece and then fails has sent nothing", async (t) => {
  const outbound = outboundFor(t);
  const url = await httpServer(t, (_request, response) => void response.end());
  for (const thrown of [new Error("gone"), "gone"]) {
    const open = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(0);
      await Promise.reject(thrown);
    };
    const error = await failureOf(outbound.exchange({ ...post(url, []), body: { sizeBytes: 5, open } }));
    assert.deepEqual([error.failure, error.dispatched, error.reason], ["connection", false, null]);
  }
  assert.equal(outbound.dispatched(), 0);
});

test("providers.repeatable-body: a source is not asked for more than its declared size, so an endless one does not delay the reply", async (t) => {
  const outbound = outboundFor(t);
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    response.end("ok");
  });
  let isAskedForMore = false;
  const open = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from("ab");
    yield Buffer.from("c");
    isAskedForMore = true;
  };
  const reply = await outbound.exchange({ ...post(url, []), body: { sizeBytes: 3, open } });
  assert.deepEqual([reply.text, isAskedForMore], ["ok", false]);
});

test("providers.dispatch: the dispatch is announced once, before the server can have seen the request", async (t) => {
  const outbound = outboundFor(t);
  const events: string[] = [];
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    events.push("server");
    response.end();
  });
  const onDispatch = (): void => void events.push("dispatch");
  await outbound.exchange({ ...post(url, [Buffer.from("a"), Buffer.from("b")]), onDispatch });
  await outbound.exchange({ ...get(url), onDispatch });
  assert.deepEqual(events, ["dispatch", "server", "dispatch", "server"]);
  assert.equal(outbound.dispatched(), 2);
});

const OK = "HTTP/1.1 200 OK\r\n";
for (const [what, reason, answer] of [
  ["a reset", "ECONNRESET", (socket: Socket) => socket.resetAndDestroy()],
  ["an end of stream without a reply", "UND_ERR_SOCKET", (socket: Socket) => socket.end()],
  ["a success cut in its body", "UND_ERR_SOCKET", (socket: Socket) => socket.end(`${OK}Content-Length: 50\r\n\r\n{`)],
  ["a reply that is not HTTP", "HPE_MALFORMED", (socket: Socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
  ["a length that is none", "HPE_CONTENT_LENGTH", (socket: Socket) => socket.end(`${OK}Content-Length: +3\r\n\r\n{}.`)],
] as const) {
  test(`providers.dispatch: ${what} after the first byte is a failure with the request sent`, async (t) => {
    const outbound = outboundFor(t);
    const url = await socketServer(t, (socket) => socket.once("data", () => answer(socket)));
    const error = await failureOf(outbound.exchange(post(url, [Buffer.from("x")])));
    assert.deepEqual([error.failure, error.dispatched, error.reason], ["connection", true, reason]);
    assert.equal(outbound.dispatched(), 1);
  });
}

test("providers.refusal-without-body: a refusal counts by its status although its body is cut", async (t) => {
  const outbound = outboundFor(t);
  const url = await socketServer(t, (socket) =>
    socket.once("data", () => socket.end("HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 50\r\n\r\n{")),
  );
  const reply = await outbound.exchange(post(url, [Buffer.from("x")]));
  assert.deepEqual([reply.status, reply.headers["retry-after"]], [429, "7"]);
});

for (const [status, isOver] of [
  [399, false],
  [400, true],
  [503, true],
] as const) {
  test(`providers.refusal-without-body: a reply of ${status} whose body does not come is ${isOver ? "over after 5 s, with its status" : "waited for"}`, async (t) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    t.after(() => mock.timers.reset());
    const outbound = outboundFor(t);
    const head = `HTTP/1.1 ${status} X\r\nContent-Length: 50\r\n\r\n{`;
    const sent = Promise.withResolvers<void>();
    const url = await socketServer(t, (socket) => socket.once("data", () => socket.write(head, () => sent.resolve())));
    const hangUp = new AbortController();
    const settled = outbound.exchange({ ...post(url, [Buffer.from("x")]), signal: hangUp.signal }).then(
      (reply) => reply.status,
      () => "nothing",
    );
    const minutesPass = async (): Promise<string> => {
      await sent.promise;
      for (let second = 0; second < 200; second += 1) {
        await new Promise(setImmediate);
        mock.timers.tick(1_000);
      }
      return "waited";
    };
    assert.equal(await Promise.race([settled, minutesPass()]), isOver ? status : "waited");
    hangUp.abort();
    await settled;
  });
}

for (const ending of ["ends", "is given up"] as const) {
  test(`providers.call-timeouts: a refusal that ${ending} leaves no timer behind`, async (t) => {
    const { mock: set } = mock.method(globalThis, "setTimeout");
    const { mock: cleared } = mock.method(globalThis, "clearTimeout");
    t.after(() => mock.restoreAll());
    const outbound = outboundFor(t);
    const head = "HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\n";
    const hangUp = new AbortController();
    const isWaiting = () => set.calls.find((call) => call.arguments[1] === 5_000)?.result;
    const sockets: Socket[] = [];
    const url = await socketServer(t, (socket) => {
      sockets.push(socket);
      socket.once("data", () => socket.write(`${head}{`));
    });
    const settled = outbound.exchange({ ...post(url, [Buffer.from("x")]), signal: hangUp.signal }).catch(() => null);
    await until(() => isWaiting() !== undefined);
    if (ending === "ends") sockets[0]?.write("}");
    else hangUp.abort();
    await settled;
    assert.ok(cleared.calls.some((call) => call.arguments[0] === isWaiting()));
  });
}

test("providers.refusal-without-body: a refusal begins at 400; a cut reply below it is a failure", async (t) => {
  const outbound = outboundFor(t);
  const answerOf = async (status: number) => {
    const url = await socketServer(t, (socket) =>
      socket.once("data", () => socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 50\r\n\r\n{`)),
    );
    return outbound.exchange(get(url));
  };
  assert.equal((await answerOf(400)).status, 400);
  assert.equal((await failureOf(answerOf(399))).failure, "connection");
});

test("providers.refusal-without-body: a refusal that comes during the upload is read, and the rest is not sent", async (t) => {
  const outbound = outboundFor(t);
  const url = await socketServer(t, (socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    });
  });
  let read = 0;
  const open = async function* (): AsyncGenerator<Uint8Array> {
    for (; read < 1_000; read++) {
      yield Buffer.alloc(65_536);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const reply = await outbound.exchange({ ...post(url, []), body: { sizeBytes: 1_000 * 65_536, open } });
  assert.equal(reply.status, 413);
  assert.ok(read < 1_000);
});

test("providers.dispatch: a deadline that passes after the dispatch is a timeout with the request sent", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const outbound = outboundFor(t);
  const url = await socketServer(t, (socket) => socket.once("data", () => t.mock.timers.tick(50)));
  const error = await failureOf(outbound.exchange({ ...post(url, [Buffer.from("x")]), timeoutMs: 50 }));
  assert.deepEqual([error.failure, error.dispatched], ["timeout", true]);
});

test("providers.abort: the caller's signal aborts at once and closes the socket, so that a server can stop its work", async (t) => {
  const outbound = outboundFor(t);
  const hangUp = new AbortController();
  const closed = Promise.withResolvers<void>();
  const url = await socketServer(t, (socket) => {
    socket.once("data", () => hangUp.abort());
    socket.once("close", () => closed.resolve());
  });
  const error = await failureOf(outbound.exchange({ ...post(url, [Buffer.from("x")]), signal: hangUp.signal }));
  assert.deepEqual([error.failure, error.dispatched], ["aborted", true]);
  await soon(closed.promise);
});

test("providers.dispatch: a signal that fired before the call sends nothing", async (t) => {
  const outbound = outboundFor(t);
  const url = await httpServer(t, (_request, response) => void response.end());
  const error = await failureOf(outbound.exchange({ ...get(url), signal: AbortSignal.abort() }));
  assert.deepEqual([error.failure, error.dispatched], ["aborted", false]);
  assert.equal(outbound.dispatched(), 0);
});

test("providers.connection-reuse: a pooled socket that the server closed while idle costs nothing: the request is sent on a new one", async (t) => {
  const outbound = outboundFor(t);
  let connections = 0;
  let closed = Promise.withResolvers<void>();
  const url = await socketServer(t, (socket) => {
    connections++;
    closed = Promise.withResolvers();
    socket.once("close", closed.resolve);
    socket.on("data", (chunk) => {
      if (!chunk.includes("\r\n\r\n")) return;
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      // Announced as reusable, then closed.
      socket.end();
    });
  });
  for (let round = 0; round < 20; round++) {
    const reply = await outbound.exchange(post(url, [Buffer.from("x")]));
    assert.equal(reply.text, "ok");
    // The close is under way: the server notices when it has arrived.
    await soon(closed.promise);
  }
  assert.equal(outbound.dispatched(), 20);
  assert.equal(connections, 20);
});

test("providers.connection-reuse: sockets are reused between requests to one origin", async (t) => {
  const outbound = outboundFor(t);
  const ports = new Set<number | undefined>();
  const url = await httpServer(t, async (request, response) => {
    ports.add(request.socket.remotePort);
    await readAll(request);
    response.end("ok");
  });
  for (let round = 0; round < 5; round++) await outbound.exchange(post(url, [Buffer.from("x")]));
  // Never one each; a second one may be opened while the first is still being put back.
  assert.ok(ports.size <= 2, `${ports.size} sockets for 5 requests`);
});

test("providers.plain-reply: redirects are not followed", async (t) => {
  const outbound = outboundFor(t);
  let requests = 0;
  const url = await httpServer(t, (_request, response) => {
    requests++;
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  const reply = await outbound.exchange(get(url));
  assert.equal(reply.status, 307);
  assert.equal(requests, 1);
});

test("providers.plain-reply: a compressed reply is returned as it is, with its encoding named", async (t) => {
  const outbound = outboundFor(t);
  const url = await httpServer(t, (_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end("not really gzip");
  });
  const reply = await outbound.exchange(get(url));
  assert.equal(reply.headers["content-encoding"], "gzip");
  assert.equal(reply.text, "not really gzip");
});

test("providers.reply-bounds: a reply of one byte more than 64 MiB is refused", async (t) => {
  const outbound = outboundFor(t);
  const mebibyte = Buffer.alloc(1024 * 1024, 32);
  let sent = 0;
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    response.on("error", () => {});
    response.setMaxListeners(0);
    while (sent < 64 && !response.destroyed) {
      sent++;
      if (!response.write(mebibyte)) {
        await new Promise((resolve) => {
          response.once("drain", resolve);
          response.once("close", resolve);
        });
      }
    }
    response.end("1");
  });
  const error = await failureOf(outbound.exchange(post(url, [Buffer.from("x")])));
  assert.deepEqual([error.failure, error.dispatched], ["reply_too_large", true]);
});
