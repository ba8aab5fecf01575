// `patchbay migrate-storage`: an embedded installation with everything in it moves to a server, and continues there
// [storage.migrate-storage].
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Kysely, sql } from "kysely";
import { listTables } from "../../src/operations/store/catalogue.ts";
import { readMoved } from "../../src/storage/connection/moved-database.ts";
import { openSecrets } from "../../src/storage/secrets/open-secrets.ts";
import type { Tables } from "../../src/storage/schema/tables.ts";
import { envelopeOf, get, postForm } from "../harness/client.ts";
import { type OpenDatabase, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { ENCRYPTION_KEY, KEY, PEPPER } from "../harness/gateway.ts";
import { cancel, ended, JOBS, poll, submit } from "../http/jobs/jobs.ts";
import { assertEvents, attemptsOf, jobsFile, paidCalls, pass, REMOTE_KEY } from "../jobs/setting.ts";
import { type Installation, makeInstallation } from "./installation.ts";

let server: TestDatabase;
let installation: Installation;
before(async () => {
  server = await openTestDatabase();
  installation = await makeInstallation();
});
after(async () => {
  await installation.close();
  await server.close();
});

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

/** By the standard's catalogue, not by the one that the move reads. */
async function columnsOf(db: Kysely<Tables>): Promise<readonly Column[]> {
  const { rows } = await sql<Column>`
    select c.table_name as table, c.column_name as column, c.data_type as type from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name not like 'kysely%'
    order by c.table_name, c.ordinal_position`.execute(db);
  return rows;
}

/** Rows of each table, and the sum of each column that counts something. */
async function sums(db: Kysely<Tables>): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const { table, column, type } of await columnsOf(db)) {
    const counts = /^(bigint|integer|numeric|real|double precision)$/u.test(type);
    const { rows } = await sql<{ rows: string; sum: string | null }>`
      select count(*)::text as rows, ${counts ? sql`sum(${sql.id(column)}::numeric)::text` : sql`null`} as sum
      from ${sql.table(table)}`.execute(db);
    found[table] = rows[0]?.rows ?? "?";
    if (counts) found[`${table}.${column}`] = rows[0]?.sum ?? "-";
  }
  return found;
}

test("storage.migrate-storage: the move finds every table of the gateway, after those it refers to", async () => {
  const tables = (await listTables(server.db)).map(({ name }) => name);
  assert.deepEqual(tables.toSorted(), [...new Set((await columnsOf(server.db)).map(({ table }) => table))].toSorted());
  const { rows } = await sql<{ child: string; parent: string }>`
    select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint where contype = 'f'
      and connamespace = 'public'::regnamespace`.execute(server.db);
  for (const { child, parent } of rows)
    assert.ok(tables.indexOf(parent) <= tables.indexOf(child), `${parent}, ${child}`);
});

test("storage.migrate-storage: a secret that an embedded installation created, provided by the configuration, is the same secret", async () => {
  const { dataDir } = installation;
  const made = { databaseUrl: null, dataDir, keyPepper: null, encryptionKeys: [] };
  const given = { ...made, databaseUrl: "postgres://x", keyPepper: `base64:${PEPPER.toString("base64")}` };
  const [here, there] = [
    await openSecrets(made),
    await openSecrets({ ...given, encryptionKeys: [ENCRYPTION_KEY.toString("base64")] }),
  ];
  assert.ok(here.ok && there.ok);
  assert.deepEqual(there.pepper, here.pepper);
  assert.deepEqual(there.encryptionKeys, here.encryptionKeys);
});

