// `patchbay restore`: unpacked aside and compared byte by byte, its database opened and counted, and only then put in place.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { RestoreOptions } from "../cli/operations-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, say, type Terminal, write } from "../cli/terminal.ts";
import { countRows } from "../storage/catalogue.ts";
import { openDatabase } from "../storage/database.ts";
import { unmarkMoved } from "../storage/moved-database.ts";
import { migrationState } from "../storage/migrate.ts";
import { errorCode } from "../lib/error-code.ts";
import { type Manifest, missingSecrets, readArchive } from "./backup-archive.ts";
import { isLeftByRestore, isLock, partsOf, REPLACED, STAGED, statOrNull } from "./data-dir-contents.ts";
import { holdDataDir } from "./hold-data-dir.ts";
import { reasonOf } from "./finding.ts";
import { RUNNING_FILE } from "../config/running-gateway.ts";
import { installation } from "../storage/system.ts";
import { readConfiguration } from "./read-configuration.ts";

export async function restore(file: string, options: RestoreOptions, terminal: Terminal): Promise<number> {
  const { storage } = readConfiguration(options, terminal);
  const { dataDir } = storage;
  if (storage.databaseUrl !== null)
    throw new CliError(
      EXIT.usage,
      "The configuration names a PostgreSQL server; a backup is restored to embedded storage.",
      { hints: ["leave storage.database_url and DATABASE_URL empty, restore, then `patchbay migrate-storage`"] },
    );
  const archive = resolve(terminal.cwd, file);
  // What is decrypted on the way comes by a pipe.
  if ((await statOrNull(archive))?.isDirectory() !== false)
    throw new CliError(EXIT.notFound, `There is no file ${archive}.`);
  const lock = await holdDataDir(dataDir);
  const staged = join(dataDir, `${STAGED}${randomUUID()}`);
  try {
    // Nothing of a lock or an earlier restore would be lost.
    const present = (await readdir(dataDir)).filter(
      (name) => !isLock(name) && !isLeftByRestore(name) && name !== RUNNING_FILE,
    );
    if (present.length > 0 && options.force !== true)
      throw new CliError(EXIT.conflict, `${dataDir} is not empty: it holds ${present.join(", ")}.`, {
        hints: ["--force replaces what the backup has, and leaves the rest", "or choose another storage.data_dir"],
      });
    await tidyUp(dataDir, terminal);
    await mkdir(staged, { mode: 0o700 });
    const manifest = await unpack(archive, staged);
    await judgeDatabase(staged, manifest);
    await replace(dataDir, staged, manifest);
    await unmarkMoved(dataDir);
    await report(dataDir, manifest, options, terminal);
    return EXIT.ok;
  } finally {
    await rm(staged, { recursive: true, force: true });
    await lock.release();
  }
}

/** Of restores that were killed. What they unpacked is in their archive still; what they had put aside is nowhere else. */
async function tidyUp(dataDir: string, terminal: Terminal): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(STAGED)) await rm(join(dataDir, name), { recursive: true, force: true });
    if (name.startsWith(REPLACED))
      await say(
        terminal,
        `${join(dataDir, name)} is what a restore that never ended was replacing; remove it once nothing of it is missed.`,
      );
  }
}

async function unpack(archive: string, staged: string): Promise<Manifest> {
  try {
    return await readArchive(archive, staged);
  } catch (error) {
    throw unpackFault(error, archive, dirname(staged));
  }
}

/** A disk that is full, or rights that are missing, say nothing of the backup: nobody should throw it away for them. */
export function unpackFault(error: unknown, archive: string, dataDir: string): CliError {
  return errorCode(error) === null
    ? new CliError(EXIT.unexpected, `${archive} is no whole backup: ${reasonOf(error)}.`, {
        hints: ["nothing was changed; take another backup"],
      })
    : new CliError(EXIT.unexpected, `${archive} could not be unpacked in ${dataDir}: ${reasonOf(error)}.`, {
        hints: ["nothing was changed; see that there is room for all of it beside what is there, and try again"],
      });
}

/** The engine opens it, it is not newer than this program, and every table has its rows. */
async function judgeDatabase(staged: string, manifest: Manifest): Promise<void> {
  const database = await openDatabase({ dataDir: staged, asItIs: true });
  try {
    const { unknown } = await migrationState(installation(database).db);
    if (unknown.length > 0)
      throw new CliError(
        EXIT.conflict,
        `The backup was made by a newer version, ${manifest.patchbay}: this one does not know ${unknown.join(", ")}.`,
        { hints: ["restore it with that version, or a later one"] },
      );
    const rows = await countRows(installation(database).db);
    const different = Object.entries(manifest.rows).filter(([table, count]) => rows[table] !== count);
    if (different.length > 0)
      throw new CliError(EXIT.unexpected, `Rows are missing from ${different.map(([table]) => table).join(", ")}.`);
  } finally {
    await database.close();
  }
}

/** What is replaced goes last: until then a killed restore leaves it there under a name of its own. */
async function replace(dataDir: string, staged: string, manifest: Manifest): Promise<void> {
  const replaced = join(dataDir, `${REPLACED}${randomUUID()}`);
  await mkdir(replaced, { mode: 0o700 });
  for (const name of partsOf(manifest.has_secrets)) {
    const isNew = (await statOrNull(join(staged, name))) !== null;
    // Objects elsewhere are not this backup's; the database never is.
    if (!isNew && (name !== "objects" || manifest.objects === "elsewhere")) continue;
    if ((await statOrNull(join(dataDir, name))) !== null) await rename(join(dataDir, name), join(replaced, name));
    if (isNew) await rename(join(staged, name), join(dataDir, name));
  }
  await rm(replaced, { recursive: true });
}

async function report(dataDir: string, manifest: Manifest, options: RestoreOptions, terminal: Terminal): Promise<void> {
  const { rows, entries, has_secrets, objects, created_at, patchbay } = manifest;
  const count = Object.values(rows).reduce((total, n) => total + n, 0);
  if (options.json === true)
    await write(
      terminal.stdout,
      `${JSON.stringify({ data_dir: dataDir, created_at, patchbay, rows, files: entries.length, has_secrets, objects })}\n`,
    );
  else
    await write(
      terminal.stdout,
      `${dataDir}: ${count} rows and ${entries.length} files of ${created_at}, each compared.\n`,
    );
  const missing = missingSecrets(manifest);
  if (missing.length > 0)
    await say(
      terminal,
      `The backup holds no ${has_secrets ? missing.join(" and no ") : "secrets"}: before the next start put ${missing.join(" and ")} of that installation into the data directory, or set them in the configuration.`,
    );
  await say(terminal, "Next: patchbay doctor, then patchbay up");
}
