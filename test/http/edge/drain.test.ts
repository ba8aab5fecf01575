// How a server ends without losing an answer (R14).
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import { drain } from "../../../src/http/server/drain.ts";
import type { HttpServer } from "../../../src/http/server/server.ts";
import type { ServerEvent } from "../../../src/http/reply/sse.ts";
import { ask, assertError, get, HANDSHAKE, json, KEY, open, post, startEdge } from "./harness.ts";
import { startKernelCaller } from "./kernel-caller.ts";

const CLOSE = "Connection: close\r\n";
const DRAIN = { acceptMs: 5_000, keptMs: 10_000, finishMs: 60_000 };

function kept(path: string): string {
  return get(path).replace(CLOSE, "");
}

test("api.drain-close: while draining, connections are still accepted and every reply closes its own", async (t) => {
  const { port } = await startEdge(t, { draining: () => true });
  const reply = await ask(port, kept("/v1/me"));
  assert.equal(reply.status, 200);
  assert.equal(reply.headers["connection"], "close");
});

test("api.drain-finish: a running request is answered, idle connections are closed, new ones refused", async (t) => {
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
  idle.socket.write(kept("/v1/me"));
  await idle.replies(1);
  const busy = await open(port);
  busy.socket.write(post("").replace(CLOSE, ""));
  await started.promise;
  isDraining = true;
  const timers = heldTimers();
  const drained = drain(app, { ...DRAIN, wait: timers.wait });
  assert.equal((await ask(port, get("/v1/me"))).status, 200);
  await timers.end(DRAIN.acceptMs);
  assert.equal((await ask(port, get("/v1/me"))).status, 200);
  await timers.end(DRAIN.keptMs);
  await idle.untilClose();
  await assert.rejects(fetch(`http://127.0.0.1:${port}/v1/me`));
  goOn.resolve();
  const [reply] = await busy.untilClose();
  assert.equal(reply?.body, '{"done":true}');
  assert.equal(reply?.headers["connection"], "close");
  assert.deepEqual(await drained, { clean: true });
});

test("api.drain-kept: R14: a connection that is kept while a gateway stops has its next request answered; with all gone the process ends at once", async (t) => {
  const { app, port } = await startEdge(t, { draining: () => true });
  const callers = await Promise.all([open(port), open(port)]);
  await connected(app, 2);
  const timers = heldTimers();
  const drained = drain(app, { ...DRAIN, wait: timers.wait });
  await timers.end(DRAIN.acceptMs);
  for (const { socket, untilClose } of callers) {
    socket.write(kept("/v1/me"));
    const [reply] = await untilClose();
    assert.equal(reply?.status, 200);
    assert.equal(reply?.headers["connection"], "close");
  }
  assert.deepEqual(await drained, { clean: true });
});

test("api.drain-kernel: R14: what reached the kernel before the end is answered, on a kept connection and on one of its own", async (t) => {
  const { app, port } = await startEdge(t, { draining: () => true });
  await using caller = await startKernelCaller(port, kept("/v1/me"));
  await connected(app, 1);
  const timers = heldTimers();
  const drained = drain(app, { ...DRAIN, wait: timers.wait });
  await timers.end(DRAIN.acceptMs);
  await timers.started(DRAIN.keptMs);
  // The end comes before anything of it is read.
  caller.sendBoth();
  await timers.end(DRAIN.keptMs);
  for (const answer of await caller.answers()) assert.match(answer, /^HTTP\/1\.1 200 /u);
  assert.deepEqual(await drained, { clean: true });
});

test("api.drain-silent: R14: a stream that began before the end, and so promised to keep its connection, does not delay the end", async (t) => {
  const goOn = Promise.withResolvers<void>();
  const { app, port } = await startEdge(t, {
    handle: async () => ({ status: 200, body: { events: events(goOn.promise) } }),
  });
  const socket = connect({ port, host: "127.0.0.1" });
  const closed = once(socket, "close");
  socket.write(post("").replace(CLOSE, ""));
  await once(socket, "data");
  socket.resume();
  const timers = heldTimers();
  const drained = drain(app, { ...DRAIN, wait: timers.wait });
  await timers.end(DRAIN.acceptMs);
  await timers.end(DRAIN.keptMs);
  while (app.server.listening) await setImmediate();
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  goOn.resolve();
  await closed;
  assert.deepEqual(await drained, { clean: true });
});

