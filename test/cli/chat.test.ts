// `patchbay chat`: its fields, what it reads and what it prints.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { CHAT_OPTIONS } from "../../src/cli/use/chat-options.ts";
import { chatFields } from "../../src/contract/chat/checked-chat-fields.ts";
import { answerError, answerJson, fakeGateway, run, type RunOptions } from "./fake-gateway.ts";

const directory = mkdtempSync(join(tmpdir(), "patchbay-chat-"));
after(() => rmSync(directory, { recursive: true }));

const KEY = ["--api-key", "test-key-of-the-cli-0123456789"];
const ANSWER = {
  id: "chat_1",
  object: "chat",
  created_at: "2026-11-20T00:00:00.000Z",
  status: "completed",
  content: "Hello there.",
  finish_reason: "stop",
  tool_calls: [] as unknown[],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5, cached_input_tokens: 0 },
  warnings: [],
  svc_requested_purpose: null,
  svc_applied_purpose: null,
  svc_purpose_source: "none",
};

function answerEvents(response: ServerResponse, events: readonly (readonly [string, unknown])[]): void {
  response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "req_test" });
  response.end(events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(""));
}

/** Runs the command against a gateway that answers with the document; also what it was sent. */
async function asked(argv: readonly string[], document: unknown = ANSWER, options: RunOptions = {}) {
  await using gateway = await fakeGateway((response) => answerJson(response, 200, document));
  const ran = await run(["chat", ...argv, ...KEY, "--url", gateway.url], { cwd: directory, ...options });
  const [request] = gateway.received;
  const body: unknown = request === undefined ? null : JSON.parse(request.body.toString());
  return { ...ran, request, body: body as Record<string, unknown> };
}

test("cli.every-field: every field of a chat can be set from the command line, and each option reaches its field", async () => {
  assert.deepEqual(Object.keys(CHAT_OPTIONS).toSorted(), Object.keys(chatFields.shape).toSorted());
  const help = (await run(["chat", "--help"])).stdout;
  for (const name of Object.values(CHAT_OPTIONS).flat()) assert.match(help, new RegExp(`--${name}\\b`, "u"));
  const tools = [{ type: "function", function: { name: "dial", parameters: { type: "object" } } }];
  const before = [
    { role: "user", content: "Hello" },
    { role: "assistant", content: "Hi" },
  ];
  writeFileSync(join(directory, "tools.json"), JSON.stringify(tools));
  writeFileSync(join(directory, "before.json"), JSON.stringify(before));
  writeFileSync(join(directory, "parts.schema.json"), '{"type":"object"}');
  writeFileSync(join(directory, "board.png"), "PNG");
  writeFileSync(join(directory, "call.mp3"), "MP3");
  const argv = ["What", "is", "it?", "--system", "Be brief.", "--messages", "before.json", "--image", "board.png"];
  const more = ["--audio", "call.mp3", "--max-tokens", "9", "--temperature", "0.5", "--top-p", "1", "--seed", "-7"];
  const rest = ["--stop", "A", "--stop", "B", "--no-stream", "--tools", "tools.json", "--tool-choice", "dial"];
  const last = ["--no-parallel-tool-calls", "--schema", "parts.schema.json", "--purpose", "talk", "--dry-run"];
  const data = ["--data-policy", "training=never", "--data-policy", "retention=30", "--data-policy", "regions=eu,us"];
  const policy = ["--purpose-policy", "strict", "--response-profile", "deep", "--idempotency-key", "k-1"];
  const { exitCode, stderr, body, request } = await asked([...argv, ...more, ...rest, ...last, ...policy, ...data]);
  assert.equal(exitCode, 0, stderr);
  assert.equal(request?.path, "/v1/chat");
  assert.equal(request?.headers["idempotency-key"], "k-1");
  const content = [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,UE5H" } },
    { type: "input_audio", input_audio: { data: "TVAz", format: "mp3" } },
  ];
  assert.deepEqual(body, {
    messages: [{ role: "system", content: "Be brief." }, ...before, { role: "user", content }],
    max_tokens: 9,
    temperature: 0.5,
    top_p: 1,
    seed: -7,
    stop: ["A", "B"],
    stream: false,
    tools,
    tool_choice: { type: "function", function: { name: "dial" } },
    parallel_tool_calls: false,
    response_format: {
      type: "json_schema",
      json_schema: { name: "parts_schema", schema: { type: "object" }, strict: true },
    },
    purpose: "talk",
    purpose_policy: "strict",
    response_profile: "deep",
    data_policy: { training: "never", retention: 30, regions: ["eu", "us"] },
    dry_run: true,
  });
  assert.deepEqual(Object.keys(body).toSorted(), Object.keys(chatFields.shape).toSorted(), "no field is missing");
});

test("cli.stream-output, cli.streams: the text is printed as it streams, on a terminal without its control sequences; everything else is on stderr", async () => {
  await using gateway = await fakeGateway((response) =>
    answerEvents(response, [
      ["chat.started", { id: "chat_1", created_at: "2026-11-20T00:00:00.000Z" }],
      ["chat.delta", { content: "Hello \u001b[2J" }],
      ["chat.delta", { content: "there." }],
      ["chat.completed", ANSWER],
    ]),
  );
  const argv = ["chat", "Hi", ...KEY, "--url", gateway.url];
  const ran = await run(argv, { isTTY: true });
  assert.deepEqual([ran.exitCode, ran.stdout], [0, "Hello [2Jthere.\n"]);
  assert.equal(ran.stderr, "request req_test\ntokens 3 in, 2 out\n");
  assert.equal((JSON.parse(gateway.received[0]?.body.toString() ?? "") as { stream: boolean }).stream, true);
  assert.equal((await run(argv)).stdout, "Hello \u001b[2Jthere.\n", "a file or a pipe gets what was written");
  const whole = await run([...argv, "--stream", "--json"]);
  assert.deepEqual(JSON.parse(whole.stdout), ANSWER);
});

