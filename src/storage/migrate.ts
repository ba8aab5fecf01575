// Brings the schema up to date. Several processes may start at once: the migrator holds an advisory lock meanwhile.
import { type Kysely, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { MIGRATIONS } from "./migrations/list.ts";

export async function migrate<T>(db: Kysely<T>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === "Error")?.migrationName;
  throw new Error(failed === undefined ? "The database could not be migrated." : `Migration ${failed} failed.`, {
    cause: error,
  });
}

/** The schema's owner migrates, the process runs as somebody else: who needs the tables, and may not change them. */
export async function grantTo<T>(owner: Kysely<T>, role: string): Promise<void> {
  await sql`grant usage on schema public to ${sql.id(role)}`.execute(owner);
  await sql`grant select, insert, update, delete on all tables in schema public to ${sql.id(role)}`.execute(owner);
  await sql`grant execute on all functions in schema public to ${sql.id(role)}`.execute(owner);
}
