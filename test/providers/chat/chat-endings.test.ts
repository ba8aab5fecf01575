// Endings and framings of Anthropic's and Gemini's wires that no documentation lists for our requests, plain and streamed.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatResult } from "../../../src/providers/chat/chat-provider.ts";
import { assembled } from "./assembled.ts";
import { CHAT_WIRES, type ChatWire, eventsOf, ioOfChunks, planFor } from "./fixtures.ts";

async function streamed(wire: ChatWire, text: string): Promise<ChatResult> {
  const { provider } = CHAT_WIRES[wire];
  return assembled(await eventsOf(provider.stream(planFor(wire, { stream: true }), ioOfChunks([Buffer.from(text)]))));
}

function plain(wire: ChatWire, body: unknown): Promise<ChatResult> {
  const send = async () => ({ status: 200, headers: {}, text: JSON.stringify(body) });
  return CHAT_WIRES[wire].provider.chat(planFor(wire), { ...ioOfChunks([]), send });
}

const events = (...bodies: readonly object[]): string =>
  bodies.map((body) => `data: ${JSON.stringify(body)}\n\n`).join("");

const message = (reason: string | null, content: readonly object[] = [{ type: "text", text: "Hi" }]) => ({
  type: "message",
  content,
  stop_reason: reason,
  usage: { input_tokens: 5, output_tokens: 1 },
});
const text = [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
];
const stopped = (reason: string | null) => ({ type: "message_delta", delta: { stop_reason: reason } });
const candidate = (finishReason: string | null, parts: readonly object[] = [{ text: "Hi" }]) => ({
  candidates: [{ content: { parts }, finishReason }],
});

const ending = ({ text: said, finishReason, isFinishUnknown }: ChatResult) => [
  said,
  finishReason,
  isFinishUnknown === true,
];

test("chat.finish-unknown: FLD-09, Anthropic's pause_turn and an unknown reason are stop, marked as unknown", async () => {
  for (const reason of ["pause_turn", "compaction"])
    for (const result of [
      await plain("anthropic", message(reason)),
      await streamed("anthropic", events(...text, stopped(reason))),
    ])
      assert.deepEqual(ending(result), ["Hi", "stop", true]);
});

test("chat.finish-unknown: FLD-09, Anthropic's message_stop without a stop_reason is a complete answer, marked as unknown", async () => {
  const result = await streamed("anthropic", events(...text, stopped(null), { type: "message_stop" }));
  assert.deepEqual(ending(result), ["Hi", "stop", true]);
});

for (const [reason, expected, isUnknown] of [
  ["LANGUAGE", "stop", true],
  ["UNEXPECTED_TOOL_CALL", "stop", true],
  ["OTHER", "stop", true],
  ["IMAGE_SAFETY", "content_filter", false],
  ["stop", "stop", false],
] as const)
  test(`chat.finish-reasons, chat.finish-unknown: FLD-09, Gemini's ${reason} with text is ${expected}${isUnknown ? ", marked as unknown" : ""}`, async () => {
    for (const result of [
      await plain("gemini", candidate(reason)),
      await streamed("gemini", events(candidate(reason))),
    ])
      assert.deepEqual(ending(result), ["Hi", expected, isUnknown]);
  });

test("chat.finish-in-every-chunk: FLD-12, Gemini's and Anthropic's content after a finish reason counts", async () => {
  const more = [{ text: " there" }];
  assert.equal((await streamed("gemini", events(candidate("STOP"), candidate("STOP", more)))).text, "Hi there");
  const again = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: " there" } };
  assert.equal((await streamed("anthropic", events(...text, stopped("end_turn"), again))).text, "Hi there");
});

test("providers.stream-framing: FLD-13, a complete message where Anthropic was asked for events is a stream of one piece", async () => {
  const call = { type: "tool_use", id: "a", name: "f", input: { x: 1 } };
  const result = await streamed("anthropic", JSON.stringify(message("tool_use", [{ type: "text", text: "Hi" }, call])));
  assert.deepEqual(
    [result.text, result.toolCalls, result.finishReason, result.usage?.inputTokens],
    ["Hi", [{ id: "a", name: "f", arguments: '{"x":1}' }], "tool_calls", 5],
  );
});

test("providers.stream-framing: FLD-13, Gemini's list of fragments, its answer without alt=sse, is read as the stream", async () => {
  const body = JSON.stringify([candidate(null), candidate("STOP", [{ text: " there" }])]);
  assert.deepEqual(ending(await streamed("gemini", body)), ["Hi there", "stop", false]);
});

test("chat.tool-call-arguments: FLD-11, calls of one answer with the same id get ids of their own, in every protocol", async () => {
  const block = { type: "tool_use", id: "a", name: "f", input: {} };
  const part = { functionCall: { id: "a", name: "f", args: {} } };
  for (const result of [
    await plain("anthropic", message("tool_use", [block, block])),
    await plain("gemini", candidate("STOP", [part, part])),
  ])
    assert.equal(new Set(result.toolCalls.map(({ id }) => id)).size, 2);
});
