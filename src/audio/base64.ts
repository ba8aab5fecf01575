// Streaming base64 decoder for audio [request-body.base64]. Strict where Buffer.from is lenient and skips or decodes invalid characters. Accepts non-zero spare
// bits after the last byte, as every common decoder does.

export type Base64Outcome =
  | { readonly ok: true /** From a `data:` prefix. */; readonly mediaType: string | null }
  | { readonly ok: false; readonly message: string };

export interface Base64Decoder {
  /** Consumes all of `text` at once and returns the bytes that became complete. Empty once the value is known to be invalid. */
  push(text: Uint8Array): Uint8Array;
  /** The last bytes, and the outcome for the whole value. */
  end(): { readonly rest: Uint8Array; readonly outcome: Base64Outcome };
}

const NONE: Uint8Array = new Uint8Array(0);
const STANDARD = 1;
const URL_SAFE = 2;
const MIXED = STANDARD | URL_SAFE;
const SPACE = 4;
const LINE_BREAK = 8;
const PADDING = 16;
const FOREIGN = 32;
const CLASS = characterClasses();
const MAX_PREFIX_BYTES = 512;

/** `lineBreaks: false` where raw CR, LF and tab are illegal around the value anyway, as inside a JSON string. */
export function createBase64Decoder(options: { readonly lineBreaks: boolean }): Base64Decoder {
  const refusedClasses = FOREIGN | (options.lineBreaks ? 0 : LINE_BREAK);
  let fault: string | null = null;
  let mediaType: string | null = null;
  let opening: Uint8Array | null = NONE;
  let alphabets = 0;
  let characters = 0;
  let padding = 0;
  let carry = "";

  function fail(message: string): void {
    fault = message;
    carry = "";
  }

  /** Holds the first characters until it is clear whether they are a `data:` prefix. Null: not clear yet, or invalid. */
  function readOpening(text: Uint8Array): Uint8Array | null {
    const start = Buffer.concat([opening ?? NONE, text]);
    const value = start.subarray(leadingBytes(start, options.lineBreaks ? SPACE | LINE_BREAK : SPACE));
    const prefix = readDataPrefix(value);
    if (prefix.kind === "unclear") {
      opening = Uint8Array.from(value);
      return null;
    }
    opening = null;
    if (prefix.kind === "faulty") {
      fail(prefix.message);
      return null;
    }
    mediaType = prefix.mediaType;
    return value.subarray(prefix.length);
  }

  function decode(text: Uint8Array): Uint8Array {
    let classes = 0;
    for (let i = 0; i < text.length; i += 1) classes |= CLASS[text[i] ?? 0] ?? FOREIGN;
    const isPlain = padding === 0 && (classes | alphabets) < MIXED;
    const plain = isPlain ? text : readEach(text);
    if (plain === null) return NONE;
    alphabets |= classes & MIXED;
    characters += plain.length;
    const encodedText = carry + Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString("latin1");
    const usable = encodedText.length - (encodedText.length % 4);
    carry = encodedText.slice(usable);
    return usable === 0
      ? NONE
      : Buffer.from(usable === encodedText.length ? encodedText : encodedText.slice(0, usable), "base64");
  }

  /** Character by character, so that the first invalid one is reported, however the value is chunked. */
  function readEach(text: Uint8Array): Uint8Array | null {
    const plain = new Uint8Array(text.length);
    let length = 0;
    for (let i = 0; i < text.length; i += 1) {
      const byte = text[i] ?? 0;
      const kind = CLASS[byte] ?? FOREIGN;
      if ((kind & refusedClasses) !== 0) {
        fail(
          kind === FOREIGN
            ? "It contains a character that is not base64."
            : "It contains a line break or tab that is not escaped.",
        );
        return null;
      }
      if (kind === PADDING) {
        padding += 1;
        if (padding <= 2) continue;
        fail("Base64 ends in at most two padding characters (=).");
        return null;
      }
      if ((kind & (SPACE | LINE_BREAK)) !== 0) continue;
      alphabets |= kind;
      if (padding > 0 || alphabets === MIXED) {
        const mixed = "It mixes the standard (+ /) and the URL-safe (- _) base64 alphabet.";
        fail(padding > 0 ? "It contains base64 padding (=) before its end." : mixed);
        return null;
      }
      plain[length] = byte;
      length += 1;
    }
    return plain.subarray(0, length);
  }

  return {
    push(text) {
      if (fault !== null || text.length === 0) return NONE;
      const value = opening === null ? text : readOpening(text);
      return value === null || fault !== null ? NONE : decode(value);
    },
    end() {
      let rest = NONE;
      if (fault === null && opening !== null && opening.length > 0) {
        const openingBytes = opening;
        opening = null;
        rest = decode(openingBytes);
      }
      if (fault === null && characters % 4 === 1)
        fail("Its length is impossible for base64: a character is missing or one too many.");
      if (fault === null && padding > 0 && (characters + padding) % 4 !== 0) {
        fail("Its padding (=) does not match its length; omit the padding or correct it.");
      }
      if (fault !== null) return { rest: NONE, outcome: { ok: false, message: fault } };
      return { rest: Buffer.concat([rest, Buffer.from(carry, "base64")]), outcome: { ok: true, mediaType } };
    },
  };
}

type DataPrefix =
  | { readonly kind: "unclear" }
  | { readonly kind: "faulty"; readonly message: string }
  | { readonly kind: "read"; readonly length: number; readonly mediaType: string | null };

function readDataPrefix(value: Buffer): DataPrefix {
  const start = value.toString("latin1", 0, 6).toLowerCase();
  if (/^https?:/.test(start)) return { kind: "faulty", message: "It is a URL; send it as `audio.url`." };
  if (!start.startsWith("data:")) {
    const isUnclear = ["data:", "http:", "https:"].some((scheme) => scheme.startsWith(start));
    return isUnclear ? { kind: "unclear" } : { kind: "read", length: 0, mediaType: null };
  }
  const comma = value.indexOf(0x2c);
  if ((comma === -1 ? value.length : comma) > MAX_PREFIX_BYTES) {
    return { kind: "faulty", message: `The data: prefix is longer than ${MAX_PREFIX_BYTES} characters.` };
  }
  if (comma === -1) return { kind: "unclear" };
  const [type = "", ...parameters] = value.toString("latin1", 5, comma).split(";");
  if (parameters.at(-1)?.toLowerCase() !== "base64") {
    return { kind: "faulty", message: "A data: prefix must end in ;base64, before the audio." };
  }
  if (type !== "" && !/^[\w.+-]{1,127}\/[\w.+-]{1,127}$/.test(type)) {
    return { kind: "faulty", message: "The data: prefix has no media type." };
  }
  return { kind: "read", length: comma + 1, mediaType: type === "" ? null : type.toLowerCase() };
}

function leadingBytes(bytes: Uint8Array, kinds: number): number {
  let at = 0;
  while (at < bytes.length && ((CLASS[bytes[at] ?? 0] ?? 0) & kinds) !== 0) at += 1;
  return at;
}

/** Letters and digits are 0, so that most of a value needs no second check. */
function characterClasses(): Uint8Array {
  const classes = new Uint8Array(256).fill(FOREIGN);
  for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    classes[character.charCodeAt(0)] = 0;
  for (const [characters, kind] of [
    ["+/", STANDARD],
    ["-_", URL_SAFE],
    [" ", SPACE],
    ["\r\n\t", LINE_BREAK],
    ["=", PADDING],
  ] as const) {
    for (const character of characters) classes[character.charCodeAt(0)] = kind;
  }
  return classes;
}
