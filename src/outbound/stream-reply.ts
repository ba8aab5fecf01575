// A reply that is read as it comes: little of it is held here at any time, for the sender is made to wait (back-pressure).
import type { Dispatcher } from "undici";
import { createTickBatcher } from "../lib/concurrency/tick-batcher.ts";
import { OutboundError, REFUSAL_MS, type ReplyReader, WireCall, type WireRequest } from "./wire-call.ts";

/** Besides `timeoutMs`, which bounds the whole. */
export interface StreamTimes {
  /** From the call to the head of the reply. */
  readonly firstByteTimeoutMs?: number;
  /** The longest wait for a next chunk while the reader is waiting; a reader that takes its time is never timed. */
  readonly idleTimeoutMs?: number;
}

/** Never empty. */
export type Chunks = readonly Uint8Array[];

export interface OutboundStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * To be read once: each time all that has come meanwhile, so that whoever is busy catches up in one step. Leaving the loop gives the
   * connection up, unless the reply ends on its own within a moment.
   */
  readonly body: AsyncIterable<Chunks>;
}

/** What is held while nobody reads; beyond it the socket is not read either. */
const HELD_BYTES = 64 * 1024;
/** Long enough for the end of a reply whose last event was seen, so that its connection can be used again. */
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
        // What the caller stopped is over at once; what the other side broke is over after what came before.
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
    // The client hands over what it holds, even the end, before this returns: whoever waits must be known by then.
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
