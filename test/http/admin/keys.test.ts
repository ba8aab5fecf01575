// …/keys: created and shown once, replaced, rotated with overlap, revoked, last used.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createKeyUse } from "../../../src/auth/key-use.ts";
import { checkFormat } from "../../../src/auth/key-format.ts";
import { brand } from "../../../src/contract/ids.ts";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { keyView, type KeyView } from "../../../src/contract/admin/keys.ts";
import { detailsOf, get } from "../../harness/client.ts";
import { shiftClock, withSystemAccess } from "../../harness/postgres/database.ts";
import type { TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { auditRows, call, etagOf, OPERATOR_KEY, refuses, startAdminGateway, viewOf } from "./admin.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startAdminGateway();
});
after(() => gateway.close());

const PATH = "/workspace/acme/keys";
const make = async (body: object) => viewOf(keyView, await call(gateway, "POST", PATH, { body }));
const secretOf = ({ secret }: KeyView): string => secret ?? "";
const worksWith = async (secret: string) => (await get(gateway.origin, "/v1/me", secret)).status === 200;

test("keys.shown-once: a key is shown once, works at once, and is stored and returned without its secret", async () => {
  const made = await make({ app: "notes", name: "ci", scopes: ["transcribe"] });
  const secret = secretOf(made);
  assert.deepEqual(
    [checkFormat(secret).ok, secret.startsWith("svc_live_"), made.last4],
    [true, true, secret.slice(-4)],
  );
  assert.equal(await worksWith(secret), true);
  const one = await call(gateway, "GET", `${PATH}/${made.id}`);
  const list = await call(gateway, "GET", `${PATH}?app=notes&state=active`);
  assert.deepEqual(
    viewOf(listOf(keyView), list).data.map(({ name }) => name),
    ["ci", "notes-key"],
  );
  const audit = JSON.stringify(await auditRows(gateway), (_name, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  for (const text of [one.text, list.text, audit, gateway.logs.join("")]) assert(!text.includes(secret));
  const [row] = (await auditRows(gateway)).slice(-1);
  assert.deepEqual([row?.action, row?.object], ["key.created", made.id]);
});

test("keys.format: live, test and administrators' keys have their prefix and their use", async () => {
  const sandboxed = await make({ app: "notes", mode: "test" });
  assert(secretOf(sandboxed).startsWith("svc_test_"));
  const admin = await make({ role: "admin", name: "deputy" });
  assert.deepEqual([admin.app_id, admin.scopes, secretOf(admin).startsWith("svc_admin_")], [null, [], true]);
  assert.equal((await call(gateway, "GET", PATH, { key: secretOf(admin) })).status, 200);
  assert.equal((await call(gateway, "GET", "/workspace/other/keys", { key: secretOf(admin) })).code, "NOT_FOUND");
});

test("keys.revoked-listed: a revoked key is refused, stays in the list, and is revoked once", async () => {
  const made = await make({ app: "notes" });
  assert.equal(await worksWith(secretOf(made)), true);
  const revoked = viewOf(keyView, await call(gateway, "DELETE", `${PATH}/${made.id}`));
  assert.deepEqual([revoked.state, revoked.revoked_at === null], ["revoked", false]);
  await until(async () => !(await worksWith(secretOf(made))));
  const before = (await auditRows(gateway)).length;
  assert.deepEqual(viewOf(keyView, await call(gateway, "DELETE", `${PATH}/${made.id}`)), revoked);
  assert.equal((await auditRows(gateway)).length, before);
  const listed = viewOf(listOf(keyView), await call(gateway, "GET", `${PATH}?state=revoked`));
  assert(listed.data.some(({ id }) => id === made.id));
  const rotation = await refuses(gateway, [409, "CONFLICT"], () =>
    call(gateway, "POST", `${PATH}/${made.id}/rotate`, { body: {} }),
  );
  assert.deepEqual(detailsOf(rotation), { reason: "revoked" });
});

test("keys.rotate, keys.expiry: a rotated key and its successor overlap for as long as was asked, and not at all by default", async () => {
  const old = await make({ app: "notes", name: "rotating", quota: { requests_per_minute: 1_000 } });
  const next = viewOf(
    keyView,
    await call(gateway, "POST", `${PATH}/${old.id}/rotate`, { body: { overlap_seconds: 3_600 } }),
  );
  assert.deepEqual(
    [next.replaces, next.name, next.quota, next.expires_at, next.app_id],
    [old.id, old.name, old.quota, null, old.app_id],
  );
  assert.deepEqual([await worksWith(secretOf(old)), await worksWith(secretOf(next))], [true, true]);
  const ending = viewOf(keyView, await call(gateway, "GET", `${PATH}/${old.id}`));
  const leftMs = new Date(ending.expires_at ?? 0).getTime() - new Date(next.created_at).getTime();
  assert.deepEqual([ending.state, leftMs], ["active", 3_600_000]);
  try {
    await shiftClock(gateway.database, 3_700);
    assert.equal(viewOf(keyView, await call(gateway, "GET", `${PATH}/${old.id}`)).state, "expired");
  } finally {
    await shiftClock(gateway.database, 0);
  }
  const last = viewOf(keyView, await call(gateway, "POST", `${PATH}/${next.id}/rotate`, { body: {} }));
  await until(async () => !(await worksWith(secretOf(next))));
  assert.equal(await worksWith(secretOf(last)), true);
  const actions = (await auditRows(gateway)).filter(({ object }) => [old.id, next.id].includes(object));
  assert.deepEqual(
    actions.map(({ action }) => action),
    ["key.created", "key.created", "key.rotated", "key.rotated"],
  );
});

test("keys.replace: a key is replaced whole, from the state that was read; its app, role and secret stay", async () => {
  const made = await make({ app: "notes", scopes: ["transcribe", "jobs"], quota: { concurrent: 3 } });
  const read = await call(gateway, "GET", `${PATH}/${made.id}`);
  const change = { body: { name: "renamed", scopes: [] }, headers: { "if-match": etagOf(read) } };
  const changed = viewOf(keyView, await call(gateway, "PUT", `${PATH}/${made.id}`, change));
  assert.deepEqual(
    [changed.name, changed.scopes, changed.quota.concurrent, changed.last4, changed.app_id],
    ["renamed", [], null, made.last4, made.app_id],
  );
  await refuses(gateway, [412, "PRECONDITION_FAILED"], () => call(gateway, "PUT", `${PATH}/${made.id}`, change));
  await until(async () => (await get(gateway.origin, "/v1/transcription/jobs", secretOf(made))).code === "FORBIDDEN");
});

test("keys.operator-hidden, admin.managed-by-file: the file's keys are read-only, and the operator's are hidden", async () => {
  const { data } = viewOf(listOf(keyView), await call(gateway, "GET", PATH));
  const fromFile = data.find(({ name }) => name === "notes-key");
  assert.equal(fromFile?.managed_by, "file");
  const one = `${PATH}/${fromFile?.id ?? ""}`;
  const etag = etagOf(await call(gateway, "GET", one));
  await refuses(gateway, [409, "MANAGED_BY_FILE"], () => call(gateway, "DELETE", one));
  await refuses(gateway, [409, "MANAGED_BY_FILE"], () => call(gateway, "POST", `${one}/rotate`, { body: {} }));
  await refuses(gateway, [409, "MANAGED_BY_FILE"], () =>
    call(gateway, "PUT", one, { body: {}, headers: { "if-match": etag } }),
  );
  const operators = await gateway.database.db
    .selectFrom("api_keys")
    .select(["id", "workspace_id"])
    .where("role", "=", "operator")
    .executeTakeFirstOrThrow();
  const theirs = `/workspace/${operators.workspace_id}/keys`;
  const seen = viewOf(listOf(keyView), await call(gateway, "GET", theirs, { key: OPERATOR_KEY }));
  assert.deepEqual(seen.data, []);
  assert.equal((await call(gateway, "GET", `${theirs}/${operators.id}`, { key: OPERATOR_KEY })).code, "NOT_FOUND");
});

test("keys.invalid: an invalid key is refused with all its faults, and creates nothing", async () => {
  const count = async () => (await gateway.database.db.selectFrom("api_keys").select("id").execute()).length;
  const before = await count();
  const refused = async (body: object, param: string) => {
    const answer = await refuses(gateway, [400, "INVALID_REQUEST"], () => call(gateway, "POST", PATH, { body }));
    assert.equal((answer.json as { error: { param: string } }).error.param, param, answer.text);
  };
  await refused({}, "role");
  await refused({ app: "nowhere" }, "app");
  await refused({ app: "notes", scopes: ["everything"] }, "scopes[0]");
  await refused({ app: "notes", role: "operator" }, "role");
  await refused({ app: "notes", expires_at: "2020-01-01T00:00:00Z" }, "expires_at");
  await refused({ app: "notes", expires_at: "soon" }, "expires_at");
  await refused({ app: "notes", route: "nowhere" }, "route");
  await refused({ role: "admin", mode: "test" }, "mode");
  await refused({ role: "admin", route: "speech" }, "route");
  await refused({ app: "notes", secret: "mine" }, "secret");
  const { id } = await make({ app: "notes" });
  for (const seconds of [-1, 604_801, 1.5]) {
    const answer = await refuses(gateway, [400, "INVALID_REQUEST"], () =>
      call(gateway, "POST", `${PATH}/${id}/rotate`, { body: { overlap_seconds: seconds } }),
    );
    assert.equal((answer.json as { error: { param: string } }).error.param, "overlap_seconds");
  }
  assert.equal(await count(), before + 1);
});

test("keys.last-used: the last use is written for all keys at once", async () => {
  const made = await make({ app: "notes" });
  const use = createKeyUse(gateway.database);
  use.note(brand("key", made.id));
  use.note(brand("key", made.id));
  await use.flush();
  const first = viewOf(keyView, await call(gateway, "GET", `${PATH}/${made.id}`));
  assert.notEqual(first.last_used_at, null);
  use.note(brand("key", made.id));
  await use.flush();
  const second = await call(gateway, "GET", `${PATH}/${made.id}`);
  assert.equal(viewOf(keyView, second).last_used_at, first.last_used_at, "written again within the same minute");
});

test("keys.last-used: a use that could not be written is written with the next", async () => {
  const made = await make({ app: "notes" });
  let isUnavailable = true;
  const db = new Proxy(gateway.database.db, {
    get: (target, name) => {
      if (name === "getExecutor" && isUnavailable) throw new Error("the database is unavailable");
      const found: unknown = Reflect.get(target, name, target);
      return typeof found === "function" ? (found.bind(target) as unknown) : found;
    },
  });
  const use = createKeyUse(withSystemAccess(gateway.database, { db }));
  use.note(brand("key", made.id));
  await assert.rejects(use.flush(), /the database is unavailable/u);
  isUnavailable = false;
  await use.flush();
  const shown = viewOf(keyView, await call(gateway, "GET", `${PATH}/${made.id}`));
  assert.notEqual(shown.last_used_at, null);
});
