// What each wire is sent of a history that other backends wrote: cache marks for Anthropic, signatures for Gemini.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatFields } from "../../../src/contract/chat/chat-request.ts";
import { chatFields } from "../../../src/contract/chat/checked-chat-fields.ts";
import { chatRequest } from "../../../src/gateway/chat/chat-request.ts";
import type { ChatPlanResult } from "../../../src/providers/chat/chat-provider.ts";
import { CHAT_WIRES, type ChatWire, chatTarget } from "./fixtures.ts";

type Planned = Extract<ChatPlanResult, { ok: true }>;

function planned(wire: ChatWire, fields: Pick<ChatFields, "messages" | "tools">): Planned {
  const { provider, model } = CHAT_WIRES[wire];
  const result = provider.plan(chatRequest(chatFields.parse(fields), false), chatTarget(provider, model));
  assert.ok(result.ok, JSON.stringify(result));
  return result;
}

const cache_control = { type: "ephemeral" } as const;
const text = (words: string, more: object = {}) => ({ type: "text" as const, text: words, ...more });
const call = (more: object = {}) => ({ id: "a", name: "f", arguments: "{}", ...more });
const result = { role: "tool" as const, tool_call_id: "a", content: "x" };

test("providers.cache-marks: FLD-14, Anthropic receives the cache marks of instructions, parts, messages, results and tools", () => {
  const { plan, ignored } = planned("anthropic", {
    messages: [
      { role: "system", content: [text("rules", { cache_control: { type: "ephemeral", ttl: "1h" } }), text("today")] },
      { role: "user", content: [text("manual", { cache_control }), text("question")] },
      { role: "assistant", content: null, tool_calls: [call()] },
      { ...result, cache_control },
      { role: "user", content: "go on" },
    ],
    tools: [{ type: "function", function: { name: "f" }, cache_control }],
  });
  assert.deepEqual(ignored, []);
  assert.deepEqual(plan.body["system"], [
    text("rules", { cache_control: { type: "ephemeral", ttl: "1h" } }),
    text("today"),
  ]);
  assert.deepEqual(plan.body["messages"], [
    { role: "user", content: [text("manual", { cache_control }), text("question")] },
    { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "x", cache_control }, text("go on")] },
  ]);
  assert.deepEqual(plan.body["tools"], [
    { name: "f", input_schema: { type: "object", properties: {} }, cache_control },
  ]);
});

test("providers.cache-marks: FLD-14, of more cache marks than Anthropic accepts the last four are sent", () => {
  const parts = ["1", "2", "3", "4", "5", "6"].map((words) => text(words, { cache_control }));
  const { plan } = planned("anthropic", { messages: [{ role: "user", content: parts }] });
  const [{ content }] = plan.body["messages"] as [{ content: readonly object[] }];
  assert.deepEqual(
    content.map((block) => "cache_control" in block),
    [false, false, true, true, true, true],
  );
});

test("providers.cache-marks: FLD-14, the mark of a whole message is sent with its last text, and an unknown kind of mark is not sent", () => {
  const { plan } = planned("anthropic", {
    messages: [
      { role: "user", content: [text("a"), text("b")], cache_control },
      { role: "assistant", content: "c", cache_control: { type: "forever" } },
      { role: "user", content: "d", cache_control },
    ],
  });
  assert.deepEqual(plan.body["messages"], [
    { role: "user", content: [text("a"), text("b", { cache_control })] },
    { role: "assistant", content: [text("c")] },
    { role: "user", content: [text("d", { cache_control })] },
  ]);
});

for (const [name, field] of [
  ["extra_content", { extra_content: { google: { thought_signature: "sig" } } }],
  ["LiteLLM's provider_specific_fields", { provider_specific_fields: { thought_signature: "sig" } }],
] as const)
  test(`chat.foreign-history: FLD-15, Gemini receives the signature that a caller kept in ${name}`, () => {
    const messages: ChatFields["messages"] = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: [call(field)] },
      result,
    ];
    const [, turn] = planned("gemini", { messages }).plan.body["contents"] as readonly { parts: readonly object[] }[];
    assert.deepEqual(turn?.parts, [{ functionCall: { id: "a", name: "f", args: {} }, thoughtSignature: "sig" }]);
    for (const wire of ["openai", "anthropic"] as const) {
      const { plan, ignored } = planned(wire, { messages });
      assert.ok(!JSON.stringify(plan.body).includes("sig"), wire);
      assert.deepEqual(ignored, Object.keys(field));
    }
  });
