// What POST /v1/chat refuses, and that a refusal calls no provider, costs nothing and leaves nothing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chatOf, HELLO, postChat } from "../../harness/chat-client.ts";
import { announce, detailsOf, documentedErrors } from "../../harness/client.ts";
import { attemptsOf, type ChatGateway, startChatGateway } from "./chat-gateway.ts";

let gateway: ChatGateway;
const SPEECH_KEY = "key-that-may-only-transcribe-1";
const TEXT_ONLY_KEY = "key-routed-to-no-chat-model-01";
const SMALL_KEY = "key-with-few-tokens-a-minute-1";

before(async () => {
  gateway = await startChatGateway({
    app: {
      keys: {
        "speech-key": { secret: SPEECH_KEY, scopes: ["transcribe"] },
        "text-key": { secret: TEXT_ONLY_KEY, route: "plain" },
        "small-key": { secret: SMALL_KEY, quota: { tokens_per_minute: 100 } },
      },
    },
    with: () => ({
      limits: { max_chat_body_bytes: 100_000 },
      // Never called.
      connections: {
        bare: {
          kind: "openai-compatible",
          base_url: "http://127.0.0.1:9/v1",
          models: { bare: { capabilities: ["chat"] } },
        },
      },
      routes: { plain: "bare/bare", speech: "dg/nova-3" },
    }),
  });
});
after(() => gateway.close());

const user = (content: unknown) => ({ messages: [{ role: "user", content }] });
const tool = { type: "function", function: { name: "weather" } };
const PNG = "data:image/png;base64,iVBORw0KGgo=";

const INVALID: readonly (readonly [string, object, string])[] = [
  ["no messages", { messages: [] }, "messages"],
  ["only a system message", { messages: [{ role: "system", content: "x" }] }, "messages"],
  ["an unknown role", { messages: [{ role: "robot", content: "x" }] }, "messages[0].role"],
  ["an unknown field", { unknown: 1 }, "unknown"],
  ["a message with an unknown field", { messages: [{ role: "user", content: "x", mood: "y" }] }, "messages[0].mood"],
  ["max_tokens 0", { max_tokens: 0 }, "max_tokens"],
  ["max_tokens above a million", { max_tokens: 1_000_001 }, "max_tokens"],
  ["temperature above 2", { temperature: 2.1 }, "temperature"],
  ["top_p above 1", { top_p: 1.5 }, "top_p"],
  ["five stop texts", { stop: ["a", "b", "c", "d", "e"] }, "stop"],
  [
    "an image by URL",
    user([{ type: "image_url", image_url: { url: "https://example.com/a.png" } }]),
    "messages[0].content[0].image_url.url",
  ],
  [
    "an image that is no base64",
    user([{ type: "image_url", image_url: { url: "data:image/png;base64,*" } }]),
    "messages[0].content[0].image_url.url",
  ],
  ["a video part", user([{ type: "video_url", video_url: { url: PNG } }]), "messages[0].content"],
  ["tool_choice without tools", { tool_choice: "required" }, "tool_choice"],
  [
    "tool_choice of an unknown tool",
    { tools: [tool], tool_choice: { type: "function", function: { name: "other" } } },
    "tool_choice",
  ],
  ["two tools of one name", { tools: [tool, tool] }, "tools"],
  ["parallel_tool_calls without tools", { parallel_tool_calls: true }, "parallel_tool_calls"],
  [
    "an answer to no call",
    { messages: [...HELLO, { role: "tool", tool_call_id: "x", content: "y" }] },
    "messages[1].tool_call_id",
  ],
  ["an assistant who says nothing", { messages: [...HELLO, { role: "assistant" }] }, "messages[1].content"],
  [
    "a schema without its name",
    { response_format: { type: "json_schema", json_schema: { schema: {} } } },
    "response_format.json_schema.name",
  ],
];

for (const [name, fields, param] of INVALID) {
  test(`chat.invalid-field, chat.content-parts, chat.consistent-request, errors.nothing-begun: ${name} is a 400 that names the field, calls no provider and records nothing`, async () => {
    const reply = await postChat(gateway.origin, fields);
    assert.deepEqual([reply.status, reply.code], [400, "INVALID_REQUEST"], reply.text);
    const issues = detailsOf(reply)["issues"] as readonly { param: string }[];
    assert(
      issues.some((issue) => issue.param.startsWith(param)),
      JSON.stringify(issues),
    );
    await nothingHappened();
  });
}

