// A migrated database for each test file: a copy of a migrated template on the server of DATABASE_URL, which scripts/test.ts starts.
import { type KyselyPlugin, sql } from "kysely";
import { newId } from "../../../src/contract/ids.ts";
import {
  asSystemHandle,
  type Database,
  type SystemAccess,
  systemAccess,
  type SystemHandle,
} from "../../../src/storage/database.ts";
import { bypassRls } from "../../../src/storage/system.ts";
import { type DatabaseOptions, openDatabase } from "../../../src/storage/connection/open-database.ts";
import { migrateEmpty, schemaHash } from "./migrated.ts";
import { borrowCopy, type Template } from "./server-databases.ts";

/** A database whose rows of all workspaces a test may read. */
export type OpenDatabase = Database & SystemAccess;

export interface TestDatabase extends Database, SystemAccess {
  /** A second, independent handle, like that of another process. */
  readonly openSecond: () => Promise<OpenDatabase>;
}

export interface TestDatabaseOptions extends Pick<DatabaseOptions, "nowMs" | "poolSize"> {
  /** For tests of plans, which depend on the pages and statistics that other tests leave. */
  readonly isNew?: boolean;
}

/** On the server of DATABASE_URL: migrated and empty. */
export const TEMPLATE: Template = {
  name: () => `patchbay_template_${schemaHash()}`,
  fill: migrateEmpty,
};

export async function openTestDatabase({ isNew, ...options }: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { databaseUrl, giveBack } = await borrowCopy(TEMPLATE, isNew);
  const database = await openDatabase({ ...options, databaseUrl });
  const close = async () => {
    await database.close();
    await giveBack();
  };
  return { ...withSystemAccess(database), close, openSecond: () => openSystemDatabase({ databaseUrl }) };
}

export async function openSystemDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  return withSystemAccess(await openDatabase(options));
}

/**
 * The members of `access` replace its own. Not by `{ ...database, ...access }`: code of the gateway takes its access from `bypassRls` and would not see
 * them.
 */
export function withSystemAccess<D extends Database>(
  database: D,
  access: Partial<SystemAccess> = {},
): D & SystemAccess {
  const system = { ...bypassRls(database, "installation"), ...access };
  return { ...database, ...system, [systemAccess]: system };
}

/** The same handle, whose statements and results pass through the plugin. */
export function withPlugin({ db }: Pick<SystemAccess, "db">, plugin: KyselyPlugin): SystemHandle {
  return asSystemHandle(db.withPlugin(plugin));
}

/** Shifts this database's `patchbay_now()` by a number of seconds against the real clock; 0 resets it. */
export async function shiftClock({ db }: Pick<SystemAccess, "db">, seconds: number): Promise<void> {
  await sql
    .raw(
      `create or replace function patchbay_now() returns timestamptz language sql stable parallel safe as $$ select now() + interval '${seconds} seconds' $$`,
    )
    .execute(db);
}

/** Stops the clock at a time, for example `2026-03-31T23:59:59Z`. */
export async function setClock({ db }: Pick<SystemAccess, "db">, moment: string): Promise<void> {
  const at = new Date(moment).toISOString();
  await sql
    .raw(
      `create or replace function patchbay_now() returns timestamptz language sql stable parallel safe as $$ select '${at}'::timestamptz $$`,
    )
    .execute(db);
}

/** Stops the clock now, and returns a function that sets it so many seconds later: for ends that are a second away, which a slow machine would pass. */
export async function stopClock(access: Pick<SystemAccess, "db">): Promise<(seconds: number) => Promise<void>> {
  const startMs = Date.now();
  const set = (seconds: number) => setClock(access, new Date(startMs + seconds * 1_000).toISOString());
  await set(0);
  return set;
}

/** A new workspace with one app for each test: tests share a database, but no rows. */
export async function makeTenant({ db }: Pick<SystemAccess, "db">) {
  const workspaceId = newId("workspace");
  const appId = newId("app");
  await db.insertInto("workspaces").values({ id: workspaceId, slug: workspaceId, managed_by: "test" }).execute();
  await db
    .insertInto("apps")
    .values({ id: appId, workspace_id: workspaceId, slug: "app", name: "App", managed_by: "test" })
    .execute();
  return { workspaceId, appId };
}