test("cli.stream-output: a stream that breaks is a failure: the error's code with its exit code, or that the answer is not whole", async () => {
  const events: (readonly [string, unknown])[] = [
    ["chat.delta", { content: "Hel" }],
    [
      "error",
      {
        error: { code: "PROVIDER_TIMEOUT", message: "Too slow.", doc_url: "http://gateway/docs", request_id: "req_1" },
      },
    ],
  ];
  await using gateway = await fakeGateway((response, _request, count) => {
    if (count > 1) return answerEvents(response, events.slice(0, count - 1));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('event: chat.delta\ndata: {"content":"Hel"}\n\n', () => response.destroy());
  });
  const torn = await run(["chat", "Hi", ...KEY, "--url", gateway.url]);
  assert.deepEqual([torn.exitCode, torn.stdout], [7, "Hel"]);
  assert.match(torn.stderr, /The response ended early/u);
  const cut = await run(["chat", "Hi", ...KEY, "--url", gateway.url]);
  assert.deepEqual([cut.exitCode, cut.stdout], [7, "Hel"]);
  assert.match(cut.stderr, /ended before the response was complete/u);
  const failed = await run(["chat", "Hi", ...KEY, "--url", gateway.url]);
  assert.equal(failed.exitCode, 7);
  assert.match(
    failed.stderr,
    /PROVIDER_TIMEOUT: Too slow\.\n {2}what to do: http:\/\/gateway\/docs\n {2}request req_1/u,
  );
});

test("cli.streams-once, cli.retries: a stream whose connection breaks is not sent again; a plain chat is, under the same key", async () => {
  await using gateway = await fakeGateway((response, _request, count) =>
    count === 1 || count === 2 ? response.destroy() : answerJson(response, 200, ANSWER),
  );
  const streamed = await run(["chat", "Hi", ...KEY, "--url", gateway.url]);
  assert.deepEqual([streamed.exitCode, gateway.received.length], [7, 1]);
  const plain = await run(["chat", "Hi", "--no-stream", ...KEY, "--url", gateway.url]);
  assert.deepEqual([plain.exitCode, plain.stdout, gateway.received.length], [0, "Hello there.\n", 3]);
  const [first, second] = gateway.received.slice(1).map(({ headers }) => headers["idempotency-key"]);
  assert.ok(first !== undefined && first === second);
});

test("cli.chat-input: stdin is the message if there is none, and replaces `-`; JSON of --messages may be the whole conversation", async () => {
  const stdin = () => Readable.from(["one\n", "two\n"]);
  const messages = async (...argv: string[]) => (await asked(argv, ANSWER, { stdin: stdin() })).body["messages"];
  assert.deepEqual(await messages(), [{ role: "user", content: "one\ntwo" }]);
  assert.deepEqual(await messages("Sum", "up:", "-"), [{ role: "user", content: "Sum up:\n\none\ntwo" }]);
  assert.deepEqual(await messages("Hello"), [{ role: "user", content: "Hello" }], "unread unless it is asked for");
  const spoken = await asked(["--messages", "-"], ANSWER, {
    stdin: Readable.from(['[{"role":"user","content":"Hi"}]']),
  });
  assert.deepEqual(spoken.body["messages"], [{ role: "user", content: "Hi" }]);
});

test("cli.chat-input: tool calls are printed by name and arguments, a truncated answer is reported, and -o writes a file", async () => {
  const call = { id: "c1", name: "dial", arguments: '{"to":1}' };
  const called = await asked(["Hi"], { ...ANSWER, content: null, finish_reason: "tool_calls", tool_calls: [call] });
  assert.deepEqual([called.exitCode, called.stdout], [0, 'dial {"to":1}\n']);
  const cut = await asked(["Hi", "-o", "answer.txt"], { ...ANSWER, finish_reason: "length" });
  assert.equal(cut.stdout, "");
  assert.equal(readFileSync(join(directory, "answer.txt"), "utf8"), "Hello there.\n");
  assert.match(cut.stderr, /--max-tokens/u);
});

test("cli.usage-errors, cli.exit-codes: what cannot be asked is exit code 2 and is not sent; a refusal has its code's", async () => {
  writeFileSync(join(directory, "broken.json"), "{");
  writeFileSync(join(directory, "object.json"), "{}");
  for (const argv of [
    [],
    ["  "],
    ["Hi", "--messages", "missing.json"],
    ["Hi", "--messages", "broken.json"],
    ["Hi", "--messages", "object.json"],
    ["-", "--messages", "-"],
    ["Hi", "--image", "board.bmp"],
    ["Hi", "--stream", "--idempotency-key", "k"],
    ["Hi", "--temperature", "warm"],
    ["Hi", "--schema", "object.json", "--response-format", "text"],
  ]) {
    const ran = await asked(argv);
    assert.deepEqual([ran.exitCode, ran.request], [2, undefined], argv.join(" "));
  }
  await using gateway = await fakeGateway((response) => answerError(response, 402, "BUDGET_EXCEEDED"));
  const refused = await run(["chat", "Hi", "--json", ...KEY, "--url", gateway.url]);
  assert.equal(refused.exitCode, 6);
  assert.equal((JSON.parse(refused.stdout) as { error: { code: string } }).error.code, "BUDGET_EXCEEDED");
});
