// The rows of area `size` that are the server's own: what happens to bodies that are refused, late, cut or too many.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { GatewayError } from "../../../src/contract/errors.ts";
import { until } from "../../harness/until.ts";
import { ask, assertError, fakeTimers, get, json, KEY, MAX_BODY_BYTES, open, post, startEdge } from "./harness.ts";

const DECLARED = `Content-Length: ${MAX_BODY_BYTES + 1}\r\n`;

test("request-body.declared-length: BAD-097: a declared length above the cap: 413 before a byte of the body, connection closed", async (t) => {
  const { port } = await startEdge(t);
  const { socket, untilClose, replies } = await open(port);
  socket.write(post(DECLARED));
  const [reply] = await replies(1);
  assertError(reply, 413, "AUDIO_TOO_LARGE");
  assert.equal(reply?.headers["connection"], "close");
  socket.end();
  assert.equal((await untilClose()).length, 1);
});

test("api.refusal-arrives, request-body.refused-while-reading: BAD-097: a caller that continues to write gets the 413, and less than 64 KiB + one read is taken in", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { port, app } = await startEdge(t, { limits: { lingerMs: 100 } });
  let accepted: Socket | undefined;
  app.server.once("connection", (connection) => (accepted = connection));
  const { socket, untilClose, replies } = await open(port);
  socket.write(post("Content-Length: 30000000\r\n"));
  socket.write(Buffer.alloc(30_000_000));
  assertError((await replies(1))[0], 413, "AUDIO_TOO_LARGE");
  t.mock.timers.tick(100);
  await untilClose();
  const bytesRead = accepted?.bytesRead ?? 0;
  assert.ok(bytesRead > 0 && bytesRead <= 131_072, `${bytesRead} bytes were read`);
});

test("api.refusal-arrives: BAD-097: a small rest of a refused body is read and dropped, so that no reset overtakes the reply", async (t) => {
  const refuse = async () => {
    throw new GatewayError("FORBIDDEN", { message: "No." });
  };
  const { app, port, logs } = await startEdge(t, { handle: refuse, limits: { lingerMs: 10_000 } });
  const { socket, untilClose, replies, keepOpen } = await open(port);
  keepOpen();
  let failure: Error | null = null;
  socket.on("error", (error) => (failure = error));
  const ended = new Promise((resolve) => socket.once("end", resolve));
  socket.write(post("Content-Length: 20000\r\n").replace("Connection: close\r\n", ""));
  assertError((await replies(1))[0], 403, "FORBIDDEN");
  await ended;
  // Another request behind the body must not run: the connection is closing.
  for (const text of ["x".repeat(10_000), "x".repeat(10_000), get("/v1/me")]) {
    await new Promise((resolve) => socket.write(text, resolve));
    await nextTurn();
  }
  socket.end();
  assert.equal((await untilClose()).length, 1);
  assert.equal(failure, null);
  await app.close();
  assert.deepEqual(
    logs.map(({ status }) => status),
    [403],
  );
});

test("api.body-excess: BAD-100: Content-Length 10 and 30 MB: ten bytes are the body, the rest is 400, and nothing more", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { port } = await startEdge(t, { limits: { lingerMs: 100 } });
  const head = post("Content-Length: 10\r\n").replace("Connection: close\r\n", "");
  const { socket, replies, untilClose } = await open(port);
  socket.write(head);
  socket.write(Buffer.alloc(30_000_000, "x"));
  const [first, second] = await replies(2);
  assert.equal(first?.body, '{"size_bytes":10}');
  assertError(second, 400, "INVALID_REQUEST");
  t.mock.timers.tick(100);
  assert.equal((await untilClose()).length, 2);
  assert.equal((await ask(port, get("/v1/me"))).status, 200);
});

