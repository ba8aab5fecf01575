// Tenancy of GET /workspace/{tenant_id}/models.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer } from "../../harness/client.ts";
import { OTHER_KEY, type TestGateway } from "../../harness/gateway.ts";
import { OTHER_ADMIN_KEY } from "../audio-url/setup.ts";
import { modelsOf, readModels, startModelsGateway } from "./models.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startModelsGateway();
});
after(() => gateway.close());

const withoutRequestId = (answer: Answer): string =>
  answer.text.replaceAll(answer.headers.get("x-request-id") ?? "-", "req");

test("providers.model-list-access: to keys of another workspace it looks like one that does not exist, byte for byte", async () => {
  for (const key of [OTHER_KEY, OTHER_ADMIN_KEY]) {
    const [foreign, missing] = [await readModels(gateway, key), await readModels(gateway, key, "no-such-workspace")];
    assert.deepEqual([foreign.status, foreign.code], [404, "NOT_FOUND"]);
    assert.equal(withoutRequestId(foreign), withoutRequestId(missing));
  }
});

test("providers.model-list-no-secret: no workspace sees another's connections", async () => {
  const models = modelsOf(await readModels(gateway, OTHER_ADMIN_KEY, "other"));
  assert(models.length > 0 && models.every((each) => each.connection_owner !== "workspace"));
});