for (const name of ["model", "provider"]) {
  test(`chat.route-control-fields: ${name} must not be sent, and is reported before any other fault`, async () => {
    const reply = await postChat(gateway.origin, { [name]: "gpt-4o", temperature: 9, unknown: 1 });
    assert.deepEqual([reply.status, reply.code], [400, "ROUTE_CONTROL_FIELD_REJECTED"]);
    await nothingHappened();
  });
}

test("chat.invalid-field: a fault of one field is one issue: an empty list of messages", async () => {
  const reply = await postChat(gateway.origin, { messages: [] });
  assert.deepEqual(
    (detailsOf(reply)["issues"] as readonly { param: string }[]).map(({ param }) => param),
    ["messages"],
  );
});

/** What is said of each fault, in words a reader can act on. */
const WORDS: readonly (readonly [object, string])[] = [
  [{ messages: null }, "`messages` is required."],
  [{ messages: [] }, "`messages`: must not be empty"],
  [{ messages: "Hello" }, "`messages`: must be a list"],
  [{ messages: [{ role: "robot" }] }, "`messages[0].role`: must be one of system, user, assistant, tool"],
  [user([{ type: "text" }]), "`messages[0].content[0].text` is required."],
  [{ max_tokens: 1.5 }, "`max_tokens`: must be a whole number"],
  [{ temperature: "1" }, "`temperature`: must be a number"],
  [{ stop: 1 }, "`stop`: must be a string, or a list"],
  [{ stop: ["a", "b", "c", "d", "e"] }, "`stop`: must be at most 4 entries long"],
  [user(null), "`messages[0].content` is required."],
  [{ response_profile: "quick" }, "`response_profile`: must be one of fast, balanced, deep"],
  [{ max_token: 5 }, "`max_token` is not a field of this endpoint. Did you mean `max_tokens`?"],
  [{ tools: [{ ...tool, strict: true }] }, "`tools[0].strict`: unknown field"],
];
for (const [fields, words] of WORDS) {
  test(`chat.invalid-field: a fault is described in words: ${words}`, async () => {
    const reply = await postChat(gateway.origin, fields);
    const issues = detailsOf(reply)["issues"] as readonly { message: string }[];
    assert(
      issues.some(({ message }) => message === words),
      JSON.stringify(issues),
    );
  });
}

test("chat.invalid-field, errors.all-issues: a header at fault is listed in details.issues like any other fault", async () => {
  const reply = await postChat(gateway.origin, {}, { headers: { "x-svc-purpose-policy": "lax" } });
  const [issue, ...others] = detailsOf(reply)["issues"] as readonly { param: string }[];
  assert.deepEqual([reply.code, issue?.param, others], ["INVALID_REQUEST", "x-svc-purpose-policy", []]);
});

test("compatible.neutral-fields, compatible.meaningful-fields: what OpenAI's clients send and has no effect is accepted; what has an effect is refused", async () => {
  const path = "/v1/chat/completions";
  const nothing = { modalities: ["text"], logit_bias: {}, service_tier: "auto", prediction: null, top_logprobs: null };
  const messages = [...HELLO, { role: "assistant", content: "Hi", tool_calls: [] }, ...HELLO];
  const taken = await postChat(gateway.origin, { model: "auto", ...nothing, messages }, { path });
  assert.equal(taken.status, 200, taken.text);
  gateway.first.calls.length = 0;
  await gateway.app.settled();
  await gateway.database.db.deleteFrom("attempts").execute();
  for (const meant of [{ modalities: ["audio"] }, { logit_bias: { "50256": -100 } }, { service_tier: "flex" }])
    assert.equal((await postChat(gateway.origin, { model: "auto", ...meant }, { path })).code, "INVALID_REQUEST");
  await nothingHappened();
});

test("compatible.refusal-in-history: a refusal in a conversation that began elsewhere is what the assistant said", async () => {
  const path = "/v1/chat/completions";
  for (const [content, refusal, said] of [
    [null, "No.", "No."],
    ["", "No.", "No."],
    ["Well. ", "No.", "Well. No."],
    ["Yes.", "", "Yes."],
  ]) {
    const messages = [...HELLO, { role: "assistant", content, refusal }, ...HELLO];
    const reply = await postChat(gateway.origin, { model: "auto", messages }, { path });
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(gateway.first.calls.at(-1)?.body["messages"], [
      ...HELLO,
      { role: "assistant", content: said },
      ...HELLO,
    ]);
  }
  gateway.first.calls.length = 0;
  await gateway.app.settled();
  await gateway.database.db.deleteFrom("attempts").execute();
});

