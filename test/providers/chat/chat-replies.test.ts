// Chat answers of the three protocols, whole and streamed: the same answer, whatever the protocol and however its bytes were split.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { ChatEvent, ChatResult } from "../../../src/providers/chat/chat-provider.ts";
import { ProviderError } from "../../../src/providers/io.ts";
import { type WireReply } from "../../../src/providers/wire/wire-reply.ts";
import { openaiCompatibleChat } from "../../../src/providers/openai/openai-chat.ts";
import { assembled } from "./assembled.ts";
import { CHAT_WIRES, type ChatWire, eventsOf, HELLO, ioOfChunks, planFor, WIRE_NAMES } from "./fixtures.ts";
import { RECORDED, type RecordedAnswer, type RecordedCase, SIGNED, SIGNED_ID } from "./recorded.ts";

const streamed = (wire: ChatWire, chunks: Iterable<Uint8Array>, together = false): Promise<readonly ChatEvent[]> =>
  eventsOf(CHAT_WIRES[wire].provider.stream(planFor(wire, { stream: true }), ioOfChunks(chunks, { together })));

const plain = (wire: ChatWire, body: unknown): Promise<ChatResult> => plainText(wire, JSON.stringify(body));

function plainText(wire: ChatWire, text: string): Promise<ChatResult> {
  const reply: WireReply = { status: 200, headers: {}, text };
  return CHAT_WIRES[wire].provider.chat(planFor(wire), { ...ioOfChunks([]), send: async () => reply });
}

/** As the recordings say it. */
const ANSWERED: Readonly<Record<ChatWire, string>> = {
  openai: "gpt-4o-2024-08-06",
  anthropic: "claude-sonnet-4-5-20250929",
  gemini: "gemini-3.5-flash",
};

const expected = (
  wire: ChatWire,
  { text, calls, finish, usage }: RecordedCase,
  requestId: string | null = null,
): ChatResult => ({
  text,
  toolCalls: calls,
  finishReason: finish,
  usage,
  providerRequestId: requestId,
  answeredModel: ANSWERED[wire],
});

for (const recorded of RECORDED) {
  for (const wire of WIRE_NAMES) {
    test(`providers.stream-equals-plain: ${wire}, ${recorded.name}: the plain reply is the normalised answer`, async () => {
      // Gemini alone names the exchange in the body; the others in a header, which these recordings have not.
      const requestId = wire === "gemini" ? "resp1" : null;
      assert.deepEqual(await plain(wire, recorded.wires[wire].plain), expected(wire, recorded, requestId));
    });

    test(`providers.stream-equals-plain: ${wire}, ${recorded.name}: the stream is the same answer in pieces`, async () => {
      const events = await streamed(wire, [Buffer.from(recorded.wires[wire].stream)]);
      assert.deepEqual(assembled(events), expected(wire, recorded));
      assert.deepEqual(events[0], { type: "open", providerRequestId: null });
      assert.deepEqual(events.at(-1), { type: "finish", reason: recorded.finish });
      assert.equal(events.filter((event) => event.type === "finish").length, 1);
      assert.ok(!events.some((event) => event.type === "text" && event.text === ""), "no empty text");
      const firsts = events.filter((event) => event.type === "tool_call" && event.id !== undefined);
      assert.equal(firsts.length, recorded.calls.length, "each call has its id and name once");
    });

    test(`providers.stream-splits: ${wire}, ${recorded.name}: bytes one by one give the same events`, async () => {
      const bytes = Buffer.from(recorded.wires[wire].stream);
      const whole = await streamed(wire, [bytes]);
      const single = await streamed(
        wire,
        [...bytes].map((byte) => Uint8Array.of(byte)),
      );
      assert.deepEqual(single, whole);
    });
  }
}

