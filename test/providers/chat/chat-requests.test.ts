// What a chat request looks like in each protocol: recorded requests, what is refused, what is dropped and named.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHAT_FEATURES, CHAT_PREFERENCES } from "../../../src/contract/features.ts";
import { askedChatFeatures, outputCap, unmetChatFeatures } from "../../../src/providers/chat/unmet-chat-features.ts";
import type { ChatModel, ChatRequest } from "../../../src/providers/chat/chat-provider.ts";
import { chatReceipts } from "../../../src/providers/chat/chat-receipts.ts";
import { openaiChat, openaiCompatibleChat } from "../../../src/providers/openai/openai-chat.ts";
import { chatProviders } from "../../../src/providers/registry.ts";
import { httpServer, readAll } from "../../outbound/loopback.ts";
import {
  CHAT_WIRES,
  chatIo,
  chatTarget,
  eventsOf,
  HELLO,
  planFor,
  planned,
  SCHEMA,
  TIME,
  WEATHER,
  WIRE_NAMES,
} from "./fixtures.ts";
import { RECORDED } from "./recorded.ts";
import { GOLDEN_WIRES, GOLDEN_WISHES } from "../golden/chat.ts";
import { CREDENTIAL } from "../suites/wire-suite.ts";

for (const { name, wishes, feature, wires } of GOLDEN_WISHES) {
  for (const wire of WIRE_NAMES) {
    const golden = GOLDEN_WIRES[wire];
    const { provider, model } = CHAT_WIRES[wire];
    const target = chatTarget(provider, model);
    const change = wires[wire];
    if (change === null) {
      test(`providers.declared-features: ${wire} refuses ${name} instead of dropping it, and its model data agree`, () => {
        assert.deepEqual(provider.plan({ ...HELLO, ...wishes }, target), { ok: false, missing: [feature] });
        assert.ok(feature !== undefined && !target.chat.features.includes(feature));
      });
      test(`providers.declared-features: a declaration alone does not make ${wire} drop ${name} silently`, () => {
        const declared = { ...target, chat: { ...target.chat, features: CHAT_FEATURES } };
        const result = provider.plan({ ...HELLO, ...wishes }, declared);
        if (result.ok) assert.notDeepEqual(result.plan.body, golden.base);
        else assert.deepEqual(result.missing, [feature]);
      });
      continue;
    }
    for (const stream of [false, true]) {
      test(`providers.golden-requests: ${wire} sends ${name}${stream ? ", streamed" : ""}`, () => {
        const result = provider.plan({ ...HELLO, ...wishes, stream }, target);
        assert.ok(result.ok, JSON.stringify(result));
        assert.deepEqual(result.plan.body, { ...golden.base, ...change, ...(stream ? golden.stream : {}) });
        assert.equal(result.plan.path, stream ? golden.streamPath : golden.path);
        assert.deepEqual(result.plan.query, stream ? golden.streamQuery : golden.query);
        assert.deepEqual(result.dropped, []);
        if (feature !== undefined) assert.ok(target.chat.features.includes(feature), "and its data say so");
      });
    }
  }
}

test("providers.golden-requests: every chat feature has a recorded request, and every model declares only known features", () => {
  const rows = new Set(GOLDEN_WISHES.map(({ feature }) => feature));
  for (const feature of CHAT_FEATURES) assert.ok(rows.has(feature), feature);
  for (const provider of chatProviders.values()) {
    for (const [name, model] of Object.entries(provider.models)) {
      assert.ok(
        model.features.every((feature) => CHAT_FEATURES.includes(feature)),
        name,
      );
      assert.ok(
        model.preferences.every((preference) => CHAT_PREFERENCES.includes(preference)),
        name,
      );
      assert.ok((model.limits.maxOutputTokens ?? 0) > 0, `${name} has no cap to reserve by`);
    }
  }
});

