// Poolers between a process and its PostgreSQL server: detection, and what a start requires (docs/decisions/0032-transaction-poolers.md).
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { checkStorage } from "../../src/operations/doctor/check-storage.ts";
import { createQueue } from "../../src/queue/queue.ts";
import { announceChange } from "../../src/storage/connection/announce.ts";
import { listenForChanges } from "../../src/storage/connection/changes.ts";
import { PoolerRefused, reachServer, requireListening } from "../../src/storage/connection/pooler.ts";
import { PREPARED } from "../../src/storage/connection/prepared.ts";
import { readRunningKeys } from "../../src/storage/secrets/running-keys.ts";
import { openSystemDatabase, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { startFaultProxy } from "../harness/fault-proxy.ts";
import { configurationOf, ENCRYPTION_KEY, PEPPER } from "../harness/gateway.ts";
import { findPgBouncer, PGBOUNCER_MISSING, startPgBouncer } from "../harness/postgres/pgbouncer.ts";

const program = findPgBouncer();
let database: TestDatabase;
let databaseUrl = "";
before(async () => {
  database = await openTestDatabase();
  ({ databaseUrl } = database.direct);
});
after(() => database.close());

/** Null: skipped, with the reason said. */
async function pooled(t: { skip(why: string): void }, mode: "transaction" | "session", poolSize?: number) {
  if (program === null) t.skip(PGBOUNCER_MISSING);
  else return startPgBouncer(program, databaseUrl, { mode, ...(poolSize === undefined ? {} : { poolSize }) });
  return null;
}

test("storage.pooler-detection: a direct connection, a session pooler and a transaction pooler are distinguished", async (t) => {
  await using transaction = await pooled(t, "transaction");
  if (transaction === null) return;
  await using small = await pooled(t, "transaction", 1);
  await using session = await pooled(t, "session");
  const { login, pooling } = await reachServer(databaseUrl);
  assert.deepEqual([login, pooling], ["patchbay", "none"]);
  assert.equal((await reachServer(transaction.url)).pooling, "transaction");
  assert.equal((await reachServer(small?.url ?? "")).pooling, "transaction");
  assert.equal((await reachServer(session?.url ?? "")).pooling, "session");
});

test("storage.pooler-detection: a transaction pooler is detected while other processes use all of its sessions", async (t) => {
  await using bouncer = await pooled(t, "transaction", 4);
  if (bouncer === null) return;
  const busy = await openSystemDatabase({ databaseUrl: bouncer.url, asItIs: true, poolSize: 8 });
  const ended = new AbortController();
  const load = Array.from({ length: 8 }, async () => {
    while (!ended.signal.aborted) await sql`select 1`.execute(busy.db);
  });
  const found = [];
  for (let tries = 0; tries < 20; tries += 1) found.push((await reachServer(bouncer.url)).pooling);
  ended.abort();
  await Promise.all(load);
  await busy.close();
  assert.deepEqual(new Set(found), new Set(["transaction"]));
});

test("storage.listen-url: a notification that takes a while still counts as received", async (t) => {
  if (databaseUrl === "") return t.skip("the embedded engine has no connections");
  await using opened = new AsyncDisposableStack();
  const proxy = await startFaultProxy(databaseUrl);
  opened.defer(() => proxy.close());
  // A listening connection that is closed before the notification arrives never receives it.
  proxy.set({ kind: "delay", ms: 100, way: "back" });
  await requireListening({ pooling: "none", place: "there" }, { databaseUrl, listenUrl: proxy.url });
});

test("storage.listen-url: a process that listens is refused behind a transaction pooler without a direct address, and the setting is named", async (t) => {
  await using bouncer = await pooled(t, "transaction");
  if (bouncer === null) return;
  const open = (options: { listenUrl?: string }) =>
    openSystemDatabase({ databaseUrl: bouncer.url, listens: true, ...options });
  const { host } = new URL(bouncer.url);
  await assert.rejects(open({}), (error) => {
    assert(error instanceof PoolerRefused);
    assert.match(
      error.message,
      new RegExp(`^storage\\.database_url leads to a transaction pooler .* at ${host}\\.`, "u"),
    );
    assert.match(error.check, /^set storage\.listen_url /u);
    return true;
  });
  const again = new URL(bouncer.url);
  again.searchParams.set("application_name", "another");
  await assert.rejects(open({ listenUrl: again.href }), /storage\.listen_url leads to a transaction pooler/u);
  const elsewhere = new URL(databaseUrl);
  elsewhere.pathname = "/postgres";
  await assert.rejects(open({ listenUrl: elsewhere.href }), /did not arrive over storage\.listen_url/u);
  const opened = await open({ listenUrl: databaseUrl });
  await opened.close();
});

test("storage.pooler-statements: through a transaction pooler statements have no names, and each transaction has the settings that a session would keep", async (t) => {
  await using bouncer = await pooled(t, "transaction", 2);
  if (bouncer === null) return;
  const pooledDatabase = await openSystemDatabase({ databaseUrl: bouncer.url, asItIs: true, poolSize: 6 });
  try {
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) =>
        pooledDatabase.transaction(async (tx) => {
          const { rows } = await sql<{ value: string; jit: string; idle: string; named: bigint }>`${PREPARED}
            select ${String(index)}::text as value, current_setting('jit') as jit,
              current_setting('idle_in_transaction_session_timeout') as idle,
              (select count(*) from pg_prepared_statements) as named`.execute(tx);
          return rows[0];
        }),
      ),
    );
    assert.deepEqual(
      answers,
      answers.map((_, index) => ({ value: String(index), jit: "off", idle: "5s", named: 0n })),
    );
    // Nothing stays with a session that others get.
    const { rows } = await sql<{ idle: string }>`
      select current_setting('idle_in_transaction_session_timeout') as idle`.execute(pooledDatabase.db);
    assert.deepEqual(rows, [{ idle: "0" }]);
  } finally {
    await pooledDatabase.close();
  }
});