test("api.body-rate: BAD-101: a body that stops: 408 after grace time and one window, and the handler is notified", async (t) => {
  const timers = fakeTimers();
  const started = Promise.withResolvers<AbortSignal>();
  const ended = Promise.withResolvers<unknown>();
  const { port } = await startEdge(t, {
    schedule: timers.schedule,
    limits: { lingerMs: 50 },
    handle: async ({ request, clientGone }) => {
      try {
        for await (const chunk of request.raw) started.resolve(chunk && clientGone);
        return json({});
      } catch (error) {
        ended.resolve(error);
        throw error;
      }
    },
  });
  const { socket, replies } = await open(port);
  socket.write(post("Content-Length: 30000000\r\n", "x".repeat(1_000)));
  const signal = await started.promise;
  assert.equal(timers.fire(), 10_000);
  assert.equal(timers.fire(), 5_000);
  const [reply] = await replies(1);
  assertError(reply, 408, "REQUEST_TIMEOUT");
  assert.equal(reply?.headers["connection"], "close");
  assert.ok(signal.aborted);
  // A handler that still reads the body is released, so that spool file and slot are freed.
  assert.ok((await ended.promise) instanceof Error);
});

test("api.body-rate: BAD-101: a body that keeps the least rate continues, window after window", async (t) => {
  const timers = fakeTimers();
  let received = 0;
  const { port } = await startEdge(t, {
    schedule: timers.schedule,
    limits: { bodyWindowMs: 1_000, minBodyBytesPerSecond: 1_000 },
    handle: async ({ request }) => {
      for await (const chunk of request.raw) received += (chunk as Buffer).length;
      return json({ size_bytes: received });
    },
  });
  const { socket, replies } = await open(port);
  socket.write(post("Content-Length: 3001\r\n", "x"));
  await until(() => received >= 1);
  timers.fire();
  for (let window = 1; window <= 3; window += 1) {
    socket.write("x".repeat(1_000));
    await until(() => received >= window * 1_000);
    if (window < 3) timers.fire();
  }
  assert.equal((await replies(1))[0]?.body, '{"size_bytes":3001}');
});

test("api.body-rate: BAD-101: a gateway that does not read is not held against the caller", async (t) => {
  const timers = fakeTimers();
  const started = Promise.withResolvers<() => boolean>();
  const goOn = Promise.withResolvers<void>();
  const { port } = await startEdge(t, {
    schedule: timers.schedule,
    handle: async ({ request: { raw } }) => {
      let sizeBytes = 0;
      for await (const chunk of raw) {
        sizeBytes += (chunk as Buffer).length;
        started.resolve(() => raw.readableLength >= raw.readableHighWaterMark);
        await goOn.promise;
      }
      return json({ size_bytes: sizeBytes });
    },
  });
  const { socket, replies } = await open(port);
  const size = 20_000_000;
  socket.write(post(`Content-Length: ${size}\r\n`, "x".repeat(size - 1)));
  const isFull = await started.promise;
  await until(isFull);
  timers.fire();
  timers.fire();
  timers.fire();
  goOn.resolve();
  socket.write("x");
  assert.equal((await replies(1))[0]?.body, `{"size_bytes":${size}}`);
});

test("api.body-reset: BAD-102: a caller that resets in mid-body: no answer, no fault in the log, the handler is released", async (t) => {
  const started = Promise.withResolvers<AbortSignal>();
  const ended = Promise.withResolvers<void>();
  const { port, logs, app } = await startEdge(t, {
    handle: async ({ request, clientGone }) => {
      try {
        for await (const chunk of request.raw) started.resolve(chunk && clientGone);
        return json({});
      } finally {
        ended.resolve();
      }
    },
  });
  const { socket } = await open(port);
  socket.write(post("Content-Length: 20000000\r\n", "x".repeat(100_000)));
  const signal = await started.promise;
  socket.resetAndDestroy();
  await ended.promise;
  assert.ok(signal.aborted);
  assert.equal((await ask(port, get("/v1/me"))).status, 200);
  await app.close();
  assert.deepEqual(
    logs.map(({ status, level }) => ({ status, level })),
    [
      { status: 499, level: 30 },
      { status: 200, level: 30 },
    ],
  );
});

test("api.expect: BAD-103: Expect: 100-continue with a declared length above the cap: 413 instead of 100", async (t) => {
  const { port } = await startEdge(t);
  const { socket, replies } = await open(port);
  socket.write(post(`Expect: 100-continue\r\n${DECLARED}`));
  assertError((await replies(1))[0], 413, "AUDIO_TOO_LARGE");
  socket.destroy();
});

