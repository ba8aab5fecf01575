// One connection of a load, which asks for one thing after another and reads the answers with as little work as possible: what it spends is
// taken from the cores that it shares with what it measures.
import { connect, type Socket } from "node:net";

const READ_BYTES = 65_536;
const FAULT_CHARACTERS = 1_000;
const HEAD_END = "\r\n\r\n";
const LAST_CHUNK = "\r\n0\r\n\r\n";

export interface Asking {
  readonly origin: string;
  /** How the status of a success begins, such as 200, or 2 for all that are. */
  readonly success: string;
  /** The pieces of the next request; null: that was all. */
  readonly next: () => readonly Buffer[] | null;
  readonly answered: (answer: Answered) => void;
}

export interface Answered {
  /** Such as 200; or `closed`: nothing more came. */
  readonly status: string;
  readonly sentMs: number;
  /** When the first of the body came; null: none did. */
  readonly firstMs: number | null;
  readonly endedMs: number;
}

/** Until there is nothing more to ask, or the connection is gone. Answers with the first fault: how an answer begins that was no success, or why none came. */
export function askInTurn({ origin, success, next, answered }: Asking): Promise<string | null> {
  return new Promise((resolve) => {
    const answers = new Answers(success);
    let fault: string | null = null;
    let sentMs: number | null = null;
    let firstMs: number | null = null;
    const ask = (): void => {
      const pieces = next();
      if (pieces === null) {
        sentMs = null;
        socket.destroy();
        return;
      }
      firstMs = null;
      sentMs = performance.now();
      socket.cork();
      for (const piece of pieces) socket.write(piece);
      socket.uncork();
    };
    const tell = (status: string, endedMs: number): void => {
      if (sentMs !== null) answered({ status, sentMs, firstMs, endedMs });
    };
    const socket = connectReading(origin, (text) => {
      const hasEnded = answers.take(text);
      if (!hasEnded && firstMs !== null) return;
      const nowMs = performance.now();
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

/** What a head says of its body; null: nothing. */
export function contentLength(head: string): number | null {
  const length = /\r\ncontent-length: *(\d+)/iu.exec(head)?.[1];
  return length === undefined ? null : Number(length);
}

/** `read`: of what comes, in Latin-1. It goes past the socket's stream, which is a third of what a plain chat costs here. */
function connectReading(origin: string, read: (text: string) => void): Socket {
  const { hostname, port } = new URL(origin);
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  const callback = (size: number): boolean => {
    read(buffer.toString("latin1", 0, size));
    return true;
  };
  return connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } });
}

/** Each with a length or in chunks, one after the other: the next is asked for when one has ended. */
class Answers {
  /** Whether any of a body has come, of the answer under way or the last. */
  hasBody = false;
  /** Of the first that was no success, how it begins. */
  fault: string | null = null;
  #head = "";
  #isEnded = true;
  /** Of the body, still to come; null: it comes in chunks. */
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

  /** `text`: what came, in Latin-1. Answers whether an answer ended with it. */
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
