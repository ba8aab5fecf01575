// The sandbox's chat wires by plain fetch: what the providers refuse, in their own words.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { type Asked, at } from "./ask.ts";
import { type Body, chatClient, WIRE_NAMES } from "./chat-client.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

const { ask, post } = chatClient(() => sandbox.origin);
const messageOf = (asked: Asked): string => String(at(asked.json, "error", "message"));

/** Change, status, and a part of the message. */
type Refusal = readonly [name: string, change: Body, status: number, message: RegExp];

const TOOL = { type: "function", function: { name: "one", parameters: { type: "object" } } };
const userSays = (content: unknown): Body => ({ messages: [{ role: "user", content }] });

const OPENAI: readonly Refusal[] = [
  ["an unknown member", { temprature: 1 }, 400, /Unrecognized request argument supplied: temprature/],
  [
    "an unknown member inside",
    { messages: [{ role: "user", content: "x", to: 1 }] },
    400,
    /Unknown parameter: 'messages\[0\]\.to'/,
  ],
  ["a wrong type", { temperature: "hot" }, 400, /Invalid type for 'temperature'/],
  ["no messages", { messages: undefined }, 400, /Missing required parameter: 'messages'/],
  ["an unknown model", { model: "llama-3" }, 404, /does not exist/],
  ["a speech model", { model: "gpt-4o-transcribe" }, 404, /does not exist/],
  ["temperature out of range", { temperature: 2.5 }, 400, /Invalid value for 'temperature'/],
  ["five stop sequences", { stop: ["1", "2", "3", "4", "5"] }, 400, /Invalid value for 'stop'/],
  ["stream options without a stream", { stream_options: { include_usage: true } }, 400, /only allowed when 'stream'/],
  ["both caps", { max_tokens: 5, max_completion_tokens: 5 }, 400, /at the same time/],
  ["a cap beyond the model's", { max_completion_tokens: 20_000 }, 400, /at most 16384 completion tokens/],
  ["tools with reasoning", { model: "gpt-6-luna", tools: [TOOL] }, 400, /set reasoning_effort to 'none'/],
  ["an effort that the model lacks", { model: "gpt-6.2-sol", reasoning_effort: "none" }, 400, /not supported/],
  ["tool_choice without tools", { tool_choice: "required" }, 400, /only allowed when 'tools'/],
  ["parallel_tool_calls without tools", { parallel_tool_calls: false }, 400, /only allowed when 'tools'/],
  [
    "a choice that is no tool",
    { tools: [TOOL], tool_choice: { type: "function", function: { name: "two" } } },
    400,
    /not found in 'tools'/,
  ],
  ["JSON mode without the word", { response_format: { type: "json_object" } }, 400, /must contain the word 'json'/],
  [
    "a strict schema that is open",
    { response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema: { type: "object" } } } },
    400,
    /'additionalProperties' is required/,
  ],
  [
    "a result without a call",
    { messages: [{ role: "tool", tool_call_id: "x", content: "1" }] },
    400,
    /must be a response to a preceeding message/,
  ],
  [
    "a call without its result",
    {
      messages: [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "a", type: "function", function: { name: "one", arguments: "{}" } }],
        },
        { role: "user", content: "So?" },
      ],
    },
    400,
    /must be followed by tool messages/,
  ],
  [
    "an image that is none",
    userSays([{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }]),
    400,
    /unsupported image/,
  ],
  [
    "an image elsewhere",
    userSays([{ type: "image_url", image_url: { url: "https://a.example/x.png" } }]),
    400,
    /Invalid image URL/,
  ],
  [
    "audio for the deaf",
    userSays([{ type: "input_audio", input_audio: { data: "SUQz", format: "mp3" } }]),
    400,
    /not supported with this model/,
  ],
  ["the old cap, of a reasoning model", { model: "gpt-5", max_tokens: 5 }, 400, /Use 'max_completion_tokens' instead/],
  ["a temperature, of a reasoning model", { model: "gpt-5", temperature: 0 }, 400, /Only the default \(1\) value/],
  ["a stop sequence, of a reasoning model", { model: "gpt-5", stop: "x" }, 400, /'stop' is not supported/],
];

