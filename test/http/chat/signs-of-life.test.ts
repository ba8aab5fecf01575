// Only silence of the wire counts as silence of a streamed answer: a provider that still reasons, or writes a long argument of a call and
// sends pings meanwhile, is not silent.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setInterval } from "node:timers/promises";
import { streamChat } from "../../harness/chat-client.ts";
import { beginStream, chunk, endStream, type UpstreamCall } from "../../harness/chat-upstream.ts";
import { neverResting } from "../../harness/gateway.ts";
import { type ChatGateway, startChatGateway } from "./chat-gateway.ts";

/** No process of a machine that is only busy stalls for as long. */
const IDLE_MS = 3_000;

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway({
    gateway: { wrapGateway: (services) => ({ ...neverResting(services), streamIdleMs: IDLE_MS }) },
  });
});
after(() => gateway.close());

const SIGNS: Readonly<Record<string, (call: UpstreamCall) => void>> = {
  "comments alone": ({ response }) => void response.write(": ping\n\n"),
  "thoughts alone": (call) => void chunk(call, { reasoning_content: "hm" }),
};

for (const [name, sign] of Object.entries(SIGNS)) {
  test(`chat.stream-timeouts: a provider that sends ${name} between two pieces, for longer than it may be silent, is waited for`, async () => {
    gateway.first.behave(async (call) => {
      beginStream(call);
      chunk(call, { content: "Hel" });
      const endsAtMs = performance.now() + 1.5 * IDLE_MS;
      for await (const _ of setInterval(20)) {
        if (performance.now() > endsAtMs) break;
        sign(call);
      }
      chunk(call, { content: "lo" });
      endStream(call);
    });
    const streamed = await streamChat(gateway.origin, {});
    const last = streamed.events.at(-1);
    assert.deepEqual([last?.event, last?.data["content"]], ["chat.completed", "Hello"], streamed.text);
  });
}
