// The time limits of a live session: for its start, for audio, for a pong. Real sockets, a fake clock.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { newId } from "../../../src/contract/ids.ts";
import type { Schedule } from "../../../src/http/body/body-rate.ts";
import { runLiveSession } from "../../../src/http/socket/live-session.ts";
import { until } from "../../harness/until.ts";
import { START } from "./setup.ts";

const START_MS = 10_000;
const IDLE_MS = 30_000;
const PING_MS = 15_000;

interface Clock {
  readonly schedule: Schedule;
  /** Resolves when a waiter waits for so long; running it is that time passing. */
  due(ms: number): Promise<() => void>;
  readonly waits: () => readonly number[];
}

function createClock(): Clock {
  const waiting = new Map<object, { readonly ms: number; readonly run: () => void }>();
  const looking = new Set<() => void>();
  return {
    schedule: (run, ms) => {
      const own = {};
      waiting.set(own, { ms, run });
      for (const look of looking) look();
      return () => void waiting.delete(own);
    },
    due: (ms) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = [...waiting].find(([, each]) => each.ms === ms);
          if (found === undefined) return;
          looking.delete(look);
          resolve(() => {
            if (!waiting.delete(found[0])) return;
            found[1].run();
          });
        };
        looking.add(look);
        look();
      }),
    waits: () => [...waiting.values()].map(({ ms }) => ms),
  };
}

interface Session {
  readonly client: WebSocket;
  /** Of the gateway's side. */
  readonly isPaused: () => boolean;
  readonly clock: Clock;
  /** Of the transcription that a start frame began: bytes heard, and whether it was asked to stop. */
  readonly heard: { bytes: number; isGone: boolean };
  readonly broken: string[];
  readonly closed: Promise<readonly [number, string]>;
  readonly errors: string[];
}

interface Listening {
  /** From when on frames are taken. */
  readonly begun?: Promise<void>;
  readonly nowMs?: () => number;
}

async function openSession(t: TestContext, { begun, nowMs = () => 0 }: Listening = {}): Promise<Session> {
  const clock = createClock();
  const heard = { bytes: 0, isGone: false };
  const broken: string[] = [];
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  t.after(() => {
    for (const each of server.clients) each.terminate();
    server.close();
  });
  await once(server, "listening");
  server.on("connection", (socket) => {
    void runLiveSession(
      socket,
      {
        requestId: newId("request"),
        publicUrl: "http://patchbay.invalid",
        schedule: clock.schedule,
        nowMs,
        onBroken: (code) => broken.push(code),
        onFault: (error) => assert.fail(String(error)),
        transcribe: async function* (_start, frames, gone) {
          void (async () => {
            await begun;
            for await (const frame of frames) heard.bytes += frame.byteLength;
          })();
          yield { kind: "text", text: "Hello" } as const;
          // Like a provider that takes its time, also after the finish.
          if (!gone.aborted) await once(gone, "abort");
          heard.isGone = true;
        },
      },
      { stopping: new AbortController().signal, revoked: new AbortController().signal },
    );
  });
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const errors: string[] = [];
  client.on("message", (data: Buffer) => {
    const { event, data: body } = JSON.parse(data.toString()) as { event: string; data: { error: { code: string } } };
    if (event === "error") errors.push(body.error.code);
  });
  const closed = new Promise<readonly [number, string]>((resolve) => {
    client.once("close", (code, reason) => resolve([code, reason.toString()]));
  });
  await once(client, "open");
  const isPaused = () => [...server.clients].some((each) => each.isPaused);
  return { client, isPaused, clock, heard, broken, closed, errors };
}

test("realtime.start-timeout: without a start frame for 10 s: one REQUEST_TIMEOUT and 1008", async (t) => {
  const { clock, closed, errors, broken } = await openSession(t);
  (await clock.due(START_MS))();
  assert.deepEqual(await closed, [1008, "REQUEST_TIMEOUT"]);
  assert.deepEqual([errors, broken], [["REQUEST_TIMEOUT"], ["REQUEST_TIMEOUT"]]);
});

