// The stored form of a job's result, JSON that its envelope is taken from without parsing: `{"envelope_bytes":…,"envelope":…,"kept":…}`.
import type { AnswerRoom } from "../lib/answer-room.ts";
import { freeBuffer } from "../lib/free-buffer.ts";

const HEAD = /^\{"envelope_bytes":(\d{1,10}),"envelope":/u;
/** Of what earlier versions stored, without a length. */
const OLD_HEAD = '{"envelope":';
/** A member of no envelope, and never in a string, where quotation marks are escaped. */
const OLD_BOUNDARY = Buffer.from(',"kept":{"content":');
const LONGEST_HEAD = 64;

export function storedForm(envelope: Buffer, kept: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`{"envelope_bytes":${envelope.length},"envelope":`),
    envelope,
    Buffer.from(',"kept":'),
    kept,
    Buffer.from("}"),
  ]);
}

/** The envelope's bytes as they were written. Reads to the end, which is what proves them authentic. */
export async function takeEnvelope(stored: AsyncIterable<Buffer>, room: AnswerRoom): Promise<Buffer> {
  const pieces = stored[Symbol.asyncIterator]();
  let begin: Buffer = Buffer.alloc(0);
  while (begin.length < LONGEST_HEAD) {
    const next = await pieces.next();
    if (next.done === true) break;
    begin = Buffer.concat([begin, next.value]);
  }
  const text = begin.subarray(0, LONGEST_HEAD).toString("latin1");
  const head = HEAD.exec(text);
  const rest = { [Symbol.asyncIterator]: () => pieces };
  if (head !== null) return takeBytes(begin.subarray(head[0].length), rest, Number(head[1]), room);
  if (!text.startsWith(OLD_HEAD)) throw new Error("a stored result without its envelope");
  return takeUntilBoundary(begin.subarray(OLD_HEAD.length), rest, room);
}

async function takeBytes(begin: Buffer, rest: AsyncIterable<Buffer>, bytes: number, room: AnswerRoom): Promise<Buffer> {
  room.reserve(bytes);
  const envelope = Buffer.allocUnsafeSlow(bytes);
  let at = begin.copy(envelope);
  for await (const piece of rest) {
    at += piece.copy(envelope, at);
    freeBuffer(piece);
  }
  if (at < bytes) throw new Error("a stored result shorter than it says");
  return envelope;
}

async function takeUntilBoundary(begin: Buffer, rest: AsyncIterable<Buffer>, room: AnswerRoom): Promise<Buffer> {
  const taken: Buffer[] = [];
  let found: Buffer | null = null;
  let searched = Buffer.alloc(0);
  const take = (piece: Buffer): void => {
    if (found !== null) return;
    const window = Buffer.concat([searched, piece]);
    const at = window.indexOf(OLD_BOUNDARY);
    if (at < 0) {
      // As much stays as a boundary could begin in.
      const settled = Math.max(0, window.length - OLD_BOUNDARY.length + 1);
      room.reserve(settled);
      taken.push(window.subarray(0, settled));
      searched = window.subarray(settled);
      return;
    }
    taken.push(window.subarray(0, at));
    found = Buffer.concat(taken.splice(0));
  };
  take(begin);
  for await (const piece of rest) take(piece);
  if (found === null) throw new Error("a stored result without its end");
  return found;
}