const claudeSays = (...content: readonly object[]): object => ({ role: "assistant", content });
const CLAUDE_TOOLS = { tools: [{ name: "one", input_schema: { type: "object" } }] };
const ANTHROPIC: readonly Refusal[] = [
  ["no max_tokens", { max_tokens: undefined }, 400, /^max_tokens: Field required$/],
  ["an unknown member", { seed: 1 }, 400, /^seed: Extra inputs are not permitted$/],
  ["a wrong type", { temperature: "hot" }, 400, /^temperature: Input should be a valid number$/],
  ["an unknown model", { model: "gpt-4o" }, 404, /^model: gpt-4o$/],
  ["a cap beyond the model's", { max_tokens: 100_000 }, 400, /^max_tokens: 100000 > 64000/],
  ["temperature out of range", { temperature: 1.5 }, 400, /^temperature/],
  [
    "a forced tool, of a model that always thinks",
    {
      model: "claude-opus-5-5",
      tools: [{ name: "one", input_schema: { type: "object" } }],
      tool_choice: { type: "any" },
    },
    400,
    /^tool_choice: type "tool" and "any" are not supported for this model\.$/,
  ],
  ["two ways to sample", { temperature: 0.5, top_p: 0.5 }, 400, /cannot both be specified/],
  [
    "a temperature, of a model that has none",
    { model: "claude-opus-5", temperature: 0.5 },
    400,
    /not supported for this model/,
  ],
  [
    "a first word that is not the user's",
    { messages: [claudeSays({ type: "text", text: "Hi" })] },
    400,
    /first message must use the "user" role/,
  ],
  ["a system message among the messages", { messages: [{ role: "system", content: "x" }] }, 400, /^messages\.0\.role/],
  ["an empty text block", userSays([{ type: "text", text: "" }]), 400, /^messages: .* must be non-empty/],
  [
    "a blank text block",
    userSays([{ type: "text", text: " \n" }]),
    400,
    /^messages: .* must contain non-whitespace text/,
  ],
  ["a blank text", userSays("\n"), 400, /^messages: .* must contain non-whitespace text/],
  ["a blank system text", { system: " " }, 400, /^system: .* must contain non-whitespace text/],
  [
    "a blank system block",
    {
      system: [
        { type: "text", text: "Be." },
        { type: "text", text: " " },
      ],
    },
    400,
    /^system: .* must contain non-whitespace text/,
  ],
  ["a blank stop sequence", { stop_sequences: ["END", "\n"] }, 400, /each stop sequence must contain non-whitespace/],
  [
    "an input schema without its type",
    { tools: [{ name: "one", input_schema: { properties: {} } }] },
    400,
    /^tools\.0\.input_schema\.type/,
  ],
  [
    "an id of a call that was another's",
    {
      ...CLAUDE_TOOLS,
      messages: [
        { role: "user", content: "x" },
        ...[1, 2].flatMap(() => [
          claudeSays({ type: "tool_use", id: "a", name: "one", input: {} }),
          { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "1" }] },
        ]),
      ],
    },
    400,
    /`tool_use` ids must be unique/,
  ],
  ["tool_choice without tools", { tool_choice: { type: "any" } }, 400, /while providing tools/],
  [
    "a choice that is no tool",
    { ...CLAUDE_TOOLS, tool_choice: { type: "tool", name: "two" } },
    400,
    /not found in provided tools/,
  ],
  [
    "results without tools",
    {
      messages: [
        { role: "user", content: "x" },
        claudeSays({ type: "tool_use", id: "a", name: "one", input: {} }),
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "1" }] },
      ],
    },
    400,
    /must define tools/,
  ],
  [
    "a result without a call",
    { ...CLAUDE_TOOLS, ...userSays([{ type: "tool_result", tool_use_id: "a", content: "1" }]) },
    400,
    /unexpected `tool_use_id`/,
  ],
  [
    "a call without its result",
    {
      ...CLAUDE_TOOLS,
      messages: [
        { role: "user", content: "x" },
        claudeSays({ type: "tool_use", id: "a", name: "one", input: {} }),
        { role: "user", content: "So?" },
      ],
    },
    400,
    /without `tool_result` blocks immediately after/,
  ],
  [
    "an image of another kind",
    userSays([{ type: "image", source: { type: "base64", media_type: "image/png", data: "/9j/4AAQ" } }]),
    400,
    /does not appear to be a valid image/,
  ],
  [
    "an open schema",
    { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
    400,
    /additionalProperties/,
  ],
  [
    "a schema that is open inside",
    {
      output_config: {
        format: {
          type: "json_schema",
          schema: { type: "object", properties: { a: { items: { type: "object" } } }, additionalProperties: false },
        },
      },
    },
    400,
    /additionalProperties/,
  ],
];

