// One chat API over three wires: the same request through a whole gateway to each provider, played by the sandbox, with a key of the
// account and with a test key; faults before and after the first token.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { FaultRule } from "../../../sandbox/server.ts";
import { chatOf, names, postChat, streamChat } from "../../harness/chat-client.ts";
import { byId, configurationWith } from "../../harness/configuration.ts";
import { neverResting, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { PNG } from "../../providers/chat/fixtures.ts";

const WIRES = ["openai", "anthropic", "gemini"] as const;
type WireName = (typeof WIRES)[number];
const MODELS = { openai: "gpt-4o", anthropic: "claude-sonnet-4-5", gemini: "gemini-3.5-flash" } as const;
const TEXT = "[simulated reply, 2 messages, 3 words]";
const MESSAGES = [
  { role: "system", content: "Be." },
  { role: "user", content: "Grüezi 東京" },
] as const;
const TOOLS = [
  {
    type: "function",
    function: { name: "get_weather", parameters: { type: "object", properties: { city: { enum: ["Zürich"] } } } },
  },
  { type: "function", function: { name: "get_time" } },
];

const targetOf = (wire: WireName): string => `${wire}/${MODELS[wire]}`;
/** A route per wire, and one per wire that begins there and continues to the others. */
const ROUTES = [...WIRES, ...WIRES.map((wire) => `from-${wire}` as const)];
const keyOf = (wire: (typeof ROUTES)[number]): string => `key-of-the-app-on-${wire}-000001`;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    wrapGateway: neverResting,
    file: (sandbox) =>
      configurationWith(sandbox, {
        scopes: ["chat"],
        connections: byId(WIRES, (wire) => wire),
        routes: {
          ...byId(WIRES, targetOf),
          ...Object.fromEntries(
            WIRES.map((first) => [`from-${first}`, [first, ...WIRES.filter((wire) => wire !== first)].map(targetOf)]),
          ),
        },
        apps: byId(ROUTES, (route) => ({ key: keyOf(route) })),
      }),
  });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearFaults();
  gateway.sandbox.clearCalls();
});

const fault = (wire: WireName | undefined, kind: FaultRule["fault"]): void =>
  gateway.sandbox.addFault({ wire, times: 1, fault: kind });

