// Server-sent events: what the gateway writes, cut anywhere and with any line ends, is what its readers read. Anything else is events or
// a refusal of the reader's own [client.stream-line-ends].
import assert from "node:assert/strict";
import { createParser } from "eventsource-parser";
import * as fc from "fast-check";
import { readEvents as readForCli } from "../../src/cli/use/read-events.ts";
import { readEvents as readForClient } from "../../src/client/read-events.ts";
import { eventText } from "../../src/http/reply/sse.ts";
import { ProviderError } from "../../src/providers/io.ts";
import { readEvents } from "../../src/providers/wire/read-events.ts";
import type { Fuzz } from "./fuzz.ts";
import { cutAt, cuts } from "./pieces.ts";

const event = fc.record({
  event: fc.constantFrom("chat.delta", "transcript.segment", "error"),
  data: fc.oneof(
    fc.jsonValue({ maxDepth: 2 }).filter((value) => typeof value !== "string"),
    fc.record({ text: fc.string({ unit: "binary" }) }),
  ),
});
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const noise = fc.array(
  fc.constantFrom(
    "data:",
    "event:",
    "id:",
    "retry:",
    ":",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "{",
    '"',
    "}",
    "[DONE]",
    "\ufeff",
    "\0",
    "é",
    "\u2028",
    "x".repeat(99),
  ),
  { maxLength: 40 },
);

/** Each by itself, or all together. */
async function* over(pieces: readonly Uint8Array[], together: boolean): AsyncGenerator<readonly Uint8Array[]> {
  if (together) yield pieces;
  else for (const piece of pieces) yield [piece];
}

async function fromProvider(pieces: readonly Uint8Array[], together = false) {
  const events: unknown[] = [];
  try {
    for await (const { messages } of readEvents({ status: 200, headers: {}, body: over(pieces, together) }))
      for (const { event, data } of messages) events.push([event, data]);
    return { events };
  } catch (error) {
    assert.ok(error instanceof ProviderError, String(error));
    return { events, refusal: error.message };
  }
}

async function fromClient(pieces: readonly Uint8Array[]) {
  const events: unknown[] = [];
  for await (const { event, data } of readForClient(ReadableStream.from(pieces))) events.push([event, data]);
  return events;
}

/** By a reader that is not ours. */
function fromPackage(bytes: Uint8Array) {
  const events: unknown[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push([event ?? "message", data]) });
  // It strips a byte order mark itself, and only one may be stripped.
  parser.feed(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  return events;
}

export const events: Fuzz = {
  about: "server-sent events, genuine ones and noise, cut anywhere",
  shortRuns: 500,
  open: async () => ({
    property: fc.asyncProperty(
      fc.array(event, { maxLength: 6 }),
      lineEnd,
      noise,
      cuts,
      async (sent, end, tokens, places) => {
        // Inside JSON a line end is escaped: each one in the text is the protocol's.
        const wire = Buffer.from(sent.map(eventText).join("").replaceAll("\n", end));
        const pieces = cutAt(wire, places);
        const expected = sent.map(({ event: name, data }) => [name, JSON.stringify(data)]);
        // Providers keep a stream alive with events that say nothing.
        const spoken = expected.filter(([, data]) => data !== "null");
        assert.deepEqual((await fromProvider(pieces)).events, spoken);
        assert.deepEqual((await fromProvider(pieces, true)).events, spoken);
        const read: unknown[] = [];
        for await (const { name, data } of readForCli(ReadableStream.from(pieces)))
          read.push([name, JSON.stringify(data)]);
        assert.deepEqual(read, expected);
        assert.deepEqual(await fromClient(pieces), expected);
        const other = Buffer.from(tokens.join(""));
        const ended = Buffer.concat([other, Buffer.from("\n\n")]);
        assert.deepEqual(await fromClient(cutAt(ended, places)), fromPackage(ended));
        assert.deepEqual(await fromProvider(cutAt(other, places)), await fromProvider([other]));
        assert.deepEqual(await fromProvider(cutAt(other, places), true), await fromProvider([other]));
      },
    ) as fc.IAsyncProperty<unknown>,
    close: async () => undefined,
  }),
};