test("providers.stream-splits: every byte split of every recorded stream gives the same events", async () => {
  const streams = RECORDED.flatMap((recorded) =>
    WIRE_NAMES.map((wire) => ({ wire, text: recorded.wires[wire].stream })),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.nat(streams.length - 1),
      fc.array(fc.nat(10_000), { maxLength: 12 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.boolean(),
      async (which, cuts, lineEnd, together) => {
        const stream = streams[which];
        assert.ok(stream);
        const whole = await streamed(stream.wire, [Buffer.from(stream.text)]);
        const bytes = Buffer.from(stream.text.replaceAll("\n", lineEnd));
        const at = [0, ...cuts.map((cut) => cut % bytes.length).toSorted((one, other) => one - other), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        assert.deepEqual(await streamed(stream.wire, chunks, together), whole);
      },
    ),
    { numRuns: 600 },
  );
});

for (const [what, fault] of [
  ["an event that is no JSON", Buffer.from("data: {\n\n")],
  ["bytes that are no UTF-8", Buffer.from([0x64, 0xff, 0xfe])],
  [
    "an error among the events",
    Buffer.from('data: {"type":"error","error":{"type":"overloaded_error","message":"no"}}\n\n'),
  ],
] as const) {
  for (const wire of WIRE_NAMES)
    test(`providers.stream-cut: ${wire}: ${what} in the middle: what came before is delivered, however much came at once`, async () => {
      const { stream } = (RECORDED[0] as RecordedCase).wires[wire];
      const end = stream.indexOf("\n\n", stream.indexOf("world")) + 2;
      const chunks = [Buffer.from(stream.slice(0, end)), fault, Buffer.from(stream.slice(end))];
      const seen = await Promise.all(
        [false, true].map(async (together) => {
          const events: ChatEvent[] = [];
          const io = ioOfChunks(chunks, { together });
          const reading = async () => {
            for await (const some of CHAT_WIRES[wire].provider.stream(planFor(wire, { stream: true }), io))
              events.push(...some);
          };
          const error = await reading().catch((thrown: unknown) => thrown);
          assert.ok(error instanceof ProviderError, String(error));
          return { events, kind: error.kind };
        }),
      );
      assert.ok(seen[0]?.events.some(({ type }) => type === "text"));
      assert.deepEqual(seen[1], seen[0]);
    });
}

const listOf = (length: number, piece: string): string => Array<string>(length).fill(piece).join(",");

test("providers.reply-bounds: R17, openai: a message of more values than one step reads is refused, one of fewer is read whole", async () => {
  const choice = `{"delta":{"tool_calls":[${listOf(500, '{"index":0}')}]}}`;
  const read = async (choices: number) => {
    const message = `{"choices":[${listOf(choices, choice)},{"delta":{},"finish_reason":"stop"}]}`;
    const events = [begun, message].map(
      (body) => `data: ${typeof body === "string" ? body : JSON.stringify(body)}\n\n`,
    );
    return streamed("openai", [Buffer.from(events.join(""))]);
  };
  const whole = await read(10);
  assert.ok(whole.length > 5_000, String(whole.length));
  assert.equal(whole.at(-1)?.type, "finish");
  await assert.rejects(read(300), { kind: "bad_reply", reason: "too_many_values" });
});

/** A list of a thousand and one is too long, whatever is in it: half of them would be looked at for longer than a loop may be held. */
for (const [wire, what, whole] of [
  ["openai", "choices", (n) => `{"choices":[${listOf(n, '{"message":{"content":"a"},"finish_reason":"stop"}')}]}`],
  [
    "openai",
    "parts of its content",
    (n) => `{"choices":[{"message":{"content":[${listOf(n, '{"type":"text","text":"a"}')}]},"finish_reason":"stop"}]}`,
  ],
  [
    "openai",
    "calls",
    (n) =>
      `{"choices":[{"message":{"tool_calls":[${listOf(n, '{"function":{"name":"f"}}')}]},"finish_reason":"stop"}]}`,
  ],
  [
    "anthropic",
    "blocks",
    (n) => `{"type":"message","content":[${listOf(n, '{"type":"text"}')}],"stop_reason":"end_turn"}`,
  ],
  [
    "gemini",
    "parts",
    (n) => `{"candidates":[{"content":{"parts":[${listOf(n, '{"text":"a"}')}]},"finishReason":"STOP"}]}`,
  ],
  ["gemini", "candidates", (n) => `{"candidates":[{"finishReason":"STOP"},${listOf(n - 1, "{}")}]}`],
] as const satisfies readonly (readonly [ChatWire, string, (n: number) => string])[]) {
  test(`providers.reply-bounds: ${wire}: more than a thousand ${what} are a failed call`, async () => {
    const taken = await outcomeOf(plainText(wire, whole(1_000)));
    assert.ok(isAnswer(taken), String(taken));
    assert.equal(whyBad(await outcomeOf(plainText(wire, whole(1_001)))), "bad_reply: odd_shape");
  });
}

/** JSON.parse takes it, and JSON.stringify has no stack for it. */
const DEEP = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
const HELD = { a: "DEEP" };
for (const [wire, whole, event] of [
  [
    "openai",
    {
      choices: [
        { message: { tool_calls: [{ id: "x", function: { name: "f", arguments: HELD } }] }, finish_reason: "stop" },
      ],
    },
    { choices: [{ delta: { tool_calls: [{ index: 0, id: "x", function: { name: "f", arguments: HELD } }] } }] },
  ],
  [
    "anthropic",
    { type: "message", content: [{ type: "tool_use", id: "x", name: "f", input: HELD }], stop_reason: "tool_use" },
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "x", name: "f", input: HELD } },
  ],
  [
    "gemini",
    { candidates: [{ content: { parts: [{ functionCall: { name: "f", args: HELD } }] }, finishReason: "STOP" }] },
    { candidates: [{ content: { parts: [{ functionCall: { name: "f", args: HELD } }] } }] },
  ],
] as const) {
  test(`providers.strict-reply: ${wire}: arguments nested too deeply to be written again are a bad_reply, plain and streamed`, async () => {
    const deep = (body: object): string => JSON.stringify(body).replace('"DEEP"', DEEP);
    assert.equal(whyBad(await outcomeOf(plainText(wire, deep(whole)))), "bad_reply: too_deep");
    const end = { type: "message_delta", delta: { stop_reason: "tool_use" } };
    const events = [Buffer.from(`data: ${deep(event)}\n\ndata: ${JSON.stringify(end)}\n\n`)];
    assert.equal(whyBad(await outcomeOf(streamed(wire, events))), "bad_reply: too_deep");
  });
}

