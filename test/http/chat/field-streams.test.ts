// Streams of servers in the field that spell, frame or order the protocol their own way: the answer reaches the caller whole, in one
// attempt, and nothing counts against the target.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type ChatAnswer, chatAnswer } from "../../../src/contract/chat/chat-answer.ts";
import { chatOf, postChat, streamChat } from "../../harness/chat-client.ts";
import { beginStream, type Behaviour, chunk, completion, endStream, json } from "../../harness/chat-upstream.ts";
import { attemptsOf, type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway();
});
after(() => gateway.close());
beforeEach(() => forget(gateway));

const TOOLS = ["get_weather", "get_time"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object" } },
}));

/** The answer at the end of a stream whose only attempt was the first target's. */
async function streamedAnswer(behaviour: Behaviour, fields: object = {}): Promise<ChatAnswer> {
  gateway.first.behave(behaviour);
  const streamed = await streamChat(gateway.origin, fields);
  const last = streamed.events.at(-1);
  assert.equal(last?.event, "chat.completed", streamed.text);
  await servedByFirst();
  return chatAnswer.parse(last.data);
}

async function servedByFirst(): Promise<void> {
  assert.equal(gateway.second.calls.length, 0, "the second target was called");
  assert.deepEqual(
    (await attemptsOf(gateway)).map(({ outcome }) => outcome),
    ["succeeded"],
  );
  await forget(gateway);
}

const codes = ({ warnings }: ChatAnswer): readonly string[] => warnings.map(({ code }) => code);
const UNKNOWN = ["FINISH_REASON_UNKNOWN"];

const FINISHES: readonly (readonly [string, ChatAnswer["finish_reason"], readonly string[]])[] = [
  ...[
    "stop",
    "STOP",
    "end",
    "end_turn",
    "eos",
    "eos_token",
    "stop_sequence",
    "Stop_Sequence",
    "COMPLETE",
    "normal",
  ].map((reason) => [reason, "stop", []] as const),
  ...["length", "max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded"].map(
    (reason) => [reason, "length", []] as const,
  ),
  ...["content_filter", "SAFETY", "refusal", "sensitive", "content_filter: PROHIBITED_CONTENT"].map(
    (reason) => [reason, "content_filter", []] as const,
  ),
  ...["pause_turn", "LANGUAGE", "UNEXPECTED_TOOL_CALL", "function_call_filter: UNEXPECTED_TOOL_CALL", "bingo"].map(
    (reason) => [reason, "stop", UNKNOWN] as const,
  ),
];

for (const [reason, expected, warnings] of FINISHES) {
  test(`chat.finish-reasons: FLD-09: an answer that ends with \`${reason}\` ends with ${expected}, plain and streamed`, async () => {
    gateway.first.behave((call) => json(call, 200, completion({ role: "assistant", content: "Hi" }, reason)));
    const plain = chatOf(await postChat(gateway.origin, {}));
    await servedByFirst();
    const streamed = await streamedAnswer((call) => {
      beginStream(call);
      chunk(call, { content: "Hi" });
      endStream(call, reason);
    });
    for (const answer of [plain, streamed])
      assert.deepEqual([answer.content, answer.finish_reason, codes(answer)], ["Hi", expected, warnings]);
  });
}

for (const reason of ["tool_use", "TOOL_CALL", "stop", "bingo"]) {
  test(`chat.finish-tool-calls: FLD-09: an answer of tool calls that ends with \`${reason}\` ends with tool_calls`, async () => {
    const tool_calls = [{ index: 0, id: "a", function: { name: "get_time", arguments: "{}" } }];
    const answer = await streamedAnswer(
      (call) => {
        beginStream(call);
        chunk(call, { tool_calls });
        endStream(call, reason);
      },
      { tools: TOOLS },
    );
    assert.deepEqual([answer.finish_reason, codes(answer)], ["tool_calls", reason === "bingo" ? UNKNOWN : []]);
  });
}

