// The three chat protocols against the sandbox, which refuses what the providers refuse: one request, one normalised answer,
// whatever the protocol, plain or streamed.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startSandbox } from "../../../sandbox/server.ts";
import { createOutbound } from "../../../src/outbound/dial.ts";
import type {
  ChatMessage,
  ChatModel,
  ChatProvider,
  ChatRequest,
  ChatResult,
  ChatTarget,
} from "../../../src/providers/chat/chat-provider.ts";
import { chatReceipts } from "../../../src/providers/chat/chat-receipts.ts";
import type { StreamingIo } from "../../../src/providers/io.ts";
import { createIo } from "../../../src/providers/wire/make-io.ts";
import { openaiCompatibleChat } from "../../../src/providers/openai/openai-chat.ts";
import { sandboxChat } from "../../../src/providers/sandbox/sandbox-chat.ts";
import { CHAT_FEATURES } from "../../../src/contract/features.ts";
import { assembled } from "./assembled.ts";
import {
  CHAT_WIRES,
  chatTarget,
  type ChatWire,
  eventsOf,
  HELLO,
  planned,
  PNG,
  SCHEMA,
  TIME,
  WEATHER,
  WIRE_NAMES,
} from "./fixtures.ts";
import { GOLDEN_WISHES } from "../golden/chat.ts";
import { testReplies } from "../../harness/replies.ts";

const server = await startSandbox();
const outbound = createOutbound();
test.after(async () => {
  await outbound.destroy();
  await server.close();
});

const BASE_URLS: Readonly<Record<ChatWire, string>> = {
  openai: server.openaiUrl,
  anthropic: server.anthropicUrl,
  gemini: server.geminiUrl,
};

interface Place {
  readonly name: string;
  readonly provider: ChatProvider;
  readonly target: ChatTarget;
  readonly baseUrl: string;
}

const PLACES: readonly (Place & { readonly wire: ChatWire })[] = WIRE_NAMES.flatMap((wire) => {
  const { provider, model } = CHAT_WIRES[wire];
  return [
    { name: wire, wire, provider, target: chatTarget(provider, model), baseUrl: BASE_URLS[wire] },
    {
      name: `sandbox ${wire}`,
      wire,
      provider: sandboxChat,
      target: chatTarget(sandboxChat, `${wire}/${model}`),
      baseUrl: server.origin,
    },
  ];
});

function ioTo(baseUrl: string): StreamingIo {
  const signal = new AbortController().signal;
  return createIo({ outbound, replies: testReplies(), baseUrl, credential: "key-1", signal, deadlineMs: 20_000 });
}

/** Plain and streamed; the two must agree. Ids of calls are new each time, and are only there to be returned. */
async function ask({ provider, target, baseUrl }: Place, wishes: Partial<ChatRequest>): Promise<ChatResult> {
  const io = ioTo(baseUrl);
  const plain = await provider.chat(planned(provider, target, wishes), io);
  const events = await eventsOf(provider.stream(planned(provider, target, { ...wishes, stream: true }), io));
  const streamed = assembled(events);
  assert.deepEqual(withoutIds(streamed), withoutIds(plain));
  return plain;
}

const withoutIds = (result: ChatResult): unknown => ({
  ...result,
  providerRequestId: null,
  toolCalls: result.toolCalls.map(({ name, arguments: written }) => ({
    name,
    arguments: JSON.parse(written) as unknown,
  })),
});

async function sameEverywhere(t: TestContext, wishes: Partial<ChatRequest>): Promise<ChatResult> {
  const answers: [string, ChatResult][] = [];
  for (const place of PLACES) {
    const missing = place.provider.plan({ ...HELLO, ...wishes }, place.target);
    if (!missing.ok) {
      t.diagnostic(`${place.name} refuses: ${missing.missing.join(", ")}`);
      continue;
    }
    answers.push([place.name, await ask(place, wishes)]);
  }
  const [first] = answers;
  assert.ok(first);
  // Each protocol has models of its own.
  const { answeredModel: _, ...common } = first[1];
  for (const [name, { answeredModel, ...result }] of answers) {
    assert.deepEqual(withoutIds(result), withoutIds(common), name);
    assert.ok(answeredModel !== undefined, `${name} reports its model`);
  }
  return first[1];
}

