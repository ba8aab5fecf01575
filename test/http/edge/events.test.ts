// Server-sent events over real sockets: the form, pings, a slow reader, and a caller who disconnects.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HandlerContext, Reply } from "../../../src/http/server/endpoint.ts";
import type { ServerEvent, ServerEvents } from "../../../src/http/reply/sse.ts";
import { startEdge } from "./harness.ts";

const HEAD = "POST /v1/transcription HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nAuthorization: Bearer good\r\n\r\n";

function post(port: number): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/transcription`, {
    method: "POST",
    headers: { authorization: "Bearer good" },
  });
}

function streaming(events: AsyncIterable<ServerEvents>): (context: HandlerContext) => Promise<Reply> {
  return async () => ({ status: 200, headers: { "x-mark": "yes" }, body: { events } });
}

async function* three(): AsyncGenerator<ServerEvent> {
  yield { event: "chat.delta", data: { content: "line one\nline two é" } };
  yield { data: { plain: true } };
  yield { data: "[DONE]" };
}

test("api.events, api.request-id: every event is one event line and one data line of JSON, and the reply has its request id", async (t) => {
  const { port } = await startEdge(t, { handle: streaming(three()) });
  const response = await post(port);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(response.headers.get("x-mark"), "yes");
  assert.match(response.headers.get("x-request-id") ?? "", /^req_/);
  assert.equal(
    await response.text(),
    'event: chat.delta\ndata: {"content":"line one\\nline two é"}\n\ndata: {"plain":true}\n\ndata: [DONE]\n\n',
  );
});

test("api.events-ping: a `: ping` comment is sent whenever nothing was sent for 15 s, counted from the last event", async (t) => {
  const clock = createClock();
  const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  async function* slow(): AsyncGenerator<ServerEvent> {
    yield { data: 1 };
    await steps[0]?.promise;
    yield { data: 2 };
    await steps[1]?.promise;
    yield { data: 3 };
  }
  const { port } = await startEdge(t, { handle: streaming(slow()), schedule: clock.schedule });
  const reader = (await post(port)).body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async () => (await reader?.read())?.value;
  assert.equal(await next(), "data: 1\n\n");
  clock.advance(14_999);
  steps[0]?.resolve();
  assert.equal(await next(), "data: 2\n\n");
  clock.advance(14_999);
  clock.advance(1);
  assert.equal(await next(), ": ping\n\n");
  clock.advance(15_000);
  assert.equal(await next(), ": ping\n\n");
  steps[1]?.resolve();
  assert.equal(await next(), "data: 3\n\n");
  assert.equal(await next(), undefined);
});

/** Timers that run when the test says how much time has passed. */
function createClock() {
  let nowMs = 0;
  const timers = new Map<symbol, { readonly atMs: number; readonly run: () => void }>();
  return {
    schedule: (run: () => void, ms: number) => {
      const id = Symbol("timer");
      timers.set(id, { atMs: nowMs + ms, run });
      return () => void timers.delete(id);
    },
    advance: (ms: number) => {
      nowMs += ms;
      const due = [...timers].filter(([, { atMs }]) => atMs <= nowMs);
      for (const [id, { run }] of due) if (timers.delete(id)) run();
    },
  };
}

/** Resolves when the kernel's buffers are full and what the source has `done` no longer grows. */
async function askAndNotRead(port: number, done: () => number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.write(HEAD);
  await once(socket, "readable");
  socket.pause();
  for (let still = 0, before = -1; still < 500; before = done()) {
    await nextTurn();
    still = done() === before ? still + 1 : 0;
  }
  return socket;
}

test("api.events-back-pressure, api.events-end: a reader who does not read holds the events back, and one who leaves ends them", async (t) => {
  let made = 0;
  const ended = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<ServerEvent> {
    try {
      for (;;) {
        made += 1;
        yield { data: "x".repeat(10_000) };
      }
    } finally {
      ended.resolve();
    }
  }
  const { port } = await startEdge(t, { handle: streaming(endless()) });
  const socket = await askAndNotRead(port, () => made);
  assert(made < 5_000, `${made} events of 10 kB were made without a reader`);
  socket.destroy();
  await ended.promise;
});

test("api.events-back-pressure: events that came together are written no faster than they are read", async (t) => {
  let worded = 0;
  const ended = Promise.withResolvers<void>();
  const data = {
    toJSON: () => {
      worded += 1;
      return "x".repeat(10_000);
    },
  };
  async function* together(): AsyncGenerator<readonly ServerEvent[]> {
    try {
      yield Array.from({ length: 10_000 }, (): ServerEvent => ({ data }));
    } finally {
      ended.resolve();
    }
  }
  const { port } = await startEdge(t, { handle: streaming(together()) });
  const socket = await askAndNotRead(port, () => worded);
  assert(worded < 5_000, `${worded} events of 10 kB were serialised without a reader`);
  socket.destroy();
  await ended.promise;
});

test("api.events-back-pressure: events that came together arrive complete and in order, however long they are", async (t) => {
  const data = Array.from({ length: 3_000 }, (_, index) => `${index} ${"é".repeat(100)}`);
  async function* together(): AsyncGenerator<readonly ServerEvent[]> {
    yield data.map((each) => ({ data: each }));
  }
  const { port } = await startEdge(t, { handle: streaming(together()) });
  assert.equal(await (await post(port)).text(), data.map((each) => `data: ${each}\n\n`).join(""));
});

test("api.events-end: a stream whose request breaks is cut, and its connection is closed", async (t) => {
  async function* endless(): AsyncGenerator<ServerEvent> {
    for (;;) {
      yield { data: 1 };
      await nextTurn();
    }
  }
  const { app, port } = await startEdge(t, { handle: streaming(endless()) });
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.write(HEAD.replace("Content-Length: 0", "Content-Length: 5"));
  await once(socket, "data");
  socket.resume();
  // Half of a request and its end: the caller would still read.
  socket.end();
  await once(socket, "close");
  while (app.connections.size > 0) await nextTurn();
});
