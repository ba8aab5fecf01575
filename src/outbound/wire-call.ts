// One HTTP request up to the end of its reply. Shared by buffered and streamed replies, above all to know for certain whether any byte of the request was sent
// [providers.dispatch].
import type { IncomingHttpHeaders } from "node:http";
import { getDefaultHighWaterMark, type Readable } from "node:stream";
import { type Dispatcher, errors } from "undici";
import type { OpenBytes } from "../lib/open-bytes.ts";
import type { ReplyMemory } from "./reply-memory.ts";

export interface WireRequest {
  readonly method: "GET" | "POST" | "DELETE" | "OPTIONS";
  readonly url: URL;
  /** Replaces the URL's own, which the parser may have normalized: a signed query is sent byte for byte. */
  readonly pathAndQuery?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: OutboundBody;
  /** Aborts the request on the caller's behalf. */
  readonly signal?: AbortSignal;
  /** From the call to the last byte of the reply. */
  readonly timeoutMs?: number;
  /** Called at most once, when the first byte is written to the socket. */
  readonly onDispatch?: () => void;
  /** Default: 64 MiB. */
  readonly maxReplyBytes?: number;
  /** The memory budget in which a buffered reply is counted. Absent: none. */
  readonly admission?: ReplyAdmission;
}

export interface ReplyAdmission {
  readonly memory: ReplyMemory;
  /** Owner of the reply in the budget, for example a workspace. */
  readonly owner: string;
  /** Most JSON values of the reply. */
  readonly maxValues: number;
}

export interface OutboundBody {
  readonly sizeBytes: number;
  /** The bytes that `open` yields, if they are in memory in one piece: they are sent in one write with the head. */
  readonly bytes?: Uint8Array;
  readonly open: OpenBytes;
}

/** `no_memory`: the memory budget of replies had no room in time. */
export type OutboundFailure = "connection" | "timeout" | "aborted" | "reply_too_large" | "no_memory";

/** `dispatched: false` means that no byte of the request left this machine. Contains no address, header or body. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure;
  readonly dispatched: boolean;
  /** An error code of the system or of the HTTP client. */
  readonly reason: string | null;

  constructor(failure: OutboundFailure, dispatched: boolean, reason: string | null) {
    super(`${failure} ${dispatched ? "after" : "before"} the first byte was sent`);
    this.name = "OutboundError";
    this.failure = failure;
    this.dispatched = dispatched;
    this.reason = reason;
  }
}

/** The reader of a reply. A failure may be reported at any time, also after the end: only the first outcome counts. */
export interface ReplyReader {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  data(chunk: Buffer): void;
  end(): void;
  fail(error: OutboundError): void;
}

export const MAX_REPLY_BYTES = 64 * 1024 * 1024;
/** An error reply is identified by its status, so its body gets less time than an answer. */
export const REFUSAL_MS = 5_000;
/** Informational responses before the answer (RFC 9110, 15.2). A server that keeps sending them is not going to answer. */
const MAX_INTERIM_HEADS = 10;
/** The most that a socket buffers beyond what it has sent: one of undici's (core/connect.js), or one that was opened to a caller's vetted address. */
const SOCKET_BUFFER_BYTES = Math.max(65_536, getDefaultHighWaterMark(false));

export class WireCall {
  readonly #request: WireRequest;
  readonly #reader: ReplyReader;
  readonly #count: () => void;
  readonly #onAbort = (): void => this.stop("aborted");
  #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | null = null;
  #stopped: OutboundFailure | null = null;
  #dispatched = false;
  #started = false;
  #replyBytes = 0;
  #declaredLength: string | undefined;
  #interimHeads = 0;

  constructor(request: WireRequest, reader: ReplyReader, count: () => void) {
    this.#request = request;
    this.#reader = reader;
    this.#count = count;
  }

  start(dispatcher: Dispatcher): void {
    const { signal, timeoutMs } = this.#request;
    if (signal?.aborted) return this.stop("aborted");
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.stop("timeout"), timeoutMs);
    signal?.addEventListener("abort", this.#onAbort);
    this.#dispatch(dispatcher);
  }

  /** Reports the failure to the reader and destroys the socket. */
  stop(failure: OutboundFailure): void {
    this.#stopped ??= failure;
    this.#fail(failure, null);
    this.#controller?.abort(new Error("stopped"));
  }

