// A chat's stream ends when its key stops being valid: before the first content as a refusal, after it with one error event.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { errorBody } from "../../../src/contract/error-body.ts";
import { startBeatClock } from "../../harness/beat-clock.ts";
import { changeKey, JOBS_ALONE, REVOKED } from "../../harness/change-key.ts";
import { names, streamChat } from "../../harness/chat-client.ts";
import { beginStream, chunk } from "../../harness/chat-upstream.ts";
import { until } from "../../harness/until.ts";
import { type ChatGateway, startChatGateway } from "./chat-gateway.ts";

const KEYS = [
  "key-of-a-chat-that-streams-01",
  "key-of-a-chat-that-streams-02",
  "key-of-a-chat-that-streams-03",
] as const;

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway({ app: { keys: Object.fromEntries(KEYS.map((key, at) => [`stream-${at}`, key])) } });
});
after(() => gateway.close());

/** Settled in batches, in the background. */
const readAttempts = (requestId: string | null) =>
  gateway.database.db
    .selectFrom("attempts")
    .selectAll()
    .where("request_id", "=", requestId ?? "")
    .execute();

test("chat.revoked-key: a stream whose key is revoked ends within 5 s with one UNAUTHENTICATED event, its usage settled and its provider stopped", async () => {
  gateway.first.behave((call) => {
    beginStream(call);
    chunk(call, { content: "Hello" });
  });
  using clock = startBeatClock();
  let revokedMs = 0;
  const streamed = await streamChat(
    gateway.origin,
    {},
    {
      key: KEYS[0],
      onEvent: ({ event }) => {
        if (event !== "chat.delta") return;
        revokedMs = clock.elapsedMs();
        void changeKey(gateway, "stream-0", REVOKED);
      },
    },
  );
  assert.ok(clock.elapsedMs() - revokedMs < 5_000);
  assert.deepEqual(names(streamed), ["chat.started", "chat.delta", "error"]);
  assert.equal(errorBody.parse(streamed.events.at(-1)?.data).error.code, "UNAUTHENTICATED");
  assert.equal(streamed.broke, false);
  const requestId = streamed.headers.get("x-request-id");
  await until(async () => (await readAttempts(requestId)).some(({ state }) => state !== "open"));
  const [attempt, ...others] = await readAttempts(requestId);
  assert.equal(others.length, 0);
  assert.deepEqual([attempt?.state, attempt?.outcome, attempt?.output_tokens], ["settled", "aborted", 2n]);
  assert.ok((attempt?.charge_nano_usd ?? 0n) > 0n, "what was used is charged");
  await gateway.first.calls.at(-1)?.closed;
});

for (const [key, id, change, status, code] of [
  [KEYS[1], "stream-1", REVOKED, 401, "UNAUTHENTICATED"],
  [KEYS[2], "stream-2", JOBS_ALONE, 403, "FORBIDDEN"],
] as const) {
  test(`chat.revoked-key: a stream without content yet is refused with ${status} once its key is no longer valid for it`, async () => {
    const asked = Promise.withResolvers<void>();
    gateway.first.behave((call) => {
      beginStream(call);
      asked.resolve();
    });
    const answer = fetch(`${gateway.origin}/v1/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "Hello" }], stream: true }),
    });
    await asked.promise;
    await changeKey(gateway, id, change);
    const response = await answer;
    assert.deepEqual([response.status, errorBody.parse(await response.json()).error.code], [status, code]);
    await gateway.first.calls.at(-1)?.closed;
  });
}