const outcomeOf = async (work: Promise<unknown>): Promise<unknown> => work.catch((thrown: unknown) => thrown);

test("providers.strict-reply: any JSON as an answer or as an event leads to an answer or a ProviderError, and nothing else", async () => {
  const keys = [
    "choices",
    "message",
    "delta",
    "content",
    "candidates",
    "parts",
    "usage",
    "type",
    "tool_calls",
    "text",
    "error",
  ];
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom(null, 0, -1, 1e99, true, "", "stop", "STOP", "tool_use", "message_delta"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie("value"), { maxKeys: 4 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...WIRE_NAMES), value, async (wire, body) => {
      const whole = await outcomeOf(plain(wire, body));
      assert.ok(whole instanceof ProviderError || isAnswer(whole), String(whole));
      const events = await outcomeOf(streamed(wire, [Buffer.from(`data: ${JSON.stringify(body)}\n\n`)]));
      assert.ok(events instanceof ProviderError || Array.isArray(events), String(events));
    }),
    { numRuns: 1_000 },
  );
});

test("providers.strict-reply: a stream with changed or lost bytes ends in a finish or a ProviderError, and nothing else", async () => {
  const streams = RECORDED.flatMap((recorded) =>
    WIRE_NAMES.map((wire) => ({ wire, text: recorded.wires[wire].stream })),
  );
  const damage = fc.array(fc.tuple(fc.nat(10_000), fc.integer({ min: -1, max: 255 })), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.nat(streams.length - 1), damage, async (which, changes) => {
      const stream = streams[which];
      assert.ok(stream);
      const bytes = [...Buffer.from(stream.text)];
      for (const [at, byte] of changes) bytes.splice(at % bytes.length, 1, ...(byte === -1 ? [] : [byte]));
      const outcome = await outcomeOf(streamed(stream.wire, [Buffer.from(bytes)]));
      if (outcome instanceof ProviderError) return;
      assert.ok(Array.isArray(outcome), String(outcome));
      assert.equal((outcome as readonly ChatEvent[]).at(-1)?.type, "finish");
    }),
    { numRuns: 600 },
  );
});

