// The answers on a load's connections, read with as little work as possible: what it spends is taken from the cores that it shares
// with what it measures.
import { connect, type Socket } from "node:net";

const READ_BYTES = 65_536;
const FAULT_CHARACTERS = 1_000;
const HEAD_END = "\r\n\r\n";
const LAST_CHUNK = "\r\n0\r\n\r\n";

/** `read`: of what comes, in Latin-1. It goes past the socket's stream, which is a third of what a plain chat costs here. */
export function connectReading(origin: string, read: (text: string) => void): Socket {
  const { hostname, port } = new URL(origin);
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  const callback = (size: number): boolean => {
    read(buffer.toString("latin1", 0, size));
    return true;
  };
  return connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } });
}

/** Of one connection, each with a length or in chunks, one after the other: the next is asked for when one has ended. */
export class Answers {
  /** Whether any of a body has come, of the answer under way or the last. */
  hasBody = false;
  /** Of the first that was no success, how it begins. */
  fault: string | null = null;
  #head = "";
  #isEnded = true;
  /** Of the body, still to come; null: it comes in chunks. */
  #left: number | null = null;
  #tail = "";

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
    if (!this.status.startsWith("2")) this.fault ??= all.slice(0, FAULT_CHARACTERS);
    const length = /\r\ncontent-length: *(\d+)/iu.exec(this.#head)?.[1];
    this.#left = length === undefined ? null : Number(length);
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
