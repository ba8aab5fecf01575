// Server-sent events out of bytes, in one place for every provider: however the bytes were split on the way, a character
// or a line end in the middle of it, the events are the same. Those that came together are passed on together, for each step on the
// way to a caller costs turns of its own.
import { TextDecoder } from "node:util";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { yieldToEventLoop } from "../lib/concurrency/run-cooperatively.ts";
import { type FailureKind, ProviderError, type WireStream } from "./io.ts";
import { kindOfUnended } from "./read-reply.ts";

/**
 * An event is parsed and looked at in one step, which took 60 ms at this length and half a second at eight times it. The longest
 * honest ones bring an answer whole, some hundred thousand characters. The stream has its own limit in the dialer.
 */
const MAX_EVENT_CHARACTERS = 2_000_000;

/** As much is read in one turn of the event loop: the shortest events are 2,000 in it, and take 10 ms. */
const TURN_BYTES = 16 * 1024;

/** What came together; never nothing. */
export interface Messages {
  readonly messages: readonly EventSourceMessage[];
  /** What it means that one of them is broken: the last of a stream may have been cut. */
  readonly broken: FailureKind;
}

/** What came before a fault is passed on before it is thrown. */
export async function* readEvents(stream: WireStream): AsyncGenerator<Messages> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let ready: EventSourceMessage[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: (event) => {
      if (!isKeepAlive(event)) ready.push(event);
    },
    onError: (error) => {
      // Fields that nobody knows are to be ignored, says the standard.
      isTooLong ||= error.type === "max-buffer-size-exceeded";
    },
  });
  const feed = (text: string): void => {
    parser.feed(text);
    if (isTooLong) throw new ProviderError("bad_reply", { reason: "event_too_long" });
  };
  const take = (): Messages => {
    const messages = ready;
    ready = [];
    return { messages, broken: "bad_reply" };
  };
  for await (const chunks of stream.body) {
    let fedBytes = 0;
    for (const part of partsOf(chunks)) {
      if (fedBytes >= TURN_BYTES) {
        if (ready.length > 0) yield take();
        await yieldToEventLoop();
        fedBytes = 0;
      }
      try {
        feed(orBroken("bad_reply", () => decoder.decode(part, { stream: true })));
      } catch (error) {
        if (ready.length > 0) yield take();
        throw error;
      }
      fedBytes += part.byteLength;
    }
    if (ready.length > 0) yield take();
  }
  const broken = kindOfUnended(stream);
  try {
    // Some servers end on their last line and forget the empty one.
    feed(`${orBroken(broken, () => decoder.decode())}\n\n`);
  } finally {
    if (ready.length > 0) yield { messages: ready, broken };
  }
}

/** By name, or without data: empty as in the HTML standard, an empty JSON value, or a comment that a proxy has put into data. */
function isKeepAlive({ event, data }: EventSourceMessage): boolean {
  if (event !== undefined && KEEP_ALIVE_NAMES.has(event)) return true;
  if (data.length > 0 && data[0] === "{") return false;
  const said = data.trim();
  return said === "" || said === "null" || said === '""' || said.startsWith(":");
}

const KEEP_ALIVE_NAMES: ReadonlySet<string> = new Set(["ping", "keepalive", "keep-alive", "heartbeat"]);

function* partsOf(chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const chunk of chunks)
    for (let at = 0; at < chunk.byteLength; at += TURN_BYTES) yield chunk.subarray(at, at + TURN_BYTES);
}

function orBroken(kind: FailureKind, decode: () => string): string {
  try {
    return decode();
  } catch {
    throw new ProviderError(kind, { reason: "not_utf8" });
  }
}