test("storage.migrate-storage: rows and sums are equal, old keys work, a replay replays, a queued job runs to its end", async () => {
  const replay = { headers: { "idempotency-key": "answered-before-the-move" } };
  const gateway = await installation.start({ file: jobsFile });
  const answer = envelopeOf(await postForm(gateway.origin, replay));
  await postForm(gateway.origin, { headers: { "idempotency-key": "burned-before-the-move" } });
  await sql`update idempotency_slots set state = 'burned', body = null, status = null, headers = null
    where ctid in (select ctid from idempotency_slots order by created_at desc limit 1)`.execute(gateway.database.db);
  const succeeded = (await submit(gateway.origin, { headers: { "idempotency-key": "a-job" } })).job_id;
  await ended(gateway.origin, succeeded);
  const result = (await get(gateway.origin, `${JOBS}/${succeeded}`)).text;
  installation.sandbox.addFault({ wire: "deepgram", fault: { kind: "stall" } });
  const stopped = (await submit(gateway.origin)).job_id;
  await installation.sandbox.waitForCall((call) => call.wire === "deepgram" && call.path.includes("listen"));
  installation.sandbox.addFault({ wire: "assemblyai", step: "poll", times: 1, fault: { kind: "stall" } });
  const polled = (await submit(gateway.origin, { key: REMOTE_KEY })).job_id;
  await installation.sandbox.waitForCall(({ method, path }) => method === "GET" && path.includes("/transcript/"));
  await gateway.close();

  const idle = await installation.start({ file: jobsFile, works: false });
  // As after kill -9: nothing was released.
  await sql`update jobs set lease_until = patchbay_now() + interval '30 seconds' where id in (${stopped}, ${polled})`.execute(
    idle.database.db,
  );
  const cancelled = (await submit(idle.origin)).job_id;
  await cancel(idle.origin, cancelled);
  const queued = (await submit(idle.origin)).job_id;
  const usage = (await get(idle.origin, "/v1/usage")).json;
  const { workspace_id: workspaceId } = await idle.database.db
    .selectFrom("workspaces")
    .innerJoin("apps", "apps.workspace_id", "workspaces.id")
    .select("apps.workspace_id")
    .where("workspaces.slug", "=", "acme")
    .executeTakeFirstOrThrow();
  await addDelivery(idle.database, workspaceId);
  await idle.close();
  installation.sandbox.clearFaults();

  const to = server.direct.databaseUrl;
  await sql`alter table webhook_deliveries add constraint for_the_test check (id <> 'whd_of_the_test')`.execute(
    server.db,
  );
  const failed = await installation.patchbay("migrate-storage", "--to", to);
  assert.equal(failed.exitCode, 1);
  assert.equal((await sums(server.db))["workspaces"], "0", "all or nothing");
  await sql`alter table webhook_deliveries drop constraint for_the_test`.execute(server.db);
  const moved = await installation.patchbay("migrate-storage", "--to", to, "--json");
  assert.equal(moved.exitCode, 0, moved.stderr);
  const { tables, messages } = JSON.parse(moved.stdout) as {
    readonly tables: readonly { readonly table: string; readonly rows: number }[];
    readonly messages: number;
  };
  assert.deepEqual(
    tables.map(({ table }) => table).toSorted(),
    [...new Set((await columnsOf(server.db)).map(({ table }) => table))].toSorted(),
  );
  // From now on nothing is written to the database that was left behind.
  assert.notEqual(await readMoved(installation.dataDir), null);
  assert.equal((await installation.patchbay("secrets", "rotate")).exitCode, 9);
  const source = await installation.open();
  const [before, after] = [await sums(source.db), await sums(server.db)];
  await source.close();
  assert.deepEqual(after, before);
  for (const table of ["jobs", "idempotency_slots", "attempts", "webhook_events", "webhook_deliveries", "api_keys"])
    assert.notEqual(after[table], "0", table);
  assert.ok(messages >= 2, "the queued job's and the pending delivery's");
  await assertGuarded(server, succeeded);

  const kept = { ...server, close: async () => undefined };
  const there = await installation.start({ file: jobsFile, works: false }, kept);
  try {
    const again = await postForm(there.origin, replay);
    assert.deepEqual(
      [envelopeOf(again).id, again.headers.get("x-svc-idempotent-replay")],
      [answer.id, "true"],
      "key, slot and seal are as they were",
    );
    assert.deepEqual((await get(there.origin, "/v1/usage")).json, usage);
    assert.equal((await get(there.origin, `${JOBS}/${succeeded}`)).text, result);
    assert.equal((await poll(there.origin, cancelled)).status, "cancelled");
    for (const id of [stopped, polled])
      assert.equal((await poll(there.origin, id, "", id === polled ? REMOTE_KEY : KEY)).status, "processing");
    assert.equal((await get(there.origin, "/v1/me", KEY)).status, 200);
  } finally {
    await there.close();
  }
  const working = await installation.start({ file: jobsFile }, kept);
  try {
    assert.equal((await ended(working.origin, queued)).status, "succeeded");
    // The rows came with their leases, and what a dead worker left is followed to its end as anywhere [jobs.dead-worker].
    const calls = paidCalls(installation.sandbox);
    await pass(working, 31);
    const unknown = await ended(working.origin, stopped);
    assert.deepEqual([unknown.status, unknown.error?.code], ["failed", "PROVIDER_RESULT_UNKNOWN"]);
    assert.deepEqual(await attemptsOf(server, stopped), [{ state: "settled", outcome: "unknown", charge: "0" }]);
    const resumed = await ended(working.origin, polled, REMOTE_KEY);
    assert.deepEqual([resumed.status, resumed.attempts], ["succeeded", 2], JSON.stringify(resumed.error));
    assert.equal(paidCalls(installation.sandbox), calls, "polled on, nothing sent again");
    await assertEvents(server);
  } finally {
    await working.close();
  }

  const twice = await installation.patchbay("migrate-storage", "--to", to);
  assert.equal(twice.exitCode, 5);
  assert.match(twice.stderr, /in use/u);
});

