// The official Anthropic client against the sandbox: if it reads the answers as its own, the protocol is right. It sends a bearer key and
// the version of 2026-10-21.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
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

const client = (apiKey = "sk-ant-oracle", maxRetries = 0): Anthropic =>
  new Anthropic({ apiKey, baseURL: sandbox.anthropicUrl, maxRetries });

const HELLO = {
  model: "claude-opus-5",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Hello there" }],
};
const TEXT = "[simulated reply, 1 message, 2 words]";
const TOOLS: Anthropic.Tool[] = [
  {
    name: "get_weather",
    input_schema: { type: "object", properties: { city: { type: "string", enum: ["Zürich"] } }, required: ["city"] },
  },
  { name: "get_time", input_schema: { type: "object", properties: {} } },
];

const textOf = (message: Anthropic.Message): string =>
  message.content.map((block) => (block.type === "text" ? block.text : "")).join("");

test("providers.sandbox-protocols: anthropic, plain: text, stop reason, usage, request id", async () => {
  const message = await client().messages.create({ ...HELLO, system: "Be brief." });
  assert.equal(textOf(message), "[simulated reply, 2 messages, 4 words]");
  assert.deepEqual([message.stop_reason, message.usage.input_tokens, message.usage.output_tokens], ["end_turn", 4, 6]);
  assert.match(message._request_id ?? "", /^req_/u);
});

test("providers.sandbox-protocols: anthropic, stream: the client assembles the same message, and its usage", async () => {
  const stream = client().messages.stream(HELLO);
  const pieces: string[] = [];
  stream.on("text", (piece) => pieces.push(piece));
  const message = await stream.finalMessage();
  assert.deepEqual([pieces.join(""), textOf(message), pieces.length], [TEXT, TEXT, 6]);
  assert.deepEqual([message.stop_reason, message.usage.output_tokens], ["end_turn", 6]);
});

test("providers.sandbox-protocols: anthropic, tools: parallel calls, plain and assembled from a stream, and their results sent back", async () => {
  const request = { ...HELLO, tools: TOOLS };
  const plain = await client().messages.create(request);
  const streamed = await client().messages.stream(request).finalMessage();
  for (const message of [plain, streamed]) {
    const calls = message.content.filter((block) => block.type === "tool_use");
    assert.deepEqual(
      calls.map((call) => [call.name, call.input]),
      [
        ["get_weather", { city: "Zürich" }],
        ["get_time", {}],
      ],
    );
    assert.equal(message.stop_reason, "tool_use");
    const answer = await client().messages.create({
      ...request,
      messages: [
        ...HELLO.messages,
        { role: "assistant", content: message.content },
        {
          role: "user",
          content: calls.map((call) => ({ type: "tool_result" as const, tool_use_id: call.id, content: "ok" })),
        },
      ],
    });
    assert.equal(textOf(answer), "[simulated reply, 4 messages, 4 words, 2 tool results]");
  }
});

test("providers.sandbox-protocols: anthropic, one call at a time, and one by name", async () => {
  const single = await client().messages.create({
    ...HELLO,
    tools: TOOLS,
    tool_choice: { type: "any", disable_parallel_tool_use: true },
  });
  assert.equal(single.content.length, 1);
  const named = await client().messages.create({
    ...HELLO,
    tools: TOOLS,
    tool_choice: { type: "tool", name: "get_time" },
  });
  assert.deepEqual(
    named.content.map((block) => (block.type === "tool_use" ? block.name : block.type)),
    ["get_time"],
  );
});

test("providers.sandbox-protocols: anthropic, a schema, a stop sequence, the cap", async () => {
  const json = await client().messages.create({
    ...HELLO,
    output_config: {
      format: {
        type: "json_schema",
        schema: { type: "object", properties: { ok: { type: "boolean" } }, additionalProperties: false },
      },
    },
  });
  assert.deepEqual(JSON.parse(textOf(json)), { ok: true });
  const stopped = await client().messages.create({ ...HELLO, stop_sequences: [", 1"] });
  assert.deepEqual(
    [stopped.stop_reason, stopped.stop_sequence, textOf(stopped)],
    ["stop_sequence", ", 1", "[simulated reply"],
  );
  const capped = await client().messages.create({ ...HELLO, max_tokens: 2 });
  assert.equal(capped.stop_reason, "max_tokens");
});

for (const [status, kind] of [
  [400, Anthropic.BadRequestError],
  [401, Anthropic.AuthenticationError],
  [403, Anthropic.PermissionDeniedError],
  [404, Anthropic.NotFoundError],
  [409, Anthropic.ConflictError],
  [429, Anthropic.RateLimitError],
  [500, Anthropic.InternalServerError],
  [529, Anthropic.InternalServerError],
] as const) {
  test(`providers.sandbox-protocols: anthropic, ${status} is the client's own error for it`, async () => {
    sandbox.addFault({ fault: { kind: "status", status } });
    await assert.rejects(client().messages.create(HELLO), (error: unknown) => {
      assert.ok(error instanceof kind);
      assert.deepEqual([error.status, typeof error.requestID], [status, "string"]);
      return true;
    });
  });
}

test("providers.sandbox-protocols: anthropic, a bad key and a temperature, as this version refuses them", async () => {
  await assert.rejects(client("invalid").messages.create(HELLO), Anthropic.AuthenticationError);
  const sampled = { ...HELLO, temperature: 0.5 };
  await assert.rejects(client().messages.create(sampled), /temperature: Extra inputs are not permitted/u);
});

test("providers.sandbox-protocols: anthropic, an overload among the events is an error of the client", async () => {
  sandbox.addFault({ fault: { kind: "error_event" } });
  await assert.rejects(client().messages.stream(HELLO).finalMessage(), /overloaded_error/u);
});

test("providers.sandbox-protocols: anthropic, the client's retries: overloaded once, then it works", async () => {
  sandbox.addFault({ times: 1, fault: { kind: "status", status: 529, retryAfterSeconds: 0 } });
  assert.equal(textOf(await client("sk-ant-oracle", 1).messages.create(HELLO)), TEXT);
  assert.equal(sandbox.callCount, 2);
});