for (const tools of [undefined, []]) {
  test(`compatible.empty-tools: a call that must be made is not dropped for lack of tools (${tools === undefined ? "none" : "an empty list"})`, async () => {
    const path = "/v1/chat/completions";
    for (const forced of ["required", { type: "function", function: { name: "weather" } }]) {
      const reply = await postChat(gateway.origin, { model: "auto", tools, tool_choice: forced }, { path });
      assert.deepEqual([reply.status, reply.code], [400, "INVALID_REQUEST"], reply.text);
      assert.equal((reply.json as { error: { param: string } }).error.param, "tool_choice");
    }
    await nothingHappened();
  });
}

test("chat.null-is-absent: null counts as not sent, whatever its name", async () => {
  const nulls = { temperature: null, tools: null, stream: null, response_format: null, unheard_of: null };
  const reply = await postChat(gateway.origin, nulls);
  assert.equal(reply.status, 200, reply.text);
  gateway.first.calls.length = 0;
  await gateway.app.settled();
  await gateway.database.db.deleteFrom("attempts").execute();
});

test("chat.body-limit: a body above max_chat_body_bytes is refused from its declared length", async () => {
  const reply = await postChat(gateway.origin, user("x".repeat(100_001)));
  assert.deepEqual([reply.status, reply.code], [413, "BODY_TOO_LARGE"]);
  assert.equal(detailsOf(reply)["max_body_bytes"], 100_000);
  // More than there can be room for is too large, and not a reason to come again.
  const huge = await announce(gateway.origin, "/v1/chat", "application/json", 9_000_000_000);
  assert.deepEqual(huge, { status: 413, code: "BODY_TOO_LARGE", retryable: false });
  await nothingHappened();
});

test("chat.scope: another scope is 403, no key 401", async () => {
  assert.equal((await postChat(gateway.origin, {}, { key: SPEECH_KEY })).code, "FORBIDDEN");
  assert.equal((await postChat(gateway.origin, {}, { key: "nobody-has-this-key-at-all-01" })).code, "UNAUTHENTICATED");
});

const FEATURES: readonly (readonly [string, object])[] = [
  ["tools", { tools: [tool] }],
  ["tool_choice", { tools: [tool], tool_choice: "required" }],
  ["parallel_tool_calls", { tools: [tool], parallel_tool_calls: false }],
  ["response_format.json_object", { response_format: { type: "json_object" } }],
  ["response_format.json_schema", { response_format: { type: "json_schema", json_schema: { name: "a", schema: {} } } }],
  ["image_parts", user([{ type: "image_url", image_url: { url: PNG } }])],
  ["audio_parts", user([{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }])],
];

for (const [feature, fields] of FEATURES) {
  test(`chat.required-features: ${feature} is required of the target: a route whose models lack it fails closed`, async () => {
    const refused = await postChat(gateway.origin, fields, { key: TEXT_ONLY_KEY });
    assert.deepEqual([refused.status, refused.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"], refused.text);
    assert((detailsOf(refused)["missing"] as readonly string[]).includes(feature));
    await nothingHappened();
  });
}

test("chat.required-features: max_tokens beyond the model's limit is a lack like any other", async () => {
  const refused = await postChat(gateway.origin, { max_tokens: 1_001 });
  assert.equal(refused.code, "REQUIRED_FEATURE_UNSUPPORTED");
  assert.deepEqual(detailsOf(refused)["missing"], ["max_tokens"]);
});

test("chat.token-quota: the tokens a minute of a key are counted before anything is called", async () => {
  const refused = await postChat(gateway.origin, { max_tokens: 200 }, { key: SMALL_KEY });
  assert.deepEqual([refused.status, refused.code], [429, "RATE_LIMITED"]);
  assert.match(refused.headers.get("ratelimit-policy") ?? "", /q=100;w=60/);
  assert.equal(chatOf(await postChat(gateway.origin, { max_tokens: 50 }, { key: SMALL_KEY })).finish_reason, "stop");
});

test("chat.documented-errors: every refusal of the endpoint is one that its contract documents", () => {
  const documented = documentedErrors("POST", "/v1/chat");
  for (const code of ["REQUIRED_FEATURE_UNSUPPORTED", "BODY_TOO_LARGE", "RATE_LIMITED", "all_providers_exhausted"])
    assert(documented.includes(code), code);
});

async function nothingHappened(): Promise<void> {
  assert.equal(gateway.first.calls.length + gateway.second.calls.length, 0);
  assert.deepEqual(await attemptsOf(gateway), []);
}
