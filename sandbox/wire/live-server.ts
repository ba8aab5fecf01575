// Handles one WebSocket to a simulated provider: validates and records it, applies faults, receives audio and sends results meanwhile.
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { type CallLog, type CallRecord, newCallRecord } from "../calls.ts";
import type { FaultBook, Trouble } from "../faults.ts";
import { createEar, type Ear } from "./live-ear.ts";
import type { LiveClose, LivePiece, LiveSession, LiveWire } from "./live-wire.ts";
import type { AudioMeter } from "./measure-audio.ts";
import { parseJson, type WireAnswer } from "./wire.ts";

interface LiveParts {
  readonly log: CallLog;
  readonly faults: FaultBook;
  readonly meter: AudioMeter;
  readonly nowMs: () => number;
  readonly find: (path: string) => Promise<LiveWire | null>;
}

export interface LiveServer {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): Promise<void>;
}

const MAX_FRAME_BYTES = 16 * 1024 * 1024;

export function createLiveServer(parts: LiveParts): LiveServer {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES });
  const running = new Set<Promise<void>>();

  async function handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const url = new URL(request.url ?? "/", "http://sandbox");
    const wire = await parts.find(url.pathname);
    if (wire === null) return refuse(socket, { status: 404, headers: {}, body: "{}" });
    const query = [...url.searchParams];
    const call = newCallRecord(request, url, { wire: wire.name, modelParameter: wire.modelParameter });
    parts.log.begin(call);
    const trouble = parts.faults.take({ name: wire.name }, wire.modelParameter === null ? null : call.model);
    if (trouble.delayMs > 0) await wait(trouble.delayMs);
    const { replacement } = trouble;
    const requestId = randomUUID();
    if (replacement?.kind === "reset_before_body") {
      note(call, "reset");
      return void socket.destroy();
    }
    const opening =
      replacement?.kind === "status"
        ? ({ ok: false, answer: statusAnswer(wire, replacement, requestId) } as const)
        : wire.open({ requestId, nowMs: parts.nowMs(), headers: request.headers, query }, trouble.alteration);
    if (!opening.ok) {
      note(call, opening.answer.status);
      return refuse(socket, opening.answer);
    }
    const { session } = opening;
    const addHeaders = (headers: string[]): void => {
      for (const [name, value] of Object.entries(session.headers)) headers.push(`${name}: ${value}`);
    };
    // Registered only within the call, and not for a refused handshake: the next socket would get the headers too.
    server.on("headers", addHeaders);
    server.handleUpgrade(request, socket, head, (client) => {
      note(call, 101);
      const takeNamed = (model: string): Trouble => parts.faults.takeNamed({ name: wire.name }, model);
      const ear = createEar(session.samples, parts.meter);
      const run = converse(client, { session, trouble, takeNamed, call, ear, note });
      running.add(run);
      run.catch(() => client.terminate()).finally(() => running.delete(run));
    });
    server.off("headers", addHeaders);
  }

  function note(call: CallRecord, outcome: CallRecord["outcome"]): void {
    call.outcome = outcome;
    parts.log.changed();
  }
  return {
    upgrade: (request, socket, head) => {
      socket.on("error", () => socket.destroy());
      handle(request, socket, head).catch(() => socket.destroy());
    },
    close: async () => {
      for (const client of server.clients) client.terminate();
      server.close();
      await Promise.all(running);
    },
  };
}

interface Conversation {
  readonly session: LiveSession;
  trouble: Trouble;
  readonly takeNamed: (model: string) => Trouble;
  readonly call: CallRecord;
  readonly ear: Ear;
  readonly note: (call: CallRecord, outcome: CallRecord["outcome"]) => void;
}

