// Requests of HTTP/1.0 (RFC 9112, 6.1 and 9.3): no transfer encodings, and a connection that ends with its answer unless both sides keep it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { HandlerContext, Reply } from "../../../src/http/server/endpoint.ts";
import { ask, assertError, KEY, open, readAll, say, startEdge } from "./harness.ts";

const CHUNKED = "3\r\nabc\r\n0\r\n\r\n";
const HIDDEN = `GET /v1/me HTTP/1.1\r\nHost: x\r\n${KEY}\r\n`;

function post10(headers: string, body: string): string {
  return `POST /v1/transcription HTTP/1.0\r\nHost: x\r\n${KEY}${headers}\r\n${body}`;
}

test("api.http-10: a transfer encoding in HTTP/1.0 is refused and its connection closed, so nothing behind it is read as a request", async (t) => {
  let isHandled = false;
  const handle = (context: HandlerContext): Promise<Reply> => {
    isHandled = true;
    return readAll(context);
  };
  const { port } = await startEdge(t, { handle });
  const keepAlive = "Connection: keep-alive\r\n";
  for (const headers of [
    "Transfer-Encoding: chunked\r\n",
    `${keepAlive}Transfer-Encoding: chunked\r\n`,
    `${keepAlive}Transfer-Encoding: identity\r\n`,
    `${keepAlive}Transfer-Encoding: gzip, chunked\r\n`,
  ])
    for (const body of [CHUNKED, `${CHUNKED}${HIDDEN}`]) {
      const reply = await ask(port, post10(headers, body));
      assertError(reply, 400, "INVALID_REQUEST");
      assert.equal(reply.headers["connection"], "close", headers);
    }
  // A length in addition is refused by the parser itself.
  for (const headers of [
    "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
  ])
    assertError(await ask(port, post10(keepAlive + headers, CHUNKED + HIDDEN)), 400, "INVALID_REQUEST");
  assert.equal(isHandled, false);
});

test("api.framing: a transfer encoding other than chunked ends its connection in HTTP/1.1 too", async (t) => {
  const { port } = await startEdge(t);
  for (const encoding of ["gzip, chunked", "chunked, chunked", "xchunked"]) {
    const head = `POST /v1/transcription HTTP/1.1\r\nHost: x\r\n${KEY}Transfer-Encoding: ${encoding}\r\n\r\n`;
    const [reply, ...more] = await say(port, head + CHUNKED + HIDDEN);
    assertError(reply, 400, "INVALID_REQUEST");
    assert.deepEqual([reply?.headers["connection"], more.length], ["close", 0], encoding);
  }
});

test("api.http-10: a request of HTTP/1.0 with a length is served; its connection stays open only where it asks for that", async (t) => {
  const { port } = await startEdge(t);
  const closed = await ask(port, post10("Content-Length: 3\r\n", "abc"));
  assert.deepEqual([closed.status, closed.body, closed.headers["connection"]], [200, '{"size_bytes":3}', "close"]);
  const { socket, replies, untilClose } = await open(port);
  socket.write(post10("Connection: keep-alive\r\nContent-Length: 3\r\n", "abc"));
  const [kept] = await replies(1);
  assert.deepEqual([kept?.status, kept?.headers["connection"]], [200, "keep-alive"]);
  socket.write(`GET /v1/me HTTP/1.0\r\n${KEY}\r\n`);
  const all = await untilClose();
  assert.deepEqual(
    all.map(({ status }) => status),
    [200, 200],
  );
});

test("api.http-10-unknown-length: an answer of unknown length to HTTP/1.0 is not chunked and ends with its connection, kept alive or not", async (t) => {
  async function* events() {
    yield { event: "one", data: "{}" };
    await wait(0);
    yield { event: "two", data: "{}" };
  }
  const { port } = await startEdge(t, { handle: async () => ({ status: 200, body: { events: events() } }) });
  const { socket } = await open(port);
  let text = "";
  socket.on("data", (chunk: string) => {
    text += chunk;
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(post10("Connection: keep-alive\r\nContent-Length: 0\r\n", ""));
  await closed;
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/u);
  assert.doesNotMatch(text, /transfer-encoding/iu);
  assert.match(text, /connection: close/iu);
});
