// Parses server-sent events from bytes for every provider, independent of how the bytes are chunked. Events that arrived together are yielded together, because
// each step on the way to a caller costs event-loop turns.
import { TextDecoder } from "node:util";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { yieldToEventLoop } from "../../lib/concurrency/tick-budget.ts";
import { type FailureKind, ProviderError, type WireStream } from "../io.ts";
import { incompleteReplyKind } from "./read-reply.ts";

/**
 * An event is parsed in one step, which took 60 ms at this length and half a second at eight times it. The longest legitimate ones contain a whole answer of
 * some hundred thousand characters. The outbound client limits the whole stream.
 */
const MAX_EVENT_CHARACTERS = 2_000_000;

/** Bytes read per event-loop turn: of the shortest events it contains 2,000, which take 10 ms. */
const TURN_BYTES = 16 * 1024;

/** Messages that arrived together. Never empty. */
export interface Messages {
  readonly messages: readonly EventSourceMessage[];
  /** The failure kind of an invalid message: the last one of a stream may have been truncated. */
  readonly broken: FailureKind;
}

/** Events before a failure are yielded before it is thrown. */
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
      // The standard requires that unknown fields are ignored.
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
        feed(decodeOrFail("bad_reply", () => decoder.decode(part, { stream: true })));
      } catch (error) {
        if (ready.length > 0) yield take();
        throw error;
      }
      fedBytes += part.byteLength;
    }
    if (ready.length > 0) yield take();
  }
  const broken = incompleteReplyKind(stream);
  try {
    // Some servers omit the empty line after the last event.
    feed(`${decodeOrFail(broken, () => decoder.decode())}\n\n`);
  } finally {
    if (ready.length > 0) yield { messages: ready, broken };
  }
}

/** A keep-alive by its name, or without data: empty as in the HTML standard, an empty JSON value, or a comment that a proxy has put into data. */
function isKeepAlive({ event, data }: EventSourceMessage): boolean {
  if (event !== undefined && KEEP_ALIVE_NAMES.has(event)) return true;
  if (data.length > 0 && data[0] === "{") return false;
  const text = data.trim();
  return text === "" || text === "null" || text === '""' || text.startsWith(":");
}

const KEEP_ALIVE_NAMES: ReadonlySet<string> = new Set(["ping", "keepalive", "keep-alive", "heartbeat"]);

function* partsOf(chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const chunk of chunks)
    for (let at = 0; at < chunk.byteLength; at += TURN_BYTES) yield chunk.subarray(at, at + TURN_BYTES);
}

function decodeOrFail(kind: FailureKind, decode: () => string): string {
  try {
    return decode();
  } catch {
    throw new ProviderError(kind, { reason: "not_utf8" });
  }
}