/** Resolves when the socket is closed and the audio is removed. */
async function converse(client: WebSocket, conversation: Conversation): Promise<void> {
  const { session, call, ear, note } = conversation;
  const closed = Promise.withResolvers<void>();
  // Frames are processed in order.
  let turn: Promise<void> = Promise.resolve();
  let isOver = false;
  /** Whether the sandbox itself ends the connection. */
  let isEnded = false;
  /** Whether all audio was committed, so that the client may end it. */
  let isCommitted = false;
  const endSession = (close: LiveClose | "cut" | "hold"): void => {
    isOver = true;
    isEnded = close !== "hold";
    if (close === "hold") note(call, "stalled");
    else if (close === "cut") {
      note(call, "reset");
      client.terminate();
    } else {
      if (close.message !== undefined) say([close.message]);
      client.close(close.code, close.reason);
    }
  };
  const say = (messages: readonly object[]): void => {
    for (const message of messages) client.send(JSON.stringify(message));
  };
  const isStalled = (): boolean => conversation.trouble.replacement?.kind === "stall";
  const tell = createSender(conversation, say, endSession);

  async function take(data: RawData, isBinary: boolean): Promise<void> {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.alloc(0);
    if (isOver || isStalled()) return;
    if (isBinary) return hear(bytes);
    const command = session.control(parseJson(bytes.toString("utf8")));
    if (command === "end") return finish();
    if (command === "nothing") return;
    if ("audio" in command) {
      await hear(command.audio);
      if (command.isCommit === true && !isOver) await commit();
      return;
    }
    if (!("say" in command)) return endSession(command);
    if (command.model !== undefined) replace(await configure(conversation, command.model, command.session ?? {}));
    if (!isOver && !isStalled()) say(command.say);
  }

  async function hear(bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength > 0) isCommitted = false;
    const refusal = session.refuseFrame?.(bytes.byteLength) ?? null;
    if (refusal !== null) return endSession(refusal);
    for (const piece of await ear.hear(bytes)) await tell(piece, ear.channels());
  }

  /** Applies a fault that replaces an answer. Other kinds have no effect here. */
  function replace(replacement: Trouble["replacement"]): void {
    if (replacement?.kind === "reset_before_body") endSession("cut");
    else if (replacement?.kind === "garbage") client.send("<html>It works!</html>");
    else if (replacement?.kind === "status" || replacement?.kind === "error_body") fail(session, say, endSession);
  }

  /** The session continues until the client closes it. */
  async function commit(): Promise<void> {
    const { trouble } = conversation;
    if (trouble.replacement?.kind === "reset_after_body") return endSession("cut");
    const { pieces, seconds } = ear.flush();
    for (const piece of pieces) await tell(piece, ear.channels());
    if (isOver) return;
    if (trouble.stream.fault?.kind === "no_finish") return endSession({ code: 1000, reason: "" });
    isCommitted = true;
    say(session.commit?.(seconds) ?? []);
  }

  async function finish(): Promise<void> {
    const { trouble } = conversation;
    if (trouble.replacement?.kind === "reset_after_body") return endSession("cut");
    const end = await ear.end();
    if (end === null) return endSession(session.undecodable);
    const { heard, pieces, seconds, channels } = end;
    call.file = { name: "", contentType: "", sizeBytes: heard.sizeBytes, sha256: heard.sha256 };
    await heard.remove();
    for (const piece of pieces) await tell(piece, channels);
    if (isOver) return;
    if (trouble.stream.fault?.kind !== "no_finish") say(session.end(seconds, channels));
    if (session.staysOpen !== true || trouble.stream.fault?.kind === "no_finish")
      return endSession({ code: 1000, reason: "" });
    isOver = true;
    isEnded = true;
  }

  client.on("message", (data, isBinary) => {
    turn = turn.then(() => take(data, isBinary)).catch(() => client.terminate());
  });
  client.on("error", () => undefined);
  client.once("close", () => {
    call.aborted = !isEnded && !isCommitted;
    isOver = true;
    note(call, call.outcome);
    closed.resolve();
  });
  const { trouble } = conversation;
  if (trouble.replacement?.kind === "garbage" || trouble.replacement?.kind === "error_body")
    replace(trouble.replacement);
  else if (session.refusal !== undefined) endSession(session.refusal);
  else say(session.begin());
  await closed.promise;
  await turn;
  if (isCommitted) await recordCommitted(conversation);
  await ear.remove();
}

/** The model is known from now on. Returns what would have replaced the upgrade, which ends the session instead. */
async function configure(
  conversation: Conversation,
  model: string,
  configuration: object,
): Promise<Trouble["replacement"]> {
  const { session, trouble, call, note } = conversation;
  call.model = model;
  call.fields = Object.entries(configuration).map(([name, value]) => [name, JSON.stringify(value)]);
  const { alteration, delayMs, isCut, stream, replacement } = conversation.takeNamed(model);
  conversation.trouble = {
    ...trouble,
    isCut: trouble.isCut || isCut,
    stream: { fault: trouble.stream.fault ?? stream.fault, paceMs: trouble.stream.paceMs + stream.paceMs },
    replacement: trouble.replacement ?? replacement,
  };
  session.alter?.(alteration);
  note(call, call.outcome);
  if (delayMs > 0) await wait(delayMs);
  return replacement;
}

/** The client ended a session whose audio was committed. */
async function recordCommitted({ call, ear, note }: Conversation): Promise<void> {
  const end = await ear.end();
  if (end === null) return;
  call.file = { name: "", contentType: "", sizeBytes: end.heard.sizeBytes, sha256: end.heard.sha256 };
  await end.heard.remove();
  note(call, call.outcome);
}

function fail(
  session: LiveSession,
  say: (messages: readonly object[]) => void,
  endSession: (close: LiveClose) => void,
): void {
  const { message, close } = session.failure;
  if (message !== null) say([message]);
  endSession(close);
}

/** Sends the results, unless a fault changes that. */
function createSender(
  conversation: Conversation,
  say: (messages: readonly object[]) => void,
  endSession: (close: LiveClose | "cut" | "hold") => void,
): (piece: LivePiece, channels: number) => Promise<void> {
  const { session } = conversation;
  let sentCount = 0;
  let isBroken = false;
  return async (piece, channels) => {
    if (isBroken) return;
    const { trouble } = conversation;
    const { fault, paceMs } = trouble.stream;
    const breaksAfter = fault === null || fault.kind === "no_finish" ? null : (fault.afterContent ?? 1);
    const isCut = trouble.isCut && sentCount >= 1;
    if (isCut || (breaksAfter !== null && sentCount >= breaksAfter)) {
      isBroken = true;
      if (fault?.kind === "error_event") return fail(session, say, endSession);
      return endSession(fault?.kind === "stall_stream" ? "hold" : "cut");
    }
    if (paceMs > 0) await wait(paceMs);
    say(session.piece(piece, channels));
    sentCount += 1;
  };
}

function statusAnswer(
  wire: LiveWire,
  {
    status,
    retryAfterSeconds,
    body,
  }: { status: number; retryAfterSeconds?: number | undefined; body?: string | undefined },
  requestId: string,
): WireAnswer {
  const answer = wire.errorFor(status, requestId);
  const retry: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { status, headers: { ...answer.headers, ...retry }, body: body ?? answer.body };
}

function refuse(socket: Duplex, { status, headers, body }: WireAnswer): void {
  const text = typeof body === "string" ? body : "";
  const lines = Object.entries({ ...headers, "content-length": String(Buffer.byteLength(text)), connection: "close" });
  socket.end(
    `HTTP/1.1 ${status} Refused\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${text}`,
  );
}
