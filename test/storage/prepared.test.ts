// Statements that are read and planned once on each connection (architecture "Engines").
import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { PREPARED } from "../../src/storage/prepared.ts";
import { openTestDatabase } from "../harness/database.ts";

test("a marked statement answers with its own values each time, and the session has prepared it once", async () => {
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
