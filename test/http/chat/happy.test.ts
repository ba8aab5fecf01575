// A chat goes in and a routed answer comes out, plain and streamed, metered.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chatOf, HELLO, names, postChat, streamChat } from "../../harness/chat-client.ts";
import { answer, beginStream, chunk, completion, endStream, json, TEXT } from "../../harness/chat-upstream.ts";
import { attemptsOf, type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway();
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(answer);
  gateway.second.behave(answer);
});

test("chat.envelope, chat.reserve-and-settle: a plain chat is answered by the first target, in the routed envelope, and metered by reported usage", async () => {
  const reply = await postChat(gateway.origin, { temperature: 0.5, max_tokens: 100 });
  const chat = chatOf(reply);
  assert.match(chat.id, /^chat_[0-9a-z]{26}$/);
  assert.deepEqual(
    { ...chat, id: "", created_at: "" },
    {
      id: "",
      object: "chat",
      created_at: "",
      status: "completed",
      content: TEXT,
      finish_reason: "stop",
      tool_calls: [],
      usage: { input_tokens: 11, output_tokens: 3, total_tokens: 14, cached_input_tokens: 4 },
      warnings: [],
      svc_requested_purpose: null,
      svc_applied_purpose: null,
      svc_purpose_source: "none",
    },
  );
  assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [1, 0]);
  assert.deepEqual(gateway.first.calls[0]?.body, {
    model: "one",
    messages: [...HELLO],
    max_tokens: 100,
    temperature: 0.5,
  });
  const [attempt, ...others] = await attemptsOf(gateway);
  assert(attempt !== undefined && others.length === 0);
  assert.deepEqual(
    [attempt.outcome, attempt.billing_class, attempt.model, attempt.input_tokens, attempt.output_tokens],
    ["succeeded", "metered", "one", 11n, 3n],
  );
  // 11 tokens at 1 USD and 3 at 10 USD per million.
  assert.deepEqual([attempt.charge_nano_usd, attempt.usage_source], [41_000n, "reported"]);
  assert.equal(`req_${attempt.request_id.slice(4)}`, reply.headers.get("x-request-id"));
});

test("chat.null-is-absent: null counts as not sent, inside messages and tools too; in a tool's parameters it is a value", async () => {
  const parameters = { type: "object", properties: { city: { enum: ["Rome", null], default: null } } };
  const said = { role: "assistant", content: "Hello.", refusal: null, annotations: null, name: null };
  chatOf(
    await postChat(gateway.origin, {
      model: null,
      provider: null,
      messages: [...HELLO, said, { role: "user", content: [{ type: "text", text: "Hi", cache: null }] }],
      tools: [{ type: "function", function: { name: "weather", parameters, strict: null, version: null } }],
    }),
  );
  const sent = gateway.first.calls[0]?.body as { messages: object[]; tools: { function: object }[] };
  assert.deepEqual(sent.messages[1], { role: "assistant", content: "Hello." });
  assert.deepEqual(sent.tools[0]?.function, { name: "weather", parameters });
});

