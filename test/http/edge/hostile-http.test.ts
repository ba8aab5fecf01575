// Every row of area `http` of test/cases/bad-input.json, over real sockets.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import cases from "../../cases/bad-input.json" with { type: "json" };
import {
  ask,
  assertError,
  get,
  HANDSHAKE,
  json,
  KEY,
  open,
  post,
  readAll,
  type RunningEdge,
  say,
  startEdge,
} from "./harness.ts";

const kept = (request: string): string => request.replace("Connection: close\r\n", "");

type Check = (edge: RunningEdge) => Promise<void>;

const unauthenticated =
  (...headers: readonly string[]): Check =>
  async ({ port }) => {
    for (const header of headers) {
      const reply = await ask(port, get("/v1/me", header));
      assertError(reply, 401, "UNAUTHENTICATED");
      assert.equal(reply.headers["www-authenticate"], "Bearer");
    }
  };

const refused =
  (status: number, code: string, ...requests: readonly string[]): Check =>
  async ({ port }) => {
    for (const request of requests) assertError(await ask(port, request), status, code);
  };

const accepted =
  (...requests: readonly string[]): Check =>
  async ({ port }) => {
    for (const request of requests) assert.equal((await ask(port, request)).status, 200);
  };

const ROWS: Readonly<Record<string, Check>> = {
  "BAD-213": async ({ port }) => {
    const { socket, replies } = await open(port);
    // The body is announced and never sent: only an answer that does not wait for it can come.
    socket.write("POST /v1/transcription HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    const [reply] = await replies(1);
    assertError(reply, 401, "UNAUTHENTICATED");
    assert.equal(reply?.headers["www-authenticate"], "Bearer");
    assert.equal(reply?.headers["connection"], "close");
    socket.destroy();
  },
  "BAD-214": async (edge) => {
    await unauthenticated(
      "Authorization: Basic Z29vZA==\r\n",
      "Authorization: Bearer\r\n",
      "Authorization: Bearer  \r\n",
      "Authorization: bearer x\r\n",
      `Authorization: Bearer ${"x".repeat(8_000)}\r\n`,
    )(edge);
    // 100 kB are refused one step earlier, as every head above 16 KiB is.
    const huge = get("/v1/me", `Authorization: Bearer ${"x".repeat(100_000)}\r\n`);
    assertError(await ask(edge.port, huge), 431, "HEADERS_TOO_LARGE");
    await accepted(get("/v1/me", "Authorization: bEaReR good\r\n"))(edge);
  },
  "BAD-216": async ({ port }) => {
    assertError(await ask(port, get("/v1/me?api_key=good&key=good&access_token=good", "")), 401, "UNAUTHENTICATED");
  },
  "BAD-217": async ({ port }) => {
    const bodies = await Promise.all(
      ["", "Authorization: Bearer svc_live_unknown\r\n"].map(async (header) => {
        const reply = await ask(port, get("/v1/me", header));
        assertError(reply, 401, "UNAUTHENTICATED");
        return reply.body.replace(/req_[0-9a-z]+/, "");
      }),
    );
    assert.equal(bodies[0], bodies[1]);
  },
  "BAD-218": refused(400, "INVALID_REQUEST", get("/v1/me", `Host: y\r\n${KEY}`)),
  "BAD-220": refused(
    400,
    "INVALID_REQUEST",
    post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n"),
    post("Content-Length: 4\r\nContent-Length: 5\r\n", "abcd"),
    post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
  ),
  "BAD-221": refused(
    400,
    "INVALID_REQUEST",
    get("http://other.example/v1/me"),
    get("http://x/v1/me"),
    get("https://x/v1/me"),
    get("*").replace("GET", "OPTIONS"),
  ),
  "BAD-222": refused(
    431,
    "HEADERS_TOO_LARGE",
    get("/v1/me", `${KEY}X-Filler: ${"x".repeat(17 * 1024)}\r\n`),
    get("/v1/me", `${KEY}${"X-F: y\r\n".repeat(101)}`),
    get("/v1/me", `${KEY}X-Filler: ${"x".repeat(60 * 1024)}\r\n`),
  ),
  "BAD-224": async ({ port }) => {
    const { socket, untilClose } = await open(port);
    socket.write("GET /v1/me HT");
    assertError((await untilClose())[0], 408, "REQUEST_TIMEOUT");
  },
  "BAD-226": async ({ port }) => {
    for (const method of ["TRACE", "CONNECT", "FOO", "PATCH", "OPTIONS", "QUERY"]) {
      const reply = await ask(port, get("/v1/me").replace("GET", method));
      assertError(reply, 405, "METHOD_NOT_ALLOWED");
      assert.equal(reply.headers["allow"], "GET, HEAD");
    }
    const reply = await ask(port, get("/v1/transcription"));
    assertError(reply, 405, "METHOD_NOT_ALLOWED");
    assert.equal(reply.headers["allow"], "POST");
    assertError(await ask(port, get("x.example:443").replace("GET", "CONNECT")), 405, "METHOD_NOT_ALLOWED");
    assertError(await ask(port, get("/v1/unknown").replace("GET", "FOO")), 404, "NOT_FOUND");
  },
  "BAD-227": refused(
    404,
    "NOT_FOUND",
    ...["//v1/me", "/v1/%6de", "/v1/me/", "/V1/ME", "/v1/../v1/me", "/v1/./me", "/v1//me", "/v1/me%00", "/v1/%zz"].map(
      (path) => get(path),
    ),
    ...["/v1/me;a=b", "/v1\\me", "/v1/me%2f", "/v1/transcription/jobs/", "/v1/transcription/jobs/%2e", "/"].map(
      (path) => get(path),
    ),
  ),
  "BAD-229": async (edge) => {
    const values = ["", "x".repeat(256), "a\tb", "a b", "caf\u00e9"];
    const headers = [...values.map((value) => `Idempotency-Key: ${value}\r\n`), "Idempotency-Key: a\r\n".repeat(2)];
    const body = "Content-Length: 0\r\n";
    await refused(400, "INVALID_REQUEST", ...headers.map((header) => post(header + body)))(edge);
    // Of no header field at all.
    for (const control of ["\x01", "\x7f"])
      await refused(400, "INVALID_REQUEST", post(`Idempotency-Key: a${control}b\r\n${body}`))(edge);
    // GET ignores it, whatever it is [idempotency.ignored].
    await accepted(...headers.map((header) => get("/v1/me", KEY + header)))(edge);
    const init = { method: "HEAD", headers: { authorization: "Bearer good", "idempotency-key": "a b" } };
    assert.equal((await fetch(`http://127.0.0.1:${edge.port}/v1/me`, init)).status, 200);
  },
  "BAD-230": refused(
    400,
    "INVALID_REQUEST",
    get("/v1/me", `${KEY}X-SVC-Purpose: a\r\nx-svc-purpose: a\r\n`),
    get("/v1/me", `${KEY}X-SVC-Purpose: ${"x".repeat(5_000)}\r\n`),
    get("/v1/me", `${KEY}X-SVC-Purpose: caf\u00e9\r\n`),
  ),
  "BAD-231": accepted(post('Range: bytes=0-1\r\nIf-None-Match: "x"\r\nContent-Length: 3\r\n', "abc")),
  "BAD-232": async ({ port }) => {
    const reply = await ask(port, `GET /v1/me HTTP/1.0\r\n${KEY}\r\n`);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers["connection"], "close");
  },
  "BAD-233": async ({ port }) => {
    const first = get("/v1/me").replace("Connection: close\r\n", "");
    const replies = await say(port, `${first}GARBAGE\r\n\r\n`);
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 400],
    );
    assertError(replies[1], 400, "INVALID_REQUEST");
    assert.equal(replies[1]?.headers["connection"], "close");
  },
};

