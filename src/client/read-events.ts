// Server-sent events, as far as the gateway sends them [client.stream-events]: names and data. Pings are comments and are dropped.
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** An event that the end of the stream cuts off is none. Leaving early ends the stream. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  // Not every browser iterates over a stream by itself.
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

/** Takes the text piece by piece, cut anywhere, and gives the events that each piece completes. */
export function createEventParser(): (piece: string) => readonly ServerEvent[] {
  let line = "";
  let endedInReturn = false;
  let name = "";
  let data: string[] = [];

  function take(whole: string, events: ServerEvent[]): void {
    if (whole === "") {
      if (data.length > 0) events.push({ event: name === "" ? "message" : name, data: data.join("\n") });
      name = "";
      data = [];
      return;
    }
    const colon = whole.indexOf(":");
    const field = colon === -1 ? whole : whole.slice(0, colon);
    const value = colon === -1 ? "" : whole.slice(whole[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
  }

  return (piece) => {
    if (piece === "") return [];
    // The second half of a line end whose first half ended the line before.
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