for (const wire of WIRE_NAMES) {
  test(`providers.request-content: ${wire}: the plan and the credential arrive, in one request, and nothing else of the caller's`, async (t) => {
    const golden = GOLDEN_WIRES[wire];
    const [recorded] = RECORDED;
    assert.ok(recorded);
    const seen: { url: string; headers: NodeJS.Dict<string | string[]>; body: unknown }[] = [];
    const url = await httpServer(t, async (request, response) => {
      const body = JSON.parse((await readAll(request)).toString()) as { stream?: boolean };
      seen.push({ url: request.url ?? "", headers: request.headers, body });
      const isStream = seen.length === 2;
      response.writeHead(200, { "content-type": isStream ? "text/event-stream; charset=utf-8" : "application/json" });
      response.end(isStream ? recorded.wires[wire].stream : JSON.stringify(recorded.wires[wire].plain));
    });
    const { provider } = CHAT_WIRES[wire];
    const io = chatIo(t, new URL("prefix", url));
    const awkward = {
      messages: [{ role: "user", parts: [{ kind: "text", text: 'a\u2028"\\ 東京 🎧\u0000' }] }],
    } as const;
    const plan = planFor(wire, awkward);
    const streamPlan = planFor(wire, { ...awkward, stream: true });
    await provider.chat(plan, io);
    await eventsOf(provider.stream(streamPlan, io));
    assert.equal(seen.length, 2);
    for (const [index, sent] of seen.entries()) {
      const { path, query, body } = index === 0 ? plan : streamPlan;
      const search = query.map(([name, value]) => `?${name}=${value}`).join("");
      assert.equal(sent.url, `/prefix${path}${search}`);
      assert.deepEqual(sent.body, body);
      assert.equal(sent.headers["content-type"], "application/json");
      assert.equal(sent.headers["user-agent"], "patchbay");
      for (const [name, value] of Object.entries(golden.headers(CREDENTIAL))) assert.equal(sent.headers[name], value);
    }
  });

  test(`providers.no-credential: ${wire}: a server without a credential gets none`, async (t) => {
    const [recorded] = RECORDED;
    assert.ok(recorded);
    let headers: NodeJS.Dict<string | string[]> = {};
    const url = await httpServer(t, async (request, response) => {
      await readAll(request);
      headers = request.headers;
      response.end(JSON.stringify(recorded.wires[wire].plain));
    });
    await CHAT_WIRES[wire].provider.chat(planFor(wire), chatIo(t, url, { credential: null }));
    for (const name of ["authorization", "x-api-key", "x-goog-api-key"]) assert.equal(headers[name], undefined);
  });
}

const dropped = (provider: keyof typeof CHAT_WIRES, model: string, wishes: Partial<ChatRequest>): unknown => {
  const { provider: adapter } = CHAT_WIRES[provider];
  const result = adapter.plan({ ...HELLO, ...wishes }, chatTarget(adapter, model));
  return result.ok ? result.dropped : result;
};
const EVERY_PREFERENCE = { temperature: 0.5, topP: 0.9, seed: 7, stop: ["END"] } as const;

