// …/apps, created, replaced and removed by a workspace's administrator and by the operator.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { appView } from "../../../src/contract/admin/apps.ts";
import { keyView } from "../../../src/contract/admin/keys.ts";
import { detailsOf, postForm } from "../../harness/client.ts";
import type { TestGateway } from "../../harness/gateway.ts";
import { auditRows, call, etagOf, refuses, startAdminGateway, viewOf } from "./admin.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startAdminGateway();
});
after(() => gateway.close());

const PATH = "/workspace/acme/apps";
const make = async (slug: string, more: object = {}) =>
  viewOf(appView, await call(gateway, "POST", PATH, { body: { slug, route: "speech", ...more } }));

test("admin.apps, admin.mirrored, admin.one-audit-entry: an app is created, read by slug and id, replaced and removed, on either listener, with an audit entry each", async () => {
  const before = (await auditRows(gateway)).length;
  const purposes = [{ purpose: "meetings", route: "speech", defaults: { diarization: true } }];
  const made = await make("mobile", { name: "Mobile", purposes, quota: { requests_per_minute: 5 } });
  assert.deepEqual(made.purposes, [
    {
      purpose: "meetings",
      description: "",
      route: "speech",
      is_enabled: true,
      is_published: true,
      defaults: { diarization: true },
      data_policy: null,
    },
  ]);
  assert.equal(made.data_policy, null);
  assert.deepEqual([made.quota.requests_per_minute, made.quota.concurrent, made.managed_by], [5, null, "api"]);
  const operators = await call(gateway, "GET", `/admin/v1/workspaces/acme/apps/${made.id}`);
  assert.deepEqual(operators.json, made);
  const put = await call(gateway, "PUT", `${PATH}/mobile`, {
    body: { route: "speech", default_purpose: "meetings", quota: { concurrent: 2 } },
    headers: { "if-match": etagOf(operators) },
  });
  const changed = viewOf(appView, put);
  // What is not sent gets its default: this is the whole of it.
  assert.deepEqual(
    [changed.name, changed.purposes, changed.quota.requests_per_minute, changed.quota.concurrent],
    ["mobile", [], null, 2],
  );
  await refuses(gateway, [412, "PRECONDITION_FAILED"], () =>
    call(gateway, "PUT", `${PATH}/mobile`, { body: { route: "speech" }, headers: { "if-match": etagOf(operators) } }),
  );
  await refuses(gateway, [428, "PRECONDITION_REQUIRED"], () =>
    call(gateway, "PUT", `${PATH}/mobile`, { body: { route: "speech" } }),
  );
  const listed = viewOf(listOf(appView), await call(gateway, "GET", PATH));
  assert.deepEqual(
    listed.data.map(({ slug }) => slug),
    ["mobile", "notes"],
  );
  assert.equal((await call(gateway, "DELETE", `${PATH}/mobile`)).status, 200);
  assert.equal((await call(gateway, "GET", `${PATH}/mobile`)).code, "NOT_FOUND");
  const rows = (await auditRows(gateway)).slice(before);
  assert.deepEqual(
    rows.map(({ action, object }) => [action, object]),
    [
      ["app.created", made.id],
      ["app.changed", made.id],
      ["app.deleted", made.id],
    ],
  );
});

test("admin.app-settings, admin.immediate, admin.not-empty: an app's settings apply to its keys in the running process, and an app with a working key stays", async () => {
  const app = await make("limited", { quota: { requests_per_minute: 1 } });
  const key = viewOf(keyView, await call(gateway, "POST", "/workspace/acme/keys", { body: { app: app.slug } }));
  const ask = async () => (await postForm(gateway.origin, { key: key.secret ?? "" })).status;
  assert.deepEqual([await ask(), await ask()], [200, 429]);
  const current = await call(gateway, "GET", `${PATH}/limited`);
  const put = { body: { route: "speech" }, headers: { "if-match": etagOf(current) } };
  assert.equal((await call(gateway, "PUT", `${PATH}/limited`, put)).status, 200);
  while ((await ask()) !== 200);
  const removal = await refuses(gateway, [409, "CONFLICT"], () => call(gateway, "DELETE", `${PATH}/limited`));
  assert.deepEqual(detailsOf(removal), { reason: "not_empty" });
});