const geminiSays = (...parts: readonly object[]): Body => ({ contents: [{ role: "user", parts }] });
const GEMINI_TOOLS = { tools: [{ functionDeclarations: [{ name: "one" }] }] };
const calling = (config: object): Body => ({ toolConfig: { functionCallingConfig: config } });
const called = (more: object = {}): object => ({
  role: "model",
  parts: [{ functionCall: { name: "one", args: {} }, ...more }],
});
const answered = { role: "user", parts: [{ functionResponse: { name: "one", response: { result: 1 } } }] };
const asked = { role: "user", parts: [{ text: "x" }] };
const GEMINI: readonly Refusal[] = [
  ["an unknown member", { max_tokens: 1 }, 400, /Unknown name "max_tokens": Cannot find field/],
  ["no contents", { contents: undefined }, 400, /contents is not specified/],
  [
    "a role of another protocol",
    { contents: [{ role: "assistant", parts: [{ text: "x" }] }] },
    400,
    /valid role: user, model/,
  ],
  ["a wrong type", { generationConfig: { temperature: "hot" } }, 400, /generationConfig\.temperature/],
  ["a seed beyond 32 bits", { generationConfig: { seed: 2 ** 31 } }, 400, /generationConfig\.seed/],
  [
    "a call before anything was said",
    { ...GEMINI_TOOLS, contents: [called({ thoughtSignature: "x" }), answered] },
    400,
    /comes immediately after a user turn/,
  ],
  ["six stop sequences", { generationConfig: { stopSequences: ["1", "2", "3", "4", "5", "6"] } }, 400, /stopSequences/],
  [
    "a cap beyond the model's",
    { generationConfig: { maxOutputTokens: 70_000 } },
    400,
    /maxOutputTokens value of 70000/,
  ],
  [
    "a schema without JSON",
    { generationConfig: { responseJsonSchema: { type: "object" } } },
    400,
    /response mime type/,
  ],
  ["a forced call of nothing", calling({ mode: "ANY" }), 400, /without function_declarations/],
  [
    "a choice that is no tool",
    { ...GEMINI_TOOLS, ...calling({ mode: "ANY", allowedFunctionNames: ["two"] }) },
    400,
    /two is not declared/,
  ],
  [
    "a choice without force",
    { ...GEMINI_TOOLS, ...calling({ mode: "AUTO", allowedFunctionNames: ["one"] }) },
    400,
    /only when function calling mode is ANY/,
  ],
  [
    "a result without a call",
    { ...GEMINI_TOOLS, contents: [asked, answered] },
    400,
    /immediately after a function call turn/,
  ],
  [
    "a call without its result",
    { ...GEMINI_TOOLS, contents: [asked, called({ thoughtSignature: "x" }), asked] },
    400,
    /number of function response parts/,
  ],
  [
    "a call without its signature",
    { ...GEMINI_TOOLS, contents: [asked, called(), answered] },
    400,
    /missing a thought_signature/,
  ],
  [
    "an image that is none",
    geminiSays({ inlineData: { mimeType: "image/png", data: "AAAA" } }),
    400,
    /Unable to process input image/,
  ],
  [
    "a GIF",
    geminiSays({ inlineData: { mimeType: "image/gif", data: "AAAA" } }),
    400,
    /Unsupported MIME type: image\/gif/,
  ],
];

for (const [wire, refusals] of [
  ["openai", OPENAI],
  ["anthropic", ANTHROPIC],
  ["gemini", GEMINI],
] as const) {
  test(`providers.sandbox-refusals: ${wire}, the request that the refusals change is itself accepted`, async () => {
    const taken = await ask(wire);
    assert.equal(taken.status, 200, taken.text);
    assert.ok(taken.text.includes("[simulated reply, 1 message, 2 words]"));
  });
  for (const [name, change, status, message] of refusals) {
    test(`providers.sandbox-refusals: ${wire} refuses ${name}`, async () => {
      const refused = await ask(wire, change);
      assert.equal(refused.status, status, refused.text);
      assert.match(messageOf(refused), message);
    });
  }
  test(`providers.sandbox-refusals: ${wire} refuses what is no JSON`, async () => {
    assert.equal((await post(wire, "{")).status, 400);
  });
}

