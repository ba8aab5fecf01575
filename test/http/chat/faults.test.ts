// The result of every fault of a provider: calls, status, events, usage and charge, as a table.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { errorBody } from "../../../src/contract/error-body.ts";
import { chatOf, names, postChat, streamChat } from "../../harness/chat-client.ts";
import { detailsOf } from "../../harness/client.ts";
import {
  answer,
  beginStream,
  type Behaviour,
  chunk,
  completion,
  endStream,
  json,
  TEXT,
} from "../../harness/chat-upstream.ts";
import { neverResting } from "../../harness/gateway.ts";
import { pauseIn, resumeIn } from "../../harness/pause.ts";
import { attemptsOf, type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

let gateway: ChatGateway;
/** A connection that is no longer in the directory. */
let removed: string | null = null;
before(async () => {
  gateway = await startChatGateway({
    gateway: {
      wrapGateway: (services) => ({
        ...neverResting(services),
        streamIdleMs: 3_000,
        directory: () => {
          const now = services.directory();
          return { ...now, account: (key) => (key.endsWith(`/${removed}`) ? undefined : now.account(key)) };
        },
      }),
    },
    file: (file) => ({
      ...file,
      // Short for the first target alone, which stalls: a busy machine may need any time for the second one's answer.
      connections: (file.connections ?? []).map((connection) => ({
        ...connection,
        ...(connection.id === "first" ? { timeout_seconds: 3 } : {}),
      })),
      routes: (file.routes ?? []).map((route) => ({
        ...route,
        targets: route.targets.map((target) => ({
          ...target,
          ...(target.connection === "first" ? { first_content_timeout_seconds: 3 } : {}),
        })),
      })),
    }),
  });
});
after(() => gateway.close());
beforeEach(async () => {
  removed = null;
  await forget(gateway);
  gateway.first.behave(answer);
  gateway.second.behave(answer);
});

interface Fault {
  readonly name: string;
  readonly behave: Behaviour;
  /** Of the first target's attempt. */
  readonly outcome: string;
}

const error = { error: { message: "no", type: "server_error", code: null } };
const BEFORE_CONTENT: readonly Fault[] = [
  { name: "reset", behave: ({ response }) => void response.socket?.resetAndDestroy(), outcome: "unknown" },
  { name: "end without a reply", behave: ({ response }) => void response.socket?.destroy(), outcome: "unknown" },
  { name: "400", behave: (call) => json(call, 400, error), outcome: "failed:rejected" },
  { name: "401", behave: (call) => json(call, 401, error), outcome: "failed:unauthorized" },
  { name: "429", behave: (call) => json(call, 429, error, { "retry-after": "7" }), outcome: "failed:rate_limited" },
  { name: "500", behave: (call) => json(call, 500, error), outcome: "failed:server_error" },
  { name: "503", behave: (call) => json(call, 503, error), outcome: "failed:server_error" },
  { name: "504", behave: (call) => json(call, 504, error), outcome: "unknown" },
  { name: "200 with an error body", behave: (call) => json(call, 200, error), outcome: "failed:bad_reply" },
  {
    name: "garbage",
    behave: ({ response }) => void response.writeHead(200, { "content-type": "application/json" }).end("<html>"),
    outcome: "failed:bad_reply",
  },
  {
    name: "arguments of a call that are nested without end",
    behave: ({ body, response }) => {
      const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
      const said = `{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":${deep}}}]}`;
      const isStream = body["stream"] === true;
      response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
      if (isStream) response.end(`data: {"choices":[{"index":0,"delta":${said}}]}\n\n`);
      else response.end(`{"choices":[{"message":${said},"finish_reason":"tool_calls"}]}`);
    },
    outcome: "failed:bad_reply",
  },
  { name: "a stall before the reply", behave: () => undefined, outcome: "unknown" },
];

for (const { name, behave, outcome } of BEFORE_CONTENT) {
  for (const mode of ["plain", "stream"] as const) {
    test(`chat.fallback-before-content: ${name}, ${mode}: the next target answers, and only it is charged`, async () => {
      gateway.first.behave(behave);
      if (mode === "plain") assert.equal(chatOf(await postChat(gateway.origin, {})).content, TEXT);
      else {
        const streamed = await streamChat(gateway.origin, {});
        assert.deepEqual(names(streamed), ["chat.started", "chat.delta", "chat.delta", "chat.delta", "chat.completed"]);
      }
      assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [1, 1]);
      const byModel = new Map((await attemptsOf(gateway)).map((row) => [row.model, row]));
      const [first, second] = [byModel.get("one"), byModel.get("two")];
      assert.deepEqual([first?.outcome, first?.charge_nano_usd, first?.input_tokens], [outcome, 0n, null]);
      // 11 tokens at 2 USD and 3 at 10 USD per million.
      assert.deepEqual([second?.outcome, second?.charge_nano_usd], ["succeeded", 52_000n]);
    });
  }
}

