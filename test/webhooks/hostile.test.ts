// Receivers that misbehave [webhooks.hostile-replies], on real sockets behind the real guard.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { createOutbound } from "../../src/outbound/dial.ts";
import { webhookPolicy } from "../../src/outbound/url-policy.ts";
import { createReceivers } from "../../src/webhooks/receivers.ts";
import type { ReceiverAnswer } from "../../src/webhooks/services.ts";
import { httpServer, refusingUrl, socketServer } from "../outbound/loopback.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";

const RECEIVER = "https://receiver.example/hooks";
const ADDRESS = "93.184.216.34";
const SHORT_MS = 300;

/** Sends one delivery to whatever listens at `url`. */
async function send(t: TestContext, url: URL, timeoutMs = 15_000) {
  const internet = pretendInternet();
  internet.name("receiver.example", [ADDRESS]);
  internet.server(ADDRESS, url);
  const outbound = createOutbound({ guard: internet });
  t.after(() => outbound.destroy());
  const receivers = createReceivers(outbound, webhookPolicy({ allowHttp: false, allowedPrivateCidrs: [] }));
  const answer = await receivers.post({ url: RECEIVER, headers: { "x-test": "1" }, body: "{}", timeoutMs });
  assert.equal(outbound.judged(), 1, "the guard ran");
  assert.equal(internet.canaryConnections(), 0);
  return { answer, dialled: internet.dialled.length };
}

function codeOf(answer: ReceiverAnswer): number | string {
  return answer.kind === "answer" ? answer.statusCode : answer.kind;
}

/** Reads the request's head, then runs `then`. */
function afterRequest(t: TestContext, then: (socket: Socket) => void | Promise<void>): Promise<URL> {
  return socketServer(t, (socket) => {
    let head = "";
    const onData = (chunk: Buffer): void => {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n{}")) return;
      socket.off("data", onData);
      socket.resume();
      void then(socket);
    };
    socket.on("data", onData);
  });
}

test("webhooks.timeout: a receiver that never answers times out, before and after the first byte of its head", async (t) => {
  const silent = await afterRequest(t, () => undefined);
  assert.equal(codeOf((await send(t, silent, SHORT_MS)).answer), "timeout");
  const slow = await afterRequest(t, (socket) => {
    const text = "HTTP/1.1 200 OK\r\n";
    let sent = 0;
    const drip = setInterval(() => socket.write(text[sent++ % text.length] ?? ""), 20);
    socket.on("close", () => clearInterval(drip));
  });
  assert.equal(codeOf((await send(t, slow, SHORT_MS)).answer), "timeout");
});

test("webhooks.timeout: a receiver that answers and then drips its body has answered", async (t) => {
  const url = await httpServer(t, (_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write("."), 20);
    response.on("close", () => clearInterval(drip));
  });
  assert.equal(codeOf((await send(t, url, SHORT_MS)).answer), 200);
});

test("webhooks.reply-limit: of an endless body at most 16 KiB are read, and the connection is closed", async (t) => {
  const closed = Promise.withResolvers<void>();
  const url = await httpServer(t, (_request, response) => {
    response.writeHead(200);
    response.on("close", () => closed.resolve());
    const pour = (): void => {
      while (!response.destroyed && response.write("x".repeat(8_192)));
      if (!response.destroyed) response.once("drain", pour);
    };
    pour();
  });
  const { answer } = await send(t, url);
  assert(answer.kind === "answer");
  assert.equal(answer.statusCode, 200);
  assert.ok(answer.bodyStart.length <= 16_384, String(answer.bodyStart.length));
  await closed.promise;
});

test("webhooks.reply-limit: a compressed body is never decompressed", async (t) => {
  const bomb = gzipSync(Buffer.alloc(5_000_000));
  const url = await httpServer(t, (request, response) => {
    assert.equal(request.headers["accept-encoding"], "identity");
    response.writeHead(200, { "content-encoding": "gzip", "content-length": bomb.length }).end(bomb);
  });
  const { answer } = await send(t, url);
  assert(answer.kind === "answer");
  assert.equal(answer.statusCode, 200);
  assert.ok(answer.bodyStart.length <= bomb.length);
});

test("webhooks.success: a redirect is not followed, wherever it leads", async (t) => {
  for (const location of ["http://169.254.169.254/latest/meta-data/", RECEIVER, "/elsewhere"]) {
    let requests = 0;
    const url = await httpServer(t, (_request, response) => {
      requests += 1;
      response.writeHead(302, { location }).end();
    });
    const { answer, dialled } = await send(t, url);
    assert.deepEqual([codeOf(answer), requests, dialled], [302, 1, 1], location);
  }
});

test("webhooks.hostile-replies: a reset before, within and after the head; a refused connection; a reply that is not HTTP", async (t) => {
  assert.equal(codeOf((await send(t, await refusingUrl())).answer), "connection");
  const reset = await socketServer(t, (socket) => socket.resetAndDestroy());
  assert.equal(codeOf((await send(t, reset)).answer), "connection");
  for (const [text, expected] of [
    ["", "connection"],
    ["HTTP/1.1 200 OK\r\ncontent-le", "connection"],
    ["SSH-2.0-OpenSSH_9.2\r\n", "connection"],
    ["HTTP/1.1 503 Busy\r\ncontent-length: 10\r\n\r\nabc", 503],
    ["HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", 200],
  ] as const) {
    const url = await afterRequest(t, (socket) => void socket.end(text));
    assert.equal(codeOf((await send(t, url)).answer), expected, text);
  }
});

test("webhooks.hostile-replies: endless interim answers are no answer", async (t) => {
  const url = await afterRequest(t, async (socket) => {
    while (!socket.destroyed) {
      if (!socket.write("HTTP/1.1 102 Processing\r\n\r\n")) await once(socket, "drain").catch(() => undefined);
      else await new Promise((resolve) => setImmediate(resolve));
    }
  });
  assert.equal(codeOf((await send(t, url, 5_000)).answer), "connection");
});

test("webhooks.disable-gone, webhooks.retry-after: 410 and 429 with Retry-After are returned as they are", async (t) => {
  for (const [status, retryAfter] of [
    [410, undefined],
    [429, "120"],
    [503, "Fri, 20 Nov 2026 12:02:00 GMT"],
  ] as const) {
    const url = await httpServer(t, (_request, response) => {
      response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end("no");
    });
    assert.deepEqual((await send(t, url)).answer, { kind: "answer", statusCode: status, retryAfter, bodyStart: "no" });
  }
});
