// A WebSocket to a provider, opened by `dial.ts`. Only audio counts as sent, because an upgrade and a configuration message cost nothing
// [providers.socket-refusal].
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type ClientOptions, type RawData, WebSocket } from "ws";
import { OutboundError, singleValues } from "./wire-call.ts";

export interface WireSocketRequest {
  /** `http:` or `https:`, as in every base URL. */
  readonly url: URL;
  /** Uses this connection, including TLS, which was opened to a vetted address. */
  readonly connection?: Socket;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** From the call to the end of the connection. */
  readonly timeoutMs: number;
  /** How long the other side may leave a frame unread, and how long it may be silent after the last one. */
  readonly idleTimeoutMs: number;
  /** Sent when no frame was sent for a while after the first audio. */
  readonly keepAlive?: { readonly text: string; readonly everyMs: number };
  /** Called as the first audio is sent. */
  readonly onDispatch?: () => void;
}

/** Binary frames contain audio, and so does `audioText`, for protocols that put it into JSON. A string contains none: it controls the session. */
export type WireFrame = string | Uint8Array | { readonly audioText: string };

export type SocketMessage =
  | { readonly kind: "text"; readonly text: string }
  /** The other side closed the connection. `dispatched`: audio had been sent by then. */
  | { readonly kind: "close"; readonly code: number; readonly reason: string; readonly dispatched: boolean };

export interface OutboundSocket {
  readonly headers: Readonly<Record<string, string>>;
  /** Resolves when the frame was written, so that the sender waits while the other side does not read. */
  send(frame: WireFrame): Promise<void>;
  /** For one reader. Throws `OutboundError` when the connection breaks. */
  next(): Promise<SocketMessage>;
  /** No more frames will be sent: from now on the idle timeout runs. */
  awaitEnd(): void;
  /** Terminates the connection at once. */
  close(): void;
}

export type SocketOutcome =
  | { readonly ok: true; readonly socket: OutboundSocket }
  /** The upgrade request got an ordinary HTTP reply. */
  | { readonly ok: false; readonly reply: UpgradeReply };

interface UpgradeReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** A message covers some seconds of speech. The longest, of a turn without a pause, take some hundred thousand bytes. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Messages buffered without a reader. Beyond it the socket is paused. */
const HELD_MESSAGES = 32;
const HELD_CHARACTERS = 256 * 1024;
/** Interim results arrive several times a second, and each repeats its turn from the beginning. */
const MESSAGES_AT_ONCE = 2_000;
const MESSAGES_PER_SECOND = 100;
const BYTES_AT_ONCE = 8 * 1024 * 1024;
const BYTES_PER_SECOND = 512 * 1024;

export async function openSocket(request: WireSocketRequest, count: () => void): Promise<SocketOutcome> {
  if (request.signal?.aborted === true) throw new OutboundError("aborted", false, null);
  return new ClientSocket(request, count).opened;
}

class ClientSocket implements OutboundSocket {
  readonly opened: Promise<SocketOutcome>;
  headers: Readonly<Record<string, string>> = {};
  readonly #request: WireSocketRequest;
  readonly #count: () => void;
  readonly #socket: WebSocket;
  readonly #deadline: NodeJS.Timeout;
  readonly #onAbort = (): void => this.#fail("aborted", null);
  readonly #messages: SocketMessage[] = [];
  readonly #rate = createRate();
  #heldCharacters = 0;
  #wake: (() => void) | null = null;
  #error: OutboundError | null = null;
  #dispatched = false;
  /** A configuration message was sent, which the other side answers before it gets audio. */
  #awaitsReply = false;
  #keepAlive: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #awaitsEnd = false;

