// Tenants' chats are isolated: idempotency keys, circuits, budgets, attempts.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chatOf, postChat } from "../../harness/chat-client.ts";
import { answer } from "../../harness/chat-upstream.ts";
import { OTHER_KEY } from "../../harness/gateway.ts";
import { attemptsOf, type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway({ app: { budgets: [{ period: "month", limit_tokens: 1 }] } });
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(answer);
});

test("chat.tenancy: a budget that is used up stops its own app and no other", async () => {
  assert.equal((await postChat(gateway.origin, {})).code, "BUDGET_EXCEEDED");
  assert.equal((await postChat(gateway.origin, {}, { key: OTHER_KEY })).status, 200);
});

test("chat.tenancy, idempotency.app-scope: the same idempotency key of two apps is two keys", async () => {
  const headers = { "idempotency-key": "shared" };
  const first = await postChat(gateway.origin, {}, { key: OTHER_KEY, headers });
  const again = await postChat(gateway.origin, {}, { key: OTHER_KEY, headers });
  assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
  assert.equal(again.text, first.text);
  const own = await postChat(gateway.origin, {}, { headers });
  assert.equal(own.code, "BUDGET_EXCEEDED");
  assert.equal(own.headers.get("x-svc-idempotent-replay"), null);
});

test("chat.tenancy: every attempt carries its workspace and app", async () => {
  chatOf(await postChat(gateway.origin, {}, { key: OTHER_KEY }));
  const [attempt] = await attemptsOf(gateway);
  const owner = await gateway.database.db
    .selectFrom("apps")
    .innerJoin("workspaces", "workspaces.id", "apps.workspace_id")
    .select(["apps.id", "apps.workspace_id"])
    .where("workspaces.slug", "=", "other")
    .executeTakeFirstOrThrow();
  assert.deepEqual([attempt?.app_id, attempt?.workspace_id], [owner.id, owner.workspace_id]);
});
