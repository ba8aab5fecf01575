// Migrates the schema. Processes that start at the same time wait for the migrator's advisory lock.
import { type Kysely, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { MIGRATIONS } from "../migrations/list.ts";

/**
 * `onUpdate` receives the pending migrations before they change an older schema. `only` limits the schema to these migrations, for loading a backup
 * of the version that had them.
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
  // The migrator would read the whole catalogue twice before finding nothing to do, which is most of a start's database work.
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
    // Numbers are assigned before the work is done, so a lower number may be merged after a higher one.
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
  /** Migrations of this version that the database lacks. */
  readonly pending: readonly string[];
  /** Migrations in the database that this version does not know, because they are newer. */
  readonly unknown: readonly string[];
}

/** Reads which migrations were applied. Runs none. */
export async function migrationState<T>(db: Kysely<T>): Promise<MigrationState> {
  const { rows: table } = await sql<{ is: boolean }>`select to_regclass('kysely_migration') is not null as is`.execute(
    db,
  );
  const { rows } =
    table[0]?.is === true ? await sql<{ name: string }>`select name from kysely_migration`.execute(db) : { rows: [] };
  const applied = new Set(rows.map(({ name }) => name));
  return {
    applied: [...applied].toSorted(),
    pending: Object.keys(MIGRATIONS).filter((name) => !applied.has(name)),
    unknown: [...applied].filter((name) => !Object.hasOwn(MIGRATIONS, name)).toSorted(),
  };
}
