// The official OpenAI client sends its own messages back: whatever one of its helpers adds to what it received is in the next request.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import OpenAI from "openai";
import { answer, beginStream, chunk, completion, endStream, json, TEXT } from "../harness/chat-upstream.ts";
import { KEY, neverResting } from "../harness/gateway.ts";
import { type ChatGateway, forget, startChatGateway } from "../http/chat/chat-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway({ gateway: { wrapGateway: neverResting } });
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(answer);
});

const client = (): OpenAI => new OpenAI({ apiKey: KEY, baseURL: `${gateway.origin}/v1`, maxRetries: 0 });
const messages = [{ role: "user" as const, content: "Hello" }];
const STRICT_TOOL = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "The weather of a city.",
    strict: true,
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
  },
};
const STRICT_CALL = { id: "call_a", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } };

/** The next answer calls the tool; those after it say the usual. */
function callsOnce(): void {
  gateway.first.behave((call) => {
    gateway.first.behave(answer);
    if (call.body["stream"] !== true)
      return json(call, 200, completion({ role: "assistant", content: null, tool_calls: [STRICT_CALL] }, "tool_calls"));
    beginStream(call);
    chunk(call, { tool_calls: [{ index: 0, ...STRICT_CALL, function: { name: "weather", arguments: "" } }] });
    chunk(call, { tool_calls: [{ index: 0, function: { arguments: STRICT_CALL.function.arguments } }] });
    endStream(call, "tool_calls");
  });
}

const ASKED = { model: "auto", messages, tools: [STRICT_TOOL] };
const MESSAGES: readonly (readonly [string, () => Promise<OpenAI.ChatCompletionMessage | undefined>])[] = [
  ["create()", async () => (await client().chat.completions.create(ASKED)).choices[0]?.message],
  ["parse()", async () => (await client().chat.completions.parse(ASKED)).choices[0]?.message],
  ["stream().finalMessage()", () => client().chat.completions.stream(ASKED).finalMessage()],
];
for (const [helper, ask] of MESSAGES) {
  test(`compatible.tool-round-trip, compatible.unused-members: the message that ${helper} gave is accepted back as it is, and with it the result of a strict tool`, async () => {
    callsOnce();
    const message = await ask();
    assert(message !== undefined);
    const result = { role: "tool" as const, tool_call_id: "call_a", content: "sunny" };
    const reply = await client().chat.completions.create({ ...ASKED, messages: [...messages, message, result] });
    assert.equal(reply.choices[0]?.message.content, TEXT);
    assert.deepEqual(gateway.first.calls.at(-1)?.body["messages"], [
      ...messages,
      // An empty text, where a stream began with one.
      { role: "assistant", content: message.content, tool_calls: [STRICT_CALL] },
      result,
    ]);
  });
}

test("compatible.parsed-schema: the message whose JSON parse() has read is accepted back as it is", async () => {
  gateway.first.behave((call) =>
    json(call, 200, completion({ role: "assistant", content: '{"city":"Rome"}' }, "stop")),
  );
  const { parameters: schema, ...named } = STRICT_TOOL.function;
  const parsed = await client().chat.completions.parse({
    model: "auto",
    messages,
    response_format: { type: "json_schema", json_schema: { ...named, schema } },
  });
  const message = parsed.choices[0]?.message;
  assert.deepEqual(message?.parsed, { city: "Rome" });
  await client().chat.completions.create({ model: "auto", messages: [...messages, message, ...messages] });
  assert.deepEqual(gateway.first.calls.at(-1)?.body["messages"], [
    ...messages,
    { role: "assistant", content: '{"city":"Rome"}' },
    ...messages,
  ]);
});

for (const stream of [false, true]) {
  test(`compatible.tool-round-trip: the client runs tools by itself${stream ? ", streamed" : ""}`, async () => {
    callsOnce();
    const { function: tool, type } = STRICT_TOOL;
    const tools = [{ type, function: { ...tool, function: () => "sunny", parse: JSON.parse } }];
    const { completions } = client().chat;
    const runner = stream
      ? completions.runTools({ model: "auto", messages, tools, stream })
      : completions.runTools({ model: "auto", messages, tools });
    assert.equal(await runner.finalContent(), TEXT);
  });
}

test("compatible.refusal, compatible.refusal-in-history, compatible.parsed-schema: parse() and stream() find a refusal where OpenAI has it, and it is accepted back as it is", async () => {
  const refusal = "I can't help with that.";
  gateway.first.behave((call) => {
    if (call.body["stream"] !== true)
      return json(call, 200, completion({ role: "assistant", content: null, refusal }, "stop"));
    beginStream(call);
    for (const piece of ["I can't ", "help with that."]) chunk(call, { refusal: piece });
    endStream(call);
  });
  const { parameters: schema, ...named } = STRICT_TOOL.function;
  const asked = {
    model: "auto",
    messages,
    response_format: { type: "json_schema" as const, json_schema: { ...named, schema } },
  };
  const parsed = (await client().chat.completions.parse(asked)).choices[0]?.message;
  const streamed = await client().chat.completions.stream(asked).finalMessage();
  gateway.first.behave(answer);
  assert.equal(parsed?.parsed, null);
  for (const message of [parsed, streamed]) {
    assert.equal(message.refusal, refusal);
    await client().chat.completions.create({ model: "auto", messages: [...messages, message, ...messages] });
    assert.deepEqual(gateway.first.calls.at(-1)?.body["messages"], [
      ...messages,
      { role: "assistant", content: refusal },
      ...messages,
    ]);
  }
});
