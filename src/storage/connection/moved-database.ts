// Marks an embedded database that was moved to a server, so that no gateway starts on it and writes to stale data.
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const MOVED_FILE = "moved-to-server.json";

export interface MovedMarker {
  /** Host and database, without credentials. */
  readonly to: string;
  readonly at: string;
}

export async function markMoved(dataDir: string, databaseUrl: string, now: Date): Promise<void> {
  const { host, pathname } = new URL(databaseUrl);
  const moved: MovedMarker = { to: `${host}${pathname}`, at: now.toISOString() };
  await writeFile(join(dataDir, MOVED_FILE), `${JSON.stringify(moved)}\n`, { mode: 0o600 });
}

/** Null: the database was not moved. */
export async function readMoved(dataDir: string): Promise<MovedMarker | null> {
  const text = await readFile(join(dataDir, MOVED_FILE), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const { to = "a PostgreSQL server", at = "an earlier day" } = JSON.parse(text) as Partial<MovedMarker>;
    return { to, at };
  } catch {
    return { to: "a PostgreSQL server", at: "an earlier day" };
  }
}

/** Removes the mark, for a data directory with new contents. */
export async function unmarkMoved(dataDir: string): Promise<void> {
  await rm(join(dataDir, MOVED_FILE), { force: true });
}

export const MOVED = {
  message: ({ to, at }: MovedMarker, dataDir: string) =>
    `the embedded database in ${dataDir} was moved to ${to} at ${at}, and nothing may be written to it any more`,
  fix: (dataDir: string) =>
    `set storage.database_url or DATABASE_URL to that server; to go back to the embedded database, without what the server has seen since, remove ${join(dataDir, MOVED_FILE)}`,
};