const user = (text: string): ChatMessage => ({ role: "user", parts: [{ kind: "text", text }] });

test("providers.sandbox-understands: plain and stream: the same counted facts in every protocol", async (t) => {
  const result = await sameEverywhere(t, {
    messages: [
      { role: "system", text: "Be brief." },
      user("Good day to you"),
      { role: "assistant", text: "Hi.", toolCalls: [] },
      user("Zürich 東京?"),
    ],
  });
  assert.equal(result.text, "[simulated reply, 4 messages, 9 words]");
  assert.deepEqual([result.finishReason, result.toolCalls], ["stop", []]);
  assert.deepEqual(result.usage, { inputTokens: 9, outputTokens: 6, cachedInputTokens: 0 });
});

test("providers.sandbox-answers: a tool call has arguments that fit the schema", async (t) => {
  const result = await sameEverywhere(t, { messages: [user("Weather?")], tools: [WEATHER] });
  assert.deepEqual([result.text, result.finishReason], [null, "tool_calls"]);
  assert.deepEqual(
    withoutIds(result),
    withoutIds({
      ...result,
      toolCalls: [{ id: "", name: "get_weather", arguments: '{"city":"simulated","unit":"c"}' }],
    }),
  );
});

test("providers.sandbox-answers: parallel calls have different ids, one is without arguments", async (t) => {
  const result = await sameEverywhere(t, {
    messages: [user("Both?")],
    tools: [WEATHER, TIME],
    toolChoice: { kind: "required" },
  });
  assert.deepEqual(
    result.toolCalls.map((call) => [call.name, call.arguments]),
    [
      ["get_weather", '{"city":"simulated","unit":"c"}'],
      ["get_time", "{}"],
    ],
  );
  assert.equal(new Set(result.toolCalls.map((call) => call.id)).size, 2);
});

test("providers.sandbox-understands: one call by name; none at all; one at a time where the protocol can ask for it", async (t) => {
  const tools = [WEATHER, TIME];
  const messages = [user("Now.")];
  const named = await sameEverywhere(t, { messages, tools, toolChoice: { kind: "tool", name: "get_time" } });
  assert.deepEqual(
    named.toolCalls.map((call) => call.name),
    ["get_time"],
  );
  assert.equal(named.finishReason, "tool_calls");
  const none = await sameEverywhere(t, { messages, tools, toolChoice: { kind: "none" } });
  assert.equal(none.text, "[simulated reply, 1 message, 1 word]");
  const single = await sameEverywhere(t, {
    messages,
    tools,
    toolChoice: { kind: "required" },
    parallelToolCalls: false,
  });
  assert.deepEqual(
    single.toolCalls.map((call) => call.name),
    ["get_weather"],
  );
});

for (const place of PLACES) {
  for (const stream of [false, true]) {
    test(`providers.sandbox-understands: ${place.name}: results go back with the ids that came${stream ? " from a stream" : ""}, and text follows`, async () => {
      const io = ioTo(place.baseUrl);
      const wishes = { messages: [user("Weather and time?")], tools: [WEATHER, TIME] };
      const { provider, target } = place;
      const first = stream
        ? assembled(await eventsOf(provider.stream(planned(provider, target, { ...wishes, stream }), io)))
        : await provider.chat(planned(provider, target, wishes), io);
      assert.equal(first.toolCalls.length, 2);
      const messages: ChatMessage[] = [
        ...wishes.messages,
        { role: "assistant", text: first.text, toolCalls: first.toolCalls },
        ...first.toolCalls.map(
          (call): ChatMessage => ({ role: "tool", toolCallId: call.id, text: `result of ${call.name}` }),
        ),
      ];
      const second = await ask(place, { ...wishes, messages });
      assert.equal(second.text, "[simulated reply, 4 messages, 9 words, 2 tool results]");
    });
  }
}