for (const [wire, model, wishes, expected] of [
  ["openai", "gpt-4o", EVERY_PREFERENCE, []],
  ["openai", "gpt-5", EVERY_PREFERENCE, ["temperature", "top_p", "stop"]],
  ["openai", "gpt-4o", { stop: ["1", "2", "3", "4", "5"] }, ["stop"]],
  ["anthropic", "claude-sonnet-4-5", EVERY_PREFERENCE, ["top_p", "seed"]],
  ["anthropic", "claude-sonnet-4-5", { temperature: 1.5, topP: 0.9 }, ["temperature"]],
  ["anthropic", "claude-opus-5", EVERY_PREFERENCE, ["temperature", "top_p", "seed"]],
  ["anthropic", "claude-sonnet-4-5", { stop: ["END", "\n\n"] }, ["stop"]],
  ["gemini", "gemini-3.5-flash", EVERY_PREFERENCE, []],
  ["gemini", "gemini-3.6-flash", EVERY_PREFERENCE, ["temperature", "top_p"]],
  ["gemini", "gemini-4-argon", EVERY_PREFERENCE, ["temperature", "top_p"]],
  ["gemini", "gemini-3.5-flash", { seed: 2 ** 31 - 1 }, []],
  ["gemini", "gemini-3.5-flash", { seed: 2 ** 31 }, ["seed"]],
  ["gemini", "gemini-3.5-flash", { seed: -(2 ** 31) - 1 }, ["seed"]],
  ["openai", "gpt-5", { reasoningEffort: "minimal", verbosity: "high" }, []],
  ["openai", "gpt-5", { reasoningEffort: "xhigh" }, ["reasoning_effort"]],
  ["openai", "gpt-5.4", { reasoningEffort: "xhigh" }, []],
  ["openai", "gpt-5.4", { reasoningEffort: "minimal" }, ["reasoning_effort"]],
  ["openai", "gpt-6-luna", EVERY_PREFERENCE, ["temperature", "top_p", "seed", "stop"]],
  ["openai", "gpt-6-luna", { reasoningEffort: "none" }, []],
  ["openai", "gpt-6.2-sol", { reasoningEffort: "none" }, ["reasoning_effort"]],
  ["openai", "gpt-6.2-sol", { reasoningEffort: "max" }, []],
  ["openai", "gpt-6-luna", { tools: [WEATHER], reasoningEffort: "high" }, ["reasoning_effort"]],
  ["openai", "gpt-4o", { reasoningEffort: "low", verbosity: "low" }, ["reasoning_effort", "verbosity"]],
  ["anthropic", "claude-opus-5", { reasoningEffort: "low" }, ["reasoning_effort"]],
  ["anthropic", "claude-haiku-5-5", EVERY_PREFERENCE, ["temperature", "top_p", "seed"]],
  ["gemini", "gemini-3.5-flash", { verbosity: "low" }, ["verbosity"]],
  ["gemini", "gemini-3.5-flash", { stop: ["1", "2", "3", "4", "5", "6"] }, ["stop"]],
] as const) {
  test(`providers.preference-named: ${model} with ${JSON.stringify(wishes)} drops and names ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(dropped(wire, model, wishes), expected);
  });
}

test("providers.preference-named: what is dropped is not sent", () => {
  const { body } = planned(openaiChat, chatTarget(openaiChat, "gpt-5"), EVERY_PREFERENCE);
  assert.deepEqual(Object.keys(body), ["model", "messages", "max_completion_tokens", "seed"]);
});

test("providers.preference-named: Anthropic gets the stop sequences that are not blank, Gemini no seed that it could not read", () => {
  const stops = (stop: readonly string[]): unknown => planFor("anthropic", { stop }).body["stop_sequences"];
  assert.deepEqual(stops([" ", "END", "\n"]), ["END"]);
  assert.deepEqual(stops(["\n"]), undefined);
  assert.deepEqual(planFor("gemini", { seed: 2 ** 31 }).body["generationConfig"], { maxOutputTokens: 100 });
});

test("providers.settings, compatible.effort: a target's own effort and verbosity win over what a caller asks", () => {
  const target = chatTarget(openaiChat, "gpt-5", { reasoning_effort: "low" });
  const result = openaiChat.plan({ ...HELLO, reasoningEffort: "high", verbosity: "high" }, target);
  assert(result.ok);
  const { reasoning_effort: effort, verbosity } = result.plan.body;
  assert.deepEqual([effort, verbosity, result.dropped], ["low", "high", ["reasoning_effort"]]);
});

test("providers.golden-requests: reasoning models of OpenAI get instructions in the role developer", () => {
  const { body } = planned(openaiChat, chatTarget(openaiChat, "gpt-5"), {
    messages: [{ role: "system", text: "Be." }],
  });
  assert.deepEqual(body["messages"], [{ role: "developer", content: "Be." }]);
});

for (const [wire, model, settings, expected] of [
  [
    "openai",
    "gpt-5",
    { reasoning_effort: "low", verbosity: "low", service_tier: "flex" },
    ["reasoning_effort", "verbosity", "service_tier"],
  ],
  ["anthropic", "claude-opus-5", { effort: "low", service_tier: "auto" }, ["output_config", "service_tier"]],
  ["gemini", "gemini-3.5-flash", { thinking_level: "low" }, ["generationConfig"]],
] as const) {
  test(`providers.settings: ${wire}: a target's settings are sent, unknown ones are not`, () => {
    const { provider } = CHAT_WIRES[wire];
    assert.ok(provider.settings.safeParse(settings).success);
    assert.ok(!provider.settings.safeParse({ ...settings, temperature: 1 }).success);
    const bare = planned(provider, chatTarget(provider, model)).body;
    const { body } = planned(provider, chatTarget(provider, model, { ...settings, profile: "x" }));
    const changed = Object.keys(body).filter((name) => JSON.stringify(body[name]) !== JSON.stringify(bare[name]));
    assert.deepEqual(changed.toSorted(), [...expected].toSorted());
  });
}

