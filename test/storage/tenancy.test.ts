// Row-level security [tenancy.row-level-security]: every table is declared with whose rows it holds, and a transaction bound to one
// workspace reads, changes and creates no row of another's, whatever its statement asks for. Rows are made from the catalogue, so a
// new table is covered the day it exists.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type RawBuilder, sql } from "kysely";
import { newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { protect } from "../../src/storage/schema/protect.ts";
import { SHARED_TABLES, SYSTEM_TABLES, TENANT_TABLES } from "../../src/storage/schema/tenant-tables.ts";
import type { DatabaseTransaction } from "../../src/storage/database.ts";
import type { Handle } from "../../src/storage/system.ts";
import { openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

interface Column {
  readonly table_name: string;
  readonly column_name: string;
  readonly type: string;
  /** What it refers to: table and column. */
  readonly parent: string | null;
  readonly parent_column: string | null;
}

/** Theirs is whose parent is theirs. */
const OWNED_BY_PARENT = new Set(["budget_windows"]);

let database: TestDatabase;
let tables: readonly string[];
let columns: readonly Column[];
const first = newId("workspace");
const second = newId("workspace");

before(async () => {
  database = await openTestDatabase();
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not relispartition and relname not like 'kysely_%' order by relname`.execute(database.db);
  tables = rows.map(({ name }) => name);
  columns = await readColumns();
  await makeRows([first, second]);
});
after(() => database.close());

test("tenancy.rls-tables: every table is declared as holding rows of workspaces, as shared, or as the installation's own", async () => {
  assert.deepEqual(await undeclared(), []);
  const declared = [...TENANT_TABLES.map(({ table }) => table), ...SHARED_TABLES, ...SYSTEM_TABLES].toSorted();
  assert.deepEqual(declared, tables);
});

test("tenancy.rls-tables, tenancy.row-level-security: an undeclared table is found by its name, and is closed to every workspace until it is declared", async () => {
  await sql`create table gadgets (id text primary key, workspace_id text not null)`.execute(database.db);
  try {
    assert.deepEqual(await undeclared(), ["gadgets"]);
    await protect(database.db);
    await assert.rejects(
      database.inWorkspace(first, (tx) => sql`select * from gadgets`.execute(tx)),
      /permission denied/u,
    );
  } finally {
    await sql`drop table gadgets`.execute(database.db);
  }
});

test("tenancy.rls-repaired, tenancy.row-level-security: a missing policy, and security that is off, are found, and repaired by the next start", async () => {
  await sql`drop policy tenant on jobs`.execute(database.db);
  await sql`alter table webhooks no force row level security`.execute(database.db);
  assert.deepEqual(await unprotected(), ["jobs", "webhooks"]);
  await protect(database.db);
  assert.deepEqual(await unprotected(), []);
});

test("tenancy.row-level-security: row-level security of every table of workspaces is on, forced, and has its policies", async () => {
  assert.deepEqual(await unprotected(), []);
  for (const table of SHARED_TABLES) {
    assert.ok(!columnsOf(table).some(({ column_name: name }) => /^(workspace_id|app_id|scope)$/u.test(name)), table);
  }
});

/** Tables that neither list names. */
async function undeclared(): Promise<readonly string[]> {
  const declared = new Set([...TENANT_TABLES.map(({ table }) => table), ...SHARED_TABLES, ...SYSTEM_TABLES]);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not relispartition and relname not like 'kysely_%' order by relname`.execute(database.db);
  return rows.map(({ name }) => name).filter((name) => !declared.has(name));
}

/** Tables of workspaces without complete row-level security. */
async function unprotected(): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string; forced: boolean; policies: string }>`
    select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
      coalesce(string_agg(p.polname, ' ' order by p.polname), '') as policies
    from pg_class c left join pg_policy p on p.polrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') group by c.oid, c.relname`.execute(
    database.db,
  );
  const found = new Map(rows.map((row) => [row.name, row]));
  return TENANT_TABLES.filter(({ table, shared }) => {
    const { forced = false, policies = "" } = found.get(table) ?? {};
    return !forced || policies !== (shared === undefined ? "system tenant" : "system tenant tenant_shared");
  })
    .map(({ table }) => table)
    .toSorted();
}

test("tenancy.rls-read: a bound transaction without a filter reads its own rows and no others, in every table", async () => {
  for (const { table, shared } of TENANT_TABLES) {
    const all = await keysOf(database.db, table);
    const own = await database.inWorkspace(first, (tx) => keysOf(tx, table));
    assert.equal(all.length, shared === undefined ? 2 : 3, `${table} has a row of each workspace`);
    assert.equal(own.length, shared === undefined ? 1 : 2, table);
    assert.ok(!own.some((row) => row.includes(second)), table);
  }
});

test("tenancy.rls-write, tenancy.rls-read: a bound transaction without a filter changes and removes its own rows and no others, in every table", async () => {
  for (const { table } of TENANT_TABLES) {
    const column = ownerColumn(table);
    for (const statement of [
      sql`update ${sql.id(table)} set ${sql.id(column)} = ${sql.id(column)} returning to_jsonb(${sql.id(table)})::text as row`,
      sql`delete from ${sql.id(table)} returning to_jsonb(${sql.id(table)})::text as row`,
    ]) {
      const touched = await undone(
        first,
        async (tx) => (await (statement as RawBuilder<{ row: string }>).execute(tx)).rows,
      );
      assert.equal(touched.length, 1, table);
      assert.ok(!touched.some(({ row }) => row.includes(second)), table);
    }
  }
});

test("tenancy.rls-write, tenancy.rls-read: a bound transaction can neither create a row of another workspace nor transfer its own, in any table", async () => {
  for (const { table } of TENANT_TABLES) {
    const column = ownerColumn(table);
    const foreign = OWNED_BY_PARENT.has(table) ? `${second}-id` : second;
    await assert.rejects(
      undone(first, (tx) => sql`update ${sql.id(table)} set ${sql.id(column)} = ${foreign}`.execute(tx)),
      /row-level security/u,
      table,
    );
    // A row that is whole, and there already: what refuses it is asked before any key.
    await assert.rejects(
      undone(first, (tx) => insertRow(tx, table, second)),
      /row-level security/u,
      table,
    );
  }
});

test("tenancy.rls-unbound, tenancy.rls-read: bound to no workspace, or to an empty name, there are no rows at all", async () => {
  for (const noWorkspace of ["", newId("workspace")]) {
    for (const { table, shared } of TENANT_TABLES) {
      const rows = await database.inWorkspace(noWorkspace as WorkspaceId, (tx) => keysOf(tx, table));
      assert.equal(rows.length, shared === undefined ? 0 : 1, table);
    }
  }
});

test("tenancy.rls-read: the binding of a transaction ends with it, also when it failed", async () => {
  await database.inWorkspace(first, (tx) => keysOf(tx, "apps"));
  await assert.rejects(database.inWorkspace(first, (tx) => sql`select 1 / 0`.execute(tx)));
  const seen = await Promise.all(Array.from({ length: 12 }, () => keysOf(database.db, "apps")));
  assert.ok(seen.every((rows) => rows.length === 2));
});

test("tenancy.rls-shared-rows, tenancy.rls-read: a bound transaction reads shared rows and writes none of them", async () => {
  for (const table of SHARED_TABLES) {
    await database.inWorkspace(first, (tx) => keysOf(tx, table));
    await assert.rejects(
      undone(first, (tx) => sql`delete from ${sql.id(table)}`.execute(tx)),
      /permission denied/u,
    );
  }
  for (const table of [...SYSTEM_TABLES, "kysely_migration"])
    await assert.rejects(
      database.inWorkspace(first, (tx) => keysOf(tx, table)),
      /permission denied/u,
    );
});

test("tenancy.row-level-security: protecting again changes nothing", async () => {
  const marks = async () => (await sql`select oid, xmin::text from pg_policy order by oid`.execute(database.db)).rows;
  const before = await marks();
  assert.equal(await protect(database.db), database.tenantRole);
  assert.deepEqual(await marks(), before);
});

async function keysOf(handle: Handle, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ row: string }>`select to_jsonb(t)::text as row from ${sql.id(table)} t`.execute(handle);
  return rows.map(({ row }) => row);
}

