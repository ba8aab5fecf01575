// Idempotency keys on plain chat, native and compatible: one paid call a key, one answer that never changes.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { postChat, streamChat } from "../../harness/chat-client.ts";
import { answer, json } from "../../harness/chat-upstream.ts";
import { neverResting } from "../../harness/gateway.ts";
import { attemptsOf, type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

let gateway: ChatGateway;
let next = 0;
before(async () => {
  gateway = await startChatGateway({
    gateway: { wrapGateway: neverResting },
  });
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(answer);
  gateway.second.behave(answer);
});

const error = { error: { message: "no" } };
const fresh = () => ({ "idempotency-key": `key-${next++}` });

test("chat.idempotent-replay, idempotency.endpoints: same key, same payload: the stored bytes, one call, one charge; member order and the place of the purpose change nothing", async () => {
  const headers = fresh();
  const first = await postChat(gateway.origin, { temperature: 1, max_tokens: 5 }, { headers });
  const again = await postChat(gateway.origin, { max_tokens: 5, temperature: 1 }, { headers });
  assert.deepEqual([again.status, again.text], [200, first.text]);
  assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
  assert.equal(gateway.first.calls.length, 1);
  const [attempt, ...others] = await attemptsOf(gateway);
  assert.deepEqual([attempt?.state, attempt?.charge_nano_usd, others.length], ["settled", 41_000n, 0]);
});

test("chat.idempotent-conflict: same key, other payload or endpoint: 409, and no provider is called", async () => {
  const headers = fresh();
  await postChat(gateway.origin, {}, { headers });
  assert.equal((await postChat(gateway.origin, { temperature: 1 }, { headers })).code, "IDEMPOTENCY_KEY_REUSED");
  const other = await postChat(gateway.origin, { model: "auto" }, { headers, path: "/v1/chat/completions" });
  assert.equal(other.code, "IDEMPOTENCY_KEY_REUSED");
  assert.equal(gateway.first.calls.length, 1);
});

test("chat.idempotent-ignored, idempotency.key-format: a malformed key is refused where it counts, and no provider is called; a stream and a dry run ignore it", async () => {
  const headers = { "idempotency-key": "not a key" };
  for (const path of ["/v1/chat", "/v1/chat/completions"]) {
    const model = path === "/v1/chat" ? null : "auto";
    const refused = await postChat(gateway.origin, { model }, { headers, path });
    assert.deepEqual([refused.status, refused.code], [400, "INVALID_REQUEST"], path);
  }
  assert.equal((await postChat(gateway.origin, { dry_run: true }, { headers })).status, 200);
  assert.equal(gateway.first.calls.length, 0);
  assert.equal((await streamChat(gateway.origin, {}, { headers })).status, 200);
});

test("compatible.idempotency: the compatible endpoint replays its own bytes", async () => {
  const headers = fresh();
  const path = "/v1/chat/completions";
  const first = await postChat(gateway.origin, { model: "auto" }, { headers, path });
  const again = await postChat(gateway.origin, { model: "auto" }, { headers, path });
  assert.equal((first.json as { object: string }).object, "chat.completion");
  assert.equal(again.text, first.text);
  assert.equal(gateway.first.calls.length, 1);
});

test("chat.idempotent-conflict, chat.idempotent-detached: while the first runs: 409 in progress; a caller who disconnected finds the answer", async () => {
  const headers = fresh();
  const arrived = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  gateway.first.behave(async (call) => {
    arrived.resolve();
    await goOn.promise;
    await answer(call);
  });
  const left = new AbortController();
  const asked = postChat(gateway.origin, {}, { headers, signal: left.signal });
  await arrived.promise;
  const concurrent = await postChat(gateway.origin, {}, { headers });
  assert.deepEqual([concurrent.status, concurrent.code], [409, "IDEMPOTENCY_REPLAY_IN_PROGRESS"]);
  left.abort();
  await assert.rejects(asked);
  goOn.resolve();
  for (;;) {
    const reply = await postChat(gateway.origin, {}, { headers });
    if (reply.status === 200) {
      assert.equal(reply.headers.get("x-svc-idempotent-replay"), "true");
      break;
    }
    assert.equal(reply.code, "IDEMPOTENCY_REPLAY_IN_PROGRESS");
  }
  assert.equal(gateway.first.calls.length, 1);
});

test("chat.idempotent-release: definite failures of every target free the key", async () => {
  const headers = fresh();
  gateway.first.behave((call) => json(call, 500, error));
  gateway.second.behave((call) => json(call, 429, error));
  const failed = await postChat(gateway.origin, {}, { headers });
  assert.deepEqual([failed.code, failed.headers.get("x-should-retry")], ["all_providers_exhausted", "true"]);
  gateway.first.behave(answer);
  assert.equal((await postChat(gateway.origin, {}, { headers })).status, 200);
});

test("chat.idempotent-burn: an unknown outcome burns the key: not retryable, and never run again", async () => {
  const headers = fresh();
  gateway.first.behave(({ response }) => void response.socket?.resetAndDestroy());
  gateway.second.behave((call) => json(call, 500, error));
  const failed = await postChat(gateway.origin, {}, { headers });
  assert.deepEqual([failed.code, failed.headers.get("x-should-retry")], ["all_providers_exhausted", "false"]);
  gateway.first.behave(answer);
  assert.equal((await postChat(gateway.origin, {}, { headers })).code, "IDEMPOTENT_RESULT_UNAVAILABLE");
  assert.equal(gateway.first.calls.length, 1);
});

test("chat.idempotent-burn, idempotency.later-answer: an unknown outcome followed by an answer is an answer, stored once", async () => {
  const headers = fresh();
  gateway.first.behave(({ response }) => void response.socket?.resetAndDestroy());
  const first = await postChat(gateway.origin, {}, { headers });
  const again = await postChat(gateway.origin, {}, { headers });
  assert.deepEqual([first.status, again.text], [200, first.text]);
  assert.deepEqual(
    (await attemptsOf(gateway)).map((row) => [row.model, row.outcome, row.charge_nano_usd]),
    [
      ["one", "unknown", 0n],
      ["two", "succeeded", 52_000n],
    ],
  );
});

test("chat.idempotent-ignored, idempotency.ignored: streams and dry runs ignore the key", async () => {
  const headers = fresh();
  for (let turn = 0; turn < 2; turn += 1) assert.equal((await streamChat(gateway.origin, {}, { headers })).status, 200);
  assert.equal(gateway.first.calls.length, 2);
  assert.equal((await postChat(gateway.origin, { dry_run: true }, { headers })).status, 200);
  assert.equal((await postChat(gateway.origin, { temperature: 1 }, { headers })).status, 200);
  assert.equal(gateway.first.calls.length, 3);
});

test("chat.idempotent-burn: a budget that stops the second target frees no key under which the first may have worked", async () => {
  const limited = await startChatGateway({
    // 1,010 tokens fit at the first target's price and not at the second's.
    app: { budgets: [{ period: "month", limit_usd: "0.010011" }] },
    with: () => ({ prices: { "openai-compatible/two": ["2", "1000"] } }),
  });
  try {
    const headers = fresh();
    limited.first.behave(({ response }) => void response.socket?.resetAndDestroy());
    assert.equal((await postChat(limited.origin, {}, { headers })).code, "BUDGET_EXCEEDED");
    limited.first.behave(answer);
    assert.equal((await postChat(limited.origin, {}, { headers })).code, "IDEMPOTENT_RESULT_UNAVAILABLE");
    assert.equal(limited.first.calls.length, 1);
  } finally {
    await limited.close();
  }
});