test("providers.golden-requests: OpenAI's models that accept tools only without reasoning get effort `none` with them, whatever the target is set to", () => {
  const effortOf = (model: string, wishes: Partial<ChatRequest>, settings = {}): unknown =>
    planned(openaiChat, chatTarget(openaiChat, model, settings), wishes).body["reasoning_effort"];
  assert.equal(effortOf("gpt-6-luna", { tools: [WEATHER] }), "none");
  assert.equal(effortOf("gpt-6.1-terra", { tools: [WEATHER] }, { reasoning_effort: "max" }), "none");
  assert.equal(effortOf("gpt-6.1-terra", {}, { reasoning_effort: "max" }), "max");
  assert.equal(effortOf("gpt-6-luna", {}), undefined);
  assert.equal(effortOf("gpt-5.4", { tools: [WEATHER] }), undefined);
});

for (const [wire, model, wishes, missing] of [
  ["anthropic", "claude-opus-5-5", { tools: [WEATHER], toolChoice: { kind: "required" } }, ["tool_choice"]],
  [
    "anthropic",
    "claude-sonnet-5-5",
    { tools: [TIME], toolChoice: { kind: "tool", name: "get_time" } },
    ["tool_choice"],
  ],
  ["openai", "gpt-6.1-sol", { tools: [WEATHER] }, ["tools"]],
  ["openai", "gpt-6.2-astra", { tools: [WEATHER] }, ["tools"]],
] as const) {
  test(`providers.declared-features: ${model} refuses ${missing.join()}`, () => {
    const { provider } = CHAT_WIRES[wire];
    assert.deepEqual(provider.plan({ ...HELLO, ...wishes }, chatTarget(provider, model)), { ok: false, missing });
  });
}

test("providers.conditional-features: Gemini before version 3 accepts tools or JSON, not both; after it, both", () => {
  const both = { tools: [WEATHER], responseFormat: { kind: "json_object" } } as const;
  const { provider } = CHAT_WIRES.gemini;
  assert.deepEqual(provider.plan({ ...HELLO, ...both }, chatTarget(provider, "gemini-2.5-flash")), {
    ok: false,
    missing: ["response_format.json_object"],
  });
  assert.ok(provider.plan({ ...HELLO, ...both }, chatTarget(provider, "gemini-3.5-flash")).ok);
});

