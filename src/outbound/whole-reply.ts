// A reply that is read to its end before anybody looks at it.
import type { Dispatcher } from "undici";
import { createLockstep } from "../lib/lockstep.ts";
import { type OutboundError, REFUSAL_MS, type ReplyReader, WireCall, type WireRequest } from "./wire-call.ts";

export interface OutboundReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const inLockstep = createLockstep();

/** One request and its whole reply. It settles once; whatever the socket says afterwards changes nothing. */
export class WholeReply implements ReplyReader {
  readonly #call: WireCall;
  readonly #statusDecides: boolean;
  readonly #chunks: Buffer[] = [];
  readonly #settled = Promise.withResolvers<OutboundReply>();
  #isOver = false;
  #refusalTimer: NodeJS.Timeout | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};

  constructor(request: WireRequest, { statusDecides }: { readonly statusDecides: boolean }, count: () => void) {
    this.#call = new WireCall(request, this, count);
    this.#statusDecides = statusDecides;
  }

  run(dispatcher: Dispatcher): Promise<OutboundReply> {
    this.#call.start(dispatcher);
    return this.#settled.promise;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#status = status;
    this.#headers = headers;
    if (status >= 400) this.#refusalTimer = setTimeout(() => this.#call.stop("timeout"), REFUSAL_MS);
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#refusalTimer);
    const [first] = this.#chunks;
    const bytes = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    const reply = { status: this.#status, headers: this.#headers, text: bytes.toString("utf8") };
    inLockstep(() => this.#settled.resolve(reply));
  }

  fail(error: OutboundError): void {
    if (this.#isOver) return;
    // A status of 400 and above is an answer, however little of its body came through; a cut success is not.
    const isAnswered = this.#status >= 400 || (this.#statusDecides && this.#status !== 0);
    if (isAnswered && error.failure !== "aborted") return this.end();
    clearTimeout(this.#refusalTimer);
    this.#settled.reject(error);
  }
}