const isAnswer = (value: unknown): boolean => typeof value === "object" && value !== null && "finishReason" in value;

test("providers.stream-splits: every two-way split of a unicode stream gives the same events, in each protocol", async () => {
  const unicode = RECORDED.find(({ name }) => name === "unicode");
  assert.ok(unicode);
  for (const wire of WIRE_NAMES) {
    const bytes: Buffer = Buffer.from(unicode.wires[wire].stream);
    const whole = await streamed(wire, [bytes]);
    for (let at = 1; at < bytes.length; at++)
      assert.deepEqual(await streamed(wire, [bytes.subarray(0, at), bytes.subarray(at)]), whole, `${wire} at ${at}`);
  }
});

test("providers.stream-cut: a stream that is cut anywhere before its finish fails, and is never a complete answer", async () => {
  for (const recorded of RECORDED) {
    for (const wire of WIRE_NAMES) {
      const { stream } = recorded.wires[wire];
      const lines = stream.split("\n\n");
      const finishAt = lines.findIndex((line) => /"finish_reason":"|"stop_reason":"|"finishReason":"/u.test(line));
      for (let kept = 0; kept < finishAt; kept++) {
        const error = await streamed(wire, [Buffer.from(`${lines.slice(0, kept).join("\n\n")}\n\n`)]).catch(
          (thrown: unknown) => thrown,
        );
        assert.ok(error instanceof ProviderError, `${wire} ${recorded.name}: ${kept} of ${lines.length} events passed`);
        assert.deepEqual([error.kind, error.reason], ["bad_reply", "no_finish"]);
      }
    }
  }
});

test("providers.unended-body: a stream that only the end of its connection ends is unknown wherever it is cut, inside a character too", async () => {
  const unicode = RECORDED.find(({ name }) => name === "unicode");
  assert.ok(unicode);
  for (const wire of WIRE_NAMES) {
    const { provider } = CHAT_WIRES[wire];
    const { stream } = unicode.wires[wire];
    const finishAt = stream.search(/"finish_reason":"|"stop_reason":"|"finishReason":"/u);
    const whole = Buffer.from(stream.slice(0, finishAt));
    for (let end = 0; end <= whole.length; end += 1) {
      const failed = async (headers: Readonly<Record<string, string>>): Promise<string> => {
        const io = ioOfChunks([whole.subarray(0, end)]);
        const open = async () => ({
          ...(await io.open(ANYTHING)),
          headers: { "content-type": "text/event-stream", ...headers },
        });
        const events = eventsOf(provider.stream(planFor(wire, { stream: true }), { ...io, open }));
        return whyBad(await outcomeOf(events)).split(":")[0] ?? "";
      };
      assert.equal(await failed({}), "unknown", `${wire} at ${end}`);
      assert.equal(await failed({ "transfer-encoding": "chunked" }), "bad_reply", `${wire} at ${end}`);
    }
  }
});

test("chat.reasoning-round-trip: Gemini's signature is part of the id of the call that it came with", async () => {
  const { toolCalls } = await plain("gemini", SIGNED.plain);
  assert.deepEqual(
    toolCalls.map((call) => call.id),
    [SIGNED_ID, "call_b"],
  );
  const events = await streamed("gemini", [Buffer.from(SIGNED.stream)]);
  assert.deepEqual(assembled(events).toolCalls, toolCalls);
});

test("chat.tool-call-arguments: Gemini: a call with an empty id gets one, because its result has to name it", async () => {
  const parts = [{ functionCall: { id: "", name: "get_time", args: {} } }];
  const { toolCalls } = await plain("gemini", { candidates: [{ content: { parts }, finishReason: "STOP" }] });
  assert.match(toolCalls[0]?.id ?? "", /^call_[0-9a-f]{32}$/u);
});

const toolUse = (index: number, id: string, input: object): readonly object[] => [
  { type: "content_block_start", index, content_block: { type: "tool_use", id, name: "f", input } },
  { type: "content_block_stop", index },
];
const endedBy = (reason: string): object => ({
  type: "message_delta",
  delta: { stop_reason: reason },
  usage: { output_tokens: 3 },
});
const anthropicStream = async (...events: readonly object[]): Promise<ChatResult> =>
  assembled(
    await streamed("anthropic", [Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))]),
  );

