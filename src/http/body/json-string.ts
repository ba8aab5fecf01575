// Reads the content of one long JSON string as it streams in, and unescapes it. Optimized for base64, where escapes are rare.

export interface JsonStringReader {
  /** Reads from `start` to the closing quote or the end of the chunk. */
  read(chunk: Buffer, start: number): { readonly next: number; readonly isEnd: boolean };
}

/** The body is not JSON that this gateway accepts. */
export class JsonBodyFault extends Error {}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UNICODE = 0x75;
const NOTHING = -1;
/** Base64 ignores line breaks and tabs, so their escapes are dropped. Raw ones, which JSON forbids, remain and are detected. */
const ESCAPES = new Map(
  (
    [
      ["/", 0x2f],
      ["\\", BACKSLASH],
      ['"', QUOTE],
      ["b", 8],
      ["f", 12],
      ["n", NOTHING],
      ["r", NOTHING],
      ["t", NOTHING],
    ] as const
  ).map(([character, byte]) => [character.charCodeAt(0), byte]),
);

/** A reader can read several strings, one after the other. The bytes passed to `onText` are not reused. */
export function createJsonStringReader(onText: (bytes: Uint8Array) => void): JsonStringReader {
  let isEscaped = false;
  let hexDigitsLeft = 0;
  let code = 0;

  /** Returns the byte that a completed escape represents. NOTHING: the escape is incomplete, or base64 ignores the byte. */
  function readEscape(byte: number): number {
    if (hexDigitsLeft === 0) {
      isEscaped = false;
      if (byte !== UNICODE) return ESCAPES.get(byte) ?? refuse();
      hexDigitsLeft = 4;
      code = 0;
      return NOTHING;
    }
    code = code * 16 + hexDigit(byte);
    hexDigitsLeft -= 1;
    if (hexDigitsLeft > 0 || code === 0x0a || code === 0x0d || code === 0x09) return NOTHING;
    // 0xff is not a base64 character.
    return code < 0x80 ? code : 0xff;
  }

  /** Copies the text of a chunk that contains an escape. Returns the index of the quote or the chunk's end. */
  function readEscaped(chunk: Buffer, start: number): number {
    const text = Buffer.allocUnsafe(chunk.length - start);
    let length = 0;
    let at = start;
    for (; at < chunk.length; at += 1) {
      let byte = chunk[at] ?? 0;
      if (isEscaped || hexDigitsLeft > 0) byte = readEscape(byte);
      else if (byte === QUOTE) break;
      else if (byte === BACKSLASH) {
        isEscaped = true;
        byte = NOTHING;
      }
      if (byte === NOTHING) continue;
      text[length] = byte;
      length += 1;
    }
    if (length > 0) onText(text.subarray(0, length));
    return at;
  }

  return {
    read(chunk, start) {
      const quoteIndex = chunk.indexOf(QUOTE, start);
      const quote = quoteIndex === -1 ? chunk.length : quoteIndex;
      const isPlain = !isEscaped && hexDigitsLeft === 0 && !chunk.subarray(start, quote).includes(BACKSLASH);
      const end = isPlain ? quote : readEscaped(chunk, start);
      if (isPlain && quote > start) onText(chunk.subarray(start, quote));
      return end < chunk.length ? { next: end + 1, isEnd: true } : { next: end, isEnd: false };
    },
  };
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : refuse();
}

function refuse(): never {
  throw new JsonBodyFault("The body is not valid JSON.");
}
