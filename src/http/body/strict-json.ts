// Parses JSON strictly by RFC 8259: UTF-8 without byte order mark, limited depth and number of keys and values, no duplicate keys, no numbers or
// characters that would change silently [request-body.json-strict] [request-body.json-bounds].
import { decodeUtf8 } from "../../lib/text/utf8.ts";

export interface JsonLimits {
  readonly maxDepth: number;
  readonly maxKeys: number;
  /** Elements of all arrays together. */
  readonly maxElements: number;
}

export type StrictJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

class Refusal extends Error {}

export function parseStrictJson(bytes: Uint8Array, limits: JsonLimits): StrictJson {
  const text = decodeUtf8(bytes);
  if (text === null) return { ok: false, message: "The JSON is not valid UTF-8." };
  // Editors and shells insert an invisible one.
  if (text.startsWith("\ufeff"))
    return { ok: false, message: "The body begins with a byte order mark (U+FEFF), which JSON does not have." };
  if (text.trim() === "") return { ok: false, message: "The body is empty; a JSON object is expected." };
  try {
    const duplicate = scan(text, limits);
    const value: unknown = JSON.parse(text);
    if (duplicate !== null) return { ok: false, message: duplicate };
    return { ok: true, value };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, message: error.message };
    return { ok: false, message: "The body is not valid JSON." };
  }
}

interface Level {
  /** Null in an array. */
  readonly keys: Set<string> | null;
  expectsKey: boolean;
}

/** Only walks tokens. Whether they form valid JSON is decided by JSON.parse, which runs once the limits are checked. */
function scan(text: string, limits: JsonLimits): string | null {
  const levels: Level[] = [];
  let keys = 0;
  let elements = 0;
  let duplicate: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === 0x22) {
      const end = stringEnd(text, at);
      if (level?.keys && level.expectsKey) {
        keys += 1;
        if (keys > limits.maxKeys) throw new Refusal(`The JSON contains more than ${limits.maxKeys} keys.`);
        const key = readString(text, at, end);
        if (key === "__proto__") throw new Refusal("The key `__proto__` is not allowed.");
        if (level.keys.has(key))
          duplicate ??= `The JSON contains the key \`${key.slice(0, 100)}\` twice in one object.`;
        level.keys.add(key);
        level.expectsKey = false;
      } else if (mayHoldHalfPair(text.slice(at, end))) readString(text, at, end);
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      if (levels.length >= limits.maxDepth)
        throw new Refusal(`The JSON is nested deeper than ${limits.maxDepth} levels.`);
      levels.push({ keys: code === 0x7b ? new Set() : null, expectsKey: code === 0x7b });
    } else if (code === 0x7d || code === 0x5d) {
      levels.pop();
    } else if (code === 0x2c && level !== undefined) {
      level.expectsKey = level.keys !== null;
      elements += level.keys === null ? 1 : 0;
      if (elements >= limits.maxElements) {
        throw new Refusal(`The JSON's arrays contain more than ${limits.maxElements} elements.`);
      }
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      at = numberEnd(text, at) - 1;
    }
  }
  return duplicate;
}

function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  throw new Refusal("The JSON ends inside a string.");
}

function mayHoldHalfPair(raw: string): boolean {
  return raw.includes("\\u") && /\\u[dD][89a-fA-F]/.test(raw);
}

/** An escaped unpaired surrogate has no UTF-8 form and would reach the provider as another character. */
function readString(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  if (!raw.includes("\\")) return raw;
  const value: unknown = JSON.parse(text.slice(start, end + 1));
  if (typeof value !== "string" || !value.isWellFormed())
    throw new Refusal("A JSON string contains half of a surrogate pair.");
  return value;
}

const NUMBER = /[-+.0-9eE]+/y;

function numberEnd(text: string, start: number): number {
  NUMBER.lastIndex = start;
  const token = NUMBER.exec(text)?.[0] ?? "";
  // A shorter number without an exponent is always finite.
  if ((token.length > 300 || /[eE]/.test(token)) && !Number.isFinite(Number(token))) {
    throw new Refusal("The JSON contains a number outside the range of a double.");
  }
  return start + Math.max(1, token.length);
}