test("chat.tool-call-arguments: Anthropic: arguments in the start event of a call, without any after it, are the call's", async () => {
  for (const reason of ["tool_use", "max_tokens"]) {
    const { toolCalls } = await anthropicStream(...toolUse(0, "a", { x: 1 }), endedBy(reason));
    assert.deepEqual(toolCalls, [{ id: "a", name: "f", arguments: '{"x":1}' }]);
  }
});

test("chat.cut-call: Anthropic: no arguments are made up for a call that the length cut before they began", async () => {
  const content = [{ type: "tool_use", id: "a", name: "f", input: {} }];
  for (const [reason, written] of [
    ["max_tokens", ""],
    ["tool_use", "{}"],
  ] as const) {
    const { toolCalls } = await anthropicStream(...toolUse(0, "a", {}), endedBy(reason), endedBy("end_turn"));
    assert.deepEqual(toolCalls, [{ id: "a", name: "f", arguments: written }]);
    const whole = await plain("anthropic", { type: "message", content, stop_reason: reason });
    assert.deepEqual(whole.toolCalls, toolCalls);
  }
});

test("chat.tool-call-arguments: Anthropic: calls are distinguished, also where a server gives every block the same index", async () => {
  const { toolCalls } = await anthropicStream(
    ...["a", "b", "c"].flatMap((id) => toolUse(0, id, { of: id })),
    endedBy("tool_use"),
  );
  assert.deepEqual(
    toolCalls,
    ["a", "b", "c"].map((id) => ({ id, name: "f", arguments: `{"of":"${id}"}` })),
  );
});

test("chat.finish-reasons: Gemini: a blocked prompt is an answer that a filter withheld", async () => {
  const body = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 7 } };
  const result = await plain("gemini", body);
  assert.deepEqual([result.text, result.finishReason], ["", "content_filter"]);
  assert.deepEqual(result.usage, { inputTokens: 7, outputTokens: 0, cachedInputTokens: 0 });
});

test("providers.usage: Gemini: where only the total is counted, output is the total less the prompt", async () => {
  const usageMetadata = { promptTokenCount: 10, toolUsePromptTokenCount: 5, totalTokenCount: 60 };
  const body = { candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }], usageMetadata };
  assert.deepEqual((await plain("gemini", body)).usage, { inputTokens: 15, outputTokens: 45, cachedInputTokens: 0 });
});