test("chat.stream-first-content, chat.stream-timeouts: a stream of a head and comments alone is a timeout before the first content", async () => {
  gateway.first.behave((call) => {
    beginStream(call);
    call.response.write(": still there\n\n");
    chunk(call, { role: "assistant", content: "" });
  });
  const streamed = await streamChat(gateway.origin, {});
  assert.equal(names(streamed).at(-1), "chat.completed");
  await gateway.first.calls[0]?.closed;
  assert.deepEqual(
    (await attemptsOf(gateway)).map((row) => [row.model, row.outcome]),
    [
      ["one", "unknown"],
      ["two", "succeeded"],
    ],
  );
});

const AFTER_CONTENT: readonly (Fault & { readonly code: string })[] = [
  {
    name: "the stream is cut",
    behave: async (call) => {
      beginStream(call);
      await written(call, "Hel");
      call.response.socket?.resetAndDestroy();
    },
    outcome: "unknown",
    code: "PROVIDER_RESULT_UNKNOWN",
  },
  {
    name: "the stream ends without a finish",
    behave: (call) => {
      beginStream(call);
      chunk(call, { content: "Hel" });
      call.response.end();
    },
    outcome: "failed:bad_reply",
    code: "PROVIDER_RESULT_UNKNOWN",
  },
  {
    name: "an error event",
    behave: (call) => {
      beginStream(call);
      chunk(call, { content: "Hel" });
      call.response.end(`data: ${JSON.stringify(error)}\n\n`);
    },
    outcome: "failed:server_error",
    code: "PROVIDER_RESULT_UNKNOWN",
  },
  {
    name: "garbage",
    behave: (call) => {
      beginStream(call);
      chunk(call, { content: "Hel" });
      call.response.end("data: {broken\n\n");
    },
    outcome: "failed:bad_reply",
    code: "PROVIDER_RESULT_UNKNOWN",
  },
  {
    name: "a stall",
    behave: (call) => {
      beginStream(call);
      chunk(call, { content: "Hel" });
    },
    outcome: "unknown",
    code: "PROVIDER_TIMEOUT",
  },
];

for (const { name, behave, outcome, code } of AFTER_CONTENT) {
  test(`chat.stream-broken, metering.charge-broken-stream: ${name} after the first content: one error event, no other target, usage recorded, no charge`, async () => {
    gateway.first.behave(behave);
    const streamed = await streamChat(gateway.origin, {});
    assert.equal(streamed.status, 200);
    assert.deepEqual(names(streamed), ["chat.started", "chat.delta", "error"]);
    assert(!streamed.broke, "the stream ends regularly after its error");
    const { error: thrown } = errorBody.parse(streamed.events.at(-1)?.data);
    assert.deepEqual([thrown.code, thrown.request_id], [code, streamed.headers.get("x-request-id")]);
    assert.equal(gateway.second.calls.length, 0);
    const [attempt, ...others] = await attemptsOf(gateway);
    assert.equal(others.length, 0);
    assert.deepEqual(
      [attempt?.outcome, attempt?.charge_nano_usd, attempt?.usage_source, attempt?.output_tokens],
      [outcome, 0n, "estimated", 1n],
    );
    await gateway.first.calls[0]?.closed;
  });
}

