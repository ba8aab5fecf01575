// Extracts the base64 audio from a JSON body while it streams in, so that 25 MiB are never in memory at once and no step blocks for long
// [request-body.bounded-memory]. The remaining JSON is small and has "" in place of the audio.
import { createByteCollector } from "./byte-collector.ts";
import { createJsonStringReader, JsonBodyFault } from "./json-string.ts";

const JSON_AUDIO_PARAMS = ["audio", "audio.base64", "audio.data"] as const;
export type JsonAudioParam = (typeof JSON_AUDIO_PARAMS)[number];

export interface JsonAudioEvents {
  /** A member of the body (`purpose`) or of its `audio` object (`audio.url`). Not called if the value is null, which counts as not sent. */
  readonly onName: (name: string) => void;
  readonly onAudioStart: (param: JsonAudioParam) => void;
  /** Base64 characters, unescaped. The bytes are not reused. */
  readonly onAudio: (text: Uint8Array) => void;
  readonly onAudioEnd: () => void;
}

export interface JsonAudioScanner {
  push(chunk: Buffer): void;
  /** The body without its audio. */
  end(): Buffer;
}

const MAX_NAME_BYTES = 128;
const QUOTE = 0x22;
/** The first byte of `null`. No other JSON value starts with an n. */
const NULL_BEGINS = 0x6e;
const BEFORE_VALUE: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d, 0x3a]);
const EMPTY_STRING = Buffer.from('""');
interface Level {
  readonly isObject: boolean;
  expectsKey: boolean;
  key: string | null;
}

export function createJsonAudioScanner(
  limits: { readonly maxRestBytes: number; readonly maxDepth: number },
  events: JsonAudioEvents,
): JsonAudioScanner {
  const rest = createByteCollector(limits.maxRestBytes);
  const levels: Level[] = [];
  let mode: "structure" | "string" | "audio" = "structure";
  /** Collects the current string while it may be a relevant member name. */
  let name: { readonly level: Level; bytes: number[] } | null = null;
  const names = createNameReporter(events.onName);
  let isEscaped = false;
  const audio = createJsonStringReader(events.onAudio);

  function keep(bytes: Uint8Array): void {
    if (!rest.add(bytes))
      throw new JsonBodyFault(`Without its audio the JSON is larger than ${limits.maxRestBytes} bytes.`);
  }

  /** Returns the index after the bytes it consumed. */
  function readStructure(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at += 1) {
      const byte = chunk[at];
      const level = levels.at(-1);
      names.beforeByte(byte);
      if (byte === QUOTE) {
        const isKey = level?.isObject === true && level.expectsKey;
        const param = isKey ? null : audioParamAt(levels);
        if (param !== null) {
          keep(chunk.subarray(start, at));
          keep(EMPTY_STRING);
          events.onAudioStart(param);
          mode = "audio";
          return at + 1;
        }
        name = isKey && levels.length <= 2 ? { level, bytes: [] } : null;
        if (isKey) level.expectsKey = false;
        mode = "string";
        keep(chunk.subarray(start, at + 1));
        return at + 1;
      }
      if (byte === 0x7b || byte === 0x5b) {
        if (levels.length >= limits.maxDepth)
          throw new JsonBodyFault(`The JSON is nested deeper than ${limits.maxDepth} levels.`);
        levels.push({ isObject: byte === 0x7b, expectsKey: byte === 0x7b, key: null });
      } else if (byte === 0x7d || byte === 0x5d) levels.pop();
      else if (byte === 0x2c && level !== undefined) level.expectsKey = level.isObject;
    }
    keep(chunk.subarray(start));
    return chunk.length;
  }

  function readString(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (!isEscaped && byte === QUOTE) {
        mode = "structure";
        finishName();
        keep(chunk.subarray(start, at + 1));
        return at + 1;
      }
      isEscaped = !isEscaped && byte === 0x5c;
      if (name !== null && name.bytes.push(byte) > MAX_NAME_BYTES) {
        name.level.key = null;
        name = null;
      }
    }
    keep(chunk.subarray(start));
    return chunk.length;
  }

  function finishName(): void {
    if (name === null) return;
    const key = decodeName(Buffer.from(name.bytes));
    name.level.key = key;
    name = null;
    if (key === null) return;
    if (levels.length === 1) names.named(key);
    else if (levels[0]?.isObject === true && levels[0].key === "audio") names.named(`audio.${key}`);
  }

  function readAudio(chunk: Buffer, start: number): number {
    const { next, isEnd } = audio.read(chunk, start);
    if (isEnd) {
      mode = "structure";
      events.onAudioEnd();
    }
    return next;
  }

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length; ) {
        at =
          mode === "structure"
            ? readStructure(chunk, at)
            : mode === "string"
              ? readString(chunk, at)
              : readAudio(chunk, at);
      }
    },
    end() {
      if (mode !== "structure") throw new JsonBodyFault("The JSON ends inside a string.");
      return rest.bytes();
    },
  };
}

/** Reports a member name when its value starts, unless the value is null. */
function createNameReporter(onName: (name: string) => void) {
  let pending: string | null = null;
  return {
    named: (name: string): void => {
      pending = name;
    },
    beforeByte: (byte: number | undefined): void => {
      if (pending === null || BEFORE_VALUE.has(byte)) return;
      if (byte !== NULL_BEGINS) onName(pending);
      pending = null;
    },
  };
}

/** The audio parameter if a string value at this position is audio, otherwise null. */
function audioParamAt(levels: readonly Level[]): JsonAudioParam | null {
  const [body, member] = levels;
  if (body?.key !== "audio" || !body.isObject) return null;
  if (levels.length === 1) return "audio";
  if (levels.length !== 2 || member?.isObject !== true) return null;
  if (member.key === "base64") return "audio.base64";
  return member.key === "data" ? "audio.data" : null;
}

function decodeName(bytes: Buffer): string | null {
  const text = bytes.toString("utf8");
  if (!text.includes("\\")) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return null;
  }
}