test("providers.usage: Anthropic: figures that came before the end are marked as not final", async () => {
  const [text] = RECORDED;
  assert.ok(text);
  const events = await streamed("anthropic", [Buffer.from(text.wires.anthropic.stream)]);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "usage" ? [[event.usage.outputTokens, event.isFinal]] : [])),
    [
      [1, false],
      [12, true],
    ],
  );
});

test("providers.usage: Gemini: only figures that came with the end or after it are final", async () => {
  const fragment = (text: string, finishReason?: string) => ({
    candidates: [{ content: { parts: [{ text }] }, finishReason }],
  });
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2 };
  const streamOf = (...bodies: readonly object[]) =>
    streamed("gemini", [Buffer.from(bodies.map((body) => `data: ${JSON.stringify(body)}\n\n`).join(""))]);
  const finals = (events: readonly ChatEvent[]) =>
    events.flatMap((event) => (event.type === "usage" ? [[event.usage.outputTokens, event.isFinal]] : []));
  const early = await streamOf({ ...fragment("Hi"), usageMetadata }, fragment(" there, and more", "STOP"));
  assert.deepEqual(finals(early), [[2, false]]);
  const late = await streamOf({ ...fragment("Hi"), usageMetadata }, fragment("!", "STOP"), { usageMetadata });
  assert.deepEqual(finals(late), [
    [2, false],
    [2, true],
  ]);
});

for (const [wire, plainBody] of [
  ["openai", { choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] }],
  ["openai", { choices: [{ message: { content: "Hi" }, finish_reason: "stop" }], usage: { prompt_tokens: -1 } }],
  ["anthropic", { type: "message", content: [{ type: "text", text: "Hi" }], stop_reason: "end_turn" }],
  ["gemini", { candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] }],
] as const) {
  test(`providers.usage: ${wire}: usage that is missing or makes no sense is missing, not zero`, async () => {
    const result = await plain(wire, plainBody);
    assert.deepEqual([result.text, result.usage], ["Hi", null]);
  });
}

for (const [wire, body] of [
  ["openai", { choices: [{ message: { content: "Hi" }, finish_reason: null }] }],
  ["openai", { choices: [{ message: { content: "Hi" }, finish_reason: "error" }] }],
  ["openai", { choices: [{ message: { content: null }, finish_reason: "tool_calls" }] }],
  ["openai", { choices: [{ message: { content: "", tool_calls: [] }, finish_reason: "tool_calls" }] }],
  ["openai", { choices: [] }],
  [
    "openai",
    { choices: [{ message: { tool_calls: [{ id: "x", function: { arguments: "{}" } }] }, finish_reason: "stop" }] },
  ],
  ["anthropic", { type: "message", content: [{ type: "text", text: "Hi" }], stop_reason: null }],
  ["anthropic", { type: "message", content: [], stop_reason: "pause_turn" }],
  ["anthropic", { type: "message", content: [{ type: "tool_use", id: "x" }], stop_reason: "tool_use" }],
  ["gemini", { candidates: [{ content: { parts: [{ text: "Hi" }] } }] }],
  ["gemini", { candidates: [{ content: { parts: [] }, finishReason: "MALFORMED_FUNCTION_CALL" }] }],
  ["gemini", { candidates: [{ finishReason: "OTHER" }] }],
  ["gemini", {}],
] as const) {
  test(`providers.strict-reply: ${wire}: ${JSON.stringify(body)} is no answer`, async () => {
    const error = await plain(wire, body).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ProviderError);
    assert.equal(error.kind, "bad_reply");
  });
}

// How compatible servers vary the protocol [providers.chat-dialects].

const compatible = (...bodies: readonly object[]): Promise<readonly ChatEvent[]> => {
  const target = { model: "any", chat: openaiCompatibleChat.unknownModel, settings: {} };
  const result = openaiCompatibleChat.plan({ ...HELLO, stream: true }, target);
  assert.ok(result.ok);
  const text = bodies.map((body) => `data: ${JSON.stringify(body)}\n\n`).join("");
  return eventsOf(openaiCompatibleChat.stream(result.plan, ioOfChunks([Buffer.from(text)])));
};
const delta = (piece: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta: piece, finish_reason: finish }],
});
const call = (piece: object): object => delta({ tool_calls: [piece] });