for (const wire of WIRES) {
  const options = { key: keyOf(wire) };

  test(`chat.stream-same-answer: ${wire}: plain and streamed are one answer, with the provider's own usage`, async () => {
    const plain = chatOf(await postChat(gateway.origin, { messages: MESSAGES }, options));
    const streamed = await streamChat(gateway.origin, { messages: MESSAGES }, options);
    const completed = streamed.events.at(-1)?.data;
    for (const chat of [plain, completed]) {
      assert.deepEqual([chat?.["content"], chat?.["finish_reason"]], [TEXT, "stop"]);
      assert.deepEqual(chat?.["usage"], { input_tokens: 3, output_tokens: 6, total_tokens: 9, cached_input_tokens: 0 });
    }
    assert.deepEqual(names(streamed), ["chat.started", ...Array<string>(6).fill("chat.delta"), "chat.completed"]);
    assert.deepEqual(
      gateway.sandbox.calls.map((call) => [call.wire, call.model]),
      [
        [wire, MODELS[wire]],
        [wire, MODELS[wire]],
      ],
    );
  });

  test(`chat.stream-deltas, chat.history-across-providers: ${wire}: parallel calls out of a stream, their results in the next request, words at the end`, async () => {
    const streamed = await streamChat(gateway.origin, { messages: MESSAGES, tools: TOOLS }, options);
    const first = streamed.events.at(-1)?.data;
    const calls = first?.["tool_calls"] as { id: string; name: string; arguments: string }[];
    assert.deepEqual(
      calls.map((call) => [call.name, call.arguments]),
      [
        ["get_weather", '{"city":"Zürich"}'],
        ["get_time", "{}"],
      ],
    );
    assert.deepEqual([first?.["content"], first?.["finish_reason"]], [null, "tool_calls"]);
    const messages = [
      ...MESSAGES,
      { role: "assistant", content: null, tool_calls: calls },
      ...calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "ok" })),
    ];
    const second = chatOf(await postChat(gateway.origin, { messages, tools: TOOLS }, options));
    assert.equal(second.content, "[simulated reply, 5 messages, 5 words, 2 tool results]");
  });

  test(`providers.request-content: ${wire}: a schema, an image, a stop sequence and the cap reach the provider`, async () => {
    const schema = {
      type: "object",
      properties: { ok: { type: "boolean" } },
      required: ["ok"],
      additionalProperties: false,
    };
    const json = chatOf(
      await postChat(
        gateway.origin,
        {
          messages: MESSAGES,
          response_format: { type: "json_schema", json_schema: { name: "x", schema, strict: true } },
        },
        options,
      ),
    );
    assert.deepEqual(JSON.parse(json.content ?? ""), { ok: true });
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
    const seen = chatOf(
      await postChat(
        gateway.origin,
        { messages: [{ role: "user", content: [image, { type: "text", text: "What?" }] }] },
        options,
      ),
    );
    assert.equal(seen.content, "[simulated reply, 1 message, 1 word, 1 image]");
    const capped = chatOf(await postChat(gateway.origin, { messages: MESSAGES, max_tokens: 2 }, options));
    assert.deepEqual([capped.content, capped.finish_reason], ["[simulated reply,", "length"]);
    const stopped = chatOf(await postChat(gateway.origin, { messages: MESSAGES, stop: " reply" }, options));
    assert.deepEqual([stopped.content, stopped.finish_reason], ["[simulated", "stop"]);
  });

  for (const [what, kind] of [
    ["a refusal", { kind: "status", status: 503 }],
    ["a reset", { kind: "reset_after_body" }],
    ["an error body under 200", { kind: "error_body" }],
    ["garbage", { kind: "garbage" }],
    ["a stream cut after its head", { kind: "cut_stream", afterContent: 0 }],
    ["an error among the events before any content", { kind: "error_event", afterContent: 0 }],
  ] as const) {
    test(`chat.fallback-before-content: ${wire}: ${what} before the first content: the next target answers and the caller sees only its answer`, async () => {
      fault(wire, kind);
      const streamed = await streamChat(gateway.origin, { messages: MESSAGES }, { key: keyOf(`from-${wire}`) });
      assert.deepEqual([streamed.status, streamed.events.at(-1)?.data["content"]], [200, TEXT], streamed.text);
      assert.equal(gateway.sandbox.callCount, 2);
      assert.equal(gateway.sandbox.calls[0]?.wire, wire);
    });
  }

  for (const [what, kind] of [
    ["cut", { kind: "cut_stream", afterContent: 2 }],
    ["an error event", { kind: "error_event", afterContent: 2 }],
    ["no finish", { kind: "no_finish" }],
  ] as const) {
    test(`chat.stream-broken: ${wire}: ${what} after the first content: one error event, no other target, no made-up end`, async () => {
      fault(wire, kind);
      const streamed = await streamChat(gateway.origin, { messages: MESSAGES }, options);
      assert.equal(streamed.events.at(-1)?.event, "error", streamed.text);
      assert.equal(streamed.events.filter(({ event }) => event === "error" || event === "chat.completed").length, 1);
      assert.equal(gateway.sandbox.callCount, 1);
    });
  }

  test(`chat.caller-disconnect, providers.abort: ${wire}: the provider sees that the caller disconnected in the middle of a stream`, async () => {
    fault(wire, { kind: "stall_stream", afterContent: 2 });
    const leave = new AbortController();
    const streamed = await streamChat(
      gateway.origin,
      { messages: MESSAGES },
      { ...options, signal: leave.signal, onEvent: ({ event }) => event === "chat.delta" && leave.abort() },
    );
    assert.ok(streamed.broke);
    await gateway.sandbox.waitForCall((call) => call.aborted);
  });
}

