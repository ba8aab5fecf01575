// The levers on a chat stream, on each wire: what a fault says is what comes.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type FaultRule, type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { at } from "./ask.ts";
import { chatClient, WIRE_NAMES } from "./chat-client.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

const { ask, stream } = chatClient(() => sandbox.origin);

const contentIn = (text: string): number =>
  text.match(/"content":"[^"]|text_delta|"parts":\[\{"text":"[^"]/gu)?.length ?? 0;

for (const wire of WIRE_NAMES) {
  const faulty = (fault: FaultRule["fault"]): void => sandbox.addFault({ wire, times: 1, fault });
  const model = wire === "openai" ? "gpt-4o" : wire === "anthropic" ? "claude-sonnet-4-5" : "gemini-3.5-flash";

  test(`providers.sandbox-calls: ${wire}, a whole stream, and the call on record with its model`, async () => {
    const text = await (await stream(wire)).text();
    assert.ok(contentIn(text) === 6, text);
    assert.match(text, /"finish_reason":"stop"|"stop_reason":"end_turn"|"finishReason":"STOP"/u);
    assert.deepEqual(
      [sandbox.calls[0]?.model, sandbox.calls[0]?.outcome, sandbox.calls[0]?.aborted],
      [model, 200, false],
    );
  });

  test(`providers.sandbox-faults: ${wire}, stall before the first byte, and the caller's hanging up is seen`, async () => {
    faulty({ kind: "stall" });
    const leave = new AbortController();
    const pending = stream(wire, leave.signal);
    await sandbox.waitForCall(({ outcome }) => outcome === "stalled");
    leave.abort();
    await assert.rejects(pending, { name: "AbortError" });
    await sandbox.waitForCall(({ aborted }) => aborted);
  });

  test(`providers.sandbox-faults: ${wire}, stall after the second piece, and the caller's hanging up is seen`, async () => {
    faulty({ kind: "stall_stream", afterContent: 2 });
    const leave = new AbortController();
    const response = await stream(wire, leave.signal);
    await sandbox.waitForCall(({ outcome }) => outcome === "stalled");
    let text = "";
    await assert.rejects(async () => {
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (contentIn(text) === 2) leave.abort();
      }
    });
    assert.equal(contentIn(text), 2);
    await sandbox.waitForCall(({ aborted }) => aborted);
  });

  test(`providers.sandbox-faults: ${wire}, stall after the head alone`, async () => {
    faulty({ kind: "stall_stream", afterContent: 0 });
    const leave = new AbortController();
    assert.equal((await stream(wire, leave.signal)).status, 200);
    await sandbox.waitForCall(({ outcome }) => outcome === "stalled");
    leave.abort();
  });

  test(`providers.sandbox-faults: ${wire}, a stream cut after its first piece breaks off`, async () => {
    faulty({ kind: "cut_stream" });
    const response = await stream(wire);
    let text = "";
    await assert.rejects(async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    });
    assert.equal(contentIn(text), 1);
    assert.equal(sandbox.calls[0]?.aborted, false);
  });

  test(`providers.sandbox-faults: ${wire}, an error among the events, in the protocol's own shape`, async () => {
    faulty({ kind: "error_event", afterContent: 3 });
    const text = await (await stream(wire)).text();
    assert.equal(contentIn(text), 3);
    assert.match(text.trim().split("\n").at(-1) ?? "", /"error":\{/u);
  });

  test(`providers.sandbox-faults: ${wire}, a stream that ends without a finish, cleanly`, async () => {
    faulty({ kind: "no_finish" });
    const text = await (await stream(wire)).text();
    assert.equal(contentIn(text), 6);
    assert.doesNotMatch(text, /"finish_reason":"|"stop_reason":"|"finishReason":"|\[DONE\]/u);
  });

  test(`providers.sandbox-faults: ${wire}, a paced stream comes whole`, async () => {
    faulty({ kind: "pace", ms: 1 });
    assert.equal(contentIn(await (await stream(wire)).text()), 6);
  });

  test(`providers.sandbox-faults: ${wire}, a huge answer comes whole, plain and streamed`, async () => {
    sandbox.addFault({ wire, fault: { kind: "huge", bytes: 3_000_000 } });
    const plain = await ask(wire);
    assert.ok(plain.text.length > 3_000_000);
    const streamed = await (await stream(wire)).text();
    assert.ok(streamed.length > plain.text.length);
  });

  test(`providers.sandbox-faults: ${wire}, garbage and an error body under 200`, async () => {
    faulty({ kind: "garbage" });
    assert.match(await (await stream(wire)).text(), /^<html>/u);
    faulty({ kind: "error_body" });
    const response = await stream(wire);
    assert.equal(response.status, 200);
    assert.equal(typeof at(await response.json(), "error", "message"), "string");
  });
}
