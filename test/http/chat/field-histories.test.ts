// Histories that other backends wrote, and the state that a provider needs back with the next turn: accepted on both endpoints, sent to
// targets that want it, omitted for the others with a warning.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type ChatAnswer, chatAnswer } from "../../../src/contract/chat/chat-answer.ts";
import { chatOf, HELLO, postChat, streamChat } from "../../harness/chat-client.ts";
import {
  answer,
  beginStream,
  chunk,
  completion,
  endStream,
  json,
  type UpstreamCall,
} from "../../harness/chat-upstream.ts";
import { target } from "../../harness/configuration.ts";
import { KEY } from "../../harness/gateway.ts";
import { type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

const PATHS = ["/v1/chat", "/v1/chat/completions"] as const;
const SIGNATURE = "c2lnbmF0dXJl";
const EXTRA = { google: { thought_signature: SIGNATURE } };

let gateway: ChatGateway;
before(async () => {
  // The second target is a strict server.
  gateway = await startChatGateway({
    route: { targets: ["first/one", target("second/two", { settings: { dialect: "groq" } })] },
  });
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(answer);
  gateway.second.behave(answer);
});

const refuseFirst = () => gateway.first.behave((call) => json(call, 429, { error: { message: "later" } }));

async function messagesSent(messages: readonly object[], path: (typeof PATHS)[number], more: object = {}) {
  const fields = path === "/v1/chat" ? { messages, ...more } : { model: "auto", messages, ...more };
  const reply = await postChat(gateway.origin, fields, path === "/v1/chat" ? {} : { path });
  assert.equal(reply.status, 200, reply.text);
  const call = gateway.second.calls.at(-1) ?? gateway.first.calls.at(-1);
  return { reply, sent: call?.body["messages"] as readonly Record<string, unknown>[] };
}

const call = (extra: object = {}) => ({
  id: "call_1",
  type: "function",
  function: { name: "get_time", arguments: "{}" },
  ...extra,
});
const TOOL = { type: "function", function: { name: "get_time" } };
const result = { role: "tool", tool_call_id: "call_1", content: "noon" };

const HISTORIES: readonly (readonly [string, readonly object[], readonly unknown[]])[] = [
  [
    "reasoning_details",
    [{ role: "assistant", content: "a", reasoning_details: [{ type: "reasoning.text", text: "hm" }] }],
    ["a"],
  ],
  [
    "thinking_blocks",
    [{ role: "assistant", content: "a", thinking_blocks: [{ type: "thinking", thinking: "hm" }] }],
    ["a"],
  ],
  [
    "provider_specific_fields",
    [{ role: "assistant", content: "a", provider_specific_fields: { refusal: null } }],
    ["a"],
  ],
  ["extra_content", [{ role: "assistant", content: "a", extra_content: EXTRA }], ["a"]],
  ["content null without calls", [{ role: "assistant", content: null }], [""]],
  ["an empty list as content", [{ role: "assistant", content: [] }], [""]],
  [
    "empty lists of users and instructions",
    [
      { role: "system", content: [] },
      { role: "user", content: [] },
    ],
    ["", ""],
  ],
  [
    "a tool result []",
    [
      { role: "assistant", content: null, tool_calls: [call()] },
      { ...result, content: [] },
    ],
    [null, ""],
  ],
  [
    "a tool result null",
    [
      { role: "assistant", content: null, tool_calls: [call()] },
      { ...result, content: null },
    ],
    [null, ""],
  ],
  [
    "cache_control on a text part",
    [{ role: "user", content: [{ type: "text", text: "u", cache_control: { type: "ephemeral" } }] }],
    ["u"],
  ],
  ["cache_control on a message", [{ role: "user", content: "u", cache_control: { type: "ephemeral" } }], ["u"]],
  [
    "fields of a call",
    [{ role: "assistant", content: null, tool_calls: [call({ provider_specific_fields: {} })] }, result],
    [null, "noon"],
  ],
];
for (const [name, history, contents] of HISTORIES)
  for (const path of PATHS)
    test(`chat.foreign-history, chat.empty-text: FLD-14: ${path}: ${name}: accepted, and nothing of it reaches a target that does not accept it`, async () => {
      const { sent } = await messagesSent([...history, ...HELLO], path, { tools: [TOOL] });
      assert.deepEqual(
        sent.map(({ content }) => content),
        [...contents, "Hello"],
      );
      const known = new Set(["role", "content", "tool_calls", "tool_call_id"]);
      assert.deepEqual(
        sent.flatMap((message) => Object.keys(message).filter((key) => !known.has(key))),
        [],
      );
    });

test("chat.warnings: FLD-14: fields that were not sent are named in a warning", async () => {
  refuseFirst();
  const assistant = { role: "assistant", content: "a", reasoning_content: "hm", reasoning_details: [{}] };
  const { reply, sent } = await messagesSent([assistant, ...HELLO], "/v1/chat");
  assert.deepEqual(sent[0], { role: "assistant", content: "a" });
  const warning = chatOf(reply).warnings.find(({ code }) => code === "HISTORY_FIELDS_IGNORED");
  assert.deepEqual(
    [warning?.param, warning?.details],
    ["messages", { fields: ["reasoning_content", "reasoning_details"] }],
  );
});

test("chat.warnings, chat.foreign-history: FLD-14: each field that no target accepts is named, and one that was sent is not", async () => {
  const unused = {
    reasoning_details: [{}],
    thinking_blocks: [{}],
    provider_specific_fields: { a: 1 },
    extra_content: EXTRA,
  };
  const assistant = { role: "assistant", content: "a", ...unused, cache_control: { type: "ephemeral" } };
  const { reply } = await messagesSent([assistant, ...HELLO], "/v1/chat");
  const ignored = chatOf(reply).warnings.find(({ code }) => code === "HISTORY_FIELDS_IGNORED")?.details?.["fields"];
  assert.deepEqual(new Set(ignored as string[]), new Set([...Object.keys(unused), "cache_control"]));
  const wanted = { reasoning_content: "hm", tool_calls: [call({ extra_content: EXTRA })] };
  const taken = await messagesSent([{ role: "assistant", content: null, ...wanted }, result, ...HELLO], "/v1/chat", {
    tools: [TOOL],
  });
  assert.deepEqual(chatOf(taken.reply).warnings, []);
});

test("chat.history-fingerprint, idempotency.chat-history: FLD-14: fields of a history are part of an idempotency key's payload, an empty one is not", async () => {
  const ask = (fields: object) =>
    postChat(
      gateway.origin,
      { messages: [{ role: "assistant", content: "a", ...fields }, ...HELLO] },
      { headers: { "idempotency-key": "history" } },
    );
  assert.equal((await ask({ reasoning_details: ["x"] })).status, 200);
  assert.equal((await ask({ reasoning_details: ["x"], extra_content: null })).status, 200);
  assert.equal((await ask({ reasoning_details: ["y"] })).status, 409);
  assert.equal(gateway.first.calls.length, 1);
});

test("chat.history-unknown-field: FLD-14: a field that no known backend writes is refused as before", async () => {
  const reply = await postChat(gateway.origin, {
    messages: [{ role: "assistant", content: "a", mood: "x" }, ...HELLO],
  });
  assert.equal(reply.status, 400);
});

const REASONED = { reasoning_content: "The clock.", tool_calls: [{ index: 0, ...call({ extra_content: EXTRA }) }] };

const plainly = (upstream: UpstreamCall) =>
  json(upstream, 200, completion({ role: "assistant", content: null, ...REASONED }, "tool_calls"));
const inPieces = (upstream: UpstreamCall): void => {
  beginStream(upstream);
  chunk(upstream, { role: "assistant", reasoning_content: "The " });
  chunk(upstream, { reasoning_content: "clock." });
  chunk(upstream, { tool_calls: REASONED.tool_calls });
  endStream(upstream, "tool_calls");
};

interface CompatibleMessage {
  readonly reasoning_content?: string;
  readonly content: string | null;
  readonly tool_calls: readonly { readonly id: string; readonly extra_content?: unknown }[];
}

async function completed(): Promise<CompatibleMessage> {
  gateway.first.behave(plainly);
  const reply = await postChat(gateway.origin, { model: "auto", tools: [TOOL] }, { path: PATHS[1] });
  const [choice] = (reply.json as { choices: readonly { message: CompatibleMessage }[] }).choices;
  assert.ok(choice);
  return choice.message;
}

async function completedStream(): Promise<CompatibleMessage> {
  gateway.first.behave(inPieces);
  const response = await fetch(`${gateway.origin}${PATHS[1]}`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "auto", messages: HELLO, tools: [TOOL], stream: true }),
  });
  const deltas = [...(await response.text()).matchAll(/^data: (\{.*)$/gmu)].map(
    ([, data = ""]) => (JSON.parse(data) as { choices: [{ delta: Partial<CompatibleMessage> }] }).choices[0].delta,
  );
  const tool_calls = deltas.flatMap((delta) => (delta.tool_calls ?? []).map((each) => ({ ...each, index: undefined })));
  return {
    content: null,
    reasoning_content: deltas.map((delta) => delta.reasoning_content ?? "").join(""),
    tool_calls,
  };
}

