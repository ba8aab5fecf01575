// Server-sent events of a streamed answer (contract 3, 5, 7), as far as the command line needs them.

export interface ServerEvent {
  readonly name: string;
  readonly data: unknown;
}

const MAX_EVENT_CHARACTERS = 67_108_864;

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const chunk of body) {
    pending += decoder.decode(chunk, { stream: true });
    if (pending.length > MAX_EVENT_CHARACTERS) throw new Error("an event of the stream is too large");
    // A line break cut in two by the network is read with its other half.
    const complete = pending.endsWith("\r") ? pending.slice(0, -1) : pending;
    const blocks = complete.split(/\r\n\r\n|\n\n|\r\r/);
    pending = (blocks.pop() ?? "") + pending.slice(complete.length);
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event !== null) yield event;
    }
  }
  // What was held back was the last line break after all.
  const last = pending.endsWith("\r\r") ? parseEvent(pending) : null;
  if (last !== null) yield last;
}

function parseEvent(block: string): ServerEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  // A ping is a comment, or an event without data.
  return data.length === 0 ? null : { name, data: JSON.parse(data.join("\n")) };
}
