// What GET /workspace/{tenant_id}/models lists.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assignableModels } from "../../../src/contract/admin/workspace-models.ts";
import { get } from "../../harness/client.ts";
import type { TestGateway } from "../../harness/gateway.ts";
import { ADMIN_KEY, OPERATOR_KEY, OTHER_ADMIN_KEY } from "../audio-url/setup.ts";
import { modelsOf, readModels, startModelsGateway } from "./models.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startModelsGateway();
});
after(() => gateway.close());

const find = async (connection: string | null, model: string, key = ADMIN_KEY, tenant = "acme") => {
  const found = modelsOf(await readModels(gateway, key, tenant)).filter(
    (each) => each.connection === connection && each.model === model,
  );
  assert.equal(found.length, 1, `${connection ?? "no connection"} ${model}`);
  return found[0];
};

test("providers.model-list, providers.byok-replaces: an own connection replaces the shared one of its id, in this workspace alone", async () => {
  const own = await find("dg", "nova-3");
  assert.deepEqual(
    [own?.connection_owner, own?.billing_class.audio_input, own?.assignable, own?.reason],
    ["workspace", "provider_billed", true, null],
  );
  const others = await find("dg", "nova-3", OTHER_ADMIN_KEY, "other");
  assert.deepEqual([others?.connection_owner, others?.assignable], ["platform", true]);
});

test("providers.model-list-reason: a metered model needs credits where the workspace has a plan, and none where it has not", async () => {
  const withPlan = await find("el", "scribe_v2");
  assert.deepEqual(
    [withPlan?.billing_class.audio_input, withPlan?.assignable, withPlan?.reason],
    ["metered", false, "credits_required"],
  );
  const without = await find("el", "scribe_v2", OPERATOR_KEY, "other");
  assert.deepEqual([without?.billing_class.audio_input, without?.assignable, without?.reason], ["metered", true, null]);
});

test("providers.model-list: a declared model is listed next to those of the catalogue, with what was declared of it", async () => {
  const declared = await find("local", "whisper");
  assert.deepEqual([declared?.capabilities, declared?.provider], [["audio_input"], "openai-compatible"]);
  assert(declared?.features.includes("timestamps.segment"));
  const chat = await find("oa", "gpt-4.1-mini");
  assert.deepEqual([chat?.capabilities, chat?.limits.max_output_tokens, chat?.languages], [["chat"], 32_768, null]);
  assert.deepEqual([chat?.billing_class.audio_input, chat?.billing_class.chat], [null, "provider_billed"]);
});

test("providers.model-list-reason: providers without a connection are listed as what an own account would add", async () => {
  const missing = await find(null, "claude-opus-5");
  assert.deepEqual([missing?.assignable, missing?.reason, missing?.connection_owner], [false, "no_connection", null]);
});

test("providers.model-list-reason: an account without a credential is not assignable; the sandbox needs none and is simulated", async () => {
  // As an earlier version stored it.
  await gateway.database.db.updateTable("connections").set({ credential: null }).where("id", "=", "keyless").execute();
  await gateway.app.refreshDirectory();
  const models = modelsOf(await readModels(gateway, ADMIN_KEY));
  const keyless = models.filter((each) => each.connection === "keyless");
  assert(keyless.length > 0 && keyless.every((each) => !each.assignable && each.reason === "no_credential"));
  const simulated = models.filter((each) => each.connection === "sim");
  assert(simulated.length > 0 && simulated.every((each) => each.assignable));
  assert(simulated.every((each) => (each.billing_class.audio_input ?? each.billing_class.chat) === "simulated"));
});

test("providers.model-list, admin.mirrored: the operator reads the same of a workspace on the admin listener, and of the shared connections what their routes can name", async () => {
  const { adminOrigin } = gateway;
  const [own, platform] = await Promise.all([
    get(adminOrigin, "/admin/v1/workspaces/acme/models", OPERATOR_KEY),
    get(adminOrigin, "/admin/v1/models", OPERATOR_KEY),
  ]);
  assert.deepEqual(modelsOf(own), modelsOf(await readModels(gateway, ADMIN_KEY)));
  const models = modelsOf(platform);
  assert(models.every((each) => each.connection_owner !== "workspace"));
  // Acme's plan does not cover it; the operator's list of models applies no plan.
  const metered = models.find((each) => each.connection === "el" && each.model === "scribe_v2");
  assert.deepEqual(
    [metered?.connection_owner, metered?.billing_class.audio_input, metered?.assignable],
    ["platform", "metered", true],
  );
});

test("providers.model-list-no-secret: no credential, nor any part of one, is in the list", async () => {
  const answer = await readModels(gateway, OPERATOR_KEY);
  assert.doesNotThrow(() => assignableModels.parse(answer.json));
  for (const secret of ["dg-secret", "oa-secret", "el-secret", "own-dg"]) assert(!answer.text.includes(secret));
});