type Row = (typeof cases)[number];

const untested = new Map(cases.filter(({ area }) => area === "http").map((row) => [row.id, row] as const));

/** The rows of one rule. */
function take(...ids: readonly string[]): readonly Row[] {
  return ids.map((id) => {
    const row = untested.get(id);
    assert.ok(row !== undefined, id);
    untested.delete(id);
    return row;
  });
}

const titleOf = (row: Row): string => `${row.id} ${row.input}: ${row.status} ${row.code ?? ""}`;

const checkOf =
  ({ id }: Row) =>
  async (t: TestContext): Promise<void> => {
    const check = ROWS[id];
    assert.ok(check !== undefined, "this row has no test");
    // Short for the one row about it alone: on a busy machine other heads may take longer.
    const limits = id === "BAD-224" ? { headersTimeoutMs: 100, checkIntervalMs: 50 } : {};
    await check(await startEdge(t, { limits }));
  };

for (const row of take("BAD-213", "BAD-217")) test(`keys.one-401: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-214", "BAD-216")) test(`keys.bearer, keys.one-401: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-218", "BAD-230")) test(`api.single-headers: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-220")) test(`api.framing: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-221")) test(`api.host: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-222", "BAD-224")) test(`api.head-limits: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-226")) test(`api.head-method: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-227")) test(`api.one-spelling: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-229")) test(`idempotency.key-format, idempotency.ignored: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-231")) test(`api.ignored-headers: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-232")) test(`api.http-10: ${titleOf(row)}`, checkOf(row));
for (const row of take("BAD-233")) test(`api.malformed-http, api.pipelining: ${titleOf(row)}`, checkOf(row));
assert.deepEqual([...untested.keys()], [], "rows without a test");

test("api.head-limits: a target above 8 KiB is 414, whatever else the head contains", async (t) => {
  const { port } = await startEdge(t);
  for (const length of [8_193, 12_000, 30_000]) {
    assertError(await ask(port, get(`/${"a".repeat(length - 1)}`)), 414, "URI_TOO_LONG");
  }
  assertError(await ask(port, get(`/${"a".repeat(8_191)}`)), 404, "NOT_FOUND");
});

test("api.head-limits: 16 KiB of headers and an 8 KiB target pass together; 100 fields pass", async (t) => {
  const { port } = await startEdge(t);
  const filler = `X-Filler: ${"x".repeat(16_000)}\r\n`;
  assert.equal((await ask(port, get(`/v1/me?${"a".repeat(8_000)}`, KEY + filler))).status, 200);
  assert.equal((await ask(port, get("/v1/me", `${KEY}${"X-F: y\r\n".repeat(97)}`))).status, 200);
});

test("api.malformed-http, api.host: HTTP/1.1 without Host, a broken chunk and a line that is not HTTP are 400 in JSON", async (t) => {
  const { port } = await startEdge(t);
  assertError(await ask(port, `GET /v1/me HTTP/1.1\r\nConnection: close\r\n${KEY}\r\n`), 400, "INVALID_REQUEST");
  assertError(await ask(port, post("Transfer-Encoding: chunked\r\n", "zz\r\nabc\r\n")), 400, "INVALID_REQUEST");
  assertError(await ask(port, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), 400, "INVALID_REQUEST");
  assertError(await ask(port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 400, "INVALID_REQUEST");
});

test("errors.head-order: the head is judged before the key, the key before the scope, all before the body", async (t) => {
  const { port } = await startEdge(t);
  assertError(await ask(port, get("/v1/me", "Host: y\r\n")), 400, "INVALID_REQUEST");
  assertError(await ask(port, get("/v1/chat", "")), 401, "UNAUTHENTICATED");
  assertError(await ask(port, get("/v1/chat")), 403, "FORBIDDEN");
  assertError(await ask(port, get("/v1/nowhere", "")), 404, "NOT_FOUND");
});

test("api.head-method: HEAD answers as GET does, without the body", async (t) => {
  const { port } = await startEdge(t);
  const { socket, untilClose } = await open(port);
  socket.write(get("/v1/me").replace("GET", "HEAD").replace(KEY, `${KEY}X-Request-Id: chosen\r\n`));
  let text = "";
  socket.on("data", (chunk: string) => {
    text += chunk;
  });
  await untilClose();
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(text, /content-length: 11\r\n/);
  assert.ok(text.endsWith("\r\n\r\n"));
  // A caller cannot choose the id that names its request in our records.
  assert.match(text, /x-request-id: req_[0-9a-z]{26}\r\n/);
});

test("api.accept-burst: 700 callers that connect at one moment all find a place: none is refused and has to try again a second later", async (t) => {
  const most = process.platform === "linux" ? Number(readFileSync("/proc/sys/net/core/somaxconn", "latin1")) : 0;
  if (most < 1_000) return t.skip("this machine's kernel keeps shorter queues");
  const { port } = await startEdge(t);
  // Asked for in one turn, before the server can accept a single one.
  const sockets = Array.from({ length: 700 }, () => connect({ host: "127.0.0.1", port }));
  let connected = 0;
  for (const socket of sockets) {
    socket.on("error", () => undefined);
    socket.once("connect", () => {
      connected += 1;
    });
  }
  // On loopback the kernel has completed the handshake by the end of the call; a connection that it dropped tries again after a second.
  for (let turn = 0; turn < 5_000 && connected < sockets.length; turn += 1) await nextTurn();
  for (const socket of sockets) socket.destroy();
  assert.equal(connected, 700);
});

test("api.pipelining: RFC 9112, 9.3.2: of requests that one connection sent ahead, the next begins when the one before is answered", async (t) => {
  const held: PromiseWithResolvers<void>[] = [];
  const { port } = await startEdge(t, {
    handle: async ({ request }) => {
      const answer = Promise.withResolvers<void>();
      held.push(answer);
      await answer.promise;
      return readAll({ request });
    },
  });
  const { socket, replies } = await open(port);
  const one = (body: string) => post(`Content-Length: ${body.length}\r\n`, body).replace("Connection: close\r\n", "");
  socket.write(one("a") + one("ab") + one("abc"));
  for (let begun = 1; begun <= 3; begun += 1) {
    while (held.length < begun) await nextTurn();
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    assert.equal(held.length, begun);
    held[begun - 1]?.resolve();
  }
  assert.deepEqual(
    (await replies(3)).map(({ body }) => JSON.parse(body)),
    [1, 2, 3].map((sizeBytes) => ({ size_bytes: sizeBytes })),
  );
  socket.destroy();
});

test("api.pipelining-close: RFC 9112, 9.3.2: a caller that half-closes its connection behind requests whose answers wait for nothing gets all of them", async (t) => {
  const { port } = await startEdge(t);
  const { socket, untilClose } = await open(port);
  socket.end(kept(get("/v1/me")).repeat(3));
  assert.deepEqual(
    (await untilClose()).map(({ status }) => status),
    [200, 200, 200],
  );
});

test("api.pipelining-close: RFC 9112, 9.3.2: so do eight callers that half-close their connections at once, while the loop has time left", async (t) => {
  const { port } = await startEdge(t, { loopUtilization: () => 0 });
  const callers = await Promise.all(Array.from({ length: 8 }, () => open(port)));
  // Requests of connections that are just being accepted are held back.
  for (let passed = 0; passed < 8; passed += 1) await nextTurn();
  for (const { socket } of callers) socket.end(kept(get("/v1/me")).repeat(3));
  const statuses = await Promise.all(
    callers.map(async ({ untilClose }) => (await untilClose()).map(({ status }) => status)),
  );
  for (const each of statuses) assert.deepEqual(each, [200, 200, 200]);
});

test("api.pipelining-close: RFC 9112, 9.3.2: what was sent after a request that closes its connection is not begun, nor what broke before its turn", async (t) => {
  const begun: Date[] = [];
  const goOn = Promise.withResolvers<void>();
  const { port } = await startEdge(t, {
    handle: async () => {
      begun.push(new Date());
      await goOn.promise;
      return json({});
    },
  });
  const last = await open(port);
  last.socket.write(post("") + post(""));
  const broken = await open(port);
  broken.socket.write(
    `${post("").replace("Connection: close\r\n", "")}${post("Transfer-Encoding: chunked\r\n", "no length\r\n")}`,
  );
  while (begun.length < 2) await nextTurn();
  goOn.resolve();
  assert.deepEqual(
    (await last.untilClose()).map(({ status }) => status),
    [200],
  );
  const replies = await broken.untilClose();
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 400],
  );
  assert.equal(begun.length, 2);
});

test("api.pipelining: RFC 9112, 9.3.2: 32 requests wait behind an unfinished answer; what is sent beyond them is not accepted, and the last answer says so", async (t) => {
  const first = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let begun = 0;
  const { app, port } = await startEdge(t, {
    handle: async () => {
      begun += 1;
      first.resolve();
      await goOn.promise;
      return json({});
    },
  });
  const { socket, untilClose } = await open(port);
  const sent = kept(post("")).repeat(200);
  socket.write(sent);
  while ([...app.connections].every(({ bytesRead }) => bytesRead < sent.length)) await nextTurn();
  // Nothing that follows is even read as a request.
  socket.write(`${sent}no request at all\r\n`);
  await first.promise;
  goOn.resolve();
  const replies = await untilClose();
  assert.deepEqual(
    replies.map(({ status, headers }) => [status, headers["connection"]]),
    Array.from({ length: 33 }, (_, index) => [200, index === 32 ? "close" : "keep-alive"]),
  );
  assert.equal(begun, 33);
});

test("api.upgrade, api.pipelining: an upgrade that is sent behind a request is refused after that one's answer, and ends nothing but its connection", async (t) => {
  const { port } = await startEdge(t, {
    live: async () => ({
      status: 101,
      body: { session: () => assert.fail("no upgrade"), release: async () => undefined },
    }),
  });
  const replies = await say(port, kept(get("/v1/me")) + kept(get("/v1/live", `${KEY}${HANDSHAKE}`)) + get("/v1/me"));
  assert.deepEqual(
    replies.map(({ status, headers }) => [status, headers["connection"]]),
    [
      [200, "keep-alive"],
      [400, "close"],
    ],
  );
  assertError(replies[1], 400, "INVALID_REQUEST");
  assert.equal((await ask(port, get("/v1/me"))).status, 200);
});

test("api.upgrade, api.pipelining-close: an upgrade that is sent behind a request and refused for its key is the last of its connection: what follows it is lost", async (t) => {
  const { port } = await startEdge(t, { live: async () => assert.fail("it has no key") });
  const replies = await say(port, kept(get("/v1/me")) + kept(get("/v1/live", HANDSHAKE)) + get("/v1/me"));
  assert.deepEqual(
    replies.map(({ status, headers }) => [status, headers["connection"]]),
    [
      [200, "keep-alive"],
      [401, "close"],
    ],
  );
});

test("api.subprotocols, errors.one-body: subprotocols that are no list of names are refused in the one body, before the 101", async (t) => {
  const { port } = await startEdge(t, {
    live: async () => ({
      status: 101,
      body: { session: () => assert.fail("no upgrade"), release: async () => undefined },
    }),
  });
  for (const offered of ["a,,b", "a, a", "a b", ""]) {
    const reply = await ask(port, kept(get("/v1/live", `${KEY}${HANDSHAKE}Sec-WebSocket-Protocol: ${offered}\r\n`)));
    assertError(reply, 400, "INVALID_REQUEST");
  }
});

test("api.upgrade: a caller that keeps its side open after a refused upgrade does not keep the connection", async (t) => {
  const { app, port } = await startEdge(t, {
    limits: { lingerMs: 20 },
    live: async () => assert.fail("it has no key"),
  });
  const { socket, replies, keepOpen } = await open(port);
  keepOpen();
  socket.write(kept(get("/v1/live", HANDSHAKE)));
  assertError((await replies(1))[0], 401, "UNAUTHENTICATED");
  while (app.connections.size > 0) await nextTurn();
});

test("api.head-method, api.pipelining: CONNECT is refused after the answers before it, and a caller that resets its connection then ends nothing", async (t) => {
  const { app, port } = await startEdge(t);
  const { socket, replies, keepOpen } = await open(port);
  keepOpen();
  socket.write(`${kept(get("/v1/me"))}CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n`);
  const [first, second] = await replies(2);
  assert.equal(first?.status, 200);
  assertError(second, 405, "METHOD_NOT_ALLOWED");
  const [connection] = app.connections;
  assert.ok(connection !== undefined);
  const closed = new Promise((resolve) => connection.once("close", resolve));
  socket.resetAndDestroy();
  await closed;
  assert.equal((await ask(port, get("/v1/me"))).status, 200);
});

test("api.slow-heads: slow heads that are found together are refused 50 in a turn of the event loop; one that arrived meanwhile is served", async (t) => {
  const { app, port, logs } = await startEdge(t);
  const callers = await Promise.all(Array.from({ length: 120 }, () => open(port)));
  while (app.connections.size < callers.length) await nextTurn();
  const connected = [...app.connections];
  const late = callers.find(({ socket }) => socket.localPort === connected.at(-1)?.remotePort);
  assert.ok(late !== undefined);
  late.socket.write(get("/v1/me"));
  for (const socket of connected)
    app.server.emit("clientError", Object.assign(new Error("slow"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
  const refusals = () => logs.filter(({ code }) => code === "REQUEST_TIMEOUT").length;
  assert.equal(refusals(), 0);
  for (let before = 0; before < callers.length - 1; ) {
    await nextTurn();
    const now = refusals();
    assert.ok(now - before <= 50, `${now - before} in one turn`);
    before = now;
  }
  for (const caller of callers) {
    const [reply] = await caller.untilClose();
    if (caller === late) assert.equal(reply?.status, 200);
    else assertError(reply, 408, "REQUEST_TIMEOUT");
  }
});