test("providers.stream-cut: compatible servers: a stream with a finish and without [DONE] is complete", async () => {
  assert.equal(assembled(await compatible(delta({ content: "Hi" }), delta({}, "stop"))).text, "Hi");
});

test("chat.tool-call-arguments: compatible servers: calls without an index, or all with index 0, are distinguished by their ids", async () => {
  for (const index of [{}, { index: 0 }]) {
    const events = await compatible(
      call({ ...index, id: "a", function: { name: "one", arguments: '{"x":1}' } }),
      call({ ...index, id: "b", function: { name: "two", arguments: '{"y"' } }),
      call({ ...index, function: { arguments: ":2}" } }),
      delta({}, "stop"),
    );
    const result = assembled(events);
    assert.deepEqual(result.toolCalls, [
      { id: "a", name: "one", arguments: '{"x":1}' },
      { id: "b", name: "two", arguments: '{"y":2}' },
    ]);
    assert.equal(result.finishReason, "tool_calls");
  }
});

const begun = call({ index: 0, id: "a", function: { name: "one", arguments: "" } });

test("chat.cut-call: openai: no arguments are made up for a call that the length cut before they began", async () => {
  assert.equal(assembled(await compatible(begun, delta({}, "stop"))).toolCalls[0]?.arguments, "{}");
  assert.equal(assembled(await compatible(begun, delta({}, "length"))).toolCalls[0]?.arguments, "");
  for (const [finish, written] of [
    ["tool_calls", "{}"],
    ["length", ""],
  ] as const) {
    const message = { tool_calls: [{ id: "a", function: { name: "one", arguments: "" } }] };
    const whole = await plain("openai", { choices: [{ message, finish_reason: finish }] });
    assert.deepEqual([whole.finishReason, whole.toolCalls[0]?.arguments], [finish, written]);
  }
});

test("providers.stream-cut: openai: another finish or an error after the finish changes nothing of the answer", async () => {
  const events = await compatible(
    begun,
    delta({ content: "Hi" }, "stop"),
    delta({}, "length"),
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: 6 } },
    { error: { code: "server_error", message: "no" } },
  );
  assert.deepEqual(assembled(events), {
    text: "Hi",
    toolCalls: [{ id: "a", name: "one", arguments: "{}" }],
    finishReason: "tool_calls",
    usage: { inputTokens: 5, outputTokens: 6, cachedInputTokens: 0 },
    providerRequestId: null,
  });
});

test("providers.reply-bounds: no stream has more than a thousand calls", async () => {
  const every = (length: number) => Array.from({ length }, (_, index) => index);
  const [most, tooMany] = [1_000, 1_001].map(every);
  assert.ok(most && tooMany);
  const openAi = (indexes: readonly number[]) =>
    compatible(
      ...indexes.map((index) => call({ index, id: `c${index}`, function: { name: "f", arguments: "{}" } })),
      delta({}, "stop"),
    );
  const anthropic = (indexes: readonly number[]) =>
    anthropicStream(...indexes.flatMap((index) => toolUse(index, `c${index}`, {})), endedBy("tool_use"));
  assert.equal(assembled(await openAi(most)).toolCalls.length, 1_000);
  assert.equal((await anthropic(most)).toolCalls.length, 1_000);
  for (const failed of [openAi(tooMany), anthropic(tooMany)])
    assert.equal(whyBad(await outcomeOf(failed)), "bad_reply: too_many_calls");
});