test("chat.stream-first-content, chat.stream-deltas: a stream begins with the first content, carries every delta, and ends with the full answer", async () => {
  const streamed = await streamChat(gateway.origin, {});
  assert.deepEqual(names(streamed), ["chat.started", "chat.delta", "chat.delta", "chat.delta", "chat.completed"]);
  assert.equal(streamed.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.match(streamed.headers.get("x-request-id") ?? "", /^req_/);
  const [started, ...rest] = streamed.events;
  const completed = rest.at(-1)?.data;
  assert.equal(rest.flatMap(({ event, data }) => (event === "chat.delta" ? [data["content"]] : [])).join(""), TEXT);
  assert.equal(completed?.["content"], TEXT);
  assert.deepEqual([completed?.["id"], completed?.["created_at"]], [started?.data["id"], started?.data["created_at"]]);
  assert.deepEqual(completed?.["usage"], {
    input_tokens: 11,
    output_tokens: 3,
    total_tokens: 14,
    cached_input_tokens: 4,
  });
  const [attempt] = await attemptsOf(gateway);
  assert.deepEqual(
    [attempt?.outcome, attempt?.charge_nano_usd, attempt?.provider_request_id],
    ["succeeded", 41_000n, "up-1"],
  );
});

test("chat.stream-deltas, chat.content-null: streamed parallel tool calls keep their ids and are assembled exactly; content is null next to them", async () => {
  const fields = { tools: [tool("weather"), tool("time")], parallel_tool_calls: true };
  gateway.first.behave((call) => {
    beginStream(call);
    chunk(call, {
      tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "weather", arguments: "" } }],
    });
    chunk(call, { tool_calls: [{ index: 0, function: { arguments: '{"city":"Zür' } }] });
    chunk(call, { tool_calls: [{ index: 0, function: { arguments: 'ich"}' } }] });
    chunk(call, {
      tool_calls: [{ index: 1, id: "call_b", type: "function", function: { name: "time", arguments: "{}" } }],
    });
    endStream(call, "tool_calls");
  });
  const streamed = await streamChat(gateway.origin, fields);
  const deltas = streamed.events.filter(({ event }) => event === "chat.tool_call.delta").map(({ data }) => data);
  assert.deepEqual(
    deltas.map((delta) => [delta["index"], delta["id"] ?? null, delta["name"] ?? null]),
    [
      [0, "call_a", "weather"],
      [0, null, null],
      [0, null, null],
      [1, "call_b", "time"],
    ],
  );
  const completed = streamed.events.at(-1)?.data;
  assert.deepEqual(
    [completed?.["content"], completed?.["finish_reason"], completed?.["tool_calls"]],
    [
      null,
      "tool_calls",
      [
        { id: "call_a", name: "weather", arguments: '{"city":"Zürich"}' },
        { id: "call_b", name: "time", arguments: "{}" },
      ],
    ],
  );
});

test("chat.tool-call-shapes: tool results go back with their ids, in the gateway's shape and in OpenAI's alike", async () => {
  const calls = [
    { id: "call_a", name: "weather", arguments: "{}" },
    { id: "call_a", type: "function", function: { name: "weather", arguments: "{}" } },
  ];
  for (const call of calls) {
    const reply = await postChat(gateway.origin, {
      tools: [tool("weather")],
      messages: [
        ...HELLO,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_a", content: "sunny" },
      ],
    });
    assert.equal(reply.status, 200, reply.text);
  }
  const [one, other] = gateway.first.calls.map((call) => call.body["messages"]);
  assert.deepEqual(one, other);
  assert.deepEqual(one, [
    ...HELLO,
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_a", type: "function", function: { name: "weather", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "call_a", content: "sunny" },
  ]);
});

test("chat.answer-round-trip: the gateway's answer can be sent back with the fields it came with, also when it called nothing", async () => {
  const { content, tool_calls } = chatOf(await postChat(gateway.origin, {}));
  assert.deepEqual(tool_calls, []);
  const reply = await postChat(gateway.origin, {
    messages: [...HELLO, { role: "assistant", content, tool_calls }, ...HELLO],
  });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(gateway.first.calls[1]?.body["messages"], [...HELLO, { role: "assistant", content }, ...HELLO]);
});

test("chat.empty-answer: an empty answer is an answer, plain and streamed", async () => {
  gateway.first.behave((call) => {
    if (call.body["stream"] !== true) return json(call, 200, completion({ role: "assistant", content: "" }, "stop"));
    beginStream(call);
    endStream(call);
  });
  assert.equal(chatOf(await postChat(gateway.origin, {})).content, "");
  const streamed = await streamChat(gateway.origin, {});
  assert.deepEqual(names(streamed), ["chat.started", "chat.completed"]);
  assert.equal(streamed.events[1]?.data["content"], "");
});