test("providers.chat-adaptation, providers.sandbox-understands: a conversation with calls that begins at one provider continues at the others", async () => {
  for (const from of PLACES) {
    const wishes = { messages: [user("Weather and time?")], tools: [WEATHER, TIME] };
    const first = await from.provider.chat(planned(from.provider, from.target, wishes), ioTo(from.baseUrl));
    const messages: ChatMessage[] = [
      ...wishes.messages,
      { role: "assistant", text: first.text, toolCalls: first.toolCalls },
      ...first.toolCalls.map((call): ChatMessage => ({ role: "tool", toolCallId: call.id, text: "ok" })),
    ];
    for (const to of PLACES) {
      const second = await ask(to, { ...wishes, messages });
      assert.equal(second.text, "[simulated reply, 4 messages, 5 words, 2 tool results]", `${from.name} to ${to.name}`);
    }
  }
});

test("providers.chat-adaptation, providers.sandbox-understands: a conversation with a server that gives its calls the same id in each answer continues at every provider", async (t) => {
  const turn = (name: string): ChatMessage[] => [
    { role: "assistant", text: null, toolCalls: [{ id: "call_0", name, arguments: "{}" }] },
    { role: "tool", toolCallId: "call_0", text: "ok" },
  ];
  const messages = [user("Both?"), ...turn("get_weather"), ...turn("get_time")];
  const result = await sameEverywhere(t, { messages, tools: [WEATHER, TIME] });
  assert.equal(result.text, "[simulated reply, 5 messages, 3 words, 2 tool results]");
});

test("providers.sandbox-answers: JSON by a schema fits it; JSON without one is an object; receipts hold", async (t) => {
  const bySchema = {
    messages: [user("As JSON.")],
    responseFormat: { kind: "json_schema", name: "person", description: null, schema: SCHEMA, strict: true },
  } as const;
  const result = await sameEverywhere(t, bySchema);
  assert.deepEqual(JSON.parse(result.text ?? ""), { name: "simulated", age: 0 });
  const receipts = chatReceipts({ ...HELLO, ...bySchema }, result);
  assert.ok(receipts.length > 0 && receipts.every((receipt) => receipt.delivered));
  const plainJson = { messages: [user("As JSON.")], responseFormat: { kind: "json_object" } } as const;
  const object = await sameEverywhere(t, plainJson);
  assert.deepEqual(JSON.parse(object.text ?? ""), { simulated: true, messages: 1, words: 2 });
});

test("providers.sandbox-understands: a schema that says nothing of other properties, and tools without a type, are understood everywhere", async (t) => {
  const schema = { type: "object", properties: { who: { type: "object", properties: { name: { type: "string" } } } } };
  const responseFormat = { kind: "json_schema", name: "x", description: null, schema, strict: null } as const;
  const result = await sameEverywhere(t, { messages: [user("As JSON.")], responseFormat });
  assert.deepEqual(JSON.parse(result.text ?? ""), { who: { name: "simulated" } });
  await sameEverywhere(t, { messages: [user("Time?")], tools: [{ ...TIME, parameters: { properties: {} } }] });
});

test("providers.sandbox-understands: an image is accepted by its content, audio where the protocol has it", async (t) => {
  const image = { kind: "image", mediaType: "image/png", base64: PNG } as const;
  const seen = await sameEverywhere(t, {
    messages: [{ role: "user", parts: [{ kind: "text", text: "What is it?" }, image] }],
  });
  assert.equal(seen.text, "[simulated reply, 1 message, 3 words, 1 image]");
  const audio = {
    kind: "audio",
    format: "wav",
    base64: Buffer.from("RIFF\x24\0\0\0WAVEfmt ").toString("base64"),
  } as const;
  const heard = await sameEverywhere(t, {
    messages: [{ role: "user", parts: [audio, { kind: "text", text: "Who speaks?" }] }],
  });
  assert.equal(heard.text, "[simulated reply, 1 message, 2 words, 1 audio part]");
});

test("providers.sandbox-answers: finish reasons: the cap, a stop sequence, a filter", async (t) => {
  const messages = [user("Hello")];
  const capped = await sameEverywhere(t, { messages, maxTokens: 3 });
  assert.deepEqual([capped.text, capped.finishReason], ["[simulated reply, 1", "length"]);
  const stopped = await sameEverywhere(t, { messages, stop: [", 1"] });
  assert.deepEqual([stopped.text, stopped.finishReason], ["[simulated reply", "stop"]);
  server.addFault({ fault: { kind: "withheld" } });
  const withheld = await sameEverywhere(t, { messages });
  server.clearFaults();
  assert.deepEqual([withheld.text, withheld.finishReason], ["", "content_filter"]);
});

