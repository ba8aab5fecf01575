// What GET /workspace/{tenant_id}/models refuses.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { KEY, type TestGateway } from "../../harness/gateway.ts";
import { readModels, startModelsGateway } from "./models.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startModelsGateway();
});
after(() => gateway.close());

test("providers.model-list-access, keys.one-401: without a key 401, and with an unknown one the same", async () => {
  for (const key of [null, "test-key-that-nobody-was-given-01"])
    assert.deepEqual((await readModels(gateway, key)).code, "UNAUTHENTICATED");
});

test("providers.model-list-access: a member of the workspace gets 403", async () => {
  const answer = await readModels(gateway, KEY);
  assert.deepEqual([answer.status, answer.code], [403, "FORBIDDEN"]);
});
