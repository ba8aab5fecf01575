// Whose the administration of a workspace is (contract 2): every mirrored endpoint, for each kind of caller. Made from the list of
// endpoints, so that a new one cannot be forgotten.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ADMIN_ENDPOINTS } from "../../../src/contract/admin-endpoints.ts";
import { ENDPOINTS } from "../../../src/contract/endpoints.ts";
import { keyView } from "../../../src/contract/keys.ts";
import { send } from "../../harness/client.ts";
import { KEY, type TestGateway } from "../../harness/gateway.ts";
import { auditRows, call, OPERATOR_KEY, OTHER_ADMIN_KEY, startAdminGateway, viewOf } from "./admin.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startAdminGateway();
});
after(() => gateway.close());

const ADMINISTRATION = ENDPOINTS.filter(({ path }) => path.startsWith("/workspace/:tenant_id/"));
const WITH_KEY = [...ENDPOINTS, ...ADMIN_ENDPOINTS].filter(({ auth }) => auth !== "none");
const strip = (text: string) => text.replaceAll(/req_[0-9a-z]{26}/g, "req");

test(`contract 2: ${ADMINISTRATION.length} endpoints of a workspace: members are refused, and to another workspace's administrator it does not exist`, async () => {
  const before = (await auditRows(gateway)).length;
  for (const { method, path } of ADMINISTRATION) {
    const at = (tenant: string) => path.replace(":tenant_id", tenant).replaceAll(/:[a-z_]+/g, "notes");
    const body = method === "GET" || method === "DELETE" ? {} : { body: {} };
    const ask = (tenant: string, key: string) => call(gateway, method, at(tenant), { key, ...body });
    const member = await ask("acme", KEY);
    assert.deepEqual([member.status, member.code], [403, "FORBIDDEN"], `${method} ${path}`);
    const foreign = await ask("acme", OTHER_ADMIN_KEY);
    const missing = await ask("nobody", OTHER_ADMIN_KEY);
    assert.deepEqual([foreign.status, foreign.code], [404, "NOT_FOUND"], `${method} ${path}`);
    assert.equal(strip(foreign.text), strip(missing.text), `${method} ${path}`);
  }
  assert.equal((await auditRows(gateway)).length, before);
});

test(`contract 2: ${WITH_KEY.length} endpoints of both listeners: no key, a malformed, unknown, expired or revoked one have one answer`, async () => {
  const made = async () =>
    viewOf(keyView, await call(gateway, "POST", "/workspace/acme/keys", { body: { role: "admin" } }));
  const [expired, revoked] = [await made(), await made()];
  await gateway.database.db
    .updateTable("api_keys")
    .set({ expires_at: new Date("2020-01-01T00:00:00Z") })
    .where("id", "=", expired.id)
    .execute();
  assert.equal((await call(gateway, "DELETE", `/workspace/acme/keys/${revoked.id}`)).status, 200);
  const keys = [
    null,
    "svc_live_mistyped",
    "a-key-that-nobody-ever-made-01",
    expired.secret ?? "",
    revoked.secret ?? "",
  ] as const;
  for (const { method, path, auth } of WITH_KEY) {
    const origin = auth === "operator" ? gateway.adminOrigin : gateway.origin;
    const url = `${origin}${path.replace(":tenant_id", "acme").replaceAll(/:[a-z_]+/g, "notes")}`;
    const answers = await Promise.all(
      keys.map((key) => send(url, { method, headers: key === null ? {} : { authorization: `Bearer ${key}` } })),
    );
    const [first] = answers;
    for (const answer of answers) {
      assert.deepEqual([answer.status, answer.code], [401, "UNAUTHENTICATED"], `${method} ${path}`);
      assert.equal(strip(answer.text), strip(first?.text ?? ""), `${method} ${path}`);
    }
  }
});

test("contract 2: the operator is let in to every endpoint of a workspace, on either listener, and is told when there is none", async () => {
  for (const { method, path, auth } of [...ADMINISTRATION, ...ADMIN_ENDPOINTS]) {
    if (auth === "none" || !path.includes(":tenant_id")) continue;
    const url = path.replace(":tenant_id", "nobody").replaceAll(/:[a-z_]+/g, "notes");
    const body = method === "GET" || method === "DELETE" ? {} : { body: {} };
    const answer = await call(gateway, method, url, { key: OPERATOR_KEY, ...body });
    assert.deepEqual([answer.status, answer.code], [404, "NOT_FOUND"], `${method} ${path}`);
    assert.match(answer.text, /There is no such workspace/u, `${method} ${path}`);
  }
});

test("contract 2: an object of another workspace is the 404 of one that does not exist", async () => {
  const { db } = gateway.database;
  const foreign = await db
    .selectFrom("api_keys as key")
    .innerJoin("workspaces as workspace", "workspace.id", "key.workspace_id")
    .select(["key.id", "key.app_id"])
    .where("workspace.slug", "=", "other")
    .where("key.app_id", "is not", null)
    .executeTakeFirstOrThrow();
  for (const [theirs, none] of [
    [`keys/${foreign.id}`, "keys/key_nothing"],
    [`apps/${foreign.app_id ?? ""}`, "apps/app_nothing"],
    [`apps/${foreign.app_id ?? ""}/budgets`, "apps/app_nothing/budgets"],
  ] as const) {
    const answers = [theirs, none].map((path) => call(gateway, "GET", `/workspace/acme/${path}`));
    const [one, other] = (await Promise.all(answers)).map(({ status, text }) => [status, strip(text)]);
    assert.deepEqual(one, other);
    assert.equal(one?.[0], 404);
  }
  const own = await call(gateway, "GET", `/workspace/other/keys/${foreign.id}`, { key: OTHER_ADMIN_KEY });
  assert.equal(own.status, 200);
});