test("chat.finish-unknown: FLD-09: content and [DONE] without a finish reason are a complete answer with a warning", async () => {
  const answer = await streamedAnswer((call) => {
    beginStream(call);
    chunk(call, { content: "Hi" }, "null");
    call.response.end("data: [DONE]\n\n");
  });
  assert.deepEqual([answer.content, answer.finish_reason], ["Hi", "stop"]);
  assert.ok(codes(answer).includes("FINISH_REASON_UNKNOWN"));
});

test("chat.finish-failed: FLD-09: a stream that ends with neither is an error, and so is a server's own word for failure", async () => {
  for (const reason of [null, "insufficient_system_resource", "abort"]) {
    gateway.first.behave((call) => {
      beginStream(call);
      chunk(call, { content: "Hi" }, reason);
      call.response.end();
    });
    const streamed = await streamChat(gateway.origin, {});
    assert.equal(streamed.events.at(-1)?.event, "error", streamed.text);
  }
});

test("chat.finish-unknown: FLD-09: unknown finish reasons do not open the circuit", async () => {
  for (let n = 0; n < 8; n += 1) {
    const answer = await streamedAnswer((call) => {
      beginStream(call);
      chunk(call, { content: String(n) });
      endStream(call, "whatever_comes");
    });
    assert.equal(answer.content, String(n));
  }
});

const KEEP_ALIVES = [
  "data:\n\n",
  "data: \n\n",
  'data: ""\n\n',
  "data: null\n\n",
  "data\n\n",
  "event: ping\ndata:\n\n",
  'event: ping\ndata: {"type":"ping"}\n\n',
  "event: keepalive\ndata: ok\n\n",
  "data: : comment\n\n",
  ": comment\n\n",
];
for (const keepAlive of KEEP_ALIVES) {
  test(`providers.keep-alives: FLD-10: ${JSON.stringify(keepAlive)} before, between and after the pieces is ignored`, async () => {
    const answer = await streamedAnswer((call) => {
      beginStream(call);
      call.response.write(keepAlive);
      chunk(call, { content: "Hel" });
      call.response.write(keepAlive);
      chunk(call, { content: "lo" });
      call.response.write(keepAlive);
      endStream(call);
    });
    assert.deepEqual([answer.content, answer.finish_reason, codes(answer)], ["Hello", "stop", []]);
  });
}

const weather = (args: unknown) => ({ function: { name: "get_weather", arguments: args } });
const time = (args: unknown) => ({ function: { name: "get_time", arguments: args } });
const indexed = (index: unknown, piece: object) => ({ index, ...piece });
const PARIS = '{"city":"Paris"}';
const ROME = '{"city":"Rome"}';