test("api.expect: BAD-103: 100 is sent only when the handler begins to read: not before 401, and before a body that is wanted", async (t) => {
  const { port } = await startEdge(t);
  const { socket, replies } = await open(port);
  socket.write(post("Expect: 100-continue\r\nContent-Length: 3\r\n"));
  assert.equal((await replies(1))[0]?.status, 100);
  socket.write("abc");
  const [, reply] = await replies(2);
  assert.equal(reply?.body, '{"size_bytes":3}');
  const other = await open(port);
  other.socket.write(post("Expect: 100-continue\r\nContent-Length: 3\r\n").replace(KEY, ""));
  assertError((await other.replies(1))[0], 401, "UNAUTHENTICATED");
  other.socket.destroy();
});

test("api.expect, api.keep-alive: BAD-103: a caller that sends its body along with Expect: 100-continue keeps its connection", async (t) => {
  const { port } = await startEdge(t);
  const { socket, untilClose } = await open(port);
  const kept = post("Expect: 100-continue\r\nContent-Length: 3\r\n", "abc").replace("Connection: close\r\n", "");
  socket.write(kept + get("/v1/me"));
  const replies = (await untilClose()).filter(({ status }) => status !== 100);
  assert.deepEqual(
    replies.map(({ status, headers }) => [status, headers["connection"]]),
    [
      [200, "keep-alive"],
      [200, "close"],
    ],
  );
});

test("api.expect: BAD-104: any other Expect: 417", async (t) => {
  const { port } = await startEdge(t);
  assertError(await ask(port, post("Expect: foo\r\nContent-Length: 3\r\n", "abc")), 417, "EXPECTATION_FAILED");
});

test("request-body.no-compression: BAD-105: Content-Encoding on a request: 415, the body unread; identity passes", async (t) => {
  const { port } = await startEdge(t);
  for (const encoding of ["gzip", "br", "gzip, gzip", "x-unknown"]) {
    const request = post(`Content-Encoding: ${encoding}\r\nContent-Length: 3\r\n`, "abc");
    assertError(await ask(port, request), 415, "UNSUPPORTED_MEDIA_TYPE");
  }
  assert.equal((await ask(port, post("Content-Encoding: identity\r\nContent-Length: 3\r\n", "abc"))).status, 200);
});

test("api.refusal-arrives: a handler that leaves its body, by break, throw or destroy, still gets its answer out", async (t) => {
  const ways = {
    break: async (raw: AsyncIterable<unknown>) => {
      for await (const chunk of raw) if (chunk !== undefined) break;
    },
    throw: async (raw: AsyncIterable<unknown>) => {
      for await (const chunk of raw)
        if (chunk !== undefined) throw new GatewayError("BODY_TOO_LARGE", { message: "Too large." });
    },
    destroy: async (raw: { destroy: () => unknown }) => {
      raw.destroy();
    },
  };
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [name, leave] of Object.entries(ways)) {
    const { port } = await startEdge(t, {
      limits: { lingerMs: 50 },
      handle: async ({ request }) => {
        await leave(request.raw);
        return json({ left: name });
      },
    });
    const { socket, replies, untilClose } = await open(port);
    socket.write(post("Content-Length: 500000\r\n", "x".repeat(100_000)));
    const [reply] = await replies(1);
    if (name === "throw") assertError(reply, 413, "BODY_TOO_LARGE");
    else assert.equal(reply?.body, `{"left":"${name}"}`);
    assert.equal(reply?.headers["connection"], "close");
    t.mock.timers.tick(50);
    assert.equal((await untilClose()).length, 1);
  }
});

test("api.keep-alive: a body that was read keeps its connection", async (t) => {
  const { port } = await startEdge(t);
  const { socket, replies } = await open(port);
  const request = post("Content-Length: 3\r\n", "abc").replace("Connection: close\r\n", "");
  socket.write(request);
  await replies(1);
  socket.write(request);
  assert.deepEqual(
    (await replies(2)).map(({ status }) => status),
    [200, 200],
  );
  socket.destroy();
});