test("chat.reasoning-same-target: Gemini before version 3 gets no placeholder for a signature; a signature goes back with its own call", () => {
  const { provider } = CHAT_WIRES.gemini;
  const brought = (model: string, id: string): unknown => {
    const { body } = planned(provider, chatTarget(provider, model), {
      messages: [
        ...HELLO.messages,
        { role: "assistant", text: "", toolCalls: [{ id, name: "get_time", arguments: "{}" }] },
        { role: "tool", toolCallId: id, text: "noon" },
      ],
    });
    return (body["contents"] as readonly unknown[]).slice(1);
  };
  const result = {
    role: "user",
    parts: [{ functionResponse: { id: "a", name: "get_time", response: { result: "noon" } } }],
  };
  const functionCall = { id: "a", name: "get_time", args: {} };
  assert.deepEqual(brought("gemini-2.5-pro", "a"), [{ role: "model", parts: [{ functionCall }] }, result]);
  assert.deepEqual(brought("gemini-3.5-flash", "a~patchbay-signature~SIG+/~=="), [
    { role: "model", parts: [{ functionCall, thoughtSignature: "SIG+/~==" }] },
    result,
  ]);
});

test("providers.chat-adaptation: Gemini: ids of another server that contain a tilde stay distinct ids", () => {
  const ids = ["a~1", "a~2"];
  const { body } = planned(CHAT_WIRES.gemini.provider, chatTarget(CHAT_WIRES.gemini.provider, "gemini-2.5-pro"), {
    messages: [
      ...HELLO.messages,
      {
        role: "assistant",
        text: null,
        toolCalls: ids.map((id) => ({ id, name: "get_time", arguments: "{}" })),
      },
      ...ids.map((toolCallId) => ({ role: "tool", toolCallId, text: "ok" }) as const),
    ],
  });
  const sent = [...JSON.stringify(body["contents"]).matchAll(/"id":"([^"]+)"/gu)].map(([, id]) => id);
  assert.deepEqual(sent, [...ids, ...ids]);
  assert.ok(!JSON.stringify(body).includes("thoughtSignature"));
});