/** Deltas, and the calls that they are. */
const CALLS: readonly (readonly [string, readonly object[], readonly (readonly [string, string])[]])[] = [
  [
    "two in one chunk",
    [{ tool_calls: [weather(PARIS), time("{}")] }],
    [
      ["get_weather", PARIS],
      ["get_time", "{}"],
    ],
  ],
  [
    "two of one name in one chunk",
    [{ tool_calls: [weather(PARIS), weather(ROME)] }],
    [
      ["get_weather", PARIS],
      ["get_weather", ROME],
    ],
  ],
  [
    "two in two chunks",
    [{ tool_calls: [weather(PARIS)] }, { tool_calls: [time("{}")] }],
    [
      ["get_weather", PARIS],
      ["get_time", "{}"],
    ],
  ],
  [
    "two of one name in two chunks",
    [{ tool_calls: [weather(PARIS)] }, { tool_calls: [weather(ROME)] }],
    [
      ["get_weather", PARIS],
      ["get_weather", ROME],
    ],
  ],
  [
    "all index 0, arguments in pieces",
    [
      weather(""),
      { function: { arguments: '{"city":"Par' } },
      { function: { arguments: 'is"}' } },
      weather(""),
      { function: { arguments: ROME } },
    ].map((piece) => ({ tool_calls: [indexed(0, piece)] })),
    [
      ["get_weather", PARIS],
      ["get_weather", ROME],
    ],
  ],
  [
    "one index, and another id",
    [
      { tool_calls: [indexed(0, { id: "a", ...weather(PARIS) })] },
      { tool_calls: [indexed(0, { id: "b", ...weather(ROME) })] },
    ],
    [
      ["get_weather", PARIS],
      ["get_weather", ROME],
    ],
  ],
  [
    "an index that is text",
    [
      { tool_calls: [indexed("0", weather("{"))] },
      { tool_calls: [indexed("1", time("{"))] },
      { tool_calls: [indexed("0", { function: { arguments: "}" } })] },
      { tool_calls: [indexed("1", { function: { arguments: "}" } })] },
    ],
    [
      ["get_weather", "{}"],
      ["get_time", "{}"],
    ],
  ],
  [
    "arguments as objects",
    [{ tool_calls: [weather({ city: "Paris" })] }, { tool_calls: [weather({ city: "Rome" })] }],
    [
      ["get_weather", PARIS],
      ["get_weather", ROME],
    ],
  ],
  [
    "one id for all of them",
    [{ tool_calls: [{ id: "x", ...weather(PARIS) }] }, { tool_calls: [{ id: "x", ...time("{}") }] }],
    [
      ["get_weather", PARIS],
      ["get_time", "{}"],
    ],
  ],
  [
    "id and name repeated with every piece",
    ['{"city":', '"Paris"}', ""].map((piece) => ({ tool_calls: [indexed(0, { id: "x", ...weather(piece) })] })),
    [["get_weather", PARIS]],
  ],
  [
    "braces and quotes in the arguments",
    [{ tool_calls: [weather('{"a":"}\\""')] }, { tool_calls: [weather("}")] }],
    [["get_weather", '{"a":"}\\""}']],
  ],
  [
    "the protocol's first form",
    [{ function_call: { name: "get_weather", arguments: "{" } }, { function_call: { arguments: "}" } }],
    [["get_weather", "{}"]],
  ],
];

for (const [name, deltas, expected] of CALLS) {
  test(`chat.tool-call-arguments, chat.stream-deltas: FLD-11: tool calls, ${name}: as many as were made, each with an id of its own that is accepted back`, async () => {
    const { tool_calls: calls } = await streamedAnswer(
      (call) => {
        beginStream(call);
        for (const delta of deltas) chunk(call, delta);
        endStream(call, "tool_calls");
      },
      { tools: TOOLS },
    );
    assert.deepEqual(
      calls.map((call) => [call.name, call.arguments]),
      expected,
    );
    assert.equal(new Set(calls.map(({ id }) => id)).size, expected.length);
    gateway.first.behave((call) => json(call, 200, completion({ role: "assistant", content: "Mild." }, "stop")));
    const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "mild" }));
    const messages = [{ role: "user", content: "Hi" }, { role: "assistant", tool_calls: calls }, ...results];
    assert.equal(chatOf(await postChat(gateway.origin, { messages, tools: TOOLS })).content, "Mild.");
  });
}

test("chat.tool-call-arguments: FLD-11: each call of a plain answer has an id of its own too", async () => {
  const tool_calls = [{ id: "x", ...weather(PARIS) }, { id: "x", ...weather(ROME) }, weather({ city: "Oslo" })];
  gateway.first.behave((call) => json(call, 200, completion({ role: "assistant", tool_calls }, "tool_calls")));
  const answer = chatOf(await postChat(gateway.origin, { tools: TOOLS }));
  assert.equal(new Set(answer.tool_calls.map(({ id }) => id)).size, 3);
  assert.deepEqual(
    answer.tool_calls.map((call) => call.arguments),
    [PARIS, ROME, '{"city":"Oslo"}'],
  );
});

test("chat.finish-in-every-chunk: FLD-12: a finish reason in every chunk of text: all of it is the answer, with the usage behind it", async () => {
  const answer = await streamedAnswer((call) => {
    beginStream(call);
    for (const piece of ["Hel", "lo ", "you"]) chunk(call, { content: piece }, "stop");
    endStream(call, "length");
  });
  assert.deepEqual([answer.content, answer.finish_reason, answer.usage.output_tokens], ["Hello you", "stop", 3]);
});