for (const [wire, what, headers, path, status, code] of [
  ["openai", "no key", { authorization: undefined }, undefined, 401, "invalid_api_key"],
  ["openai", "a bad key", { authorization: "Bearer invalid" }, undefined, 401, "invalid_api_key"],
  ["anthropic", "no key", { "x-api-key": undefined }, undefined, 401, "authentication_error"],
  ["anthropic", "a bad key", { "x-api-key": "invalid" }, undefined, 401, "authentication_error"],
  ["anthropic", "no version", { "anthropic-version": undefined }, undefined, 400, "invalid_request_error"],
  ["anthropic", "an unknown version", { "anthropic-version": "1999-01-01" }, undefined, 400, "invalid_request_error"],
  ["gemini", "no key", { "x-goog-api-key": undefined }, undefined, 403, "PERMISSION_DENIED"],
  ["gemini", "a bad key, with a 400", { "x-goog-api-key": "invalid" }, undefined, 400, "INVALID_ARGUMENT"],
  ["gemini", "an unknown model", {}, "/gemini/v1beta/models/gpt-4o:generateContent", 404, "NOT_FOUND"],
  ["gemini", "an unknown method", {}, "/gemini/v1beta/models/gemini-3.5-flash:sing", 404, "NOT_FOUND"],
] as const) {
  test(`providers.sandbox-refusals: ${wire} refuses ${what}`, async () => {
    const refused = await ask(wire, {}, { headers, ...(path === undefined ? {} : { path }) });
    const error = refused.json?.["error"];
    assert.deepEqual(
      [refused.status, at(error, "code"), at(error, "type"), at(error, "status")].includes(code),
      true,
      refused.text,
    );
    assert.equal(refused.status, status);
  });
}

test("providers.sandbox-refusals: Anthropic's version of 2026-10-21 accepts no temperature for any model, and accepts a bearer key as well", async () => {
  const headers = { "anthropic-version": "2026-10-21", "x-api-key": undefined, authorization: "Bearer sk-1" };
  assert.equal((await ask("anthropic", {}, { headers })).status, 200);
  const refused = await ask("anthropic", { temperature: 1 }, { headers });
  assert.match(messageOf(refused), /^temperature: Extra inputs are not permitted$/);
});

test("providers.sandbox-refusals: Gemini before version 3 accepts tools or JSON, and calls without a signature", async () => {
  const path = "/gemini/v1beta/models/gemini-2.5-flash:generateContent";
  const both = { ...GEMINI_TOOLS, generationConfig: { responseMimeType: "application/json" } };
  assert.match(messageOf(await ask("gemini", both, { path })), /is unsupported/);
  assert.equal((await ask("gemini", { ...GEMINI_TOOLS, contents: [asked, called(), answered] }, { path })).status, 200);
});

test("providers.sandbox-refusals: Mistral answers the user or a tool: a conversation that ends with the assistant is refused, as in no other dialect", async () => {
  const messages = [
    { role: "user", content: "x" },
    { role: "assistant", content: "Sure," },
  ];
  for (const [dialect, status] of [
    ["mistral", 400],
    ["openai", 200],
  ] as const) {
    const path = `${new URL(sandbox.compatibleUrl(dialect)).pathname}/chat/completions`;
    const answer = await ask("openai", { messages }, { path });
    assert.equal(answer.status, status, answer.text);
    if (status === 400) assert.match(messageOf(answer), /Expected last role User or Tool/);
  }
});

for (const status of [400, 401, 402, 403, 404, 409, 413, 429, 500, 503, 529]) {
  test(`providers.sandbox-faults: status ${status}: each provider's own error body`, async () => {
    sandbox.addFault({ fault: { kind: "status", status, retryAfterSeconds: 7 } });
    for (const wire of WIRE_NAMES) {
      const refused = await ask(wire);
      assert.deepEqual([refused.status, refused.headers.get("retry-after")], [status, "7"]);
      assert.equal(typeof at(refused.json, "error", "message"), "string");
    }
  });
}

test("providers.sandbox-calls: a call's credential is not in the record", async () => {
  for (const wire of WIRE_NAMES) await ask(wire);
  const recorded = JSON.stringify(sandbox.calls.map(({ headers }) => headers));
  assert.ok(!/"(?:sk-1|k-1|Bearer sk-1)"/u.test(recorded), recorded);
});