test("providers.chat-adaptation: Gemini: a result names the function of the call before it, where a server used the same id in each of its answers", () => {
  const { provider } = CHAT_WIRES.gemini;
  const turn = (name: string): ChatRequest["messages"] => [
    { role: "assistant", text: null, toolCalls: [{ id: "call_0", name, arguments: "{}" }] },
    { role: "tool", toolCallId: "call_0", text: "ok" },
  ];
  const { body } = planned(provider, chatTarget(provider, "gemini-2.5-pro"), {
    messages: [...HELLO.messages, ...turn("get_weather"), ...turn("get_time")],
  });
  assert.deepEqual(
    [...JSON.stringify(body["contents"]).matchAll(/"functionResponse":\{"id":"call_0","name":"(?<name>\w+)"/gu)].map(
      ({ groups }) => groups?.["name"],
    ),
    ["get_weather", "get_time"],
  );
});

test("providers.chat-adaptation: Anthropic: ids that a server used in each of its answers become distinct, each result with its own call", () => {
  const turn = (text: string): ChatRequest["messages"] => [
    { role: "assistant", text: null, toolCalls: [{ id: "call_0", name: "get_time", arguments: "{}" }] },
    { role: "tool", toolCallId: "call_0", text },
  ];
  const messages = [...HELLO.messages, ...turn("one"), ...turn("two"), ...turn("three")];
  const text = JSON.stringify(planFor("anthropic", { messages }).body["messages"]);
  const [calls, results] = [/"id":"([^"]+)"/gu, /"tool_use_id":"([^"]+)"/gu].map((name) =>
    [...text.matchAll(name)].map(([, id]) => id),
  );
  assert.deepEqual(results, calls);
  assert.equal(new Set(calls).size, 3);
  assert.equal(calls?.[0], "call_0");
  for (const id of calls) assert.match(id ?? "", /^[A-Za-z0-9_-]{1,64}$/u);
});

test("providers.chat-adaptation: ids that a provider would refuse become ids that it accepts, the same for a call and its result", () => {
  const id = `call_${"x".repeat(50)}~patchbay-signature~SIG/+==`;
  const messages: ChatRequest["messages"] = [
    { role: "user", parts: [{ kind: "text", text: "Time?" }] },
    { role: "assistant", text: null, toolCalls: [{ id, name: "get_time", arguments: "{}" }] },
    { role: "tool", toolCallId: id, text: "noon" },
  ];
  const mistral = { model: "mistral-large", chat: openaiCompatibleChat.unknownModel, settings: { dialect: "mistral" } };
  for (const [body, pattern] of [
    [planFor("openai", { messages }).body, /^.{1,40}$/u],
    [planFor("anthropic", { messages }).body, /^[A-Za-z0-9_-]{1,64}$/u],
    [planned(openaiCompatibleChat, mistral, { messages }).body, /^[A-Za-z0-9]{9}$/u],
  ] as const) {
    const text = JSON.stringify(body["messages"]);
    const [call, result] = [/"id":"([^"]+)"/u, /"tool_(?:use|call)_id":"([^"]+)"/u].map((name) => name.exec(text)?.[1]);
    assert.match(call ?? "", pattern);
    assert.equal(result, call);
  }
});

test("providers.chat-adaptation: arguments that are no object are sent under a name of their own to the providers that need an object", () => {
  const toolCalls = [{ id: "a", name: "get_time", arguments: '{"cut":"of' }];
  const messages: ChatRequest["messages"] = [{ role: "assistant", text: null, toolCalls }];
  assert.ok(
    JSON.stringify(planFor("anthropic", { messages }).body).includes('"input":{"unparsed":"{\\"cut\\":\\"of"}'),
  );
  assert.ok(JSON.stringify(planFor("gemini", { messages }).body).includes('"args":{"unparsed":"{\\"cut\\":\\"of"}'));
});

test("providers.chat-adaptation: arguments and results nested deeper than 64 levels are sent to those providers as text", () => {
  const nested = (levels: number): string => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  for (const [levels, isObject] of [
    [64, true],
    [65, false],
    [5_000, false],
  ] as const) {
    const text = nested(levels);
    const messages: ChatRequest["messages"] = [
      ...HELLO.messages,
      { role: "assistant", text: null, toolCalls: [{ id: "a", name: "get_time", arguments: text }] },
      { role: "tool", toolCallId: "a", text },
    ];
    const anthropic = JSON.stringify(planFor("anthropic", { messages }).body);
    const gemini = JSON.stringify(planFor("gemini", { messages }).body);
    const kept = (name: string): string => (isObject ? text : JSON.stringify({ [name]: text }));
    assert.ok(anthropic.includes(`"input":${kept("unparsed")}`));
    assert.ok(gemini.includes(`"args":${kept("unparsed")}`));
    assert.ok(gemini.includes(`"response":${kept("result")}`));
  }
});

test("providers.chat-adaptation: Anthropic gets a schema that says nothing of other properties as a closed one, and refuses one that is open", () => {
  const { provider, model } = CHAT_WIRES.anthropic;
  const planOf = (schema: object) =>
    provider.plan(
      {
        ...HELLO,
        responseFormat: { kind: "json_schema", name: "p", description: null, schema: { ...schema }, strict: null },
      },
      chatTarget(provider, model),
    );
  const { additionalProperties: _, ...silent } = SCHEMA;
  const plan = planOf(silent);
  assert.ok(plan.ok);
  assert.deepEqual(plan.plan.body["output_config"], { format: { type: "json_schema", schema: SCHEMA } });
  const open = { ok: false, missing: ["response_format.json_schema"] };
  assert.deepEqual(planOf({ ...silent, additionalProperties: true }), open);
  assert.deepEqual(planOf({ type: "object" }), open);
});

test("providers.chat-adaptation: Anthropic gets the type that a tool's schema omits", () => {
  const { type: _, ...untyped } = WEATHER.parameters ?? {};
  const schemaOf = (parameters: object): unknown =>
    planFor("anthropic", { tools: [{ ...TIME, parameters: { ...parameters } }] }).body["tools"];
  assert.deepEqual(schemaOf(untyped), [{ name: "get_time", input_schema: WEATHER.parameters }]);
  assert.deepEqual(schemaOf({}), [{ name: "get_time", input_schema: { type: "object" } }]);
});

test("providers.chat-adaptation: a tool whose name Gemini does not accept makes it lack tools before it is called", () => {
  const { provider, model } = CHAT_WIRES.gemini;
  const planOf = (name: string) =>
    provider.plan({ ...HELLO, tools: [WEATHER, { ...TIME, name }] }, chatTarget(provider, model));
  for (const name of ["2fa", "-f"]) assert.deepEqual(planOf(name), { ok: false, missing: ["tools"] });
  for (const name of ["_2fa", "f-2"]) assert.ok(planOf(name).ok);
});

// Dialects of compatible servers [providers.chat-dialects].

const compatibleBody = (
  dialect: string | undefined,
  wishes: Partial<ChatRequest>,
): Readonly<Record<string, unknown>> => {
  const chat: ChatModel = { ...openaiCompatibleChat.unknownModel, features: CHAT_FEATURES };
  const target = { model: "any", chat, settings: dialect === undefined ? {} : { dialect } };
  return planned(openaiCompatibleChat, target, wishes).body;
};

for (const dialect of [undefined, "openai", "groq", "together", "vllm", "ollama", "mistral", "unheard-of"]) {
  test(`providers.chat-dialects: dialect ${dialect}: cap, seed, forced tools and usage in the server's own words`, () => {
    const body = compatibleBody(dialect, { seed: 7, tools: [TIME], toolChoice: { kind: "required" }, stream: true });
    const isMistral = dialect === "mistral";
    assert.deepEqual(body, {
      model: "any",
      messages: [{ role: "user", content: "Hello" }],
      max_tokens: 100,
      [isMistral ? "random_seed" : "seed"]: 7,
      tools: [{ type: "function", function: { name: "get_time" } }],
      tool_choice: isMistral ? "any" : "required",
      stream: true,
      ...(isMistral ? {} : { stream_options: { include_usage: true } }),
    });
  });
}

test("providers.declared-features: compatible servers: what is not declared is refused, and without a cap none is sent", () => {
  const target = { model: "any", chat: openaiCompatibleChat.unknownModel, settings: {} };
  const result = openaiCompatibleChat.plan({ ...HELLO, tools: [TIME], toolChoice: { kind: "required" } }, target);
  assert.deepEqual(result, { ok: false, missing: ["tools", "tool_choice"] });
  assert.deepEqual(Object.keys(planned(openaiCompatibleChat, target, { maxTokens: null }).body), ["model", "messages"]);
  assert.equal(outputCap({ maxTokens: null }, target.chat), null);
});

test("providers.golden-requests: OpenAI's audio models, once declared, get audio as the protocol has it", () => {
  const chat: ChatModel = { ...openaiChat.unknownModel, features: ["audio_parts"] };
  const { body } = planned(
    openaiChat,
    { model: "gpt-audio", chat, settings: {} },
    {
      messages: [{ role: "user", parts: [{ kind: "audio", format: "wav", base64: "UklGRg==" }] }],
    },
  );
  assert.deepEqual(body["messages"], [
    { role: "user", content: [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }] },
  ]);
});

