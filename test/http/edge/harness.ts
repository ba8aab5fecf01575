// A server with tiny endpoints on loopback, and a client that writes raw bytes and reads raw answers.
import { listen } from "../../../src/http/server/listen.ts";
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { z } from "zod";
import { createLogger } from "../../../src/lib/logger.ts";
import type { EndpointContract } from "../../../src/contract/endpoints/endpoint.ts";
import { errorBody } from "../../../src/contract/error-body.ts";
import { GatewayError } from "../../../src/contract/errors.ts";
import type { RecordEnd, Recorder } from "../../../src/gateway/request-record.ts";
import type { Schedule } from "../../../src/http/body/body-rate.ts";
import type { Endpoint, HandlerContext, Reply } from "../../../src/http/server/endpoint.ts";
import type { EdgeLimits } from "../../../src/http/server/limits.ts";
import { createServer, type HttpServer } from "../../../src/http/server/server.ts";

export const KEY = "Authorization: Bearer good\r\n";
/** What makes a request one for a WebSocket. */
export const HANDSHAKE =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
export const MAX_BODY_BYTES = 1_048_576;
export const PUBLIC_URL = "https://gateway.example";

const BASE: EndpointContract = {
  method: "GET",
  path: "/v1/me",
  operationId: "getMe",
  summary: "Test endpoint",
  auth: "key",
  // Any: what a query may hold is not what these tests are about.
  query: z.looseObject({}),
  responses: {},
  errors: [],
};

const LIVE: EndpointContract = {
  ...BASE,
  path: "/v1/live",
  operationId: "live",
  isRouted: true,
  responses: { 101: { description: "A WebSocket.", content: {} } },
};

const NO_RECORDER: Recorder = {
  decided: () => undefined,
  measured: () => undefined,
  keyUsed: () => undefined,
  jobMade: () => undefined,
  broke: () => undefined,
};

export interface EdgeOptions {
  readonly limits?: Partial<EdgeLimits>;
  readonly schedule?: Schedule;
  readonly loopUtilization?: () => number;
  readonly draining?: () => boolean;
  /** Runs instead of the reading handler of POST /v1/transcription. */
  readonly handle?: (context: HandlerContext) => Promise<Reply>;
  /** Answers GET /v1/live, a WebSocket; without it there is none. */
  readonly live?: (context: HandlerContext) => Promise<Reply>;
  /** Called at the end of each record of GET /v1/live. */
  readonly onRecorded?: (end: RecordEnd) => void;
}

export interface RunningEdge {
  readonly app: HttpServer;
  readonly port: number;
  readonly logs: Record<string, unknown>[];
}

export function testEdge(options: EdgeOptions = {}): { app: HttpServer; logs: Record<string, unknown>[] } {
  const { onRecorded } = options;
  const logs: Record<string, unknown>[] = [];
  const logger = createLogger({ write: (line: string) => logs.push(JSON.parse(line)) }, { isStrict: true });
  const endpoints: Endpoint[] = [
    { contract: BASE, handle: async () => json({ ok: true }) },
    {
      contract: { ...BASE, method: "POST", path: "/v1/transcription", operationId: "create", scope: "transcribe" },
      handle: options.handle ?? readAll,
    },
    {
      contract: { ...BASE, path: "/v1/transcription/jobs/:job_id", operationId: "getJob" },
      handle: async ({ request }) => json(request.params),
    },
    { contract: { ...BASE, path: "/v1/chat", operationId: "chat", scope: "chat" }, handle: async () => json({}) },
    ...(options.live === undefined ? [] : [{ contract: LIVE, handle: options.live }]),
  ];
  const app = createServer({
    endpoints,
    authenticate: async (authorization) => {
      if (/^bearer good$/i.test(authorization ?? "")) return { scopes: ["transcribe"] };
      throw new GatewayError("UNAUTHENTICATED", { message: "A valid API key is required." });
    },
    publicUrl: () => PUBLIC_URL,
    logger,
    draining: options.draining ?? (() => false),
    limits: options.limits ?? {},
    ...(options.schedule === undefined ? {} : { schedule: options.schedule }),
    ...(options.loopUtilization === undefined ? {} : { loopUtilization: options.loopUtilization }),
    ...(onRecorded === undefined ? {} : { openRecord: () => ({ recorder: NO_RECORDER, end: onRecorded }) }),
  });
  return { app, logs };
}

export async function startEdge(t: Pick<TestContext, "after">, options: EdgeOptions = {}): Promise<RunningEdge> {
  const { app, logs } = testEdge(options);
  await listen(app, { host: "127.0.0.1", port: 0 });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const address = app.server.address();
  assert.ok(address !== null && typeof address === "object");
  return { app, port: address.port, logs };
}

export function json(value: unknown): Reply {
  return { status: 200, body: { json: value } };
}

