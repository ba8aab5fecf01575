// Reads server-sent events of a streamed answer, as far as the command line needs them.
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { readBody } from "../read-answer.ts";

export interface ServerEvent {
  readonly name: string;
  readonly data: unknown;
}

const MAX_EVENT_CHARACTERS = 67_108_864;

/** Skips pings, which are comments, and an event truncated by the end of the stream. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let ready: EventSourceMessage[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: (event) => ready.push(event),
    onError: ({ type }) => {
      isTooLong ||= type === "max-buffer-size-exceeded";
    },
  });
  for await (const chunk of readBody(body)) {
    ready = [];
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (isTooLong) throw new Error("an event of the stream is too large");
    for (const { event, data } of ready) yield { name: event ?? "message", data: JSON.parse(data) };
  }
}