test("storage.migrate-storage: a server that fails in the middle is reported, exit 7, nothing of it is there, and it is run again", async () => {
  const target = await openTestDatabase();
  const to = target.direct.databaseUrl;
  const holder = await target.openSecond();
  const waiting = sql`from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  try {
    const cut = await holder.transaction(async (tx) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
      // Bookkeeping, which is not looked at before the move begins.
      await sql`lock table usage_progress in access exclusive mode`.execute(tx);
      const moving = installation.patchbay("migrate-storage", "--to", to);
      await until(async () => (await sql`select ${waiting}`.execute(target.db)).rows.length > 0);
      await sql`select pg_terminate_backend(pid) ${waiting}`.execute(target.db);
      return moving;
    });
    assert.equal(cut.exitCode, 7, cut.stderr);
    assert.match(cut.stderr, /was lost during the migration[^]*run the command again/u);
    assert.equal((await sums(target.db))["workspaces"], "0");
    assert.equal((await installation.patchbay("migrate-storage", "--to", to)).exitCode, 0);
  } finally {
    await holder.close();
    await target.close();
  }
});

/** One that waits for its next attempt. */
async function addDelivery({ db }: OpenDatabase, workspaceId: string): Promise<void> {
  await sql`insert into webhook_deliveries (id, workspace_id, event_id, job_id, job_status, occurred_at, next_attempt_at)
    select 'whd_of_the_test', ${workspaceId}, 'evt_of_the_test', id, status, finished_at, patchbay_now() + interval '1 day'
    from jobs where finished_at is not null limit 1`.execute(db);
}

/** Triggers and keys are on again: what the schema forbids is forbidden there. */
async function assertGuarded({ db }: TestDatabase, jobId: string): Promise<void> {
  await assert.rejects(sql`update jobs set status = 'queued' where id = ${jobId}`.execute(db));
  const { rows } = await sql<{ off: string }>`
    select tgname as off from pg_trigger where tgenabled = 'D'`.execute(db);
  assert.deepEqual(rows, []);
}
