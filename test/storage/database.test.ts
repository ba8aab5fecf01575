// The database: migrations, types, transactions, the shifted clock.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { Migrator } from "kysely/migration";
import { Pool } from "pg";
import { pino } from "pino";
import { MIGRATIONS } from "../../src/storage/migrations/list.ts";
import { migrate } from "../../src/storage/schema/migrate.ts";
import { followDatabaseClock } from "../../src/storage/connection/database-clock.ts";
import { watchStatements } from "../../src/storage/connection/statement-watchdog.ts";
import { markPostCommitFailure, isRolledBack, tagRolledBack } from "../../src/storage/transact.ts";
import { isServerUnavailable } from "../../src/storage/database-faults.ts";
import { startFaultProxy } from "../harness/fault-proxy.ts";
import { makeTenant, openTestDatabase, shiftClock, type TestDatabase } from "../harness/postgres/database.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test("storage.migrations: migrating a migrated database changes nothing", async () => {
  const before = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(database.db);
  await migrate(database.db);
  const after = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(database.db);
  assert.deepEqual(
    after.rows.map((row) => row.name),
    Object.keys(MIGRATIONS),
  );
  assert.deepEqual(after.rows, before.rows);
});

test("storage.newer-schema: a database of a newer version is refused by its name, and is not changed", async () => {
  const name = "9999-of-a-later-version";
  await sql`insert into kysely_migration (name, timestamp) values (${name}, '2027-01-01')`.execute(database.db);
  await assert.rejects(migrate(database.db), new RegExp(`newer version of patchbay \\(it has ${name}\\)`, "u"));
  await sql`delete from kysely_migration where name = ${name}`.execute(database.db);
  await migrate(database.db);
});

test("storage.migrations: an upgrade of an older schema is reported once, the creation of a new one is not", async () => {
  const reported: (readonly string[])[] = [];
  const update = () => migrate(database.db, (pending) => reported.push(pending));
  const empty = async () => {
    await sql`drop schema public cascade`.execute(database.db);
    await sql`create schema public`.execute(database.db);
  };
  await empty();
  const older = Object.fromEntries(Object.entries(MIGRATIONS).slice(0, -2));
  const version = new Migrator({ db: database.db, provider: { getMigrations: async () => older } });
  assert.equal((await version.migrateToLatest()).error, undefined);
  await update();
  await update();
  assert.deepEqual(reported, [Object.keys(MIGRATIONS).slice(-2)]);
  await empty();
  await update();
  assert.equal(reported.length, 1);
});

test("storage.migrations: processes that start at once migrate once", async () => {
  const handles = await Promise.all(Array.from({ length: 4 }, () => database.openSecond()));
  await sql`drop schema public cascade`.execute(database.db);
  await sql`create schema public`.execute(database.db);
  await Promise.all(handles.map((handle) => migrate(handle.db)));
  await makeTenant(database);
  await Promise.all(handles.map((handle) => handle.close()));
});

test("storage.transactions: values are read as the types that they were stored as", async () => {
  const { rows } = await sql<
    Record<string, unknown>
  >`select 1::bigint as small, 9007199254740993::bigint as large, 0.10::numeric as exact,
    ${Buffer.from([0, 255])}::bytea as bytes, array['a', 'b']::text[] as list, '{"a":[1]}'::jsonb as json, '2026-01-01T00:00:00Z'::timestamptz as moment`.execute(
    database.db,
  );
  assert.deepEqual(rows[0], {
    small: 1n,
    large: 9007199254740993n,
    exact: "0.10",
    bytes: Buffer.from([0, 255]),
    list: ["a", "b"],
    json: { a: [1] },
    moment: new Date("2026-01-01T00:00:00Z"),
  });
  assert.ok(Buffer.isBuffer(rows[0]?.["bytes"]));
});

test("storage.transactions: a transaction that throws leaves nothing, next to others that commit", async () => {
  const kept = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      database.transaction(async (tx) => {
        await tx
          .insertInto("prices")
          .values({ provider: "rollback", model: `m${index}`, definition: "{}" })
          .execute();
        if (index % 2 === 1) throw new Error("no");
      }),
    ),
  );
  const rows = await database.db.selectFrom("prices").select("model").where("provider", "=", "rollback").execute();
  assert.equal(kept.filter((result) => result.status === "rejected").length, 10);
  assert.equal(rows.length, 10);
  assert.ok(rows.every(({ model }) => Number(model.slice(1)) % 2 === 0));
});

test("storage.broken-connection: a connection that breaks while its transaction waits fails that transaction, not the process", async () => {
  const other = await database.openSecond();
  const broken = database.transaction(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(other.db);
    // Until the notification is here and the connection is seen to be idle: only then is it not waited for.
    await untilGone(other, rows[0]?.pid ?? 0);
    await sql`select 1`.execute(tx);
  });
  await assert.rejects(broken);
  await database.ping();
  await other.close();
});

