// Translation by a chat model: what is answered, which models are called, what is charged.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { keyDescription } from "../../../src/contract/account.ts";
import { routingDecision } from "../../../src/contract/transcription/transcription-envelope.ts";
import { answer, completion, json, TEXT } from "../../harness/chat-upstream.ts";
import { envelopeOf, get, postForm } from "../../harness/client.ts";
import { recordOf } from "../requests/records.ts";
import {
  attemptsIn,
  CHAT_CHARGE,
  keyOf,
  SECOND_CHAT_CHARGE,
  SPEECH_CHARGE,
  startViaChat,
  translateVia,
  type ViaChat,
} from "./via-chat.ts";

let gateway: ViaChat;
before(async () => {
  gateway = await startViaChat();
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
  for (const upstream of [gateway.first, gateway.second]) {
    upstream.calls.length = 0;
    upstream.behave(answer);
  }
});

const called = () => [gateway.sandbox.callCount, gateway.first.calls.length, gateway.second.calls.length];

test("routing.translation-via-chat: where no target translates, a chat target of the route translates the transcript", async () => {
  const reply = await translateVia(gateway);
  const envelope = envelopeOf(reply);
  assert.deepEqual([envelope.object, envelope.content], ["translation", TEXT]);
  assert.deepEqual([envelope.segments, envelope.words], [[], []]);
  assert.deepEqual(
    envelope.warnings.map(({ code }) => code),
    ["TRANSLATED_BY_CHAT"],
  );
  assert.deepEqual(called(), [1, 1, 0]);
  const messages = gateway.first.calls[0]?.body["messages"] as readonly { role: string; content: unknown }[];
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["system", "user"],
  );
  assert.match(String(messages[0]?.content), /into French \(fr\)/);
  assert.match(JSON.stringify(messages[1]?.content), /simulated transcript, 1\.0 s/);
});

test("translation.chat-spoken-language: the language of a translation is the one that was spoken, which is detected where the request names none", async () => {
  const envelope = envelopeOf(await translateVia(gateway));
  assert.equal(envelope.language, "en");
  assert.deepEqual(
    gateway.sandbox.calls[0]?.query.filter(([name]) => name === "detect_language" || name === "language"),
    [["detect_language", "true"]],
  );
  gateway.sandbox.clearCalls();
  await translateVia(gateway, "via", { fields: { language: "de" } });
  assert.deepEqual(
    gateway.sandbox.calls[0]?.query.filter(([name]) => name === "detect_language" || name === "language"),
    [["language", "de"]],
  );
});

test("translation.native-first: a target that translates into the language is preferred, and no chat is called", async () => {
  const native = envelopeOf(await translateVia(gateway, "native", { fields: { to_language: "en" } }));
  assert.deepEqual(
    native.warnings.map(({ code }) => code),
    [],
  );
  assert.deepEqual(
    gateway.sandbox.calls.map(({ model }) => model),
    ["whisper-1"],
  );
  // whisper-1 knows English alone.
  const french = envelopeOf(await translateVia(gateway, "native"));
  assert.equal(french.content, TEXT);
  assert.deepEqual(called(), [2, 1, 0]);
});

test("translation.chat-two-attempts: speech and chat are two attempts of one request, both charged, and the seconds are billed once", async () => {
  const reply = await translateVia(gateway);
  const { usage } = envelopeOf(reply);
  assert.deepEqual(usage, { audio_seconds: 1, billable_audio_seconds: 1, total_tokens: 0 });
  assert.deepEqual(await attemptsIn(gateway, reply), [
    ["nova-3", "succeeded", SPEECH_CHARGE, 1_000n],
    ["one", "succeeded", CHAT_CHARGE, 0n],
  ]);
});

test("translation.billing: on a caller's own accounts no seconds are billed and nothing is charged", async () => {
  const reply = await translateVia(gateway, "own");
  assert.equal(envelopeOf(reply).usage.billable_audio_seconds, 0);
  assert.deepEqual(await attemptsIn(gateway, reply), [
    ["nova-3", "succeeded", 0n, 0n],
    ["one", "succeeded", 0n, 0n],
  ]);
  assert.deepEqual(called(), [1, 1, 0]);
});

test("translation.chat-two-attempts: with a plan, the speech draws on credits and the chat on the monthly tokens", async () => {
  const reply = await translateVia(gateway, "planned");
  assert.deepEqual(await attemptsIn(gateway, reply), [
    ["nova-3", "succeeded", SPEECH_CHARGE, 1_000n],
    ["one", "succeeded", 0n, 0n],
  ]);
});

test("translation.idempotency: the same key: the first translation again, byte for byte; one transcription, one chat", async () => {
  const headers = { "Idempotency-Key": "via-chat-1" };
  const replies = await Promise.all([
    translateVia(gateway, "via", { headers }),
    translateVia(gateway, "via", { headers }),
  ]);
  // The other was refused while this one ran, or came behind it and is its replay.
  const first = replies.find(
    ({ status, headers: sent }) => status === 200 && sent.get("x-svc-idempotent-replay") === null,
  );
  assert(first !== undefined);
  const again = await translateVia(gateway, "via", { headers });
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
  assert.deepEqual(called(), [1, 1, 0]);
  assert.deepEqual(await attemptsIn(gateway, first), [
    ["nova-3", "succeeded", SPEECH_CHARGE, 1_000n],
    ["one", "succeeded", CHAT_CHARGE, 0n],
  ]);
});

