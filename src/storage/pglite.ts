// The embedded engine: PostgreSQL compiled to WebAssembly, in this process, in a directory or in memory.
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { type DataDirLock, lockDataDir } from "./data-dir-lock.ts";

const INT8 = 20;
const BYTEA = 17;

/** The engine's own folder in the data directory. */
export const EMBEDDED_FOLDER = "pglite";

/** Whether an engine has been started there before: looked at from outside, nothing is made. */
export async function holdsDatabase(dataDir: string): Promise<boolean> {
  return access(join(dataDir, EMBEDDED_FOLDER, "PG_VERSION")).then(
    () => true,
    () => false,
  );
}

export interface EmbeddedEngine {
  readonly pglite: PGlite;
  readonly close: () => Promise<void>;
}

/** Commits are on disk before they are answered: durability is never relaxed. */
export async function startInDirectory(dataDir: string, held?: DataDirLock): Promise<EmbeddedEngine> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Whoever holds the directory already keeps it for what comes after.
  const lock = held === undefined ? await lockDataDir(dataDir) : { release: async () => undefined };
  try {
    const pglite = await start({ dataDir: join(dataDir, EMBEDDED_FOLDER), relaxedDurability: false });
    return {
      pglite,
      close: async () => {
        await pglite.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Gone with the process; `fromDump` is a data directory as `dumpDataDir` gives it. */
export async function startInMemory(fromDump?: Blob): Promise<EmbeddedEngine> {
  const pglite = await start(fromDump === undefined ? {} : { loadDataDir: fromDump });
  return { pglite, close: () => pglite.close() };
}

async function start(options: { dataDir?: string; relaxedDurability?: boolean; loadDataDir?: Blob }): Promise<PGlite> {
  // Loaded when needed: 30 MB of engine that a server database does not want in memory.
  const { PGlite: Engine } = await import("@electric-sql/pglite");
  const engine = await Engine.create({
    ...options,
    parsers: {
      [INT8]: (value) => BigInt(value),
      [BYTEA]: (value) => Buffer.from(value.slice(2), "hex"),
    },
  });
  // A used file of the log is deleted, not renamed to serve again with all that stands in it (storage/vacuum.ts).
  await engine.exec("set wal_recycle = off");
  return engine;
}
