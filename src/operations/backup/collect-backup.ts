// Collects a backup's contents in one directory: a dump of the tables from one snapshot, hard links to the objects, the secrets.
import { copyFile, link, mkdir, readdir } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import type { Configuration } from "../../config/configuration.ts";
import { errorCode } from "../../lib/error-code.ts";
import type { Database } from "../../storage/database.ts";
import { dumpTables, type DumpedTable, readOneMoment } from "../store/dump-tables.ts";
import { listNeededObjects } from "../../jobs/store/job-sweep.ts";
import { migrationState } from "../../storage/schema/migrate.ts";
import { bypassRls } from "../../storage/system.ts";
import { DUMP_FOLDER, SECRET_FILES, statOrNull } from "./data-dir-contents.ts";

export interface CollectedBackup {
  readonly migrations: string[];
  readonly tables: DumpedTable[];
}

/** A snapshot is retaken if a job ended and its audio was removed before it could be linked. */
const MAX_SNAPSHOTS = 100;

export async function collectBackup(
  database: Database,
  { storage }: Pick<Configuration, "storage">,
  directory: string,
  hasSecrets: boolean,
): Promise<CollectedBackup> {
  await mkdir(directory, { mode: 0o700 });
  const links = storage.objects.kind === "file" ? new ObjectLinks(storage.dataDir, directory) : null;
  await links?.addFolder("");
  for (let snapshots = 1; snapshots <= MAX_SNAPSHOTS; snapshots += 1) {
    // An object is written before its row and removed after the job's end. So what is missing in the next snapshot too was lost earlier.
    const collected = await bypassRls(database, "installation").transaction(async (tx) => {
      await readOneMoment(tx);
      if (links !== null && !(await links.addAll(await listNeededObjects(tx)))) return null;
      return {
        tables: [...(await dumpTables(tx, join(directory, DUMP_FOLDER)))],
        migrations: [...(await migrationState(tx)).applied],
      };
    });
    if (collected === null) continue;
    if (hasSecrets) await copySecrets(storage.dataDir, directory);
    return collected;
  }
  throw new Error(`jobs' objects were removed faster than they could be linked, ${MAX_SNAPSHOTS} times`);
}

/** Hard links to objects. Each is created once, so that the links for a later snapshot take only milliseconds. */
class ObjectLinks {
  readonly #objects: string;
  readonly #links: string;
  readonly #linked = new Set<string>();
  readonly #folders = new Set<string>();
  #missing: ReadonlySet<string> = new Set();

  constructor(dataDir: string, directory: string) {
    this.#objects = join(dataDir, "objects");
    this.#links = join(directory, "objects");
  }

  /** Links a folder recursively. Names that begin with a dot are the object store's temporary uploads. */
  async addFolder(folder: string): Promise<void> {
    const entries = await readdir(join(this.#objects, folder), { withFileTypes: true }).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    });
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) await this.addFolder(path);
      else if (entry.isFile()) await this.#add(path);
    }
  }

  /** False if an object is missing that was not missing in the previous call. */
  async addAll(keys: readonly string[]): Promise<boolean> {
    const missing = new Set<string>();
    for (const key of keys) if (!(await this.#add(key))) missing.add(key);
    const isSettled = missing.isSubsetOf(this.#missing);
    this.#missing = missing;
    return isSettled;
  }

  async #add(key: string): Promise<boolean> {
    if (this.#linked.has(key)) return true;
    const target = join(this.#links, key);
    if (!this.#folders.has(dirname(target))) {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      this.#folders.add(dirname(target));
    }
    if (!(await linkOrCopy(join(this.#objects, key), target))) return false;
    this.#linked.add(key);
    return true;
  }
}

/** False if there is no such file. */
async function linkOrCopy(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target).catch(async (error: unknown) => {
      if (!WITHOUT_LINKS.has(errorCode(error) ?? "")) throw error;
      await copyFile(source, target);
    });
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** Errors of file systems without hard links. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EXDEV", "EMLINK"]);

async function copySecrets(dataDir: string, directory: string): Promise<void> {
  for (const name of SECRET_FILES)
    if ((await statOrNull(join(dataDir, name)))?.isFile() === true)
      await copyFile(join(dataDir, name), join(directory, name));
}
