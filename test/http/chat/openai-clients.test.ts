// POST /v1/chat/completions as OpenAI's clients use it: what they send without effect reaches no provider, and what has an effect is asked
// of the model.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chatCompletion } from "../../../src/contract/chat/openai-compatible.ts";
import { chatOf, HELLO, postChat } from "../../harness/chat-client.ts";
import type { Answer } from "../../harness/client.ts";
import {
  answer,
  beginStream,
  chunk,
  completion,
  endStream,
  json,
  type UpstreamCall,
} from "../../harness/chat-upstream.ts";
import { type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway();
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(answer);
});

const complete = (fields: object): Promise<Answer> =>
  postChat(gateway.origin, { model: "auto", ...fields }, { path: "/v1/chat/completions" });

/** What of it reached the model. */
async function sent(fields: object): Promise<Record<string, unknown>> {
  const reply = await complete(fields);
  assert.equal(reply.status, 200, reply.text);
  return gateway.first.calls.at(-1)?.body ?? {};
}

const CALL = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } };
const RESULT = { role: "tool", tool_call_id: "call_1", content: "sunny" };
const TOOLS = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
const CALLED = { role: "assistant", content: null, tool_calls: [CALL] };

const OTHER_MEMBERS: readonly (readonly [string, object, object])[] = [
  ["a tool message's name, as LangChain sends it", CALLED, { ...RESULT, name: "weather" }],
  ["the index of a call of a stream", { ...CALLED, tool_calls: [{ index: 0, ...CALL }] }, RESULT],
  [
    "what the client read in the arguments of a strict tool",
    {
      ...CALLED,
      parsed: null,
      tool_calls: [{ ...CALL, function: { ...CALL.function, parsed_arguments: { city: "Rome" } } }],
    },
    RESULT,
  ],
  ["what the client read in a text", { ...CALLED, parsed: { city: "Rome" } }, RESULT],
];
for (const [name, called, result] of OTHER_MEMBERS) {
  test(`compatible.unused-members: ${name} is accepted and not used`, async () => {
    const { messages } = await sent({ tools: TOOLS, messages: [...HELLO, called, result] });
    assert.deepEqual(messages, [...HELLO, CALLED, RESULT]);
  });
}

test("compatible.unused-members: other unknown members of a call are refused", async () => {
  const reply = await complete({
    tools: TOOLS,
    messages: [...HELLO, { ...CALLED, tool_calls: [{ ...CALL, mood: "good" }] }, RESULT],
  });
  assert.deepEqual([reply.status, reply.code], [400, "INVALID_REQUEST"], reply.text);
});

for (const role of ["system", "developer"]) {
  test(`compatible.system-only, compatible.developer-role: of a conversation of ${role} messages alone the last one is sent as the user's`, async () => {
    const first = { role, content: "Answer in French." };
    const last = { role, content: [{ type: "text", text: "Say hello." }] };
    assert.deepEqual((await sent({ messages: [last] }))["messages"], [{ role: "user", content: "Say hello." }]);
    assert.deepEqual((await sent({ messages: [first, last] }))["messages"], [
      { role: "system", content: "Answer in French." },
      { role: "user", content: "Say hello." },
    ]);
    assert.deepEqual((await sent({ messages: [...HELLO, first] }))["messages"], [
      ...HELLO,
      { role: "system", content: "Answer in French." },
    ]);
  });
}

for (const path of ["/v1/chat", "/v1/chat/completions"]) {
  test(`chat.description-length: the description of a tool or a schema may have 65,536 characters, and no more (${path})`, async () => {
    const fields = (description: string) => ({
      ...(path === "/v1/chat" ? {} : { model: "auto" }),
      tools: [{ type: "function", function: { name: "weather", description } }],
      response_format: { type: "json_schema", json_schema: { name: "a", description, schema: {} } },
    });
    gateway.first.behave((call) => json(call, 200, completion({ role: "assistant", content: "{}" }, "stop")));
    const manual = "x".repeat(65_536);
    const taken = await postChat(gateway.origin, fields(manual), { path });
    assert.equal(taken.status, 200, taken.text);
    assert.equal(JSON.stringify(gateway.first.calls.at(-1)?.body).split(manual).length, 3);
    assert.equal((await postChat(gateway.origin, fields(`${manual}x`), { path })).status, 400);
  });
}

test("compatible.refusal-in-history: an assistant's refusal part is what the assistant said", async () => {
  const content = [
    { type: "text", text: "Well. " },
    { type: "refusal", refusal: "No." },
  ];
  const { messages } = await sent({ messages: [...HELLO, { role: "assistant", content }, ...HELLO] });
  assert.deepEqual(messages, [...HELLO, { role: "assistant", content: "Well. No." }, ...HELLO]);
});

test("compatible.image-detail-original: an image with the detail original is sent with the detail high", async () => {
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const { messages } = await sent({
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url, detail: "original" } }] }],
  });
  assert.deepEqual(messages, [{ role: "user", content: [{ type: "image_url", image_url: { url, detail: "high" } }] }]);
});

test("compatible.neutral-fields, compatible.meaningful-fields: a field without effect is accepted, and with an effect it is refused", async () => {
  const neutral = { prompt_cache_retention: "24h", top_logprobs: 0, functions: [], frequency_penalty: 0 };
  assert.deepEqual(Object.keys(await sent(neutral)).toSorted(), ["max_tokens", "messages", "model"]);
  for (const meant of [{ top_logprobs: 2 }, { functions: [{ name: "weather" }] }, { frequency_penalty: 0.5 }])
    assert.equal((await complete(meant)).code, "INVALID_REQUEST");
});

const REFUSAL = "I can't help with that.";
const refuse = (call: UpstreamCall): void => {
  if (call.body["stream"] !== true)
    return json(call, 200, completion({ role: "assistant", content: null, refusal: REFUSAL }, "stop"));
  beginStream(call);
  for (const refusal of ["I can't ", "help with that."]) chunk(call, { refusal });
  endStream(call);
};

test("compatible.refusal: what a model says instead of an answer is its refusal, and the answer has ended", async () => {
  gateway.first.behave(refuse);
  const [choice] = chatCompletion.parse((await complete({})).json).choices;
  assert.deepEqual(
    [choice?.message["content"], choice?.message["refusal"], choice?.["finish_reason"]],
    [null, REFUSAL, "stop"],
  );
  // There it stays the content, whose end says that something was withheld.
  const { content, finish_reason } = chatOf(await postChat(gateway.origin, {}));
  assert.deepEqual([content, finish_reason], [REFUSAL, "content_filter"]);
});

test("compatible.refusal: a refusal arrives as one in a stream too, and an answer that a filter cut keeps content_filter", async () => {
  gateway.first.behave(refuse);
  const { text } = await complete({ stream: true });
  const choices = text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => (JSON.parse(event.slice("data: ".length)) as { choices: Record<string, unknown>[] }).choices[0]);
  assert.deepEqual(
    choices.map((choice) => choice?.["delta"]),
    [{ role: "assistant", content: "", refusal: null }, { refusal: "I can't " }, { refusal: "help with that." }, {}],
  );
  assert.equal(choices.at(-1)?.["finish_reason"], "stop");
  gateway.first.behave((call) => json(call, 200, completion({ role: "assistant", content: "Well" }, "content_filter")));
  const [cut] = chatCompletion.parse((await complete({})).json).choices;
  assert.deepEqual([cut?.message["content"], cut?.["finish_reason"]], ["Well", "content_filter"]);
});
