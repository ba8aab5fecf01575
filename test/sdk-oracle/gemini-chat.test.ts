// The official Gemini client against the sandbox: if it reads the chat answers as its own, the protocol is right.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import {
  ApiError,
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentParameters,
  GoogleGenAI,
} from "@google/genai";
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

const client = (apiKey = "key-oracle"): GoogleGenAI =>
  new GoogleGenAI({
    apiKey,
    httpOptions: { baseUrl: sandbox.geminiUrl, apiVersion: "v1beta", retryOptions: { attempts: 1 } },
  });

const HELLO = { model: "gemini-3.5-flash", contents: "Hello there" } satisfies GenerateContentParameters;
const TEXT = "[simulated reply, 1 message, 2 words]";
const DECLARATIONS = [
  {
    name: "get_weather",
    parametersJsonSchema: { type: "object", properties: { city: { type: "string", enum: ["Zürich"] } } },
  },
  { name: "get_time" },
];

test("providers.sandbox-protocols: gemini, plain: text, finish, usage", async () => {
  const answer = await client().models.generateContent({ ...HELLO, config: { systemInstruction: "Be brief." } });
  assert.equal(answer.text, "[simulated reply, 2 messages, 4 words]");
  assert.equal(answer.candidates?.[0]?.finishReason, "STOP");
  assert.deepEqual([answer.usageMetadata?.promptTokenCount, answer.usageMetadata?.candidatesTokenCount], [4, 6]);
});

test("providers.sandbox-protocols: gemini, stream: fragments, the last with finish and usage", async () => {
  const fragments = [];
  for await (const fragment of await client().models.generateContentStream(HELLO)) fragments.push(fragment);
  assert.equal(fragments.map((fragment) => fragment.text ?? "").join(""), TEXT);
  assert.deepEqual(
    fragments.map((fragment) => fragment.candidates?.[0]?.finishReason).filter((reason) => reason !== undefined),
    ["STOP"],
  );
  assert.equal(fragments.at(-1)?.usageMetadata?.totalTokenCount, 8);
});

test("providers.sandbox-protocols: gemini, tools: parallel calls with a signature on the first, plain and streamed, and their results sent back", async () => {
  const config = { tools: [{ functionDeclarations: DECLARATIONS }] };
  const plain = await client().models.generateContent({ ...HELLO, config });
  const streamed = [];
  for await (const fragment of await client().models.generateContentStream({ ...HELLO, config }))
    streamed.push(fragment);
  for (const parts of [
    plain.candidates?.[0]?.content?.parts ?? [],
    streamed.flatMap((fragment) => fragment.candidates?.[0]?.content?.parts ?? []).filter((part) => part.functionCall),
  ]) {
    assert.deepEqual(
      parts.map((part) => [part.functionCall?.name, part.functionCall?.args, part.thoughtSignature !== undefined]),
      [
        ["get_weather", { city: "Zürich" }, true],
        ["get_time", {}, false],
      ],
    );
    const contents: Content[] = [
      { role: "user", parts: [{ text: "Hello there" }] },
      { role: "model", parts },
      {
        role: "user",
        parts: parts.map(({ functionCall }) => ({
          functionResponse: { id: functionCall?.id ?? "", name: functionCall?.name ?? "", response: { result: "ok" } },
        })),
      },
    ];
    const answer = await client().models.generateContent({ ...HELLO, contents, config });
    assert.equal(answer.text, "[simulated reply, 4 messages, 4 words, 2 tool results]");
  }
});

test("providers.sandbox-protocols: gemini, a forced call by name", async () => {
  const answer = await client().models.generateContent({
    ...HELLO,
    config: {
      tools: [{ functionDeclarations: DECLARATIONS }],
      toolConfig: {
        functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ["get_time"] },
      },
    },
  });
  assert.deepEqual(
    answer.functionCalls?.map((call) => call.name),
    ["get_time"],
  );
});

test("providers.sandbox-protocols: gemini, the client's own conversation keeps what was said", async () => {
  const chat = client().chats.create({ model: HELLO.model });
  assert.equal((await chat.sendMessage({ message: "Hello there" })).text, TEXT);
  assert.match((await chat.sendMessage({ message: "And now?" })).text ?? "", /^\[simulated reply, 3 messages, /u);
});

test("providers.sandbox-protocols: gemini, a schema, a stop sequence, the cap", async () => {
  const ask = (config: NonNullable<GenerateContentParameters["config"]>) =>
    client().models.generateContent({ ...HELLO, config });
  const json = await ask({
    responseMimeType: "application/json",
    responseJsonSchema: { type: "object", properties: { ok: { type: "boolean" } } },
  });
  assert.deepEqual(JSON.parse(json.text ?? ""), { ok: true });
  assert.equal((await ask({ stopSequences: [", 1"] })).text, "[simulated reply");
  assert.equal((await ask({ maxOutputTokens: 2 })).candidates?.[0]?.finishReason, "MAX_TOKENS");
});

for (const status of [400, 403, 404, 429, 500, 503]) {
  test(`providers.sandbox-protocols: gemini, ${status} is the client's error with that status`, async () => {
    sandbox.addFault({ fault: { kind: "status", status } });
    await assert.rejects(client().models.generateContent(HELLO), (error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status, status);
      return true;
    });
  });
}

test("providers.sandbox-protocols: gemini, a bad key is a 400 that says so", async () => {
  await assert.rejects(client("invalid").models.generateContent(HELLO), /API_KEY_INVALID/u);
});

test("providers.sandbox-protocols: gemini, an error among the events is an error of the client", async () => {
  sandbox.addFault({ fault: { kind: "error_event", afterContent: 2 } });
  const stream = await client().models.generateContentStream(HELLO);
  await assert.rejects(async () => {
    for await (const _ of stream) continue;
  });
});