test("storage.abandoned-locks: the locks of a process that stopped in a transaction are released after 5 s", async () => {
  const setting = sql<{ setting: string }>`select current_setting('idle_in_transaction_session_timeout') as setting`;
  // Of every connection that the pool opens, in a transaction or not.
  const shown = await Promise.all(
    Array.from({ length: 5 }, () => database.transaction(async (tx) => (await setting.execute(tx)).rows[0]?.setting)),
  );
  assert.deepEqual(new Set(shown), new Set(["5s"]));
});

test("storage.database-clock: patchbay_now() is the database's clock, and tests can shift it", async () => {
  const now = async () =>
    (await sql<{ now: Date; real: Date }>`select patchbay_now() as now, now() as real`.execute(database.db)).rows[0];
  const right = await now();
  assert.equal(right?.now.getTime(), right?.real.getTime());
  await shiftClock(database, 86_400);
  const shifted = await now();
  assert.equal(shifted === undefined ? 0 : shifted.now.getTime() - shifted.real.getTime(), 86_400_000);
  await shiftClock(database, 0);
});

test("storage.transactions: slugs are unique within a workspace, not across", async () => {
  const first = await makeTenant(database);
  await makeTenant(database);
  const again = database.db
    .insertInto("apps")
    .values({ id: "app_x", workspace_id: first.workspaceId, slug: "app", name: "again", managed_by: "test" });
  await assert.rejects(again.execute(), /unique|duplicate/u);
});

test("api.readyz: the database's ping answers, and fails once closed", async () => {
  await database.ping();
  const second = await openTestDatabase();
  await second.close();
  await assert.rejects(second.ping());
});

async function untilGone({ db }: Pick<TestDatabase, "db">, pid: number): Promise<void> {
  for (;;) {
    const { rows } = await sql`select 1 from pg_stat_activity where pid = ${pid}`.execute(db);
    if (rows.length === 0) return;
  }
}

test("storage.broken-connection: a statement on a connection that fell silent fails as an unavailable database does; a slow one does not", async (t) => {
  const proxy = await startFaultProxy(database.direct.databaseUrl);
  t.after(() => proxy.close());
  // A look that is late on a busy machine would be taken for one without an answer.
  const times = { silentMs: 100, lookMs: 5_000 };
  const pool = new Pool({
    connectionString: proxy.url,
    max: 1,
    onConnect: watchStatements(proxy.url, times),
  });
  pool.on("error", () => undefined);
  const client = await pool.connect();
  client.on("error", () => undefined);
  await client.query("select pg_sleep(1)");
  proxy.set({ kind: "half-open" });
  await assert.rejects(client.query("select 1"), isServerUnavailable);
  client.release();
  assert.equal(pool.totalCount, 0, "it is never used again");
  proxy.clear();
  assert.equal((await pool.query("select 1 as one")).rowCount, 1);
  await pool.end();
});

test("storage.database-clock: a process uses the database's clock where its own is off, and its own where they agree", async (t) => {
  const logger = pino({ level: "silent" });
  const aheadMs = async (seconds: number): Promise<number> => {
    await shiftClock(database, seconds);
    const clock = await followDatabaseClock(database, logger);
    await clock.stop();
    const [before, now, after] = [Date.now(), clock.now().getTime(), Date.now()];
    return now >= before && now <= after ? 0 : now - after;
  };
  t.after(() => shiftClock(database, 0));
  for (const seconds of [3_600, -600]) assert.ok(Math.abs((await aheadMs(seconds)) - seconds * 1_000) < 2_000);
  assert.equal(await aheadMs(0), 0);
});

test("storage.rolled-back: a transaction that failed before its commit is known to be rolled back, one that failed at it is not", async () => {
  const failure = async (work: Parameters<typeof database.transaction>[0]): Promise<unknown> =>
    database.transaction(work).catch((error: unknown) => error);
  assert.equal(isRolledBack(await failure(() => Promise.reject(new Error("in the middle")))), true);
  const atCommit = await failure(async (tx) => {
    await sql`create temporary table twice (a int unique deferrable initially deferred)`.execute(tx);
    await sql`insert into twice values (1), (1)`.execute(tx);
  });
  assert.match(String(atCommit), /duplicate key/u);
  assert.equal(isRolledBack(atCommit), false);
});

test("storage.rolled-back: what fails after a commit is not taken for rolled back", async () => {
  const undone = Object.assign(new Error("gone"), { code: "ECONNRESET" });
  const lost = await tagRolledBack(
    () => Promise.reject(undone),
    async () => undefined,
  ).catch((error: unknown) => error);
  assert.equal(isRolledBack(lost), true);
  await assert.rejects(
    markPostCommitFailure(Promise.reject(lost)),
    (error) => !isRolledBack(error) && !isServerUnavailable(error),
  );
});
