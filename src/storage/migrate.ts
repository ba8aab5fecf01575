// Brings the schema up to date. Several processes may start at once: the migrator holds an advisory lock meanwhile.
import { type Kysely, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { MIGRATIONS } from "./migrations/list.ts";

/**
 * `onUpdate` hears what an older version's schema is about to get, before it does. With `only`, the schema becomes that of the version that
 * had these migrations, and no newer one: what a backup of it is loaded into.
 */
export async function migrate<T>(
  db: Kysely<T>,
  onUpdate?: (pending: readonly string[]) => void,
  only: readonly string[] | null = null,
): Promise<void> {
  const state = await migrationState(db);
  const { applied, unknown } = state;
  const pending = state.pending.filter((name) => only === null || only.includes(name));
  if (unknown.length > 0)
    throw new Error(
      `The database belongs to a newer version of patchbay (it has ${unknown.join(", ")}); this one changed nothing. Start the newer version, or restore a backup made before the update.`,
    );
  // The migrator would read the whole catalogue, twice, before it found the same: most of what a start asks the database.
  if (pending.length === 0) return;
  if (applied.length > 0) onUpdate?.(pending);
  const migrator = new Migrator({
    db,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(MIGRATIONS).filter(([name]) => applied.includes(name) || pending.includes(name)),
        ),
    },
    // Numbers are given out before the work is done: a lower one may land after a higher one.
    allowUnorderedMigrations: true,
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === "Error")?.migrationName;
  const what = failed === undefined ? "The database could not be migrated" : `Migration ${failed} failed`;
  throw new Error(`${what}: ${error instanceof Error ? error.message : "unknown reason"}`, { cause: error });
}

export interface MigrationState {
  readonly applied: readonly string[];
  /** Of this version, not in the database yet. */
  readonly pending: readonly string[];
  /** In the database, of a newer version than this one. */
  readonly unknown: readonly string[];
}

/** What has run is read, and nothing is run. */
export async function migrationState<T>(db: Kysely<T>): Promise<MigrationState> {
  const { rows: found } = await sql<{ is: boolean }>`select to_regclass('kysely_migration') is not null as is`.execute(
    db,
  );
  const { rows } =
    found[0]?.is === true ? await sql<{ name: string }>`select name from kysely_migration`.execute(db) : { rows: [] };
  const applied = new Set(rows.map(({ name }) => name));
  return {
    applied: [...applied].toSorted(),
    pending: Object.keys(MIGRATIONS).filter((name) => !applied.has(name)),
    unknown: [...applied].filter((name) => !Object.hasOwn(MIGRATIONS, name)).toSorted(),
  };
}