test("providers.usage: usage that is not reported is missing in every protocol", async (t) => {
  server.addFault({ fault: { kind: "drop", feature: "usage" } });
  const result = await sameEverywhere(t, { messages: [user("Hello")] });
  server.clearFaults();
  assert.equal(result.usage, null);
});

test("providers.sandbox-answers: schemas with references, choices, bounds and non-ASCII letters come back as calls that fit them", async (t) => {
  const parameters = {
    type: "object",
    properties: {
      city: { enum: ["Zürich 🎧", "Bern"] },
      days: { type: "array", items: { $ref: "#/$defs/day" }, minItems: 2 },
      limit: { type: "integer", minimum: 3, maximum: 9 },
      either: { anyOf: [{ const: "東京" }, { type: "number" }] },
      nested: { type: "object", properties: { flag: { type: "boolean" }, nothing: { type: "null" } } },
    },
    $defs: { day: { type: "string", format: "date" } },
  };
  const result = await sameEverywhere(t, { messages: [user("Go")], tools: [{ ...TIME, parameters }] });
  assert.deepEqual(JSON.parse(result.toolCalls[0]?.arguments ?? ""), {
    city: "Zürich 🎧",
    days: ["2026-01-01", "2026-01-01"],
    limit: 3,
    either: "東京",
    nested: { flag: true, nothing: null },
  });
});

for (const { name, wishes, wires } of GOLDEN_WISHES) {
  for (const place of PLACES) {
    if (wires[place.wire] === null) continue;
    test(`providers.sandbox-understands: ${place.name}, ${name}`, async () => {
      const isJson = wishes.responseFormat?.kind === "json_object";
      const audio = wishes.messages?.some(
        (each) => each.role === "user" && each.parts.some((part) => part.kind === "audio"),
      );
      if (audio === true) return;
      await ask(place, isJson ? { ...wishes, messages: [user("JSON, please")] } : wishes);
    });
  }
}

for (const dialect of ["openai", "vllm", "groq", "mistral"] as const) {
  test(`providers.chat-dialects, providers.sandbox-understands: a compatible server of dialect ${dialect} understands its dialect, calls and results included`, async () => {
    const chat: ChatModel = { ...openaiCompatibleChat.unknownModel, features: CHAT_FEATURES };
    const place: Place = {
      name: dialect,
      provider: openaiCompatibleChat,
      target: { model: "any-model", chat, settings: { dialect } },
      baseUrl: server.compatibleUrl(dialect),
    };
    const wishes: Partial<ChatRequest> = { tools: [TIME], toolChoice: { kind: "required" }, seed: 7, stop: ["END"] };
    const first = await ask(place, wishes);
    assert.equal(first.finishReason, "tool_calls");
    assert.ok(first.usage !== null, "usage in plain answers and in streams");
    const messages: ChatMessage[] = [
      user("Time?"),
      { role: "assistant", text: null, toolCalls: first.toolCalls },
      ...first.toolCalls.map((call): ChatMessage => ({ role: "tool", toolCallId: call.id, text: "noon" })),
    ];
    const second = await ask(place, { tools: [TIME], messages });
    assert.equal(second.text, "[simulated reply, 3 messages, 2 words, 1 tool result]");
  });
}

test("providers.sandbox-honest: the simulated model does everything, and says that it is simulated", async () => {
  const place: Place = {
    name: "simulated",
    provider: sandboxChat,
    target: chatTarget(sandboxChat, "simulated-chat"),
    baseUrl: server.origin,
  };
  const audio = { kind: "audio", format: "mp3", base64: Buffer.from("ID3\x04").toString("base64") } as const;
  const wishes = {
    messages: [{ role: "user", parts: [audio] }],
    temperature: 2,
    topP: 1,
    seed: 1,
    stop: ["x"],
  } as const;
  assert.equal((await ask(place, wishes)).text, "[simulated reply, 1 message, 0 words, 1 audio part]");
  const { calls } = server;
  assert.ok(
    calls.every((call) => !JSON.stringify(call.headers).includes("key-1")),
    "no credential in the record",
  );
});