// Limits and features, pure.

test("providers.model-limits: more tokens than a model writes, or an image that it cannot read, is refused", () => {
  const { chat } = chatTarget(openaiChat, "gpt-4o");
  assert.deepEqual(unmetChatFeatures({ ...HELLO, maxTokens: 16_384 }, chat), []);
  assert.deepEqual(unmetChatFeatures({ ...HELLO, maxTokens: 16_385 }, chat), ["max_tokens"]);
  const image = (mediaType: string): Partial<ChatRequest> => ({
    messages: [{ role: "user", parts: [{ kind: "image", mediaType, base64: "AA==" }] }],
  });
  assert.deepEqual(unmetChatFeatures({ ...HELLO, ...image("image/webp") }, chat), []);
  assert.deepEqual(unmetChatFeatures({ ...HELLO, ...image("image/tiff") }, chat), ["image_parts"]);
});

for (const [wire, detail, sent, dropped] of [
  ["openai", "low", "low", []],
  ["anthropic", "low", undefined, ["detail"]],
  ["anthropic", "auto", undefined, []],
  ["gemini", "high", undefined, ["detail"]],
] as const) {
  test(`chat.images: detail ${detail} of an image is ${sent === undefined ? "dropped" : "sent"} by ${wire}, and what is dropped is named`, () => {
    const { provider, model } = CHAT_WIRES[wire];
    const image = { kind: "image", mediaType: "image/png", base64: "AA==", detail } as const;
    const request: ChatRequest = { ...HELLO, messages: [{ role: "user", parts: [image] }] };
    const result = provider.plan(request, chatTarget(provider, model));
    assert.ok(result.ok);
    assert.deepEqual(result.dropped, dropped);
    assert.equal(JSON.stringify(result.plan.body).includes(`"detail":"${sent}"`), sent !== undefined);
  });
}

