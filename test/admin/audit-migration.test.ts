// Entries that were written before there were chains are linked unchanged (migration 0009).
import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { Migrator } from "kysely/migration";
import { verifyAudit } from "../../src/admin/audit/verify-audit.ts";
import { writeAudit } from "../../src/storage/audit-log.ts";
import { migrate } from "../../src/storage/schema/migrate.ts";
import { MIGRATIONS } from "../../src/storage/migrations/list.ts";
import { openTestDatabase } from "../harness/postgres/database.ts";

test("tenancy.audit-chain: an older audit log is chained by the migration, unchanged, and continues", async () => {
  const database = await openTestDatabase();
  try {
    await sql`drop schema public cascade`.execute(database.db);
    await sql`create schema public`.execute(database.db);
    const migrator = new Migrator({ db: database.db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
    assert.equal((await migrator.migrateTo("0008-realtime-tokens")).error, undefined);
    await sql`insert into audit_log (workspace_id, actor_key_id, action, object, before, after)
      select case when n % 3 = 0 then null else 'ws_' || n % 2 end, null, 'old.made', n::text, null, '{"b": 1, "a": [2]}'
      from generate_series(1, 30) n`.execute(database.db);
    const old = sql<{
      id: string;
    }>`select id::text, workspace_id, at::text, action, object, after::text from audit_log order by id`;
    const before = (await old.execute(database.db)).rows;
    await migrate(database.db);
    assert.deepEqual((await old.execute(database.db)).rows, before);
    await database.transaction((tx) =>
      writeAudit(tx, {
        workspaceId: null,
        actorKeyId: null,
        action: "new.made",
        object: "x",
        before: null,
        after: null,
      }),
    );
    const { ok, entries, chains, findings } = await verifyAudit(database, {
      chain: null,
      checkpoint: { kind: "none" },
    });
    assert.deepEqual([ok, entries, chains, findings], [true, 31, 3, []]);
    await assert.rejects(sql`delete from audit_log`.execute(database.db), /append-only/);
  } finally {
    await database.close();
  }
});
