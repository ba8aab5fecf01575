// The stored form of a job's result: JSON with an envelope that is read without parsing, `{"envelope_bytes":…,"envelope":…,"kept":…}`.
import type { AnswerRoom } from "../../lib/answer-room.ts";
import { freeBuffer } from "../../lib/free-buffer.ts";

const HEAD = /^\{"envelope_bytes":(\d{1,10}),"envelope":/u;
/** Head of results that earlier versions stored, without a length. */
const OLD_HEAD = '{"envelope":';
/** Occurs in no envelope as a member, and in no string, because quotation marks are escaped there. */
const OLD_BOUNDARY = Buffer.from(',"kept":{"content":');
const MAX_HEAD_CHARACTERS = 64;

export function storedForm(envelope: Buffer, kept: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`{"envelope_bytes":${envelope.length},"envelope":`),
    envelope,
    Buffer.from(',"kept":'),
    kept,
    Buffer.from("}"),
  ]);
}

/** Returns the envelope's bytes as they were stored. Reads to the end, because that proves them authentic. */
export async function takeEnvelope(stored: AsyncIterable<Buffer>, room: AnswerRoom): Promise<Buffer> {
  const pieces = stored[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  while (start.length < MAX_HEAD_CHARACTERS) {
    const next = await pieces.next();
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  const text = start.subarray(0, MAX_HEAD_CHARACTERS).toString("latin1");
  const head = HEAD.exec(text);
  const remaining = { [Symbol.asyncIterator]: () => pieces };
  if (head !== null) return takeBytes(start.subarray(head[0].length), remaining, Number(head[1]), room);
  if (!text.startsWith(OLD_HEAD)) throw new Error("a stored result without its envelope");
  return takeUntilBoundary(start.subarray(OLD_HEAD.length), remaining, room);
}

async function takeBytes(
  start: Buffer,
  remaining: AsyncIterable<Buffer>,
  bytes: number,
  room: AnswerRoom,
): Promise<Buffer> {
  room.reserve(bytes);
  const envelope = Buffer.allocUnsafeSlow(bytes);
  let at = start.copy(envelope);
  for await (const piece of remaining) {
    at += piece.copy(envelope, at);
    freeBuffer(piece);
  }
  if (at < bytes) throw new Error("a stored result shorter than it says");
  return envelope;
}

async function takeUntilBoundary(start: Buffer, remaining: AsyncIterable<Buffer>, room: AnswerRoom): Promise<Buffer> {
  const envelopeParts: Buffer[] = [];
  let envelope: Buffer | null = null;
  let searched = Buffer.alloc(0);
  const searchPiece = (piece: Buffer): void => {
    if (envelope !== null) return;
    const window = Buffer.concat([searched, piece]);
    const at = window.indexOf(OLD_BOUNDARY);
    if (at < 0) {
      // Keeps as many bytes as the beginning of a boundary could have.
      const settledLength = Math.max(0, window.length - OLD_BOUNDARY.length + 1);
      room.reserve(settledLength);
      envelopeParts.push(window.subarray(0, settledLength));
      searched = window.subarray(settledLength);
      return;
    }
    envelopeParts.push(window.subarray(0, at));
    envelope = Buffer.concat(envelopeParts.splice(0));
  };
  searchPiece(start);
  for await (const piece of remaining) searchPiece(piece);
  if (envelope === null) throw new Error("a stored result without its end");
  return envelope;
}

export function sealContext(workspaceId: string, jobId: string): readonly string[] {
  return ["jobs.result", workspaceId, jobId];
}