class Undone extends Error {}

/** What the work found, with nothing of it kept. Triggers that refuse for reasons of their own are not asked. */
async function undone<T>(workspaceId: WorkspaceId, work: (tx: DatabaseTransaction) => Promise<T>): Promise<T> {
  let found: T | undefined;
  try {
    await database.inWorkspace(workspaceId, async (tx) => {
      found = await work(tx);
      throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
  return found as T;
}

async function readColumns(): Promise<readonly Column[]> {
  const { rows } = await sql<Column>`
    select c.relname as table_name, a.attname as column_name, format_type(a.atttypid, null) as type,
      f.confrelid::regclass::text as parent, pa.attname as parent_column
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_constraint f on f.conrelid = c.oid and f.contype = 'f' and a.attnum = any(f.conkey)
    left join pg_attribute pa on pa.attrelid = f.confrelid and pa.attnum = f.confkey[array_position(f.conkey, a.attnum)]
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and a.attidentity = '' and a.attgenerated = '' and (a.attnotnull or a.attname in ('workspace_id', 'scope'))
    order by c.relname, a.attnum`.execute(database.db);
  return rows;
}

function columnsOf(table: string): readonly Column[] {
  return columns.filter(({ table_name: name }) => name === table);
}

/** The column of a row that contains its owner. */
function ownerColumn(table: string): string {
  if (table === "workspaces") return "id";
  const its = columnsOf(table);
  const own = its.find(({ column_name: name }) => name === "workspace_id" || name === "scope");
  const parent = its.find((column) => column.parent !== null);
  const found = own ?? parent;
  assert.ok(found, `${table} has no column for its workspace`);
  return found.column_name;
}

/** One row of each workspace in every table, and a shared one where there may be. */
async function makeRows(workspaces: readonly WorkspaceId[]): Promise<void> {
  const { db } = database;
  // What a row may contain does not matter here, only its owner.
  const checks = await sql<{ statement: string }>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
    from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace
    union all select format('alter table %s disable trigger user', c.oid::regclass) from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`.execute(db);
  for (const { statement } of checks.rows) await sql.raw(statement).execute(db);
  for (const table of byParent()) {
    if ([...SHARED_TABLES, ...SYSTEM_TABLES].includes(table)) continue;
    for (const workspaceId of workspaces) await insertRow(db, table, workspaceId);
    if (TENANT_TABLES.some((each) => each.table === table && each.shared !== undefined))
      await insertRow(db, table, "platform");
  }
}

function byParent(): readonly string[] {
  const placed: string[] = [];
  const parents = new Map<string, readonly string[]>();
  for (const table of tables)
    parents.set(
      table,
      columnsOf(table).flatMap(({ parent }) => (parent === null || parent === table ? [] : [parent])),
    );
  while (placed.length < tables.length) {
    const next = tables.filter(
      (table) => !placed.includes(table) && parents.get(table)?.every((each) => placed.includes(each)),
    );
    assert.ok(next.length > 0, "tables refer to one another in a circle");
    placed.push(...next);
  }
  return placed;
}

async function insertRow(handle: Handle, table: string, owner: string): Promise<void> {
  const its = columnsOf(table);
  const own = ownerColumn(table);
  const values = its.map((column) =>
    column.column_name === own && column.parent_column !== "id" ? owner : valueOf(column, owner),
  );
  await sql`insert into ${sql.id(table)} (${sql.join(its.map(({ column_name: name }) => sql.id(name)))})
    overriding system value values (${sql.join(values.map((value, at) => sql`${value}::${sql.raw(its[at]?.type ?? "text")}`))})`.execute(
    handle,
  );
}

/** A value of the type that shows its workspace: an id refers to the row of the same workspace. */
function valueOf({ type, parent, column_name: name }: Column, owner: string): unknown {
  if (parent === "workspaces" || name === "workspace_id" || name === "scope") return owner;
  if (parent !== null) return `${owner}-id`;
  if (type === "text") return `${owner}-${name}`;
  if (type === "bytea") return Buffer.from(`${owner}-${name}`);
  if (type === "jsonb") return "{}";
  if (type.endsWith("[]")) return "{}";
  if (type === "boolean") return false;
  if (type.startsWith("timestamp") || type === "date") return "2026-01-01T00:00:00Z";
  if (/^(smallint|integer|bigint|numeric|real|double precision)$/u.test(type)) return 0;
  throw new Error(`no value of type ${type}, for ${name}`);
}