test("api.drain-reset: R14: a caller that resets its connection while the gateway stops takes no one else's answer", async (t) => {
  for (const waits of [DRAIN, { ...DRAIN, acceptMs: 0, keptMs: 0 }]) {
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { app, port } = await startEdge(t, {
      draining: () => true,
      handle: async () => {
        started.resolve();
        await goOn.promise;
        return json({ done: true });
      },
    });
    const busy = await open(port);
    busy.socket.write(post("").replace(CLOSE, ""));
    const idle = await open(port);
    await started.promise;
    await connected(app, 2);
    const timers = heldTimers();
    const drained = drain(app, { ...waits, wait: timers.wait });
    const broken = [...app.connections].map((socket) => once(socket, "error"));
    idle.socket.resetAndDestroy();
    await Promise.race(broken);
    await timers.end(waits.acceptMs);
    if (waits.keptMs > 0) await timers.end(waits.keptMs);
    goOn.resolve();
    const [reply] = await busy.untilClose();
    assert.equal(reply?.body, '{"done":true}');
    assert.deepEqual(await drained, { clean: true });
  }
});

for (const [how, leave] of [
  ["resets its connection", (socket: Socket) => socket.resetAndDestroy()],
  ["closes its connection", (socket: Socket) => socket.end()],
] as const) {
  test(`api.drain-silent, api.upgrade: a caller that ${how} before the 101 leaves nothing held, and no shutdown waits for it`, async (t) => {
    const judged = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const recorded = Promise.withResolvers<number>();
    const { app, port, logs } = await startEdge(t, {
      live: async () => {
        judged.resolve();
        await left.promise;
        return {
          status: 101,
          body: {
            session: () => assert.fail("the client is gone"),
            release: async () => released.resolve(),
          },
        };
      },
      onRecorded: ({ status }) => recorded.resolve(status),
    });
    const { socket } = await open(port);
    socket.write(get("/v1/live", `${KEY}${HANDSHAKE}`).replace(CLOSE, ""));
    await judged.promise;
    const [connection] = app.connections;
    assert.ok(connection !== undefined);
    leave(socket);
    while (!connection.destroyed && connection.readable) await setImmediate();
    left.resolve();
    await released.promise;
    assert.equal(await recorded.promise, 499);
    await app.close();
    assert.deepEqual(
      logs.map(({ route, status }) => [route, status]),
      [["/v1/live", 499]],
    );
  });
}

test("api.drain-kernel: a request whose head is in progress when the server closes gets an answer with the usual error body", async (t) => {
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

test("api.drain-silent: a connection that never sent a byte does not delay the end", async (t) => {
  const { app, port } = await startEdge(t);
  const accepted = new Promise<Socket>((resolve) => app.server.once("connection", resolve));
  const { untilClose } = await open(port);
  await accepted;
  await app.close();
  assert.deepEqual(await untilClose(), []);
});

test("api.drain-keyed-work, idempotency.disconnect: a caller who disconnected with a key finds its answer: a shutdown waits for that work", async (t) => {
  const started = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const { app, port } = await startEdge(t, {
    handle: async () => {
      started.resolve();
      await goOn.promise;
      return json({});
    },
  });
  const { socket } = await open(port);
  socket.write(post(""));
  await started.promise;
  socket.destroy();
  let isOver = false;
  const drained = drain(app, {
    ...DRAIN,
    acceptMs: 0,
    keptMs: 0,
    wait: (ms) => (ms === 0 ? Promise.resolve() : never()),
  });
  void drained.then(() => (isOver = true));
  await once(app.server, "close");
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  assert.equal(isOver, false);
  goOn.resolve();
  assert.deepEqual(await drained, { clean: true });
});

test("api.drain-deadline: a request that outlives the deadline is cut, and the answer says so", async (t) => {
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
  assert.deepEqual(await drain(app, { acceptMs: 0, keptMs: 0, finishMs: 0, wait: async () => undefined }), {
    clean: false,
  });
  assert.deepEqual(await untilClose(), []);
  assert.ok(signal.aborted);
});

function never(): Promise<void> {
  return new Promise(() => undefined);
}

/** Waits that end when the test says so. */
function heldTimers() {
  const held = new Map<number, PromiseWithResolvers<void>>();
  const started = async (ms: number): Promise<PromiseWithResolvers<void>> => {
    for (;;) {
      const wait = held.get(ms);
      if (wait !== undefined) return wait;
      await setImmediate();
    }
  };
  return {
    started,
    wait: (ms: number): Promise<void> => {
      const wait = Promise.withResolvers<void>();
      held.set(ms, wait);
      return wait.promise;
    },
    end: async (ms: number): Promise<void> => (await started(ms)).resolve(),
  };
}

async function connected(app: HttpServer, count: number): Promise<void> {
  while (app.connections.size < count) await setImmediate();
}

async function* events(goOn: Promise<void>): AsyncGenerator<ServerEvent> {
  yield { data: "begun" };
  await goOn;
  yield { data: "done" };
}
