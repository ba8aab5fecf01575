// Reads a reply to its end before it is parsed: limited in bytes and JSON values, and reserved in the memory budget of replies before more than a little of it
// is read.
import type { Dispatcher } from "undici";
import { JsonMeter, VALUE_BYTES } from "../lib/json/json-meter.ts";
import { createTickBatcher } from "../lib/concurrency/tick-batcher.ts";
import { ReplyBytes } from "./reply-bytes.ts";
import type { ReplyLease } from "./reply-memory.ts";
import {
  MAX_REPLY_BYTES,
  OutboundError,
  REFUSAL_MS,
  type ReplyReader,
  WireCall,
  type WireRequest,
} from "./wire-call.ts";

export interface OutboundReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, or the beginning of a large one. */
  readonly text: string;
  /** It was measured while it arrived and has few values and little depth. */
  readonly isLight?: boolean;
  /** A body that is too large to parse on the event loop. */
  readonly large?: { readonly blocks: readonly Uint8Array<ArrayBuffer>[]; readonly sizeBytes: number };
  /** The reply's lease of the memory budget, which the reader releases. Null: it is not counted. */
  readonly lease: ReplyLease | null;
}

const inLockstep = createTickBatcher();

/** Read without waiting for memory: most replies are shorter. */
const SMALL_BYTES = 64 * 1024;
/** A reply with at most this many bytes, and as many values, is parsed in a few milliseconds. */
const LIGHT_BYTES = 256 * 1024;
export const LIGHT_VALUES = 20_000;
const BEGINNING_BYTES = 1_024;
/** An error is identified by its status and its first lines. */
const MAX_REFUSAL_BYTES = 256 * 1024;
/** A value of a transcript takes 14 bytes or more. Where it takes fewer, the difference is reserved once it is known. */
const BYTES_OF_A_VALUE = 12;
/** Minimum rate of a reply that holds memory. A slower one is aborted. */
const LEAST_BYTES_PER_SECOND = 512 * 1024;
const LEAST_RATE_GRACE_MS = 10_000;

/** One request and its whole reply. It settles once: later events of the socket are ignored. */
export class WholeReply implements ReplyReader {
  readonly #request: WireRequest;
  readonly #call: WireCall;
  readonly #statusDecides: boolean;
  readonly #bytes = new ReplyBytes();
  readonly #meter = new JsonMeter();
  readonly #lease: ReplyLease | null;
  readonly #settled = Promise.withResolvers<OutboundReply>();
  #isOver = false;
  #hasReserved = false;
  #timer: NodeJS.Timeout | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};

  constructor(request: WireRequest, { statusDecides }: { readonly statusDecides: boolean }, count: () => void) {
    this.#request = request;
    this.#call = new WireCall(request, this, count);
    this.#statusDecides = statusDecides;
    const { admission } = request;
    this.#lease = admission === undefined ? null : admission.memory.open(admission.owner);
  }

  run(dispatcher: Dispatcher): Promise<OutboundReply> {
    this.#call.start(dispatcher);
    return this.#settled.promise;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#status = status;
    this.#headers = headers;
    if (status >= 400) this.#timer = setTimeout(() => this.#call.stop("timeout"), REFUSAL_MS);
    // A reply with a declared length that is too long is not read at all.
    else if (this.#declaredBytes() > this.#maxBytes()) this.#call.stop("reply_too_large");
    else if (this.#declaredBytes() > SMALL_BYTES) this.#reserve();
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes.add(chunk);
    if (!this.#hasReserved) this.#lease?.force(chunk.byteLength);
    if (this.#status >= 400) {
      if (this.#bytes.size > MAX_REFUSAL_BYTES) this.#call.stop("reply_too_large");
      return;
    }
    const { admission } = this.#request;
    if (admission === undefined) return;
    this.#meter.add(chunk);
    if (this.#meter.values > admission.maxValues || this.#meter.isTooDeep) this.#call.stop("reply_too_large");
    else if (this.#bytes.size > SMALL_BYTES) this.#reserve();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    const lease = this.#lease;
    if (lease === null) return this.#resolve();
    const neededBytes = this.#bytes.size + this.#meter.values * VALUE_BYTES;
    if (!this.#hasReserved) {
      lease.force(neededBytes - lease.bytes);
      return this.#resolve();
    }
    lease.shrinkTo(neededBytes);
    const granted = lease.reserve(neededBytes);
    if (granted === true) this.#resolve();
    else void this.#resolveWhenGranted(granted);
  }

  async #resolveWhenGranted(granted: Promise<boolean>): Promise<void> {
    if (await granted) this.#resolve();
    else this.#reject(new OutboundError("no_memory", true, null));
  }

  fail(error: OutboundError): void {
    if (this.#isOver) return;
    // A status of 400 and above is an answer even with a truncated body. A truncated success is not.
    const isAnswered = this.#status >= 400 || (this.#statusDecides && this.#status !== 0);
    if (isAnswered && error.failure !== "aborted") return this.end();
    this.#isOver = true;
    this.#reject(error);
  }

  /** Reserves all that may still arrive, so that a reply that is being read never waits for another one. */
  #reserve(): void {
    if (this.#lease === null || this.#hasReserved) return;
    this.#hasReserved = true;
    const sizeBytes = Math.min(this.#declaredBytes() || Number.POSITIVE_INFINITY, this.#maxBytes());
    const values = Math.min(this.#request.admission?.maxValues ?? 0, sizeBytes / BYTES_OF_A_VALUE);
    const granted = this.#lease.reserve(sizeBytes + values * VALUE_BYTES);
    if (granted === true) return this.#timeReading(sizeBytes);
    this.#call.pause();
    void this.#readWhenGranted(granted, sizeBytes);
  }

  async #readWhenGranted(granted: Promise<boolean>, sizeBytes: number): Promise<void> {
    const isGranted = await granted;
    if (this.#isOver) return;
    if (!isGranted) return this.#call.stop("no_memory");
    this.#timeReading(sizeBytes);
    this.#call.resume();
  }

  #timeReading(sizeBytes: number): void {
    clearTimeout(this.#timer);
    const mostMs = LEAST_RATE_GRACE_MS + (sizeBytes * 1000) / LEAST_BYTES_PER_SECOND;
    this.#timer = setTimeout(() => this.#call.stop("timeout"), mostMs);
  }

  #resolve(): void {
    const [status, headers, lease] = [this.#status, this.#headers, this.#lease];
    const bytes = this.#bytes;
    const isLight = bytes.size <= LIGHT_BYTES && this.#meter.values <= LIGHT_VALUES && !this.#meter.isTooDeep;
    // An error reply is truncated before it grows.
    const reply: OutboundReply =
      lease === null || isLight || status >= 400
        ? { status, headers, lease, text: bytes.text(), isLight: isLight && lease !== null && status < 400 }
        : {
            status,
            headers,
            lease,
            text: bytes.beginning(BEGINNING_BYTES),
            large: { blocks: bytes.blocks(), sizeBytes: bytes.size },
          };
    inLockstep(() => this.#settled.resolve(reply));
  }

  #reject(error: unknown): void {
    clearTimeout(this.#timer);
    this.#lease?.[Symbol.dispose]();
    this.#settled.reject(error);
  }

  /** 0: not declared. */
  #declaredBytes(): number {
    return Number(this.#headers["content-length"] ?? 0);
  }

  #maxBytes(): number {
    return this.#request.maxReplyBytes ?? MAX_REPLY_BYTES;
  }
}
