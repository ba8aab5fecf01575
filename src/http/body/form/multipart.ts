// Parses multipart/form-data as it streams in (RFC 7578, RFC 2046), strictly: what common parsers accept (folded or missing headers, unlimited parts,
// truncated bodies) is refused [request-body.form-strict] [request-body.form-bounds].
import { type PartHeaders, parsePartHeaders } from "./part-headers.ts";

export interface PartReceiver {
  /** Awaited before the next bytes are parsed. */
  readonly data: (bytes: Buffer) => Promise<void> | void;
  readonly end: () => Promise<void> | void;
}

export const IGNORED: PartReceiver = { data: () => undefined, end: () => undefined };

/** The body is not multipart/form-data that this gateway accepts. */
export class MultipartFault extends Error {
  readonly param: string | null;

  constructor(message: string, param: string | null = null) {
    super(message);
    this.param = param;
  }
}

const MAX_PARTS = 64;
const MAX_HEADER_BLOCK_BYTES = 8_192;
const MAX_BOUNDARY_PADDING = 256;
const LINE_END = Buffer.from("\r\n");
const HEADERS_END = Buffer.from("\r\n\r\n");
const HYPHEN = 0x2d;

type State = "start" | "preamble" | "boundary" | "headers" | "content" | "epilogue";
interface Step {
  /** Number of bytes consumed. With 0 and an unchanged state, the parser waits for more bytes. */
  readonly used: number;
  readonly next: State;
  readonly wait?: Promise<void> | void;
}

export interface MultipartReader {
  /** If a promise is returned, wait for it before reusing the chunk or writing the next one. */
  write(chunk: Buffer): Promise<void> | void;
  /** Call at the end of the body. Text before the first and after the last boundary was ignored. */
  end(): void;
}

/** Both methods throw `MultipartFault`. A push parser, because a loop over an async iterator costs more than the parsing. */
export function createMultipartReader(
  boundary: string,
  onPart: (headers: PartHeaders) => PartReceiver,
): MultipartReader {
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  /** At the very beginning a boundary has no line end before it. A line end put in front of the first chunk would copy the chunk, mostly 64 KB of audio. */
  const opening = delimiter.subarray(LINE_END.length);
  let state: State = "start";
  let receiver: PartReceiver | null = null;
  let parts = 0;
  let unread: Buffer = Buffer.alloc(0);

  function step(buffer: Buffer): Step {
    switch (state) {
      case "start": {
        const begin = buffer.subarray(0, opening.length);
        if (!begin.equals(opening.subarray(0, begin.length))) return { used: 0, next: "preamble" };
        return begin.length < opening.length ? { used: 0, next: "start" } : { used: begin.length, next: "boundary" };
      }
      case "preamble":
      case "content": {
        const delimiterIndex = buffer.indexOf(delimiter);
        if (delimiterIndex === 0) {
          const wait = receiver?.end();
          receiver = null;
          return { used: delimiter.length, next: "boundary", wait };
        }
        const end = delimiterIndex === -1 ? buffer.length - possibleStart(buffer, delimiter) : delimiterIndex;
        return { used: end, next: state, wait: end === 0 ? undefined : receiver?.data(buffer.subarray(0, end)) };
      }
      case "boundary": {
        const boundaryStep = readBoundaryRest(buffer);
        if (boundaryStep.next === "headers") parts += 1;
        if (parts > MAX_PARTS)
          throw new MultipartFault(`The form has more than ${MAX_PARTS} parts; send long lists as one JSON array.`);
        return boundaryStep;
      }
      case "headers": {
        const end = buffer.subarray(0, MAX_HEADER_BLOCK_BYTES + HEADERS_END.length).indexOf(HEADERS_END);
        if (end === -1 && buffer.length <= MAX_HEADER_BLOCK_BYTES) return { used: 0, next: "headers" };
        if (end === -1) throw new MultipartFault(`A part's headers are longer than ${MAX_HEADER_BLOCK_BYTES} bytes.`);
        const parsed = parsePartHeaders(buffer.subarray(LINE_END.length, Math.max(LINE_END.length, end)));
        if (!parsed.ok) throw new MultipartFault(parsed.message, parsed.param);
        receiver = onPart(parsed.headers);
        return { used: end + HEADERS_END.length, next: "content" };
      }
      case "epilogue":
        return { used: buffer.length, next: "epilogue" };
    }
  }

  function advance(): Promise<void> | void {
    while (unread.length > 0) {
      const { used, next, wait } = step(unread);
      if (used === 0 && next === state) {
        unread = Buffer.from(unread);
        return;
      }
      unread = unread.subarray(used);
      state = next;
      if (wait !== undefined) return wait.then(advance);
    }
  }

  return {
    write(chunk) {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
      return advance();
    },
    end() {
      if (state === "epilogue") return;
      if (parts === 0) throw new MultipartFault("The body contains no part with the boundary from the Content-Type.");
      throw new MultipartFault("The form ends without its closing boundary: the body was cut off.");
    },
  };
}

/** Parses what follows `--boundary`: `--` ends the form, otherwise white space may pad the line. */
function readBoundaryRest(buffer: Buffer): Step {
  if (buffer.length < 2) return { used: 0, next: "boundary" };
  if (buffer[0] === HYPHEN && buffer[1] === HYPHEN) return { used: 2, next: "epilogue" };
  const lineEnd = buffer.subarray(0, MAX_BOUNDARY_PADDING + 2).indexOf(LINE_END);
  // Without a line end, the last byte may be its CR.
  const padding = buffer.subarray(0, lineEnd === -1 ? buffer.length - 1 : lineEnd);
  if (padding.length > MAX_BOUNDARY_PADDING || padding.some((byte) => byte !== 0x20 && byte !== 0x09)) {
    throw new MultipartFault("A boundary line contains other text after its boundary.");
  }
  // The line end is not consumed, because the blank line of a part without headers starts with it.
  return lineEnd === -1 ? { used: 0, next: "boundary" } : { used: lineEnd, next: "headers" };
}

/** How many of the last bytes could be the start of the delimiter. A CR occurs only as its first byte. */
function possibleStart(buffer: Buffer, delimiter: Buffer): number {
  const tail = buffer.subarray(Math.max(0, buffer.length - delimiter.length + 1));
  const at = tail.lastIndexOf(0x0d);
  return at !== -1 && tail.compare(delimiter, 0, tail.length - at, at) === 0 ? tail.length - at : 0;
}