test("translation.chat-whole: a chat target that fails is followed by the next, and nothing is transcribed again", async () => {
  gateway.first.behave(({ response }) => void response.socket?.resetAndDestroy());
  const reply = await translateVia(gateway);
  assert.equal(envelopeOf(reply).content, TEXT);
  assert.deepEqual(called(), [1, 1, 1]);
  assert.deepEqual(await attemptsIn(gateway, reply), [
    ["nova-3", "succeeded", SPEECH_CHARGE, 1_000n],
    ["one", "unknown", 0n, 0n],
    ["two", "succeeded", SECOND_CHAT_CHARGE, 0n],
  ]);
});

for (const [what, message, finish] of [
  ["cut by its length", { role: "assistant", content: "Gr" }, "length"],
  ["withheld by a filter", { role: "assistant", content: "" }, "content_filter"],
  ["empty", { role: "assistant", content: " " }, "stop"],
] as const) {
  test(`translation.chat-whole: a translation that is ${what} is none: the next target translates`, async () => {
    gateway.first.behave((call) => json(call, 200, completion(message, finish)));
    const reply = await translateVia(gateway);
    assert.equal(envelopeOf(reply).content, TEXT);
    assert.deepEqual(await attemptsIn(gateway, reply), [
      ["nova-3", "succeeded", SPEECH_CHARGE, 1_000n],
      ["one", "failed:feature_dropped", 0n, 0n],
      ["two", "succeeded", SECOND_CHAT_CHARGE, 0n],
    ]);
  });
}

test("translation.chat-silence: without speech there is nothing to translate: no chat, and an empty translation", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "empty" } });
  const reply = await translateVia(gateway);
  const envelope = envelopeOf(reply);
  assert.deepEqual([envelope.object, envelope.content], ["translation", ""]);
  assert.deepEqual(called(), [1, 0, 0]);
  assert.deepEqual(await attemptsIn(gateway, reply), [["nova-3", "succeeded", SPEECH_CHARGE, 1_000n]]);
});

test("translation.chat-test-key: with a test key the sandbox plays both steps, for nothing, and the answer is marked", async () => {
  const reply = await translateVia(gateway, "test");
  const envelope = envelopeOf(reply);
  assert.match(envelope.content, /^\[simulated reply, 2 messages, \d+ words\]$/);
  assert.equal(reply.headers.get("x-svc-simulated"), "true");
  assert.deepEqual(
    envelope.warnings.map(({ code }) => code),
    ["TRANSLATED_BY_CHAT", "SIMULATED_PROVIDER"],
  );
  assert.deepEqual(await attemptsIn(gateway, reply), [
    ["nova-3", "succeeded", 0n, 0n],
    ["one", "succeeded", 0n, 0n],
  ]);
  assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [0, 0]);
});

test("translation.chat-openai: OpenAI's translations endpoint goes the same way", async () => {
  const reply = await postForm(gateway.origin, {
    key: keyOf("via"),
    path: "/v1/audio/translations",
    fields: { model: "auto" },
  });
  assert.equal(reply.status, 200, reply.text);
  assert.equal((reply.json as { text: string }).text, TEXT);
  assert.deepEqual(called(), [1, 1, 0]);
});

test("translation.chat-dry-run: dry_run shows the targets that would transcribe and translate, and calls none", async () => {
  const reply = await translateVia(gateway, "via", { fields: { dry_run: "true" } });
  const decision = routingDecision.parse(reply.json);
  assert.deepEqual(decision.outcome, { status: 200, code: null, position: 1 });
  assert.deepEqual(
    decision.candidates.map(({ position, eligible }) => [position, eligible]),
    [
      [1, true],
      [2, true],
      [3, true],
    ],
  );
  assert.deepEqual(
    decision.warnings.map(({ code }) => code),
    ["TRANSLATED_BY_CHAT"],
  );
  assert(Number(decision.estimated_cost_usd) > 0.011, "a second of speech, and 1,000 tokens that may be written");
  assert.deepEqual(called(), [0, 0, 0]);
  // The chat's share is judged too: its tokens, and its money on top of the transcript's.
  for (const [app, status, code] of [
    ["tokens", 402, "BUDGET_EXCEEDED"],
    ["money", 402, "BUDGET_EXCEEDED"],
    ["quota", 429, "RATE_LIMITED"],
    ["seconds", 200, null],
  ] as const) {
    const { outcome } = routingDecision.parse((await translateVia(gateway, app, { fields: { dry_run: "true" } })).json);
    assert.deepEqual([outcome.status, outcome.code], [status, code], app);
  }
  const off = routingDecision.parse((await translateVia(gateway, "off", { fields: { dry_run: "true" } })).json);
  assert.equal(off.outcome.code, "REQUIRED_FEATURE_UNSUPPORTED");
});

test("translation.chat-dry-run: the record of the request holds both calls, and judges transcribers and translators", async () => {
  const reply = await translateVia(gateway);
  const { candidates, attempts, summary } = await recordOf(gateway, reply, keyOf("via"));
  assert.deepEqual(
    candidates.map(({ position, missing }) => [position, missing]),
    [
      [1, []],
      [2, []],
      [3, []],
    ],
  );
  assert.deepEqual(
    attempts.map(({ position, outcome }) => [position, outcome]),
    [
      [1, "succeeded"],
      [2, "succeeded"],
    ],
  );
  assert.equal(summary, "Served by target 1 and target 2.");
});

test("translation.chat-discovery: GET /v1/me lists translation where a chat makes it", async () => {
  const featureOf = async (app: "via" | "off" | "mute") => {
    const me = keyDescription.parse((await get(gateway.origin, "/v1/me", keyOf(app))).json);
    return me.routing_contexts.find(({ context }) => context === "audio_input")?.features["translation"];
  };
  assert.deepEqual([await featureOf("via"), await featureOf("off"), await featureOf("mute")], [true, false, false]);
});