  /** Applies back-pressure: the socket is no longer read. */
  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  #dispatch(dispatcher: Dispatcher): void {
    const { method, url, pathAndQuery, headers, body } = this.#request;
    const place = placeOf(url);
    const options: Dispatcher.DispatchOptions = {
      origin: place.origin,
      path: pathAndQuery ?? place.path,
      method,
      headers: { ...headers, "accept-encoding": "identity", ...lengthOf(body) },
      body: body === undefined ? null : (body.bytes ?? asyncBody(this.#upload(body))),
    };
    dispatcher.dispatch(options, {
      onRequestStart: (controller) => {
        this.#controller = controller;
        // A second start would send the request twice, so the exchange is aborted instead.
        if (this.#stopped !== null || this.#started) return controller.abort(new Error("stopped"));
        this.#started = true;
        // The head of a streamed body waits for its first chunk.
        if (body === undefined || body.bytes !== undefined) this.#markDispatched();
      },
      onResponseStart: (_controller, status, headers) => {
        // Informational responses such as 103 are not the reply.
        if (status >= 200) {
          const single = singleValues(headers);
          this.#declaredLength = single["content-length"];
          this.#reader.head(status, single);
        } else if (++this.#interimHeads > MAX_INTERIM_HEADS) this.stop("connection");
      },
      onResponseData: (_controller, chunk) => {
        this.#replyBytes += chunk.byteLength;
        if (this.#replyBytes > (this.#request.maxReplyBytes ?? MAX_REPLY_BYTES)) this.stop("reply_too_large");
        else this.#reader.data(chunk);
      },
      onResponseEnd: () => this.#end(),
      onResponseError: (_controller, error) => {
        // A parser that was paused at the last byte has not reported the end when the other side closes, and reports a truncated reply.
        if (this.#declaredLength === String(this.#replyBytes)) this.#end();
        else this.#fail("connection", codeOf(error));
      },
    });
  }

  /**
   * undici writes the head together with the first chunk: until a chunk is yielded, nothing was sent. It asks for the next one when the socket has sent this
   * one or has buffer space, so small chunks, which may still be buffered, are copied.
   */
  async *#upload(body: OutboundBody): AsyncGenerator<Uint8Array> {
    // Without TLS a recording is sent in one write. TLS encrypts a whole piece at once and buffers it, which takes up to twice as long.
    const mode = this.#request.url.protocol === "http:" ? "whole" : "passing";
    let sentBytes = 0;
    for await (const chunk of body.open(mode)) {
      if (chunk.byteLength === 0) continue;
      this.#markDispatched();
      yield chunk.byteLength < SOCKET_BUFFER_BYTES ? Buffer.from(chunk) : chunk;
      sentBytes += chunk.byteLength;
      // Asking the source for its end may take longer than the reply: undici would take that for a reply before the end of the request and close the socket, so
      // that every upload would need a new one.
      if (sentBytes === body.sizeBytes) return;
    }
  }

  #markDispatched(): void {
    if (this.#dispatched) return;
    this.#dispatched = true;
    this.#count();
    this.#request.onDispatch?.();
  }

  #end(): void {
    this.#release();
    this.#reader.end();
  }

  #fail(failure: OutboundFailure, reason: string | null): void {
    this.#release();
    this.#reader.fail(new OutboundError(failure, this.#dispatched, reason));
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** For bytes in one piece undici sets the length itself. */
function lengthOf(body: OutboundBody | undefined): Readonly<Record<string, string>> {
  return body === undefined || body.bytes !== undefined ? NO_LENGTH : { "content-length": String(body.sizeBytes) };
}

interface Place {
  readonly origin: string;
  readonly path: string;
}

const NO_LENGTH = {};
/** A URL serializes its parts on every access, and most URLs are used again. */
const places = new WeakMap<URL, Place>();

function placeOf(url: URL): Place {
  const cachedPlace = places.get(url);
  if (cachedPlace !== undefined) return cachedPlace;
  const place = { origin: url.origin, path: `${url.pathname}${url.search}` };
  places.set(url, place);
  return place;
}

/** undici takes any async iterable as a body (core/request.js); its types name only `Readable`, which reads ahead. */
function asyncBody(chunks: AsyncIterable<Uint8Array>): Readable {
  return chunks as unknown as Readable;
}

/** One value per header: repeated fields are joined (RFC 9110, 5.3). Most are single and are returned unchanged. */
export function singleValues(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  if (areSingle(headers)) return headers;
  const single: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    single[name] = Array.isArray(value) ? value.join(", ") : (value ?? "");
  }
  return single;
}

function areSingle(headers: IncomingHttpHeaders): headers is Record<string, string> {
  for (const name in headers) if (typeof headers[name] !== "string") return false;
  return true;
}

function codeOf(error: unknown): string | null {
  // undici 8 loses the code of its parser's errors: only the message contains it.
  if (error instanceof errors.HTTPParserError)
    return /content-length|transfer-encoding/i.test(error.message) ? "HPE_CONTENT_LENGTH" : "HPE_MALFORMED";
  const code = error instanceof Error && "code" in error && error.code;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : null;
}
