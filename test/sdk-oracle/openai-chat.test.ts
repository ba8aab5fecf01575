// The official OpenAI client against the sandbox: if it reads the chat answers as its own, the protocol is right.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import OpenAI from "openai";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

const client = (options: { apiKey?: string; baseURL?: string; maxRetries?: number } = {}): OpenAI =>
  new OpenAI({ apiKey: "sk-oracle", baseURL: sandbox.openaiUrl, maxRetries: 0, ...options });

const HELLO = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hello there" }] };
const TEXT = "[simulated reply, 1 message, 2 words]";
const WEATHER: OpenAI.ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string", enum: ["Zürich"] } }, required: ["city"] },
  },
};
const TIME: OpenAI.ChatCompletionTool = { type: "function", function: { name: "get_time" } };

test("providers.sandbox-protocols: openai, plain: text, finish, usage, request id", async () => {
  const { data, request_id } = await client().chat.completions.create(HELLO).withResponse();
  assert.equal(data.choices[0]?.message.content, TEXT);
  assert.equal(data.choices[0]?.finish_reason, "stop");
  assert.equal(data.usage?.total_tokens, 8);
  assert.match(request_id ?? "", /^req_/u);
});

test("providers.sandbox-protocols: openai, stream: pieces, one finish, usage in the last chunk", async () => {
  const stream = await client().chat.completions.create({
    ...HELLO,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  const finishes: string[] = [];
  let usage: OpenAI.CompletionUsage | null | undefined = null;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    const finish = chunk.choices[0]?.finish_reason;
    if (finish) finishes.push(finish);
    usage = chunk.usage ?? usage;
  }
  assert.deepEqual([text, finishes, usage?.completion_tokens], [TEXT, ["stop"], 6]);
});

test("providers.sandbox-protocols: openai, a stream that did not ask for usage has none", async () => {
  const stream = await client().chat.completions.create({ ...HELLO, stream: true });
  for await (const chunk of stream) assert.equal(chunk.usage ?? null, null);
});

test("providers.sandbox-protocols: openai, tools: parallel calls, plain and through the client's own assembly of a stream", async () => {
  const request = { ...HELLO, tools: [WEATHER, TIME] };
  const plain = await client().chat.completions.create(request);
  const streamed = await client().chat.completions.stream(request).finalChatCompletion();
  for (const answer of [plain, streamed]) {
    const calls = answer.choices[0]?.message.tool_calls ?? [];
    assert.deepEqual(
      calls.map((call) => (call.type === "function" ? [call.function.name, call.function.arguments] : call)),
      [
        ["get_weather", '{"city":"Zürich"}'],
        ["get_time", "{}"],
      ],
    );
    assert.equal(answer.choices[0]?.finish_reason, "tool_calls");
  }
});

test("providers.sandbox-protocols: openai, tools: the client's own tool runner goes round until there is text", async () => {
  const seen: unknown[] = [];
  const runner = client().chat.completions.runTools({
    ...HELLO,
    tools: [
      {
        type: "function",
        function: {
          name: "get_weather",
          parameters: WEATHER.type === "function" ? (WEATHER.function.parameters ?? {}) : {},
          function: (args: unknown) => {
            seen.push(args);
            return "rain";
          },
          parse: JSON.parse,
          description: "Weather.",
        },
      },
    ],
  });
  assert.equal(await runner.finalContent(), "[simulated reply, 3 messages, 3 words, 1 tool result]");
  assert.deepEqual(seen, [{ city: "Zürich" }]);
});

test("providers.sandbox-protocols: openai, a schema: the client parses the answer by it", async () => {
  const answer = await client().chat.completions.parse({
    ...HELLO,
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "person",
        strict: true,
        schema: {
          type: "object",
          properties: { name: { type: "string" }, age: { type: "integer" } },
          required: ["name", "age"],
          additionalProperties: false,
        },
      },
    },
  });
  assert.deepEqual(JSON.parse(answer.choices[0]?.message.content ?? ""), { name: "simulated", age: 0 });
});

for (const [status, kind] of [
  [400, OpenAI.BadRequestError],
  [401, OpenAI.AuthenticationError],
  [403, OpenAI.PermissionDeniedError],
  [404, OpenAI.NotFoundError],
  [409, OpenAI.ConflictError],
  [422, OpenAI.UnprocessableEntityError],
  [429, OpenAI.RateLimitError],
  [500, OpenAI.InternalServerError],
] as const) {
  test(`providers.sandbox-protocols: openai, ${status} is the client's own error for it, with a message in it`, async () => {
    sandbox.addFault({ fault: { kind: "status", status } });
    await assert.rejects(client().chat.completions.create(HELLO), (error: unknown) => {
      assert.ok(error instanceof kind);
      assert.equal(error.status, status);
      assert.ok(typeof error.type === "string" && error.message.length > 4);
      return true;
    });
  });
}

test("providers.sandbox-protocols: openai, what the API refuses, the client sees with its parameter and code", async () => {
  const wrong = { ...HELLO, model: "gpt-5", max_tokens: 5 };
  await assert.rejects(client().chat.completions.create(wrong), { param: "max_tokens", code: "unsupported_parameter" });
  await assert.rejects(client({ apiKey: "invalid" }).chat.completions.create(HELLO), { code: "invalid_api_key" });
});

test("providers.sandbox-protocols: openai, an error among the events ends the client's stream with an error", async () => {
  sandbox.addFault({ fault: { kind: "error_event", afterContent: 2 } });
  const stream = await client().chat.completions.create({ ...HELLO, stream: true });
  await assert.rejects(async () => {
    for await (const _ of stream) continue;
  }, OpenAI.APIError);
});

test("providers.sandbox-protocols: openai, the client's retries: 500 and 429 with Retry-After are tried again, and then it works", async () => {
  sandbox.addFault({ times: 1, fault: { kind: "status", status: 500 } });
  sandbox.addFault({ times: 1, fault: { kind: "status", status: 429, retryAfterSeconds: 0 } });
  const answer = await client({ maxRetries: 2 }).chat.completions.create(HELLO);
  assert.equal(answer.choices[0]?.message.content, TEXT);
  assert.equal(sandbox.callCount, 3);
});

test("providers.sandbox-protocols: openai, a compatible server on the same base URL as its audio", async () => {
  const baseURL = sandbox.compatibleUrl("vllm");
  const answer = await client({ baseURL }).chat.completions.create({ ...HELLO, model: "my-model", max_tokens: 50 });
  assert.deepEqual([answer.choices[0]?.message.content, answer.model], [TEXT, "my-model"]);
});