test("providers.model-limits: an unknown Anthropic model without a cap of its own is refused, not guessed", () => {
  const { provider } = CHAT_WIRES.anthropic;
  const chat: ChatModel = { features: [], preferences: [], limits: {} };
  const result = provider.plan({ ...HELLO, maxTokens: null }, { model: "claude-x", chat, settings: {} });
  assert.deepEqual(result, { ok: false, missing: ["max_tokens"] });
});

// Receipts.

const answer = { text: "", toolCalls: [], finishReason: "stop", usage: null, providerRequestId: null } as const;
const timeCall = { id: "a", name: "get_time", arguments: "{}" };
for (const [name, wishes, result, expected] of [
  ["JSON that is an object", { responseFormat: { kind: "json_object" } }, { text: '{"a":1}' }, [true]],
  [
    "JSON that is nested as deep as it likes",
    { responseFormat: { kind: "json_object" } },
    { text: `{"a":${"[".repeat(90)}${"]".repeat(90)}}` },
    [true],
  ],
  ["JSON that is no object", { responseFormat: { kind: "json_object" } }, { text: "[1]" }, [false]],
  ["no JSON", { responseFormat: { kind: "json_object" } }, { text: "Sure! {}" }, [false]],
  [
    "JSON cut by its length",
    { responseFormat: { kind: "json_object" } },
    { text: '{"a"', finishReason: "length" },
    [true],
  ],
  [
    "JSON by a schema",
    { responseFormat: { kind: "json_schema", name: "p", description: null, schema: SCHEMA, strict: null } },
    { text: "[1]" },
    [true],
  ],
  [
    "a required call",
    { tools: [TIME], toolChoice: { kind: "required" } },
    { toolCalls: [timeCall], finishReason: "tool_calls" },
    [true, true],
  ],
  [
    "a required call that did not come",
    { tools: [TIME], toolChoice: { kind: "required" } },
    { text: "No." },
    [true, false],
  ],
  [
    "another call than the one required",
    { tools: [TIME, WEATHER], toolChoice: { kind: "tool", name: "get_weather" } },
    { toolCalls: [timeCall], finishReason: "tool_calls" },
    [true, false],
  ],
  [
    "a call where none was allowed",
    { tools: [TIME], toolChoice: { kind: "none" } },
    { toolCalls: [timeCall] },
    [true, false],
  ],
  [
    "two calls where one was allowed",
    { tools: [TIME], parallelToolCalls: false },
    { toolCalls: [timeCall, timeCall] },
    [true, false],
  ],
] as const) {
  test(`providers.receipts, chat.receipts: the receipt of ${name}`, () => {
    const request: ChatRequest = { ...HELLO, ...wishes };
    const receipts = chatReceipts(request, { ...answer, ...result });
    assert.deepEqual(
      receipts.map((receipt) => receipt.delivered),
      expected,
    );
    assert.deepEqual(
      receipts.map((receipt) => receipt.feature),
      askedChatFeatures(request),
    );
  });
}
