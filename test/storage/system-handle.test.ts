// Handles that bypass row-level security have types of their own [tenancy.rls-read]. Each `@ts-expect-error` below fails the type check if the compiler
// accepts its line; the line runs all the same and shows what it would have read.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Kysely } from "kysely";
import type { WorkspaceId } from "../../src/contract/ids.ts";
import type { SystemHandle, SystemTransaction } from "../../src/storage/database.ts";
import type { Tables } from "../../src/storage/schema/tables.ts";
import { bypassRls, type Handle } from "../../src/storage/system.ts";
import { makeTenant, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

let database: TestDatabase;
let workspaces: readonly WorkspaceId[];
before(async () => {
  database = await openTestDatabase();
  const tenants = [await makeTenant(database), await makeTenant(database)];
  workspaces = tenants.map(({ workspaceId }) => workspaceId).toSorted();
});
after(() => database.close());

/** Any handle will do for these statements. */
async function owners(db: Handle): Promise<readonly string[]> {
  const rows = await db.selectFrom("apps").select("workspace_id").distinct().orderBy("workspace_id").execute();
  return rows.map(({ workspace_id: owner }) => owner);
}
/** Written for the rows of every workspace, like a sweep or a claim. */
const allOwners = (db: SystemHandle) => owners(db);
const allOwnersInTransaction = (tx: SystemTransaction) => owners(tx);

test("tenancy.rls-read: a handle that bypasses row-level security reads every workspace, and is accepted wherever a bound transaction is", async () => {
  const system = bypassRls(database, "operator");
  assert.deepEqual(await allOwners(system.db), workspaces);
  assert.deepEqual(await system.transaction(allOwners), workspaces);
  assert.deepEqual(await system.transaction(allOwnersInTransaction), workspaces);
  assert.deepEqual(await owners(system.db), workspaces);
});

test("tenancy.rls-read: the compiler refuses a workspace's transaction, which reads one workspace, where every workspace is to be read", async () => {
  for (const workspace of workspaces) {
    assert.deepEqual(await database.inWorkspace(workspace, owners), [workspace]);
    // @ts-expect-error: bound to a workspace
    assert.deepEqual(await database.inWorkspace(workspace, allOwners), [workspace]);
    // @ts-expect-error: bound to a workspace
    assert.deepEqual(await database.inWorkspace(workspace, allOwnersInTransaction), [workspace]);
  }
});

test("tenancy.rls-read: the compiler refuses any other connection and transaction where every workspace is to be read", async () => {
  const { db } = bypassRls(database, "operator");
  const plain: Kysely<Tables> = db;
  // @ts-expect-error: of no known origin
  assert.deepEqual(await allOwners(plain), workspaces);
  // @ts-expect-error: not begun by `bypassRls`
  assert.deepEqual(await db.transaction().execute(allOwnersInTransaction), workspaces);
  // @ts-expect-error: outside of a transaction
  assert.deepEqual(await allOwnersInTransaction(db), workspaces);
});