test("chat.receipts: an answer without a required feature is withheld, and the next target is tried", async () => {
  gateway.first.behave((call) => json(call, 200, completion({ role: "assistant", content: "no json" }, "stop")));
  gateway.second.behave((call) => json(call, 200, completion({ role: "assistant", content: '{"a":1}' }, "stop")));
  const chat = chatOf(await postChat(gateway.origin, { response_format: { type: "json_object" } }));
  assert.equal(chat.content, '{"a":1}');
  const rows = (await attemptsOf(gateway)).map((row) => [
    row.model,
    row.outcome,
    row.input_tokens,
    row.charge_nano_usd,
  ]);
  // What the withheld answer used is on record, at the operator's cost.
  assert.deepEqual(rows, [
    ["one", "failed:feature_dropped", 11n, 0n],
    ["two", "succeeded", 11n, 52_000n],
  ]);
  gateway.second.behave((call) => json(call, 500, error));
  const refused = await postChat(gateway.origin, { response_format: { type: "json_object" } });
  assert.equal(refused.code, "FEATURE_NOT_DELIVERED");
});

test("chat.receipts: a stream that ends empty, and without a required feature, is withheld: nothing was sent, and the next target is tried", async () => {
  const TOOLS = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  const finishAlone: Behaviour = (call) => {
    beginStream(call);
    endStream(call);
  };
  gateway.second.behave((call) => {
    beginStream(call);
    if (call.body["tools"] === undefined) chunk(call, { content: '{"a":1}' });
    else chunk(call, { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "{}" } }] });
    endStream(call, call.body["tools"] === undefined ? "stop" : "tool_calls");
  });
  for (const fields of [{ response_format: { type: "json_object" } }, { tools: TOOLS, tool_choice: "required" }]) {
    await forget(gateway);
    gateway.first.behave(finishAlone);
    assert.equal(names(await streamChat(gateway.origin, fields)).at(-1), "chat.completed");
    assert.deepEqual(
      (await attemptsOf(gateway)).map((row) => [row.model, row.outcome, row.input_tokens]),
      [
        ["one", "failed:feature_dropped", 11n],
        ["two", "succeeded", 11n],
      ],
    );
    gateway.second.calls.length = 0;
    gateway.first.behave((call) => {
      beginStream(call);
      chunk(call, { content: "no json" });
      endStream(call);
    });
    assert.deepEqual(names(await streamChat(gateway.origin, fields)), ["chat.started", "chat.delta", "error"]);
    assert.equal(gateway.second.calls.length, 0, "something had been sent");
  }
  gateway.first.behave(finishAlone);
  assert.deepEqual(names(await streamChat(gateway.origin, {})), ["chat.started", "chat.completed"]);
});

test("chat.exhausted, routing.target-names-hidden: all targets failed: 503 all_providers_exhausted, retryable, with what each did and no names", async () => {
  gateway.first.behave((call) => json(call, 500, error));
  gateway.second.behave((call) => json(call, 429, error, { "retry-after": "7" }));
  for (const stream of [false, true]) {
    const reply = await postChat(gateway.origin, { stream });
    assert.equal(reply.code, "all_providers_exhausted");
    assert.equal(reply.headers.get("retry-after"), "7");
    assert.deepEqual(detailsOf(reply)["attempts"], [
      { position: 1, reason: "server_error" },
      { position: 2, reason: "rate_limited" },
    ]);
  }
  const charges = (await attemptsOf(gateway)).map((row) => row.charge_nano_usd);
  assert.deepEqual(charges, [0n, 0n, 0n, 0n]);
});

for (const stream of [false, true]) {
  test(`chat.exhausted: a connection that is removed while the target before it is called${stream ? ", of a stream" : ""}: 503 exhausted`, async () => {
    gateway.first.behave((call) => {
      removed = "second";
      json(call, 500, error);
    });
    const reply = await postChat(gateway.origin, { stream });
    assert.deepEqual([reply.status, reply.code], [503, "all_providers_exhausted"]);
    assert.deepEqual(detailsOf(reply)["attempts"], [
      { position: 1, reason: "server_error" },
      { position: 2, reason: "not_found" },
    ]);
  });
}

