// A gateway whose route takes live audio, and a caller that speaks to it over a real WebSocket.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { errorBody } from "../../../src/contract/error-body.ts";
import { transcriptionEnvelope } from "../../../src/contract/transcription/transcription-envelope.ts";
import { speech } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, OTHER_KEY, type TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";

export const POOR_KEY = "key-of-the-app-with-small-budget";
/** Of apps without any money: on the route of all, and on one whose only model costs some. */
export const UNFUNDED_KEY = "key-of-the-app-without-any-budget";
export const UNFUNDED_PRICED_KEY = "key-of-the-app-without-budget-priced";
export const NARROW_KEY = "key-of-the-app-with-one-at-once";
export const COUNTED_KEY = "key-of-the-app-with-seconds-an-hour";
export const FILES_KEY = "key-of-the-app-that-takes-files";
export const CHAT_KEY = "key-without-the-scope-transcribe";

const NO_MONEY = { period: "total" as const, limit_usd: "0" };

export const realtimeFile = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { "deepgram/nova-3": "3.6" },
    routes: {
      live: ["oa/gpt-4o-transcribe", "dg/nova-3", "dg/nova-2"],
      priced: "dg/nova-3",
      files: "oa/gpt-4o-transcribe",
    },
    apps: {
      notes: { keys: { notes: KEY, c: { secret: CHAT_KEY, scopes: ["chat"] } } },
      // Six seconds of it.
      poor: { budgets: [{ period: "total", limit_usd: "0.006" }], keys: { poor: POOR_KEY } },
      unfunded: { budgets: [NO_MONEY], key: UNFUNDED_KEY },
      "unfunded-priced": { route: "priced", budgets: [NO_MONEY], key: UNFUNDED_PRICED_KEY },
      narrow: { quota: { concurrent: 1 }, keys: { narrow: NARROW_KEY } },
      counted: { quota: { audio_seconds_per_hour: 6 }, keys: { counted: COUNTED_KEY } },
      files: { key: FILES_KEY },
    },
    workspaces: { other: { apps: { app: { key: OTHER_KEY } } } },
  });

export interface LiveEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export interface Caller {
  /** Of the 101. */
  readonly headers: IncomingHttpHeaders;
  readonly socket: WebSocket;
  readonly events: LiveEvent[];
  send(frame: object | Uint8Array): void;
  /** The first event of this name, past or coming. */
  event(name: string): Promise<LiveEvent>;
  /** Code and reason. */
  readonly closed: Promise<readonly [number, string]>;
}

export const START = { type: "start", encoding: "pcm_s16le", sample_rate: 16_000 };
export const FINISH = { type: "finish" };

/** Samples of the speech, without the file's head. */
export const samples = (): Buffer => Buffer.from(speech()).subarray(44);

export async function* frames(bytes: Buffer, size = 3_200): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

interface CallOptions {
  readonly key?: string | null;
  readonly protocols?: readonly string[];
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const urlOf = (origin: string, query = ""): string =>
  `${origin.replace("http", "ws")}/v1/transcription/realtime${query}`;

function open(origin: string, { key = KEY, protocols = [], query, headers = {} }: CallOptions): WebSocket {
  return new WebSocket(urlOf(origin, query), [...protocols], {
    headers: { ...headers, ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
  });
}

export async function call(origin: string, options: CallOptions = {}): Promise<Caller> {
  const socket = open(origin, options);
  const events: LiveEvent[] = [];
  const waiting: (() => void)[] = [];
  socket.on("message", (data: Buffer) => {
    events.push(JSON.parse(data.toString("utf8")) as LiveEvent);
    for (const wake of waiting.splice(0)) wake();
  });
  const closed = new Promise<readonly [number, string]>((resolve) => {
    socket.once("close", (code, reason) => {
      resolve([code, reason.toString()]);
      for (const wake of waiting.splice(0)) wake();
    });
  });
  const [[upgraded]] = (await Promise.all([once(socket, "upgrade"), once(socket, "open")])) as [[IncomingMessage], []];
  return {
    headers: upgraded.headers,
    socket,
    events,
    closed,
    send: (frame) => socket.send(frame instanceof Uint8Array ? frame : JSON.stringify(frame)),
    event: async (name) => {
      for (;;) {
        const found = events.find(({ event }) => event === name);
        if (found !== undefined) return found;
        assert.ok(socket.readyState !== socket.CLOSED, `closed without ${name}: ${JSON.stringify(events)}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

/** What an upgrade is refused with. */
export async function refused(
  origin: string,
  options: CallOptions = {},
): Promise<{ readonly status: number; readonly code: string; readonly headers: Record<string, unknown> }> {
  const socket = open(origin, options);
  socket.on("error", () => undefined);
  const [, reply] = (await once(socket, "unexpected-response")) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number; headers: Record<string, unknown> },
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk);
  const { error } = errorBody.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
  return { status: reply.statusCode, code: error.code, headers: reply.headers };
}

/** Says all of it, as fast as it is taken. */
export async function speak(caller: Caller, start: object = START, bytes = samples()): Promise<void> {
  caller.send(start);
  for await (const frame of frames(bytes)) caller.send(frame);
  caller.send(FINISH);
}

export const errorIn = (caller: Caller) => {
  const found = caller.events.filter(({ event }) => event === "error");
  assert.equal(found.length, 1, JSON.stringify(caller.events));
  assert.equal(caller.events.at(-1)?.event, "error");
  return errorBody.parse(found[0]?.data).error;
};

export const envelopeIn = (caller: Caller) =>
  transcriptionEnvelope.parse(caller.events.find(({ event }) => event === "transcript.completed")?.data["envelope"]);

/** The calls to providers, once there are some and each is settled: after a caller hung up, nothing else shows when. */
export async function settledAttempts({ database }: Pick<TestGateway, "database">) {
  const attempts = () => database.db.selectFrom("attempts").selectAll().orderBy("id").execute();
  await until(async () => {
    const rows = await attempts();
    return rows.length > 0 && rows.every(({ state }) => state !== "open");
  });
  return attempts();
}