test("storage.pooler-notifications: behind a transaction pooler changes are notified and a queue is woken over the direct address, with no poll between", async (t) => {
  await using bouncer = await pooled(t, "transaction");
  if (bouncer === null) return;
  await using opened = new AsyncDisposableStack();
  const pooledDatabase = await openSystemDatabase({ databaseUrl: bouncer.url, listenUrl: databaseUrl, listens: true });
  opened.defer(() => pooledDatabase.close());
  const fail = (error: unknown) => assert.fail(String(error));
  const changes = await listenForChanges(pooledDatabase, { keyIds: ["0000abcd"], onError: fail });
  opened.defer(() => changes.close());
  const heard = Promise.withResolvers<string | null>();
  changes.onChange("keys", heard.resolve);
  await pooledDatabase.transaction((tx) => announceChange(tx, "keys", "key_1"));
  assert.equal(await heard.promise, "key_1");
  // Session locks are held by the direct connection, and read through the pooler.
  assert.deepEqual(await readRunningKeys(pooledDatabase.db), [{ first: "0000abcd", known: ["0000abcd"] }]);

  const queue = createQueue({
    database: pooledDatabase,
    queues: { pooled: { retryLimit: 0, expireSeconds: 60 } },
    onError: fail,
  });
  await queue.start();
  opened.defer(() => queue.stop());
  let handled = Promise.withResolvers<void>();
  queue.work("pooled", { concurrency: 1, pollMs: 3_600_000, handler: async () => handled.resolve() });
  for (let message = 0; message < 3; message += 1) {
    await pooledDatabase.transaction((tx) => queue.send("pooled", { message }, {}, tx));
    await handled.promise;
    handled = Promise.withResolvers<void>();
  }
});

test("storage.pooler-detection, storage.listen-url: doctor names a transaction pooler, and fails where storage.listen_url is not set", async (t) => {
  await using bouncer = await pooled(t, "transaction");
  if (bouncer === null) return;
  const dataDir = await mkdtemp(join(tmpdir(), "patchbay-pooler-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const secrets = {
    key_pepper: PEPPER.toString("base64"),
    encryption_keys: [ENCRYPTION_KEY.toString("base64")],
  };
  const check = async (more: object) => {
    const file = { secrets, storage: { database_url: bouncer.url, ...more } };
    const findings = await checkStorage(await configurationOf(file, dataDir), { env: {} });
    return findings.find(({ message }) => message.includes("transaction pooler"));
  };
  const { host } = new URL(bouncer.url);
  const lacking = await check({});
  assert.equal(lacking?.level, "fail");
  assert.ok(lacking?.message.includes(host));
  assert.match(lacking?.fix ?? "", /^set storage\.listen_url /u);
  const complete = await check({ listen_url: databaseUrl });
  const { rows } = await sql<{ jit: string }>`select boot_val as jit from pg_settings where name = 'jit'`.execute(
    database.db,
  );
  assert.equal(complete?.level, rows[0]?.jit === "on" ? "warn" : "ok");
  assert.match(complete?.message ?? "", /notifications use storage\.listen_url/u);
});

test("storage.pooler-detection: through a session pooler connections are as they are without one", async (t) => {
  await using bouncer = await pooled(t, "session");
  if (bouncer === null) return;
  const opened = await openSystemDatabase({ databaseUrl: bouncer.url, listens: true, poolSize: 2 });
  try {
    const { rows } = await sql<{ jit: string }>`${PREPARED} select current_setting('jit') as jit`.execute(opened.db);
    assert.deepEqual(rows, [{ jit: "off" }]);
  } finally {
    await opened.close();
  }
});
