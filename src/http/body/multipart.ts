// multipart/form-data as it streams in (RFC 7578, RFC 2046), and nothing that only resembles it: what common parsers accept (folded or
// missing headers, unlimited parts, cut bodies) is refused here [request-body.form-strict] [request-body.form-bounds].
import { type PartHeaders, parsePartHeaders } from "./part-headers.ts";

export interface PartReceiver {
  /** Awaited before the next bytes are looked at. */
  readonly data: (bytes: Buffer) => Promise<void> | void;
  readonly end: () => Promise<void> | void;
}

export const IGNORED: PartReceiver = { data: () => undefined, end: () => undefined };

/** The body is not multipart/form-data that this gateway takes. */
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

type State = "preamble" | "boundary" | "headers" | "content" | "epilogue";
interface Step {
  /** What is left waits for more bytes when nothing was used and the state stays. */
  readonly used: number;
  readonly next: State;
  readonly wait?: Promise<void> | void;
}

export interface MultipartReader {
  /** A promise asks the caller to wait, and to leave the chunk alone, before the next one; then it is the caller's again. */
  write(chunk: Buffer): Promise<void> | void;
  /** The body is over; text before the first and after the last boundary was ignored. */
  end(): void;
}

/** Both calls throw `MultipartFault`. A push reader, because a loop over an async iterator costs more than the reading. */
export function createMultipartReader(
  boundary: string,
  onPart: (headers: PartHeaders) => PartReceiver,
): MultipartReader {
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  let state: State = "preamble";
  let receiver: PartReceiver | null = null;
  let parts = 0;
  // The line end lets a boundary at the very beginning look like any other.
  let unread: Buffer = LINE_END;

  function step(buffer: Buffer): Step {
    switch (state) {
      case "preamble":
      case "content": {
        const found = buffer.indexOf(delimiter);
        if (found === 0) {
          const wait = receiver?.end();
          receiver = null;
          return { used: delimiter.length, next: "boundary", wait };
        }
        const end = found === -1 ? buffer.length - possibleStart(buffer, delimiter) : found;
        return { used: end, next: state, wait: end === 0 ? undefined : receiver?.data(buffer.subarray(0, end)) };
      }
      case "boundary": {
        const taken = readBoundaryRest(buffer);
        if (taken.next === "headers") parts += 1;
        if (parts > MAX_PARTS)
          throw new MultipartFault(`The form has more than ${MAX_PARTS} parts; send long lists as one JSON array.`);
        return taken;
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
      if (parts === 0)
        throw new MultipartFault("The body holds no part with the boundary that the Content-Type names.");
      throw new MultipartFault("The form ends without its closing boundary: the body was cut off.");
    },
  };
}

/** After `--boundary`: `--` ends the form, else white space may pad the line. */
function readBoundaryRest(buffer: Buffer): Step {
  if (buffer.length < 2) return { used: 0, next: "boundary" };
  if (buffer[0] === HYPHEN && buffer[1] === HYPHEN) return { used: 2, next: "epilogue" };
  const lineEnd = buffer.subarray(0, MAX_BOUNDARY_PADDING + 2).indexOf(LINE_END);
  // Without the line's end the last byte may be its CR.
  const padding = buffer.subarray(0, lineEnd === -1 ? buffer.length - 1 : lineEnd);
  if (padding.length > MAX_BOUNDARY_PADDING || padding.some((byte) => byte !== 0x20 && byte !== 0x09)) {
    throw new MultipartFault("A boundary line goes on after its boundary.");
  }
  // The line's end stays: a part without any header has its blank line right there.
  return lineEnd === -1 ? { used: 0, next: "boundary" } : { used: lineEnd, next: "headers" };
}

/** How many of the last bytes could be the beginning of the delimiter, which begins with its only CR. */
function possibleStart(buffer: Buffer, delimiter: Buffer): number {
  const tail = buffer.subarray(Math.max(0, buffer.length - delimiter.length + 1));
  const at = tail.lastIndexOf(0x0d);
  return at !== -1 && tail.compare(delimiter, 0, tail.length - at, at) === 0 ? tail.length - at : 0;
}