test("admin.removed-app: an app's revoked keys and budgets go with it, its requests stay", async () => {
  const { id, slug } = await make("leaving");
  const key = viewOf(keyView, await call(gateway, "POST", "/workspace/acme/keys", { body: { app: slug } }));
  assert.equal((await call(gateway, "PUT", `${PATH}/${slug}/budgets/day`, { body: { limit_usd: "5" } })).status, 201);
  const answer = await postForm(gateway.origin, { key: key.secret ?? "" });
  assert.equal(answer.status, 200);
  assert.equal((await call(gateway, "DELETE", `/workspace/acme/keys/${key.id}`)).status, 200);
  assert.equal((await call(gateway, "DELETE", `${PATH}/${slug}`)).status, 200);
  await gateway.app.requestLog.flush();
  const { rows } = await sql<{ keys: number; budgets: number; requests: number }>`
    select (select count(*)::int from api_keys where app_id = ${id}) as keys, (select count(*)::int from budgets where app_id = ${id}) as budgets,
      (select count(*)::int from requests where app_id = ${id}) as requests`.execute(gateway.database.db);
  assert.deepEqual(rows, [{ keys: 0, budgets: 0, requests: 1 }]);
});

test("admin.removal-race: an app is removed while it gets a key and a budget: they are refused, or it stays", async () => {
  for (let round = 1; round <= 10; round += 1) {
    const { slug } = await make(`brief-${round}`);
    const [removed, key, budget] = await Promise.all([
      call(gateway, "DELETE", `${PATH}/${slug}`),
      call(gateway, "POST", "/workspace/acme/keys", { body: { app: slug } }),
      call(gateway, "PUT", `${PATH}/${slug}/budgets/day`, { body: { limit_tokens: 1 } }),
    ]);
    assert.equal(removed.status, key.status === 201 ? 409 : 200);
    assert.ok([400, 201].includes(key.status), key.code ?? "");
    assert.ok([404, 201].includes(budget.status), budget.code ?? "");
  }
});

test("admin.managed-by-file: the file's app is read-only", async () => {
  const notes = await call(gateway, "GET", `${PATH}/notes`);
  assert.equal(viewOf(appView, notes).managed_by, "file");
  await refuses(gateway, [409, "MANAGED_BY_FILE"], () =>
    call(gateway, "PUT", `${PATH}/notes`, { body: { route: "speech" }, headers: { "if-match": etagOf(notes) } }),
  );
  await refuses(gateway, [409, "MANAGED_BY_FILE"], () => call(gateway, "DELETE", `${PATH}/notes`));
});

test("admin.all-faults: an invalid app is refused with every fault, and nothing is stored", async () => {
  const refused = async (body: object, params: readonly string[]) => {
    const answer = await refuses(gateway, [400, "INVALID_REQUEST"], () => call(gateway, "POST", PATH, { body }));
    const issues = detailsOf(answer)["issues"] as readonly { readonly param: string }[];
    assert.deepEqual(
      issues.map(({ param }) => param),
      params,
      answer.text,
    );
  };
  await refused({ slug: "fine" }, ["route"]);
  await refused({ slug: "a b", route: "" }, ["slug", "route"]);
  await refused({ slug: "fine", route: "speech", budget: 1 }, ["budget"]);
  await refused({ slug: "fine", route: "speech", quota: { requests_per_minute: 0 } }, ["quota.requests_per_minute"]);
  await refused({ slug: "fine", route: "speech", quota: { per_second: 1 } }, ["quota.per_second"]);
  await refused({ slug: "fine", route: "speech", purposes: [{ purpose: "Bad Label", route: "speech" }] }, [
    "purposes[0].purpose",
  ]);
  await refused(
    {
      slug: "fine",
      route: "nowhere",
      audio_input_override: "either",
      purposes: [
        { purpose: "one", route: "speech" },
        { purpose: "one", route: "gone" },
      ],
    },
    ["purposes[1].purpose", "route", "audio_input_override", "purposes[1].route"],
  );
  const taken = await refuses(gateway, [409, "CONFLICT"], () =>
    call(gateway, "POST", PATH, { body: { slug: "notes", route: "speech" } }),
  );
  assert.deepEqual(detailsOf(taken), { reason: "exists" });
  assert.equal((await call(gateway, "GET", `${PATH}/fine`)).code, "NOT_FOUND");
});
