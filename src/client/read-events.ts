// Parses server-sent events as far as the gateway uses them [client.stream-events]: names and data. Pings are comments and are dropped.
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Drops an event truncated by the end of the stream. Leaving the loop early cancels the stream. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  // Some browsers lack async iteration of streams.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parse = createEventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const event of parse(decoder.decode(value, { stream: true }))) yield event;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Accepts text in pieces cut at any character, and returns the events that each piece completes. */
export function createEventParser(): (piece: string) => readonly ServerEvent[] {
  let line = "";
  let endedInReturn = false;
  let name = "";
  let data: string[] = [];

  function take(fieldLine: string, events: ServerEvent[]): void {
    if (fieldLine === "") {
      if (data.length > 0) events.push({ event: name === "" ? "message" : name, data: data.join("\n") });
      name = "";
      data = [];
      return;
    }
    const colon = fieldLine.indexOf(":");
    const field = colon === -1 ? fieldLine : fieldLine.slice(0, colon);
    const value = colon === -1 ? "" : fieldLine.slice(fieldLine[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
  }

  return (piece) => {
    if (piece === "") return [];
    // The second half of a CRLF that was split between two pieces.
    const text = endedInReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    endedInReturn = piece.endsWith("\r");
    const events: ServerEvent[] = [];
    const [first = "", ...others] = text.split(/\r\n|\n|\r/);
    line += first;
    for (const other of others) {
      take(line, events);
      line = other;
    }
    return events;
  };
}
