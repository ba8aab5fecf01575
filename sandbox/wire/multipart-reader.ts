// A small strict multipart/form-data parser (RFC 7578): text fields are kept, the one file part is spooled as it arrives.
import { createSpool, type Spooled, type SpoolWriter } from "./spool.ts";

const HEADER_BYTES = 16_384;
const FIELD_BYTES = 4_194_304;
const LINE_END = Buffer.from("\r\n");
const HEADERS_END = Buffer.from("\r\n\r\n");

export interface ReceivedFile {
  readonly fieldName: string;
  readonly name: string;
  readonly contentType: string;
  readonly spooled: Spooled;
}
export interface MultipartBody {
  readonly fields: readonly (readonly [string, string])[];
  readonly file: ReceivedFile | null;
}
interface Part {
  readonly name: string;
  readonly fileName: string | null;
  readonly contentType: string;
}

export class MalformedMultipart extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MalformedMultipart";
  }
}

export function boundaryOf(contentType: string | undefined): string | null {
  const match = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;",]{1,70}))\s*(?:;|$)/i.exec(
    contentType ?? "",
  );
  return match?.[1] ?? match?.[2] ?? null;
}

/** Calls `onField` as soon as a field is complete, before the file that may follow it. */
export async function readMultipart(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  onField: (name: string, value: string) => void,
): Promise<MultipartBody> {
  const fields: [string, string][] = [];
  let file: ReceivedFile | null = null;
  let openSpool: SpoolWriter | null = null;
  const source = createWindow(chunks);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  try {
    // A leading line end makes the first boundary look like the others.
    source.prepend(LINE_END);
    const preamble = await source.readUntil(delimiter, HEADER_BYTES);
    if (preamble.length > 0) throw new MalformedMultipart("text before the first boundary");
    while (await hasAnotherPart(source)) {
      const part = parsePart((await source.readUntil(HEADERS_END, HEADER_BYTES)).toString("utf8"));
      if (part.fileName === null) {
        const value = (await source.readUntil(delimiter, FIELD_BYTES)).toString("utf8");
        fields.push([part.name, value]);
        onField(part.name, value);
      } else {
        if (file !== null) throw new MalformedMultipart("more than one file");
        openSpool = createSpool();
        await source.copyUntil(delimiter, openSpool.write);
        file = {
          fieldName: part.name,
          name: part.fileName,
          contentType: part.contentType,
          spooled: await openSpool.finish(),
        };
      }
    }
    await source.drain();
    return { fields, file };
  } catch (error) {
    await openSpool?.remove();
    throw error;
  }
}

async function hasAnotherPart(source: Window): Promise<boolean> {
  const mark = (await source.take(2)).toString("latin1");
  if (mark === "\r\n") return true;
  if (mark === "--") return false;
  throw new MalformedMultipart("a boundary is followed by neither a part nor the end");
}

function parsePart(text: string): Part {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new MalformedMultipart("a part header without a colon");
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get("content-disposition") ?? "";
  const name = parameter(disposition, "name");
  if (!/^form-data\s*;/i.test(disposition) || name === null)
    throw new MalformedMultipart("a part without a form-data name");
  return { name, fileName: parameter(disposition, "filename"), contentType: headers.get("content-type") ?? "" };
}

function parameter(header: string, name: string): string | null {
  const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, "i").exec(header);
  return match?.[1]?.replace(/\\(["\\])/g, "$1") ?? match?.[2] ?? null;
}

interface Window {
  readonly prepend: (bytes: Buffer) => void;
  readonly take: (count: number) => Promise<Buffer>;
  readonly readUntil: (mark: Buffer, limitBytes: number) => Promise<Buffer>;
  readonly copyUntil: (mark: Buffer, write: (chunk: Uint8Array) => Promise<void>) => Promise<void>;
  readonly drain: () => Promise<void>;
}

/** Bytes that have arrived and are not yet consumed. While a file is copied it holds at most one chunk and one mark's length. */
function createWindow(chunks: AsyncIterable<Uint8Array>): Window {
  const iterator = chunks[Symbol.asyncIterator]();
  let buffer: Buffer = Buffer.alloc(0);

  async function more(): Promise<void> {
    const next = await iterator.next();
    if (next.done === true) throw new MalformedMultipart("the body ends before its last boundary");
    buffer = buffer.length === 0 ? Buffer.from(next.value) : Buffer.concat([buffer, next.value]);
  }
  function shift(count: number): Buffer {
    const head = buffer.subarray(0, count);
    buffer = buffer.subarray(count);
    return head;
  }
  async function copyUntil(mark: Buffer, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    for (let at = buffer.indexOf(mark); ; at = buffer.indexOf(mark)) {
      if (at >= 0) {
        await write(shift(at));
        shift(mark.length);
        return;
      }
      // The last bytes may be the beginning of the mark.
      if (buffer.length >= mark.length) await write(shift(buffer.length - mark.length + 1));
      await more();
    }
  }
  return {
    prepend: (bytes) => {
      buffer = Buffer.concat([bytes, buffer]);
    },
    take: async (count) => {
      while (buffer.length < count) await more();
      return shift(count);
    },
    readUntil: async (mark, limitBytes) => {
      const parts: Buffer[] = [];
      let total = 0;
      await copyUntil(mark, async (chunk) => {
        total += chunk.length;
        if (total > limitBytes) throw new MalformedMultipart(`a part header or field above ${limitBytes} bytes`);
        parts.push(Buffer.from(chunk));
      });
      return Buffer.concat(parts);
    },
    copyUntil,
    drain: async () => {
      while ((await iterator.next()).done !== true) buffer = Buffer.alloc(0);
    },
  };
}
