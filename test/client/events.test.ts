// How `patchbay-gateway/client` reads server-sent events. test/fuzz/events.ts compares it with another reader on random input.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readEvents } from "../../src/client/read-events.ts";

const LINES = [
  ": ping",
  "",
  "event: chat.delta",
  "id: 7",
  'data: {"content":',
  'data:  "Grüße 👋"}',
  "",
  "data",
  "retry",
  "",
  "",
];
const EXPECTED = [
  { event: "chat.delta", data: '{"content":\n "Grüße 👋"}' },
  { event: "message", data: "" },
];

async function read(pieces: readonly Uint8Array[]) {
  const events = [];
  for await (const event of readEvents(ReadableStream.from(pieces))) events.push(event);
  return events;
}

for (const [name, lineEnd] of Object.entries({ "a line feed": "\n", "a carriage return": "\r", both: "\r\n" }))
  test(`client.stream-line-ends: events whose lines end in ${name} are the same wherever two cuts fall`, async () => {
    const wire = Buffer.from(`\ufeff${LINES.join(lineEnd)}`);
    assert.deepEqual(await read([wire]), EXPECTED);
    for (let first = 0; first <= wire.length; first += 1)
      for (let second = first; second <= wire.length; second += 1) {
        const pieces = [wire.subarray(0, first), wire.subarray(first, second), wire.subarray(second)];
        assert.deepEqual(await read(pieces), EXPECTED, `cut at ${first} and ${second}`);
      }
  });

test("client.stream-line-ends, client.stream-leave: an event that the end of the stream cuts off is dropped, and leaving early ends the stream", async () => {
  assert.deepEqual(await read([Buffer.from("data: 1\n\ndata: 2\n")]), [{ event: "message", data: "1" }]);
  let ended = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.from("data: 1\n\n")),
    cancel: () => {
      ended = true;
    },
  });
  for await (const { data } of readEvents(endless)) {
    assert.equal(data, "1");
    break;
  }
  assert.equal(ended, true);
});
