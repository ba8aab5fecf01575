// A plain chat whose deadline has passed: another target could not answer in time, would be paid for nothing, and would be counted as
// failed.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chatOf, postChat } from "../../harness/chat-client.ts";
import { answer, json } from "../../harness/chat-upstream.ts";
import { attemptsOf, type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway({ file: (file) => ({ ...file, limits: { sync_timeout_seconds: 5 } }) });
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(() => undefined);
  gateway.second.behave(answer);
});

for (const [name, headers, again] of [
  ["", {}, null],
  [" with a key, which is burned", { "idempotency-key": "late" }, "IDEMPOTENT_RESULT_UNAVAILABLE"],
] as const) {
  test(`routing.deadline: a first target that is silent until the deadline${name}: 504, and no other target is called`, async () => {
    const refused = await postChat(gateway.origin, {}, { headers });
    assert.deepEqual([refused.status, refused.code], [504, "PROVIDER_TIMEOUT"], refused.text);
    assert.doesNotMatch(refused.text, /recordings/u);
    assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [1, 0]);
    assert.deepEqual(
      (await attemptsOf(gateway)).map((row) => [row.model, row.outcome, row.charge_nano_usd]),
      [["one", "unknown", 0n]],
    );
    if (again !== null) assert.equal((await postChat(gateway.origin, {}, { headers })).code, again);
  });
}

test("routing.deadline, routing.fallback-definite: a first target that fails while there is time is followed by the next", async () => {
  gateway.first.behave((call) => json(call, 500, {}));
  chatOf(await postChat(gateway.origin, {}));
  assert.equal(gateway.second.calls.length, 1);
});