async function native(): Promise<CompatibleMessage> {
  gateway.first.behave(plainly);
  return turnOf(chatOf(await postChat(gateway.origin, { tools: [TOOL] })));
}

async function nativeStream(): Promise<CompatibleMessage> {
  gateway.first.behave(inPieces);
  const streamed = await streamChat(gateway.origin, { tools: [TOOL] });
  return turnOf(chatAnswer.parse(streamed.events.at(-1)?.data));
}

const turnOf = ({ content, tool_calls, reasoning_content }: ChatAnswer): CompatibleMessage => ({
  content,
  tool_calls,
  ...(reasoning_content === undefined ? {} : { reasoning_content }),
});

for (const [name, path, first] of [
  ["/v1/chat/completions", PATHS[1], completed],
  ["/v1/chat/completions, streamed", PATHS[1], completedStream],
  ["/v1/chat", PATHS[0], native],
  ["/v1/chat, streamed", PATHS[0], nativeStream],
] as const)
  test(`chat.reasoning-round-trip, chat.reasoning-same-target: FLD-15: ${name}: the model's reasoning and the signature of its call reach the caller, and the same target again`, async () => {
    const turn = await first();
    assert.equal(turn.reasoning_content, "The clock.");
    if (path === PATHS[1]) assert.deepEqual(turn.tool_calls[0]?.extra_content, EXTRA);
    await forget(gateway);
    gateway.first.behave(answer);
    const results = [{ role: "tool", tool_call_id: turn.tool_calls[0]?.id, content: "noon" }];
    const { sent } = await messagesSent([...HELLO, { role: "assistant", ...turn }, ...results], path, {
      tools: [TOOL],
    });
    assert.deepEqual(sent.slice(1), [
      {
        role: "assistant",
        content: null,
        reasoning_content: "The clock.",
        tool_calls: [call({ extra_content: EXTRA })],
      },
      result,
    ]);
  });