test("realtime.idle-timeout: without a frame for 30 s after the start: one REQUEST_TIMEOUT and 1008, and the transcription is stopped", async (t) => {
  const { client, clock, heard, closed, errors } = await openSession(t);
  client.send(JSON.stringify(START));
  (await clock.due(IDLE_MS))();
  assert.deepEqual(await closed, [1008, "REQUEST_TIMEOUT"]);
  assert.deepEqual([errors, heard.isGone], [["REQUEST_TIMEOUT"], true]);
});

test("realtime.idle-timeout: every frame restarts the 30 s", async (t) => {
  const { client, clock, heard } = await openSession(t);
  client.send(JSON.stringify(START));
  const first = await clock.due(IDLE_MS);
  client.send(Buffer.alloc(320));
  await until(() => heard.bytes === 320);
  // The wait that was running is called off: its time passes and nothing happens.
  first();
  assert.equal(clock.waits().filter((ms) => ms === IDLE_MS).length, 1);
  client.send(Buffer.alloc(320));
  await until(() => heard.bytes === 640);
  assert.equal(heard.isGone, false);
  assert.equal(client.readyState, client.OPEN);
});

test("realtime.idle-while-paused, realtime.backpressure: while the gateway reads nothing, no frame is missed; when it reads again the 30 s restart", async (t) => {
  const listener = Promise.withResolvers<void>();
  const { client, isPaused, clock, heard, closed } = await openSession(t, { begun: listener.promise });
  client.send(JSON.stringify(START));
  client.send(Buffer.alloc(40_000));
  client.send(Buffer.alloc(40_000));
  await until(isPaused);
  (await clock.due(IDLE_MS))();
  client.send(Buffer.alloc(320));
  listener.resolve();
  await until(() => heard.bytes === 80_320);
  assert.equal(heard.isGone, false);
  (await clock.due(IDLE_MS))();
  assert.deepEqual(await closed, [1008, "REQUEST_TIMEOUT"]);
});

test("realtime.frame-rate: frames that waited for the gateway are no flood", async (t) => {
  const listener = Promise.withResolvers<void>();
  let nowMs = 0;
  const session = await openSession(t, { begun: listener.promise, nowMs: () => nowMs });
  const { client, isPaused, heard } = session;
  client.send(JSON.stringify(START));
  // Of 40 ms, for 15 s: more than one second allows. Until the pause, with what was read already, come far fewer.
  for (let frame = 0; frame < 375; frame += 1) client.send(Buffer.alloc(1_280));
  await until(isPaused);
  nowMs = 15_000;
  listener.resolve();
  await until(() => heard.bytes === 375 * 1_280 || heard.isGone);
  assert.equal(heard.isGone, false);
});

test("realtime.after-finish: after the finish no more frames are waited for", async (t) => {
  const { client, clock } = await openSession(t);
  client.send(JSON.stringify(START));
  await clock.due(IDLE_MS);
  client.send(JSON.stringify({ type: "finish" }));
  await until(() => !clock.waits().includes(IDLE_MS));
  assert.deepEqual(clock.waits(), [PING_MS]);
  assert.equal(client.readyState, client.OPEN);
});

test("realtime.ping: a caller that answers pings stays; one that does not answer until the next is disconnected, and its transcription stopped", async (t) => {
  const { client, clock, heard, closed } = await openSession(t);
  client.send(JSON.stringify(START));
  await clock.due(IDLE_MS);
  const pinged = once(client, "ping");
  (await clock.due(PING_MS))();
  await pinged;
  // A whole turn of frames after the answer: it has been read.
  client.send(Buffer.alloc(2));
  await until(() => heard.bytes === 2);
  (await clock.due(PING_MS))();
  assert.equal(client.readyState, client.OPEN);
  // From here on it is as if it had lost its network.
  client.pause();
  (await clock.due(PING_MS))();
  await until(() => heard.isGone);
  client.resume();
  assert.equal((await closed)[0], 1006);
});