test("chat.finish-in-every-chunk: FLD-12: a finish reason in every chunk of tool calls: all of them are the answer", async () => {
  const answer = await streamedAnswer(
    (call) => {
      beginStream(call);
      chunk(call, { tool_calls: [indexed(0, { id: "a", ...weather(PARIS) })] }, "tool_calls");
      chunk(call, { tool_calls: [indexed(1, { id: "b", ...time("") })] }, "tool_calls");
      call.response.end("data: [DONE]\n\n");
    },
    { tools: TOOLS },
  );
  assert.deepEqual(
    answer.tool_calls.map((call) => [call.id, call.arguments]),
    [
      ["a", PARIS],
      ["b", "{}"],
    ],
  );
});

test("chat.finish-in-every-chunk: FLD-12: a stream that breaks where every chunk has a finish reason has no end", async () => {
  gateway.first.behave(async (call) => {
    beginStream(call);
    chunk(call, { content: "Hel" }, "stop");
    chunk(call, { content: "lo" }, "stop");
    call.response.write('data: {"error":{"type":"server_error","message":"no"}}\n\n');
    call.response.end();
  });
  assert.equal((await streamChat(gateway.origin, {})).events.at(-1)?.event, "error");
});

const CHUNKS = [
  { choices: [{ index: 0, delta: { content: "Grüße, " }, finish_reason: null }] },
  { choices: [{ index: 0, delta: { content: "世界" }, finish_reason: "stop" }] },
  { choices: [], usage: { prompt_tokens: 11, completion_tokens: 3 } },
];
const WHOLE = completion({ role: "assistant", content: "Grüße, 世界" }, "stop");
const events = (lineEnd: string, field = "data: ") =>
  [...CHUNKS.map((each) => JSON.stringify(each)), "[DONE]"]
    .map((text) => `${field}${text}${lineEnd}${lineEnd}`)
    .join("");

const FRAMINGS: readonly (readonly [string, string, string])[] = [
  ["events labelled application/json", "application/json", events("\n")],
  ["events labelled text/html", "text/html", events("\n")],
  ["events without a label", "", events("\n")],
  ["events behind a byte order mark", "text/event-stream", `\uFEFF${events("\n")}`],
  ["events behind empty lines and a comment", "application/json", `\n\n: hi\n\n${events("\n")}`],
  ["events with CRLF and no blank behind the colon", "text/event-stream", events("\r\n", "data:")],
  ["events with CR", "text/event-stream", events("\r")],
  ["one JSON object", "application/json", JSON.stringify(WHOLE)],
  ["one JSON object labelled as events", "text/event-stream", `\n ${JSON.stringify(WHOLE, null, 2)}\n`],
  ["one JSON object as one event", "text/event-stream", `data: ${JSON.stringify(WHOLE)}\n\ndata: [DONE]\n\n`],
  ["one chunk a line", "application/x-ndjson", CHUNKS.map((each) => `${JSON.stringify(each)}\n`).join("")],
];
for (const [name, contentType, body] of FRAMINGS) {
  test(`providers.stream-framing: FLD-13: ${name}: recognised by its content, and delivered as a stream`, async () => {
    const answer = await streamedAnswer(({ response }) => {
      response.writeHead(200, contentType === "" ? {} : { "content-type": contentType }).end(body);
    });
    assert.deepEqual(
      [answer.content, answer.finish_reason, answer.usage.input_tokens, answer.usage.output_tokens, codes(answer)],
      ["Grüße, 世界", "stop", 11, 3, []],
    );
  });
}

test("providers.stream-framing, chat.fallback-before-content: FLD-13: an error body as the answer to a stream is a failure, and the next target serves", async () => {
  gateway.first.behave((call) => json(call, 200, { error: { message: "no", type: "server_error" } }));
  const streamed = await streamChat(gateway.origin, {});
  assert.equal(streamed.events.at(-1)?.event, "chat.completed");
  assert.equal(gateway.second.calls.length, 1);
});