test("routing.all-rejected: input that every target refuses is PROVIDER_REJECTED", async () => {
  gateway.first.behave((call) => json(call, 400, error));
  gateway.second.behave((call) => json(call, 422, error));
  assert.equal((await postChat(gateway.origin, {})).code, "PROVIDER_REJECTED");
});

test("chat.caller-disconnect: R15: a caller who disconnects from a stream stops the provider, and is charged for what came", async () => {
  const left = new AbortController();
  gateway.first.behave((call) => {
    beginStream(call);
    chunk(call, { content: "Hello" });
  });
  await assert.rejects(
    (async () => {
      await streamChat(
        gateway.origin,
        {},
        {
          signal: left.signal,
          onEvent: ({ event }) => {
            if (event === "chat.delta") left.abort();
          },
        },
      );
      left.signal.throwIfAborted();
    })(),
  );
  await gateway.first.calls[0]?.closed;
  const attempt = await settledAttempt();
  assert.deepEqual([attempt?.outcome, attempt?.usage_source, attempt?.output_tokens], ["aborted", "estimated", 2n]);
  assert((attempt?.charge_nano_usd ?? 0n) > 0n);
});

test("chat.caller-disconnect: R15: a caller who disconnects from a plain chat without a key stops the provider", async () => {
  const left = new AbortController();
  const arrived = Promise.withResolvers<void>();
  gateway.first.behave(() => arrived.resolve());
  const asked = postChat(gateway.origin, {}, { signal: left.signal });
  await arrived.promise;
  left.abort();
  await assert.rejects(asked);
  await gateway.first.calls[0]?.closed;
  const attempt = await settledAttempt();
  assert.equal(attempt?.outcome, "aborted");
  assert.equal(gateway.second.calls.length, 0);
});

/** The edge notices a caller's leaving a moment before the attempt is settled. */
async function settledAttempt() {
  for (;;) {
    const [attempt] = await attemptsOf(gateway);
    if (attempt !== undefined) return attempt;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function written(call: Parameters<Behaviour>[0], content: string): Promise<void> {
  return new Promise((resolve) => {
    chunk(call, { content });
    call.response.write(": flush\n\n", () => setImmediate(resolve));
  });
}

test("routing.pause-skips, routing.pause-refusal: a chat, plain or streamed, goes to no paused model; where all are paused it is refused, and nothing is called or charged", async () => {
  try {
    await pauseIn(gateway, "first", "one");
    chatOf(await postChat(gateway.origin, {}));
    assert.equal((await streamChat(gateway.origin, {})).events.at(-1)?.event, "chat.completed");
    assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [0, 2]);
    await forget(gateway);
    const until = await pauseIn(gateway, "second");
    const refused = await postChat(gateway.origin, {});
    assert.deepEqual([refused.status, refused.code], [503, "all_providers_exhausted"]);
    assert.deepEqual(detailsOf(refused)["reason"], "unhealthy");
    assert.match(refused.text, new RegExp(`paused manually until ${String(detailsOf(refused)["paused_until"])}`, "u"));
    assert.ok(String(detailsOf(refused)["paused_until"]) <= until);
    assert.equal((await streamChat(gateway.origin, {})).status, 503);
    assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [0, 0]);
    assert.deepEqual(await attemptsOf(gateway), []);
  } finally {
    await resumeIn(gateway);
  }
});

test("routing.pause-during-request: a model that is paused while the one before it is called is not fallen back to, plain or streamed", async () => {
  gateway.first.behave(async (call) => {
    await pauseIn(gateway, "second");
    json(call, 500, error);
  });
  try {
    for (const ask of [postChat, streamChat]) {
      await resumeIn(gateway);
      assert.notEqual((await ask(gateway.origin, {})).status, 200);
    }
    assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [2, 0]);
  } finally {
    await resumeIn(gateway);
  }
});
