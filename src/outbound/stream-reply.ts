// Streams a reply with back-pressure: only a little of it is buffered, and the sender is made to wait for the reader.
import type { Dispatcher } from "undici";
import { createTickBatcher } from "../lib/concurrency/tick-batcher.ts";
import { OutboundError, REFUSAL_MS, type ReplyReader, WireCall, type WireRequest } from "./wire-call.ts";

/** In addition to `timeoutMs`, which bounds the whole exchange. */
export interface StreamTimes {
  /** From the call to the head of the reply. */
  readonly firstByteTimeoutMs?: number;
  /** The longest wait for a next chunk while the reader is waiting. A slow reader is never timed out. */
  readonly idleTimeoutMs?: number;
}

/** Never empty. */
export type Chunks = readonly Uint8Array[];

export interface OutboundStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Can be read once. Each step yields all chunks that arrived meanwhile, so that a slow reader catches up in one step. Leaving the loop closes the connection
   * unless the reply ends within `LINGER_MS`.
   */
  readonly body: AsyncIterable<Chunks>;
}

/** Bytes buffered without a reader. Beyond it the socket is paused. */
const HELD_BYTES = 64 * 1024;
/** Long enough to receive the end of a reply after its last event was read, so that its connection can be reused. */
const LINGER_MS = 100;

const inLockstep = createTickBatcher();

export class StreamReply implements ReplyReader {
  readonly #request: WireRequest & StreamTimes;
  readonly #call: WireCall;
  readonly #opened = Promise.withResolvers<OutboundStream>();
  #chunks: Buffer[] = [];
  #heldBytes = 0;
  #isPaused = false;
  #idleTimeoutMs: number | undefined;
  #outcome: "running" | "ended" | OutboundError = "running";
  #wake: (() => void) | null = null;
  #discards = false;

  constructor(request: WireRequest & StreamTimes, count: () => void) {
    this.#request = request;
    this.#idleTimeoutMs = request.idleTimeoutMs;
    this.#call = new WireCall(request, this, count);
  }

  async open(dispatcher: Dispatcher): Promise<OutboundStream> {
    const timer = this.#timeout(this.#request.firstByteTimeoutMs);
    try {
      this.#call.start(dispatcher);
      return await this.#opened.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    if (status >= 400) this.#idleTimeoutMs = Math.min(this.#idleTimeoutMs ?? REFUSAL_MS, REFUSAL_MS);
    this.#opened.resolve({ status, headers, body: this.#read() });
  }

  data(chunk: Buffer): void {
    if (this.#discards) return;
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.byteLength;
    if (this.#heldBytes > HELD_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#call.pause();
    }
    this.#wake?.();
  }

  end(): void {
    if (this.#outcome === "running") this.#outcome = "ended";
    this.#wake?.();
  }

  fail(error: OutboundError): void {
    if (this.#outcome === "running") this.#outcome = error;
    this.#opened.reject(error);
    this.#wake?.();
  }

  async *#read(): AsyncGenerator<Chunks, void, undefined> {
    try {
      while (true) {
        // An abort by the caller ends it at once. A failure of the other side is reported after the chunks that preceded it.
        if (isAbort(this.#outcome)) throw this.#outcome;
        if (this.#chunks.length > 0) {
          const chunks = this.#chunks;
          this.#chunks = [];
          this.#heldBytes = 0;
          yield chunks;
          continue;
        }
        if (this.#outcome === "ended") return;
        if (this.#outcome !== "running") throw this.#outcome;
        await this.#wait();
      }
    } finally {
      this.#letGo();
    }
  }

  #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#timeout(this.#idleTimeoutMs);
    this.#wake = () => {
      this.#wake = null;
      clearTimeout(timer);
      inLockstep(resolve);
    };
    // The client delivers what it has buffered, even the end, before this call returns: the waiting reader must be registered by then.
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#call.resume();
    }
    return promise;
  }

  #letGo(): void {
    if (this.#outcome !== "running") return;
    this.#chunks = [];
    this.#discards = true;
    const timer = setTimeout(() => this.#call.stop("aborted"), LINGER_MS);
    this.#wake = () => clearTimeout(timer);
    this.#call.resume();
  }

  #timeout(milliseconds: number | undefined): NodeJS.Timeout | undefined {
    return milliseconds === undefined ? undefined : setTimeout(() => this.#call.stop("timeout"), milliseconds);
  }
}

function isAbort(outcome: "running" | "ended" | OutboundError): outcome is OutboundError {
  return outcome instanceof OutboundError && outcome.failure === "aborted";
}
