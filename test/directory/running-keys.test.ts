// Encryption keys that a start, or a change, needs because of running processes and waiting work: what one process seals all others open,
// and no accepted job needs a key that is gone.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { sql } from "kysely";
import { Client } from "pg";
import { newId } from "../../src/contract/ids.ts";
import { findUnreadableAnswers } from "../../src/operations/store/unreadable-answers.ts";
import { type Changes, listenForChanges } from "../../src/storage/connection/changes.ts";
import { completeSlot, dispatchSlots, insertSlot } from "../../src/storage/idempotency-slots.ts";
import { compareSecrets } from "../../src/storage/secrets/verify-secrets.ts";
import { announceKeys } from "../../src/storage/secrets/running-keys.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { run } from "../cli/fake-gateway.ts";
import { makeTenant, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { PEPPER } from "../harness/gateway.ts";

const [old, fresh] = [randomBytes(32), randomBytes(32)];
const [OLD = "", FRESH = ""] = createSeal({ keys: [old, fresh] }).keyIds;

let database: TestDatabase;
let tenant: Awaited<ReturnType<typeof makeTenant>>;
let folder: string;
const running: Changes[] = [];
before(async () => {
  database = await openTestDatabase();
  tenant = await makeTenant(database);
  folder = await mkdtemp(join(tmpdir(), "patchbay-keys-"));
});
afterEach(async () => {
  for (const changes of running.splice(0)) await changes.close();
});
after(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const judge = async (...keys: readonly Buffer[]) =>
  (await compareSecrets(database.db, { pepper: PEPPER, seal: createSeal({ keys }) }))?.message ?? null;
/** As a process that runs has it. */
const runs = async (...keys: readonly Buffer[]) => {
  const { keyIds } = createSeal({ keys });
  running.push(await listenForChanges(database, { keyIds, onError: () => undefined }));
};

test("tenancy.rotate-known, tenancy.rotate-needed: a first key that a running process does not know is refused; known everywhere, it may seal", async () => {
  await runs(old);
  await runs(old, fresh);
  assert.match(
    (await judge(fresh, old)) ?? "",
    new RegExp(`begins with the key ${FRESH}, and a process that runs now`),
  );
  assert.equal(await judge(old, fresh), null);
  await running.shift()?.close();
  assert.equal(await judge(fresh, old), null);
});

test("tenancy.rotate-needed: the key that a running process seals with is required, whether or not it has sealed anything", async () => {
  await runs(fresh, old);
  assert.match(
    (await judge(old)) ?? "",
    new RegExp(`lacks the key ${FRESH}, which a process that runs now seals with`),
  );
  await running.pop()?.close();
  assert.equal(await judge(old), null);
});

test("tenancy.rotate-presence: a process whose connection was cut announces its keys again when it is back", async () => {
  await runs(old);
  const isBack = new Promise<void>((resolve) => running[0]?.onChange("keys", () => resolve()));
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'patchbay-changes' and datname = current_database()`.execute(database.db);
  await isBack;
  assert.notEqual(await judge(fresh, old), null);
});

test("tenancy.rotate-presence: the server drops the connection of a vanished machine within a minute, and its keys with it", async () => {
  const { direct } = database;
  const client = new Client({ connectionString: direct.databaseUrl });
  await client.connect();
  try {
    await announceKeys(client, [OLD]);
    const { rows } = await client.query<{ name: string; setting: string }>(
      "select name, setting from pg_settings where name like 'tcp\\_%' order by name",
    );
    assert.deepEqual(
      rows.map(({ name, setting }) => `${name} ${setting}`),
      ["tcp_keepalives_count 3", "tcp_keepalives_idle 30", "tcp_keepalives_interval 10", "tcp_user_timeout 60000"],
    );
  } finally {
    await client.end();
  }
});

test("tenancy.rotate-known: secrets rotate wraps nothing with a key that a running process does not know, exit code 9", async () => {
  await runs(old);
  const { direct } = database;
  const config = join(folder, "patchbay.yaml");
  const secrets = {
    key_pepper: `base64:${PEPPER.toString("base64")}`,
    encryption_keys: [fresh, old].map((key) => key.toString("base64")),
  };
  const storage = { database_url: direct.databaseUrl, data_dir: folder };
  await writeFile(config, JSON.stringify({ storage, secrets }));
  const rotate = () => run(["secrets", "rotate", "--config", config], { cwd: folder });
  const refused = await rotate();
  assert.equal(refused.exitCode, 9);
  assert.match(refused.stderr, /could not open what it seals\.\n {2}put it behind/u);
  await running.pop()?.close();
  assert.equal((await rotate()).exitCode, 0);
});

test("tenancy.rotate-needed: R3, a job that has not ended needs its key, until its deadline", async () => {
  const id = newId("job");
  const sealed = createSeal({ keys: [old] }).seal(Buffer.from("{}"), ["jobs.request", tenant.workspaceId, id]);
  const row = { id, workspace_id: tenant.workspaceId, app_id: tenant.appId, request_id: newId("request") };
  await database.db
    .insertInto("jobs")
    .values({
      ...row,
      task: "transcribe",
      purpose: "{}",
      request: sealed,
      deadline_at: new Date(Date.now() + 60_000),
    })
    .execute();
  assert.match((await judge(fresh)) ?? "", new RegExp(`lacks the key ${OLD}, which seals 1 of its jobs`));
  assert.equal(await judge(fresh, old), null);
  const setRequest = (request: Buffer) =>
    database.db.updateTable("jobs").set({ request }).where("id", "=", id).execute();
  await setRequest(Buffer.from("damaged"));
  assert.equal(await judge(fresh), null);
  await setRequest(sealed);
  assert.notEqual(await judge(fresh), null);
  await database.db
    .updateTable("jobs")
    .set({ deadline_at: new Date(Date.now() - 1_000) })
    .where("id", "=", id)
    .execute();
  assert.equal(await judge(fresh), null);
});

test("tenancy.rotate-answers: the key that a stored answer needs is known beforehand, until the answer expires", async () => {
  const seal = createSeal({ keys: [old] });
  const ref = { ...tenant, keySha256: randomBytes(32), owner: "somebody" };
  await insertSlot(database.db, { ref, endpoint: "x", fingerprint: Buffer.alloc(32), ttlSeconds: 60 });
  await dispatchSlots(database.db, [ref]);
  assert.ok(await completeSlot(database.db, seal, ref, { status: 200, headers: {}, body: "{}" }));
  assert.deepEqual(await findUnreadableAnswers(database.db, createSeal({ keys: [fresh] })), [OLD]);
  assert.deepEqual(await findUnreadableAnswers(database.db, createSeal({ keys: [fresh, old] })), []);
  await database.db
    .updateTable("idempotency_slots")
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .execute();
  assert.deepEqual(await findUnreadableAnswers(database.db, createSeal({ keys: [fresh] })), []);
});

test("tenancy.rotate-answers: a job's result needs its key while it can be returned, and no longer, purged or not", async () => {
  const finish = async (expiresInMs: number) => {
    const id = newId("job");
    const row = { id, workspace_id: tenant.workspaceId, app_id: tenant.appId, request_id: newId("request") };
    const [now, expires] = [new Date(), new Date(Date.now() + expiresInMs)];
    const result = createSeal({ keys: [old] }).seal(Buffer.from("{}"), ["jobs.result", tenant.workspaceId, id]);
    await database.db
      .insertInto("jobs")
      .values({ ...row, task: "transcribe", purpose: "{}", deadline_at: now })
      .execute();
    const update = database.db.updateTable("jobs").where("id", "=", id);
    await update.set({ status: "processing", lease_until: expires, attempt: 1 }).execute();
    await update
      .set({ status: "succeeded", stage: "done", lease_until: null, finished_at: now, expires_at: expires, result })
      .execute();
  };
  await finish(-1_000);
  assert.deepEqual(await findUnreadableAnswers(database.db, createSeal({ keys: [fresh] })), []);
  await finish(60_000);
  assert.deepEqual(await findUnreadableAnswers(database.db, createSeal({ keys: [fresh] })), [OLD]);
});
