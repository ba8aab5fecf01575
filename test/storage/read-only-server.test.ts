// A pool whose server became read-only drops its connections: the next ones reach the server that is primary by then.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { type OpenDatabase, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const CONNECTIONS = 4;

/** Of every connection that the pool opens for so much at once. */
const onEach = <T>(
  handle: OpenDatabase,
  ask: (connection: Parameters<Parameters<OpenDatabase["transaction"]>[0]>[0]) => Promise<T>,
) => {
  const all = Promise.withResolvers<void>();
  let open = 0;
  return Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      handle.transaction(async (tx) => {
        open += 1;
        if (open === CONNECTIONS) all.resolve();
        await all.promise;
        return ask(tx);
      }),
    ),
  );
};

const write = (handle: OpenDatabase, model: string) =>
  handle.db.insertInto("prices").values({ provider: "read-only", model, definition: "{}" }).execute();

test("storage.failover: one write that a read-only server refuses replaces every connection of the pool, also one in use", async () => {
  const handle = await database.openSecond();
  const backends = await onEach(handle, async (tx) => {
    // As the sessions of a demoted primary: for this session, whatever the server allows to others.
    await sql`set session characteristics as transaction read only`.execute(tx);
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    return rows[0]?.pid ?? 0;
  });
  assert.equal(new Set(backends).size, CONNECTIONS);

  const [began, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const inUse = handle.transaction(async (tx) => {
    await sql`select 1`.execute(tx);
    began.resolve();
    await refused.promise;
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    return rows[0]?.pid ?? 0;
  });
  await began.promise;
  await assert.rejects(write(handle, "refused"), { code: "25006" });
  refused.resolve();
  assert.ok(backends.includes(await inUse), "a transaction that reads is not cut");

  await write(handle, "accepted");
  const replaced = await onEach(handle, async (tx) => {
    const { rows } = await sql<{ pid: number; is_read_only: string }>`
      select pg_backend_pid() as pid, current_setting('transaction_read_only') as is_read_only`.execute(tx);
    return rows[0];
  });
  for (const each of replaced) {
    assert.equal(each?.is_read_only, "off");
    assert.ok(!backends.includes(each?.pid ?? 0));
  }
  await handle.close();
});
