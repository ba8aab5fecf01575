// Server-sent events out of bytes, in one place for every provider: however the bytes were split on the way, a character
// or a line end in the middle of it, the events are the same.
import { TextDecoder } from "node:util";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { ProviderError } from "./io.ts";

/** A single event this long is no chat; the whole stream has its own limit in the dialer. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;

export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let ready: EventSourceMessage[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: (event) => ready.push(event),
    onError: (error) => {
      // Fields that nobody knows are to be ignored, says the standard.
      isTooLong ||= error.type === "max-buffer-size-exceeded";
    },
  });
  const feed = (text: string): readonly EventSourceMessage[] => {
    ready = [];
    parser.feed(text);
    if (isTooLong) throw new ProviderError("bad_reply", { reason: "event_too_long" });
    return ready;
  };
  // By `yield*` each member of a list would cost two promises more.
  for await (const chunk of body) for (const event of feed(decode(decoder, chunk))) yield event;
  // Some servers end on their last line and forget the empty one.
  for (const event of feed(`${decode(decoder)}\n\n`)) yield event;
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw new ProviderError("bad_reply", { reason: "not_utf8" });
  }
}
