// Collects what a backup contains in one directory: a dump of the tables as of one moment, hard links to the objects that its rows name, the secrets.
import { copyFile, link, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Configuration } from "../config/configuration.ts";
import { errorCode } from "../lib/error-code.ts";
import type { Database } from "../storage/database.ts";
import { dumpTables, type DumpedTable } from "../storage/dump-tables.ts";
import { listNamedObjects } from "../storage/job-sweep.ts";
import { migrationState } from "../storage/migrate.ts";
import { installation } from "../storage/system.ts";
import { DUMP_FOLDER, SECRET_FILES, statOrNull } from "./data-dir-contents.ts";

export interface CollectedBackup {
  readonly migrations: string[];
  readonly tables: DumpedTable[];
}

/** Times a snapshot is taken whose objects were removed before they could be linked. */
const TRIES = 5;

export async function collectBackup(
  database: Database,
  { storage }: Pick<Configuration, "storage">,
  directory: string,
  hasSecrets: boolean,
): Promise<CollectedBackup> {
  await mkdir(directory, { mode: 0o700 });
  const isFile = storage.objects.kind === "file";
  const objects = join(storage.dataDir, "objects");
  let missingBefore: readonly string[] = [];
  for (let tries = 1; ; tries += 1) {
    // An object is written before its row and removed after it: linked before and after the snapshot, none of a row's is missing, unless it came and
    // went between the two.
    if (isFile) await linkAll(objects, join(directory, "objects"));
    const { tables, migrations, named } = await dump(database, join(directory, DUMP_FOLDER));
    if (isFile) await linkAll(objects, join(directory, "objects"));
    const missing = isFile ? await missingOf(named, join(directory, "objects")) : [];
    // The same as before: they were lost before this backup.
    const isFinal = tries === TRIES || missing.every((key) => missingBefore.includes(key));
    if (isFinal) {
      if (hasSecrets) await copySecrets(storage.dataDir, directory);
      return { migrations: [...migrations], tables: [...tables] };
    }
    missingBefore = missing;
    await rm(join(directory, DUMP_FOLDER), { recursive: true });
  }
}

async function dump(database: Database, directory: string) {
  return installation(database).transaction(async (tx) => {
    const tables = await dumpTables(tx, directory);
    return { tables, migrations: (await migrationState(tx)).applied, named: await listNamedObjects(tx) };
  });
}

async function missingOf(named: readonly string[], links: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const key of named) if ((await statOrNull(join(links, key))) === null) missing.push(key);
  return missing;
}

/** What begins with a dot is the store's own: uploads that never got a name. */
async function linkAll(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of entries) {
    if (entry.name.startsWith(".")) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkAll(source, target);
    else if (entry.isFile()) await linkOne(source, target);
  }
}

async function linkOne(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    const code = errorCode(error);
    // Linked before, or removed since the directory was read.
    if (code === "EEXIST" || code === "ENOENT") return;
    // A file system without hard links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EXDEV" && code !== "EMLINK") throw error;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await copyFile(source, target);
  }
}

async function copySecrets(dataDir: string, directory: string): Promise<void> {
  for (const name of SECRET_FILES)
    if ((await statOrNull(join(dataDir, name)))?.isFile() === true)
      await copyFile(join(dataDir, name), join(directory, name));
}