for (const [feature, fields] of [
  ["tool_calls", { tools: TOOLS, tool_choice: "required" }],
  [
    "response_format",
    {
      response_format: {
        type: "json_schema",
        json_schema: { name: "x", schema: { type: "object", properties: {} } },
      },
    },
  ],
] as const) {
  test(`chat.receipts: an answer without the required ${feature} is withheld, and the next target is tried`, async () => {
    fault("openai", { kind: "drop", feature });
    const chat = chatOf(
      await postChat(gateway.origin, { messages: MESSAGES, ...fields }, { key: keyOf("from-openai") }),
    );
    assert.deepEqual(
      gateway.sandbox.calls.map((call) => call.wire),
      ["openai", "anthropic"],
    );
    if (feature === "tool_calls") assert.equal(chat.tool_calls.length, 2);
    else assert.deepEqual(JSON.parse(chat.content ?? ""), {});
  });
}

test("chat.required-features: what a wire cannot do is refused before any provider is called", async () => {
  const json = { messages: [{ role: "user", content: "json" }], response_format: { type: "json_object" } };
  const refused = await postChat(gateway.origin, json, { key: keyOf("anthropic") });
  assert.equal(refused.status, 422, refused.text);
  const single = { messages: MESSAGES, tools: TOOLS, parallel_tool_calls: false };
  assert.equal((await postChat(gateway.origin, single, { key: keyOf("gemini") })).status, 422);
  assert.equal(gateway.sandbox.callCount, 0);
});

test("chat.history-across-providers: a conversation with calls continues at another provider when its own is gone", async () => {
  for (const wire of WIRES) {
    const first = chatOf(await postChat(gateway.origin, { messages: MESSAGES, tools: TOOLS }, { key: keyOf(wire) }));
    const messages = [
      ...MESSAGES,
      { role: "assistant", content: null, tool_calls: first.tool_calls },
      ...first.tool_calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "ok" })),
    ];
    for (const other of WIRES) {
      const second = chatOf(await postChat(gateway.origin, { messages, tools: TOOLS }, { key: keyOf(other) }));
      assert.equal(second.content, "[simulated reply, 5 messages, 5 words, 2 tool results]", `${wire} to ${other}`);
    }
  }
});

test("chat.history-across-providers: arguments and results with deep nesting are sent back to every provider", async () => {
  const deep = `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
  const messages = [
    ...MESSAGES,
    { role: "assistant", content: null, tool_calls: [{ id: "call_a", name: "get_time", arguments: deep }] },
    { role: "tool", tool_call_id: "call_a", content: deep },
  ];
  for (const wire of WIRES) {
    const answered = await postChat(gateway.origin, { messages, tools: TOOLS }, { key: keyOf(wire) });
    assert.equal(answered.status, 200, `${wire}: ${answered.text}`);
  }
});

test("chat.exhausted: when every eligible target failed, each was called once and the answer is all_providers_exhausted", async () => {
  gateway.sandbox.addFault({ fault: { kind: "status", status: 529 } });
  const refused = await postChat(gateway.origin, { messages: MESSAGES }, { key: keyOf("from-gemini") });
  assert.equal(refused.status, 503);
  assert.match(refused.text, /"all_providers_exhausted"/u);
  assert.deepEqual(
    gateway.sandbox.calls.map((call) => call.wire),
    ["gemini", "openai", "anthropic"],
  );
});

test("chat.log-privacy: no prompt, answer or credential is in the log", () => {
  const log = gateway.logs.join("\n");
  for (const secret of ["Grüezi", "simulated reply", ...WIRES.map((wire) => `secret-of-${wire}`)])
    assert.ok(!log.includes(secret));
});