test("chat.reasoning-same-target: FLD-15: a strict server, and another model, receive none of it", async () => {
  const turn = await native();
  await forget(gateway);
  refuseFirst();
  const results = [{ role: "tool", tool_call_id: turn.tool_calls[0]?.id, content: "noon" }];
  const { sent } = await messagesSent([...HELLO, { role: "assistant", ...turn }, ...results], "/v1/chat", {
    tools: [TOOL],
  });
  assert.deepEqual(sent.slice(1), [{ role: "assistant", content: null, tool_calls: [call()] }, result]);
});

test("chat.foreign-history: FLD-15: fields that a caller kept from another gateway are sent as they are", async () => {
  const assistant = {
    role: "assistant",
    content: null,
    reasoning_content: "hm",
    tool_calls: [call({ extra_content: EXTRA })],
  };
  for (const path of PATHS) {
    const { sent } = await messagesSent([...HELLO, assistant, result], path, { tools: [TOOL] });
    assert.deepEqual(sent[1], assistant);
  }
});

test("chat.reasoning-same-target: FLD-15: a server that names it `reasoning` receives it under that name, from the caller too", async () => {
  gateway.first.behave((upstream) =>
    json(upstream, 200, completion({ role: "assistant", content: "noon", reasoning: "hm" }, "stop")),
  );
  const chat = chatOf(await postChat(gateway.origin, {}));
  assert.deepEqual([chat.reasoning, chat.reasoning_content], ["hm", undefined]);
  refuseFirst();
  const { sent } = await messagesSent([{ role: "assistant", content: "noon", reasoning: "hm" }, ...HELLO], "/v1/chat");
  assert.deepEqual(sent[0], { role: "assistant", content: "noon", reasoning: "hm" });
});

test("chat.reasoning-timing: FLD-15: no reasoning is sent before the first content", async () => {
  gateway.first.behave((upstream) => {
    beginStream(upstream);
    chunk(upstream, { reasoning_content: "hm" });
    upstream.response.write('data: {"error":{"type":"overloaded_error","message":"no"}}\n\n');
    upstream.response.end();
  });
  const streamed = await streamChat(gateway.origin, {});
  const last = chatAnswer.parse(streamed.events.at(-1)?.data);
  assert.equal(gateway.second.calls.length, 1);
  assert.equal(last.reasoning_content, undefined);
});