test("providers.strict-reply: openai: of several choices the first is the answer, and it needs its own finish", async () => {
  const events = await compatible(
    {
      choices: [
        { index: 1, delta: { content: "B" } },
        { index: 0, delta: { content: "A" } },
      ],
    },
    { choices: [{ index: 1, delta: { content: "B" }, finish_reason: "length" }] },
    delta({ content: "a" }, "stop"),
  );
  assert.deepEqual([assembled(events).text, assembled(events).finishReason], ["Aa", "stop"]);
  const other = { choices: [{ index: 1, delta: { content: "B" }, finish_reason: "stop" }] };
  const error = await compatible(delta({ content: "A" }), other).catch((thrown: unknown) => thrown);
  assert.equal(whyBad(error), "bad_reply: no_finish");
});

test("providers.strict-reply: openai: a finish by calls, with neither calls nor words, is no answer", async () => {
  const error = await compatible(delta({}, "tool_calls")).catch((thrown: unknown) => thrown);
  assert.equal(whyBad(error), "bad_reply: no_calls");
});

test("providers.chat-dialects: arguments as an object, a call without an id, content in parts, usage where Groq puts it", async () => {
  const events = await compatible(
    delta({
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "Hi" },
      ],
    }),
    call({ index: 0, function: { name: "one", arguments: { x: 1 } } }),
    { ...delta({}, "tool_calls"), x_groq: { usage: { prompt_tokens: 5, completion_tokens: 6 } } },
  );
  const result = assembled(events);
  assert.equal(result.text, "Hi");
  assert.equal(result.toolCalls[0]?.arguments, '{"x":1}');
  assert.match(result.toolCalls[0]?.id ?? "", /^call_[0-9a-f]{32}$/u);
  assert.deepEqual(result.usage, { inputTokens: 5, outputTokens: 6, cachedInputTokens: 0 });
});

test("compatible.refusal: OpenAI's refusal is the answer's text, marked as a refusal and ended by a filter", async () => {
  const refusal = { content: null, refusal: "I can't help with that." };
  const whole = await plain("openai", { choices: [{ message: refusal, finish_reason: "stop" }] });
  const events = await compatible(
    delta({ refusal: "I can't " }),
    delta({ refusal: "help with that." }),
    delta({}, "stop"),
  );
  for (const result of [whole, assembled(events)])
    assert.deepEqual([result.text, result.finishReason], ["I can't help with that.", "content_filter"]);
  assert.equal(whole.isRefusal, true);
  const said = events.filter((event) => event.type === "text");
  assert.deepEqual(
    said.map(({ isRefusal }) => isRefusal),
    [true, true],
  );
  const both = { content: "Well. ", refusal: "No." };
  const mixed = await plain("openai", { choices: [{ message: both, finish_reason: "stop" }] });
  assert.equal(mixed.isRefusal, undefined);
});

test("providers.request-id: the provider's request id is kept, plain and streamed, where it comes in a header", async () => {
  const [text] = RECORDED;
  assert.ok(text);
  for (const [wire, header] of [
    ["openai", "x-request-id"],
    ["anthropic", "request-id"],
  ] as const) {
    const headers = { [header]: "req_7", "content-type": "text/event-stream" };
    const { provider } = CHAT_WIRES[wire];
    const answer: RecordedAnswer = text.wires[wire];
    const io = {
      ...ioOfChunks([]),
      send: async () => ({ status: 200, headers, text: JSON.stringify(answer.plain) }),
      open: async () => ({ ...(await ioOfChunks([Buffer.from(answer.stream)]).open(ANYTHING)), headers }),
    };
    assert.equal((await provider.chat(planFor(wire), io)).providerRequestId, "req_7");
    const events = await eventsOf(provider.stream(planFor(wire, { stream: true }), io));
    assert.deepEqual(events[0], { type: "open", providerRequestId: "req_7" });
  }
});

const ANYTHING = { method: "POST", path: "/", headers: {} } as const;

function whyBad(error: unknown): string {
  assert.ok(error instanceof ProviderError, String(error));
  return `${error.kind}: ${error.reason}`;
}
