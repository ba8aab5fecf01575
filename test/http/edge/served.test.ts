// What the edge serves of itself: health, readiness, the error pages; and how it drains (contract 10).
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import pino from "pino";
import { ENDPOINTS } from "../../../src/contract/endpoints.ts";
import { ERRORS } from "../../../src/contract/errors.ts";
import { JOB_ONLY_ERRORS } from "../../../src/contract/jobs.ts";
import { health, readiness } from "../../../src/contract/operations.ts";
import { errorsHtml, errorsMarkdown } from "../../../src/http/docs-errors.ts";
import { drain } from "../../../src/http/drain.ts";
import { getErrorDocs } from "../../../src/http/endpoints/get-error-docs.ts";
import { getHealth } from "../../../src/http/endpoints/get-health.ts";
import { getOpenapi } from "../../../src/http/endpoints/get-openapi.ts";
import { getReadiness } from "../../../src/http/endpoints/get-readiness.ts";
import { createServer } from "../../../src/http/server.ts";
import { ask, assertError, get, json, open, post, startEdge } from "./harness.ts";

function operations(checks: Readonly<Record<string, () => Promise<boolean>>>, draining = () => false) {
  return createServer({
    endpoints: [getHealth, getReadiness({ draining, checks }), getOpenapi(ENDPOINTS), getErrorDocs()],
    authenticate: async () => assert.fail("none of these endpoints looks at a key"),
    publicUrl: () => "http://127.0.0.1",
    logger: pino({ level: "silent" }),
    draining,
  });
}

test("contract 10: /healthz answers 200 even when nothing else works", async () => {
  const app = operations({ database: async () => false }, () => true);
  const reply = await app.inject("/healthz");
  assert.equal(reply.statusCode, 200);
  health.parse(reply.json());
  await app.close();
});

test("contract 10: /readyz is 200 when every check passes, else 503 and says which failed", async () => {
  const yes = async () => true;
  const no = async () => false;
  const broken = async () => {
    throw new Error("no route to database.internal");
  };
  const rows = [
    { checks: { database: yes, schema: yes }, draining: false, status: 200, failed: [] },
    { checks: { database: no, schema: yes }, draining: false, status: 503, failed: ["database"] },
    { checks: { database: broken, schema: no }, draining: false, status: 503, failed: ["database", "schema"] },
    { checks: { database: yes, schema: yes }, draining: true, status: 503, failed: ["accepting"] },
  ];
  for (const row of rows) {
    const app = operations(row.checks, () => row.draining);
    const reply = await app.inject("/readyz");
    assert.equal(reply.statusCode, row.status);
    const { checks } = readiness.parse(reply.json());
    const failed = Object.keys(checks).filter((name) => checks[name] === "failed");
    assert.deepEqual(failed.toSorted(), row.failed);
    assert.doesNotMatch(reply.body, /internal/);
    await app.close();
  }
});