/** Refuses a declared length above the cap, else reads the body and answers its length. */
export async function readAll({ request }: Pick<HandlerContext, "request">): Promise<Reply> {
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) {
    throw new GatewayError("AUDIO_TOO_LARGE", { message: `This gateway takes at most ${MAX_BODY_BYTES} bytes.` });
  }
  let sizeBytes = 0;
  for await (const chunk of request.raw) sizeBytes += (chunk as Buffer).length;
  return json({ size_bytes: sizeBytes });
}

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Conversation {
  readonly socket: Socket;
  /** The first `count` answers, informational ones included; fails if the connection ends before. */
  readonly replies: (count: number) => Promise<RawReply[]>;
  /** Every answer up to the end of the connection. */
  readonly untilClose: () => Promise<RawReply[]>;
  /** Does not close this side when the server closes its own. */
  readonly keepOpen: () => void;
}

export async function open(port: number): Promise<Conversation> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  // A reset after the answer is part of what some cases provoke.
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("connect", resolve));
  let received = "";
  // Half-open, so that a test can write on after the server has closed its side; at once or not at all.
  socket.once("end", () => setImmediate(() => !isKeptOpen && socket.end()));
  let isKeptOpen = false;
  const keepOpen = () => {
    isKeptOpen = true;
  };
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    received += text;
  });
  const replies = (count: number) =>
    new Promise<RawReply[]>((resolve, reject) => {
      const look = () => {
        const parsed = parseReplies(received);
        if (parsed.length >= count) resolve(parsed.slice(0, count));
        else if (socket.destroyed) reject(new Error(`closed after ${parsed.length} of ${count} answers: ${received}`));
      };
      socket.on("data", look);
      socket.once("close", look);
      look();
    });
  const untilClose = () =>
    new Promise<RawReply[]>((resolve) => {
      if (socket.destroyed) resolve(parseReplies(received));
      else socket.once("close", () => resolve(parseReplies(received)));
    });
  return { socket, replies, untilClose, keepOpen };
}

/** Writes one text, and gives every answer until the server closes. */
export async function say(port: number, text: string | Buffer): Promise<RawReply[]> {
  const conversation = await open(port);
  conversation.socket.write(typeof text === "string" ? Buffer.from(text, "latin1") : text);
  return conversation.untilClose();
}

/** The one answer to one request, which must say that it closes or have been asked to. */
export async function ask(port: number, text: string | Buffer): Promise<RawReply> {
  const replies = await say(port, text);
  const [reply] = replies;
  assert.ok(reply !== undefined, "no answer");
  assert.equal(replies.length, 1, "exactly one answer");
  return reply;
}

export function get(path: string, headers = KEY): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;
}

export function post(headers: string, body = ""): string {
  return `POST /v1/transcription HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${KEY}${headers}\r\n${body}`;
}

/** Everything that holds for an error on the wire [errors.one-body]. */
export function assertError(reply: RawReply | undefined, status: number, code: string): void {
  assert.ok(reply !== undefined, "no answer");
  assert.equal(reply.status, status, reply.body);
  assert.equal(reply.headers["content-type"], "application/json; charset=utf-8");
  const { error } = errorBody.parse(JSON.parse(reply.body));
  assert.equal(error.code, code);
  assert.equal(reply.headers["x-request-id"], error.request_id);
  assert.equal(reply.headers["x-should-retry"], String(error.retryable));
  assert.equal(reply.headers["retry-after"] !== undefined, error.retryable);
  assert.equal(error.doc_url, `${PUBLIC_URL}/docs/errors#${code}`);
}

function parseReplies(text: string): RawReply[] {
  const replies: RawReply[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd === -1) return replies;
    const [statusLine = "", ...lines] = rest.slice(0, headEnd).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const match = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine);
    assert.ok(match !== null, `not a status line: ${statusLine}`);
    const bodyEnd = headEnd + 4 + Number(headers["content-length"] ?? 0);
    if (rest.length < bodyEnd) return replies;
    const body = Buffer.from(rest.slice(headEnd + 4, bodyEnd), "latin1").toString("utf8");
    replies.push({ status: Number(match[1]), headers, body });
    rest = rest.slice(bodyEnd);
  }
}

export interface FakeTimers {
  readonly schedule: Schedule;
  /** Runs what is due next, whatever its time; answers how long it was to wait. */
  readonly fire: () => number;
}

export function fakeTimers(): FakeTimers {
  const pending: { run: () => void; ms: number }[] = [];
  return {
    schedule: (run, ms) => {
      const entry = { run, ms };
      pending.push(entry);
      return () => {
        const index = pending.indexOf(entry);
        if (index !== -1) pending.splice(index, 1);
      };
    },
    fire: () => {
      const entry = pending.shift();
      assert.ok(entry !== undefined, "nothing is scheduled");
      entry.run();
      return entry.ms;
    },
  };
}