  constructor(request: WireSocketRequest, count: () => void) {
    this.#request = request;
    this.#count = count;
    const url = new URL(request.url);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.#socket = new WebSocket(url, {
      headers: request.headers,
      handshakeTimeout: Math.min(HANDSHAKE_TIMEOUT_MS, request.timeoutMs),
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
      ...connectionOf(request),
    });
    this.#deadline = setTimeout(() => this.#fail("timeout", null), request.timeoutMs);
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.opened = this.#open();
  }

  #open(): Promise<SocketOutcome> {
    const opening = Promise.withResolvers<SocketOutcome>();
    const socket = this.#socket;
    socket.once("upgrade", (reply) => {
      this.headers = singleValues(reply.headers);
    });
    socket.once("open", () => opening.resolve({ ok: true, socket: this }));
    socket.once("unexpected-response", (_request, reply) => {
      this.#refused(reply)
        .then(opening.resolve)
        .catch(() => this.#fail("connection", null));
    });
    socket.on("message", (data, isBinary) => this.#take(data, isBinary));
    socket.on("error", (error) => this.#fail("connection", codeOf(error)));
    socket.once("close", (code, reason) => {
      // 1006: closed without a close frame.
      if (code === 1006) this.#fail("connection", null);
      else this.#push({ kind: "close", code, reason: reason.toString("utf8"), dispatched: this.#dispatched });
      opening.reject(this.#error ?? new OutboundError("connection", false, null));
      this.#letGo();
    });
    return opening.promise;
  }

  async #refused(reply: IncomingMessage): Promise<SocketOutcome> {
    const text = await readRefusal(reply);
    this.close();
    return { ok: false, reply: { status: reply.statusCode ?? 0, headers: singleValues(reply.headers), text } };
  }

  async send(frame: WireFrame): Promise<void> {
    if (this.#error !== null) throw this.#error;
    this.#noteSending(typeof frame !== "string");
    this.#rearmKeepAlive();
    const timer = setTimeout(() => this.#fail("timeout", null), this.#request.idleTimeoutMs);
    try {
      await new Promise<void>((resolve) => {
        // Resolves even on an error, because `next` reports what happened to the connection.
        this.#socket.send(contentOf(frame), () => resolve());
      });
    } finally {
      clearTimeout(timer);
    }
    if (this.#error !== null) throw this.#error;
  }

  async next(): Promise<SocketMessage> {
    while (true) {
      // An abort by the caller ends it at once. A failure of the other side is reported after the messages that preceded it.
      if (this.#error?.failure === "aborted") throw this.#error;
      const message = this.#messages.shift();
      if (message !== undefined) {
        if (message.kind === "text") this.#heldCharacters -= message.text.length;
        return message;
      }
      if (this.#error !== null) throw this.#error;
      if (this.#socket.isPaused) this.#socket.resume();
      this.#timeSilence();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
      clearTimeout(this.#silence);
    }
  }

  awaitEnd(): void {
    this.#awaitsEnd = true;
    clearInterval(this.#keepAlive);
    if (this.#wake !== null) this.#timeSilence();
  }

  close(): void {
    this.#letGo();
    this.#socket.terminate();
  }

  #take(data: RawData, isBinary: boolean): void {
    if (!Buffer.isBuffer(data)) return;
    if (!this.#rate.allows(data.byteLength)) return this.#fail("reply_too_large", null);
    // No supported provider answers in binary.
    if (isBinary) return;
    const text = data.toString("utf8");
    this.#heldCharacters += text.length;
    this.#push({ kind: "text", text });
    if (this.#messages.length > HELD_MESSAGES || this.#heldCharacters > HELD_CHARACTERS) this.#socket.pause();
  }

  #push(message: SocketMessage): void {
    this.#messages.push(message);
    this.#wake?.();
  }

  #fail(failure: OutboundError["failure"], reason: string | null): void {
    this.#error ??= new OutboundError(failure, this.#dispatched, reason);
    this.#letGo();
    this.#socket.terminate();
    this.#wake?.();
  }

  #noteSending(isAudio: boolean): void {
    if (!isAudio && !this.#dispatched) {
      this.#awaitsReply = true;
      if (this.#wake !== null) this.#timeSilence();
    }
    if (!isAudio || this.#dispatched) return;
    this.#dispatched = true;
    this.#awaitsReply = false;
    clearTimeout(this.#silence);
    this.#count();
    this.#request.onDispatch?.();
  }

  #rearmKeepAlive(): void {
    const { keepAlive } = this.#request;
    clearInterval(this.#keepAlive);
    if (keepAlive === undefined || !this.#dispatched || this.#awaitsEnd) return;
    this.#keepAlive = setInterval(() => this.#socket.send(keepAlive.text, () => undefined), keepAlive.everyMs);
  }

  #timeSilence(): void {
    clearTimeout(this.#silence);
    if (!this.#awaitsEnd && !this.#awaitsReply) return;
    this.#silence = setTimeout(() => this.#fail("timeout", null), this.#request.idleTimeoutMs);
  }

  #letGo(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#silence);
    clearInterval(this.#keepAlive);
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }
}

function contentOf(frame: WireFrame): string | Uint8Array {
  return typeof frame === "object" && "audioText" in frame ? frame.audioText : frame;
}

/** A token bucket: a burst, and an allowance per second. A sender that is faster does not describe the audio. */
function createRate(): { allows(bytes: number): boolean } {
  const openedMs = performance.now();
  let [messages, bytes] = [0, 0];
  return {
    allows: (more) => {
      messages += 1;
      bytes += more;
      const seconds = (performance.now() - openedMs) / 1000;
      return (
        messages <= MESSAGES_AT_ONCE + seconds * MESSAGES_PER_SECOND &&
        bytes <= BYTES_AT_ONCE + seconds * BYTES_PER_SECOND
      );
    },
  };
}

/** ws accepts a connector where its types name only its agent's settings (ws, lib/websocket.js). */
function connectionOf({ connection }: WireSocketRequest): ClientOptions {
  return connection === undefined ? {} : { createConnection: () => connection };
}

async function readRefusal(reply: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    sizeBytes += chunk.byteLength;
    if (sizeBytes > MAX_REFUSAL_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

function codeOf(error: Error): string | null {
  return "code" in error && typeof error.code === "string" ? error.code : null;
}
