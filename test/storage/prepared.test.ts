// Statements that are parsed and planned once on each connection [storage.transactions].
import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { listKeysByHash } from "../../src/directory/store/keys.ts";
import { PREPARED } from "../../src/storage/connection/prepared.ts";
import { openTestDatabase } from "../harness/postgres/database.ts";

test("storage.transactions: a marked statement answers with its own values each time, and the session has prepared it once", async () => {
  const database = await openTestDatabase();
  try {
    await database.transaction(async (db) => {
      for (const given of ["one", "two"]) {
        const { rows } = await sql<{ is: string }>`${PREPARED} select ${given}::text as is`.execute(db);
        assert.deepEqual(rows, [{ is: given }]);
      }
      const { rows: prepared } =
        await sql`select statement from pg_prepared_statements where statement like ${"% as is"}`.execute(db);
      assert.equal(prepared.length, 1);
    });
  } finally {
    await database.close();
  }
});

test("storage.transactions: the look-up of a key is prepared, because jobs of ten thousand apps make one each", async () => {
  const database = await openTestDatabase({ poolSize: 1 });
  try {
    for (const hash of [Buffer.alloc(32, 1), Buffer.alloc(32, 2)])
      assert.deepEqual(await listKeysByHash(database.db, [hash]), []);
    const { rows } =
      await sql`select name from pg_prepared_statements where statement like ${"%from _api_keys_ %"}`.execute(
        database.db,
      );
    assert.equal(rows.length, 1);
  } finally {
    await database.close();
  }
});

test("storage.transactions: a prepared statement commits with its transaction; where it fails, its own error comes and all is rolled back", async () => {
  const database = await openTestDatabase();
  const has = async (name: string) => {
    const { rows } = await sql<{ is: string | null }>`select to_regclass(${name})::text as is`.execute(database.db);
    return rows[0]?.is !== null;
  };
  try {
    await database.transaction(async (tx) => {
      await sql`create table kept (n int)`.execute(tx);
      await sql`${PREPARED} insert into kept select ${1}::int`.execute(tx);
    });
    const { rows } = await sql`select n from kept`.execute(database.db);
    assert.deepEqual(rows, [{ n: 1 }]);

    const failing = database.transaction(async (tx) => {
      await sql`create table undone (n int)`.execute(tx);
      await sql`${PREPARED} select 1 / ${0}::int`.execute(tx);
    });
    await assert.rejects(failing, { code: "22012" });
    assert.equal(await has("undone"), false);

    const behind = database.transaction(async (tx) => {
      await sql`create table undone (n int)`.execute(tx);
      await sql`${PREPARED} select 1 / ${0}::int`.execute(tx);
      await sql`select 1`.execute(tx);
      assert.fail("the statement behind it fails with it");
    });
    await assert.rejects(behind, { code: "22012" });
    assert.equal(await has("undone"), false);

    const left = database.transaction(async (tx) => {
      await sql`create table undone (n int)`.execute(tx);
      await sql`${PREPARED} select ${1}::int`.execute(tx);
      throw new Error("left");
    });
    await assert.rejects(left, { message: "left" });
    assert.equal(await has("undone"), false);
    await database.transaction(async (tx) => sql`select 1`.execute(tx));
  } finally {
    await database.close();
  }
});
