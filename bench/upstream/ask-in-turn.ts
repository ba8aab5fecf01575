// One connection of a load generator: sends one request after another and parses answers with as little work as possible, because it shares its cores with the
// measured processes.
import { connect, type Socket } from "node:net";
import { TOOK } from "./took-mark.ts";

const READ_BYTES = 65_536;
const FAULT_CHARACTERS = 1_000;
const HEAD_END = "\r\n\r\n";
const LAST_CHUNK = "\r\n0\r\n\r\n";

export interface Asking {
  readonly origin: string;
  /** Prefix of a successful status: 200, or 2 for every success. */
  readonly success: string;
  /** The pieces of the next request. Null: no more requests. */
  readonly next: () => readonly Buffer[] | null;
  readonly answered: (answer: Answered) => void;
  /** Whether answers say how long the stand-in took (`took-mark.ts`). Default: they do not. */
  readonly readsTook?: boolean;
}

export interface Answered {
  /** Such as 200; or `closed`: the connection closed without an answer. */
  readonly status: string;
  readonly sentMs: number;
  /** Time of the first byte of the body. Null: no body. */
  readonly firstMs: number | null;
  readonly endedMs: number;
  /** How long the stand-in took. 0: it did not say. */
  readonly tookMs: number;
}

/** Runs until there is no further request or the connection closes. Returns the first failure: the start of the answer, or why there was none. */
export function askInTurn({ origin, success, next, answered, readsTook = false }: Asking): Promise<string | null> {
  return new Promise((resolve) => {
    const answers = new Answers(success);
    let fault: string | null = null;
    let sentMs: number | null = null;
    let firstMs: number | null = null;
    let tookMs = 0;
    const ask = (): void => {
      const pieces = next();
      if (pieces === null) {
        sentMs = null;
        socket.destroy();
        return;
      }
      firstMs = null;
      tookMs = 0;
      sentMs = performance.now();
      socket.cork();
      for (const piece of pieces) socket.write(piece);
      socket.uncork();
    };
    const tell = (status: string, endedMs: number): void => {
      if (sentMs !== null) answered({ status, sentMs, firstMs, endedMs, tookMs });
    };
    const socket = connectReading(origin, (text) => {
      const hasEnded = answers.take(text);
      if (!hasEnded && firstMs !== null) return;
      const nowMs = performance.now();
      if (readsTook) tookMs = TOOK.read(text) ?? tookMs;
      if (answers.hasBody) firstMs ??= nowMs;
      if (!hasEnded) return;
      tell(answers.status, nowMs);
      ask();
    });
    socket.on("connect", ask);
    socket.on("error", (error) => {
      fault = error.message;
    });
    socket.on("close", () => {
      tell("closed", performance.now());
      if (sentMs !== null) fault ??= "the connection was closed";
      resolve(answers.fault ?? fault);
    });
  });
}

/** Length of the body. Null: no Content-Length. */
export function contentLength(head: string): number | null {
  const length = /\r\ncontent-length: *(\d+)/iu.exec(head)?.[1];
  return length === undefined ? null : Number(length);
}

/** `read` receives Latin-1 text. It bypasses the socket's stream, which costs a third of a plain chat here. */
function connectReading(origin: string, read: (text: string) => void): Socket {
  const { hostname, port } = new URL(origin);
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  const callback = (size: number): boolean => {
    read(buffer.toString("latin1", 0, size));
    return true;
  };
  return connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } });
}

/** Parses answers with a length or in chunks, one after the other, without pipelining. */
class Answers {
  /** Whether any byte of the body has arrived, of the current or the last answer. */
  hasBody = false;
  /** The start of the first failed answer. */
  fault: string | null = null;
  #head = "";
  #isEnded = true;
  /** Remaining bytes of the body. Null: it comes in chunks. */
  #left: number | null = null;
  #tail = "";
  readonly #success: string;

  constructor(success: string) {
    this.#success = `HTTP/1.1 ${success}`;
  }

  /** Such as 200. */
  get status(): string {
    return this.#head.slice(9, 12);
  }

  /** `text`: received Latin-1 text. Returns whether it completed an answer. */
  take(text: string): boolean {
    if (this.#isEnded) this.#begin();
    if (this.#head.endsWith(HEAD_END)) return this.#takeBody(text);
    const all = this.#head + text;
    const end = all.indexOf(HEAD_END);
    if (end === -1) {
      this.#head = all;
      return false;
    }
    this.#head = all.slice(0, end + HEAD_END.length);
    if (!this.#head.startsWith(this.#success)) this.fault ??= all.slice(0, FAULT_CHARACTERS);
    this.#left = contentLength(this.#head);
    return this.#takeBody(all.slice(this.#head.length));
  }

  #begin(): void {
    this.hasBody = false;
    this.#head = "";
    this.#isEnded = false;
    this.#tail = "";
  }

  #takeBody(text: string): boolean {
    this.hasBody ||= text !== "";
    if (this.#left === null) {
      this.#tail = (this.#tail + text).slice(-LAST_CHUNK.length);
      this.#isEnded = this.#tail === LAST_CHUNK;
    } else {
      this.#left -= text.length;
      this.#isEnded = this.#left <= 0;
    }
    return this.#isEnded;
  }
}