test("contract 1: doc_url's page has an anchor and the whole paragraph for every code, and loads nothing", async () => {
  const app = operations({});
  const reply = await app.inject("/docs/errors");
  assert.equal(reply.headers["content-type"], "text/html; charset=utf-8");
  assert.match(String(reply.headers["content-security-policy"]), /^default-src 'none'/);
  const markdown = errorsMarkdown();
  for (const [code, { status, doc }] of Object.entries(ERRORS)) {
    assert.equal(reply.body.split(`<section id="${code}">`).length, 2, code);
    assert.ok(reply.body.includes(`href="#${code}"`), code);
    assert.ok(markdown.includes(`## ${code}\n\n${status} `), code);
    assert.ok(markdown.includes(doc), code);
  }
  for (const [code, doc] of Object.entries(JOB_ONLY_ERRORS)) {
    assert.equal(reply.body.split(`<section id="${code}">`).length, 2, code);
    assert.ok(markdown.includes(`## ${code}\n\nOnly in `) && markdown.includes(doc), code);
  }
  assert.doesNotMatch(errorsHtml(), /<script|<link|<img|@import|url\(|https?:/);
  await app.close();
});

test("contract 10: /openapi.json is served as JSON without a key", async () => {
  const app = operations({});
  const reply = await app.inject("/openapi.json");
  assert.equal(reply.statusCode, 200);
  assert.equal(reply.headers["content-type"], "application/json; charset=utf-8");
  assert.equal(reply.json().openapi, "3.1.0");
  await app.close();
});

test("shutdown: while draining, connections are still taken and every reply closes its own", async (t) => {
  const { port } = await startEdge(t, { draining: () => true });
  const reply = await ask(port, get("/v1/me").replace("Connection: close\r\n", ""));
  assert.equal(reply.status, 200);
  assert.equal(reply.headers["connection"], "close");
});

test("shutdown: a running request is answered, idle connections are closed, new ones refused", async (t) => {
  const started = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let isDraining = false;
  const { app, port } = await startEdge(t, {
    draining: () => isDraining,
    handle: async () => {
      started.resolve();
      await goOn.promise;
      return json({ done: true });
    },
  });
  const idle = await open(port);
  idle.socket.write(get("/v1/me").replace("Connection: close\r\n", ""));
  await idle.replies(1);
  const busy = await open(port);
  busy.socket.write(post("").replace("Connection: close\r\n", ""));
  await started.promise;
  isDraining = true;
  const accepting = Promise.withResolvers<void>();
  const waits: number[] = [];
  const drained = drain(app, {
    acceptMs: 5_000,
    finishMs: 60_000,
    wait: (ms) => (waits.push(ms) === 1 ? accepting.promise : new Promise(() => undefined)),
  });
  assert.equal((await ask(port, get("/v1/me"))).status, 200);
  accepting.resolve();
  await idle.untilClose();
  await assert.rejects(fetch(`http://127.0.0.1:${port}/v1/me`));
  goOn.resolve();
  const [reply] = await busy.untilClose();
  assert.equal(reply?.body, '{"done":true}');
  assert.equal(reply?.headers["connection"], "close");
  assert.deepEqual(await drained, { clean: true });
  assert.deepEqual(waits, [5_000, 60_000]);
});

test("shutdown: a request whose head is under way when the server closes is answered in our words", async (t) => {
  const { app, port } = await startEdge(t);
  const accepted = new Promise<Socket>((resolve) => app.server.once("connection", resolve));
  const { socket, untilClose } = await open(port);
  const request = get("/v1/nowhere");
  socket.write(request.slice(0, 20));
  // Only when the server has read the half of it is its head under way.
  const serverSide = await accepted;
  while (serverSide.bytesRead < 20) await setImmediate();
  await setImmediate();
  const closed = app.close();
  socket.write(request.slice(20));
  assertError((await untilClose())[0], 404, "NOT_FOUND");
  await closed;
});

test("shutdown: a connection that never sent a byte does not hold up the end", async (t) => {
  const { app, port } = await startEdge(t);
  const accepted = new Promise<Socket>((resolve) => app.server.once("connection", resolve));
  const { untilClose } = await open(port);
  await accepted;
  await app.close();
  assert.deepEqual(await untilClose(), []);
});

test("shutdown: a request that outlives the deadline is cut, and the answer says so", async (t) => {
  const started = Promise.withResolvers<AbortSignal>();
  const { app, port } = await startEdge(t, {
    handle: async ({ clientGone }) => {
      started.resolve(clientGone);
      return new Promise(() => undefined);
    },
  });
  const { socket, untilClose } = await open(port);
  socket.write(post(""));
  const signal = await started.promise;
  assert.deepEqual(await drain(app, { acceptMs: 0, finishMs: 0, wait: async () => undefined }), { clean: false });
  assert.deepEqual(await untilClose(), []);
  assert.ok(signal.aborted);
});

test("reliability 7: a reply that nobody reads is let go of after a while; one that is read slowly is not", async (t) => {
  const body = "a".repeat(32 * 1_048_576);
  const { port } = await startEdge(t, {
    limits: { unreadReplyMs: 800, checkIntervalMs: 50 },
    handle: async () => json({ body }),
  });
  const never = await open(port);
  const closed = once(never.socket, "close");
  never.socket.removeAllListeners("data");
  never.socket.pause();
  never.socket.write(post(""));
  const slow = await open(port);
  let takenBytes = 0;
  slow.socket.removeAllListeners("data");
  slow.socket.on("data", (bytes: Buffer) => {
    takenBytes += bytes.length;
    slow.socket.pause();
    setTimeout(() => slow.socket.resume(), 2);
  });
  slow.socket.write(post(""));
  await once(slow.socket, "close");
  assert.ok(takenBytes > body.length);
  // What had left before it was let go of: not the whole.
  let leftBytes = 0;
  never.socket.on("data", (bytes: Buffer) => {
    leftBytes += bytes.length;
  });
  never.socket.on("error", () => undefined);
  never.socket.resume();
  await closed;
  assert.ok(leftBytes < body.length);
});