test("chat.usage-estimated, metering.usage-source: usage that a provider does not report is estimated and marked", async () => {
  gateway.first.behave((call) => json(call, 200, completion({ role: "assistant", content: "abcdef" }, "stop", null)));
  const chat = chatOf(await postChat(gateway.origin, {}));
  assert.deepEqual(
    chat.warnings.map((warning) => warning.code),
    ["USAGE_ESTIMATED"],
  );
  assert.equal(chat.usage.output_tokens, 2);
  const [attempt] = await attemptsOf(gateway);
  assert.deepEqual([attempt?.usage_source, attempt?.output_tokens], ["estimated", 2n]);
  assert((attempt?.charge_nano_usd ?? 0n) > 0n);
});

test("chat.images: an image's media type in capitals, or as image/jpg, is the type that it means", async () => {
  for (const given of ["image/JPEG", "image/jpg", "image/jpeg"]) {
    const url = `data:${given};base64,/9j/4AAQ`;
    const reply = await postChat(gateway.origin, {
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
    assert.equal(reply.status, 200, reply.text);
    assert.match(JSON.stringify(gateway.first.calls.at(-1)?.body), /"data:image\/jpeg;base64,\/9j\/4AAQ"/u);
  }
});

for (const stream of [false, true]) {
  test(`compatible.usage-estimated: estimated usage is marked in OpenAI's words too${stream ? ", in the last chunk of a stream" : ""}`, async () => {
    const estimated = async (usage: object | null) => {
      gateway.first.behave((call) => {
        if (!stream) return json(call, 200, completion({ role: "assistant", content: "abc" }, "stop", usage));
        beginStream(call);
        chunk(call, { content: "abc" });
        endStream(call, "stop", usage);
      });
      const fields = { model: "auto", stream, ...(stream ? { stream_options: { include_usage: true } } : {}) };
      const { text } = await postChat(gateway.origin, fields, { path: "/v1/chat/completions" });
      return /"usage":\{.*"completion_tokens":1,.*\}/u.test(text) ? text.includes('"estimated":true') : text;
    };
    assert.equal(await estimated(null), true);
    assert.equal(await estimated({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }), false);
  });
}

test("routing.dry-run: dry_run judges everything, calls no provider and records nothing", async () => {
  const reply = await postChat(gateway.origin, { dry_run: true, stream: true, max_tokens: 10 });
  assert.equal(reply.status, 200, reply.text);
  const decision = reply.json as Record<string, unknown>;
  assert.deepEqual(decision["outcome"], { status: 200, code: null, position: 1 });
  assert.equal(decision["audio_seconds"], null);
  assert.match(String(decision["estimated_cost_usd"]), /^0\.000/);
  assert.deepEqual([gateway.first.calls.length, (await attemptsOf(gateway)).length], [0, 0]);
});

test("chat.log-privacy: no prompt, answer or provider key is in the logs", async () => {
  const prompt = "canary-of-the-prompt";
  gateway.first.behave((call) => json(call, 500, { error: { message: "canary-of-the-provider" } }));
  gateway.second.behave((call) =>
    json(call, 200, completion({ role: "assistant", content: "canary-of-the-answer" }, "stop")),
  );
  await postChat(gateway.origin, { messages: [{ role: "user", content: prompt }] });
  await streamChat(gateway.origin, { messages: [{ role: "user", content: prompt }] });
  const logs = gateway.logs.join("\n");
  assert.match(logs, /server_error/);
  for (const canary of [prompt, "canary-of-the-answer", "canary-of-the-provider", "first-secret"])
    assert(!logs.includes(canary), canary);
});

function tool(name: string): object {
  return {
    type: "function",
    function: { name, parameters: { type: "object", properties: { city: { type: "string" } } } },
  };
}

test("chat.reply-bound: a plain answer above 64 MiB is a failure, and the next target answers", async () => {
  gateway.first.behave(({ response }) => {
    response.writeHead(200, { "content-type": "application/json" });
    const piece = Buffer.alloc(8 * 1024 * 1024, 0x20);
    const more = (left: number): void => {
      if (left > 0 && !response.destroyed) response.write(piece, () => more(left - 1));
    };
    more(9);
  });
  assert.equal(chatOf(await postChat(gateway.origin, {})).content, TEXT);
  assert.deepEqual(
    (await attemptsOf(gateway)).map((row) => row.outcome),
    ["failed:bad_reply", "succeeded"],
  );
});
