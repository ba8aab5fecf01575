// `patchbay restore`: unpacks a backup into a staging folder, verifies it byte by byte, loads its rows into a new database, then swaps it in.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { RestoreOptions } from "../../cli/operate/operations-commands.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import { CliError, printLine, type Terminal, write } from "../../cli/terminal.ts";
import { loadTables } from "../store/dump-tables.ts";
import { LOCK_FILE } from "../../storage/embedded/installation-lock.ts";
import { allowPassage, movePointer, readPlacement } from "../../storage/embedded/placement.ts";
import { migrate, migrationState } from "../../storage/schema/migrate.ts";
import { unmarkMoved } from "../../storage/connection/moved-database.ts";
import { errorCode } from "../../lib/error-code.ts";
import {
  BackupOfOtherVersion,
  countRows,
  type Manifest,
  missingSecrets,
  readArchive,
  rowsByTable,
} from "./backup-archive.ts";
import {
  DATABASE_PARTS,
  DUMP_FOLDER,
  isLeftByRestore,
  isLock,
  REPLACED,
  SECRET_FILES,
  STAGED,
  statOrNull,
} from "./data-dir-contents.ts";
import { holdDataDir } from "../hold-data-dir.ts";
import { giveToOwnerOf } from "./keep-owner.ts";
import { reasonOf } from "../doctor/finding.ts";
import { MODELS_FOLDER } from "../../config/parse-configuration.ts";
import { RUNNING_FILE } from "../../config/running-gateway.ts";
import { bypassRls } from "../../storage/system.ts";
import { openStorage } from "../../storage/connection/open-storage.ts";
import type { Configuration } from "../../config/configuration.ts";
import { readConfiguration } from "../read-configuration.ts";
import { resendMessages, withQueue } from "./resend-messages.ts";

export async function restore(file: string, options: RestoreOptions, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  const { storage } = configuration;
  const { dataDir } = storage;
  if (storage.databaseUrl !== null)
    throw new CliError(
      EXIT.usage,
      "The configuration names a PostgreSQL server; a backup is restored to embedded storage.",
      { hints: ["leave storage.database_url and DATABASE_URL empty, restore, then `patchbay migrate-storage`"] },
    );
  const archive = resolve(terminal.cwd, file);
  // Not necessarily a regular file: a backup that is decrypted on the fly comes through a pipe.
  if ((await statOrNull(archive))?.isDirectory() !== false)
    throw new CliError(EXIT.notFound, `There is no file ${archive}.`);
  const lock = await holdDataDir(dataDir);
  const staged = join(dataDir, `${STAGED}${randomUUID()}`);
  try {
    await giveToOwnerOf(dataDir, join(dataDir, LOCK_FILE));
    // Locks, the leftovers of earlier restores and models, which no backup contains, do not count as contents.
    const present = (await readdir(dataDir)).filter(
      (name) => !isLock(name) && !isLeftByRestore(name) && name !== RUNNING_FILE && name !== MODELS_FOLDER,
    );
    if (present.length > 0 && options.force !== true)
      throw new CliError(EXIT.conflict, `${dataDir} is not empty: it contains ${present.join(", ")}.`, {
        hints: [
          "use --force to replace what the backup contains and keep other files",
          "or choose another storage.data_dir",
        ],
      });
    await tidyUp(dataDir, terminal);
    // Before the first start, so that the new server's files are created inside this directory.
    await allowPassage(dataDir);
    await mkdir(staged, { mode: 0o700 });
    const manifest = await unpack(archive, staged);
    // Before the new server starts, because it runs as the owner of this directory.
    await giveToOwnerOf(dataDir, staged);
    await loadDatabase(staged, manifest, configuration, terminal);
    await giveToOwnerOf(dataDir, staged);
    await replace(dataDir, staged, manifest);
    await unmarkMoved(dataDir);
    await report(dataDir, manifest, options, terminal);
    return EXIT.ok;
  } finally {
    await removeStaged(staged);
    await lock.release();
  }
}

/** The pointer is in the staging folder only if the restore failed. A pointer to a directory in use elsewhere is not followed. */
async function removeStaged(staged: string): Promise<void> {
  const placement = await readPlacement(staged).catch(() => null);
  if (placement?.isRelocated === true) await rm(placement.home, { recursive: true, force: true });
  await rm(staged, { recursive: true, force: true });
}

/** Removes staging folders of killed restores, and reports what they were replacing, because there is no other copy. */
async function tidyUp(dataDir: string, terminal: Terminal): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(STAGED)) await removeStaged(join(dataDir, name));
    if (name.startsWith(REPLACED))
      await printLine(
        terminal,
        `${join(dataDir, name)} contains data replaced by an unfinished restore; remove it when it is no longer needed.`,
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

/** Distinguishes a damaged backup from a full disk or missing permissions, so that no good backup is thrown away. */
export function unpackFault(error: unknown, archive: string, dataDir: string): CliError {
  if (error instanceof BackupOfOtherVersion)
    return new CliError(EXIT.conflict, `${archive} was created by another version: ${error.message}.`, {
      hints: ["restore it with the version that created it; with version 0.1.0, then run patchbay migrate-storage"],
    });
  return errorCode(error) === null
    ? new CliError(EXIT.unexpected, `${archive} is not a complete backup: ${reasonOf(error)}.`, {
        hints: ["nothing was changed; create another backup"],
      })
    : new CliError(EXIT.unexpected, `${archive} could not be unpacked in ${dataDir}: ${reasonOf(error)}.`, {
        hints: ["nothing was changed; check that there is room for it next to the current data, and try again"],
      });
}

/** Creates an embedded database in the staging folder, loads the backup's rows, and migrates to this version's schema. */
async function loadDatabase(
  staged: string,
  manifest: Manifest,
  configuration: Configuration,
  terminal: Terminal,
): Promise<void> {
  const storage = { ...configuration.storage, dataDir: staged };
  const database = await openStorage(storage, { asItIs: true, embedded: "own", path: terminal.env["PATH"] });
  try {
    const unrestricted = bypassRls(database, "installation");
    const { db } = unrestricted;
    // First the schema that the rows were written with, then the later migrations.
    await migrate(db, undefined, manifest.migrations);
    const { applied } = await migrationState(db);
    const unknown = manifest.migrations.filter((name) => !applied.includes(name));
    if (unknown.length > 0)
      throw new CliError(
        EXIT.conflict,
        `The backup was created by a newer version, ${manifest.patchbay}: this version does not support ${unknown.join(", ")}.`,
        { hints: ["restore it with that version or later"] },
      );
    await unrestricted.transaction((tx) => loadTables(tx, join(staged, DUMP_FOLDER), manifest.tables));
    await migrate(db);
    await withQueue(database, configuration, (queue) => unrestricted.transaction((tx) => resendMessages(queue, tx)));
  } finally {
    await database.close();
  }
  await rm(join(staged, DUMP_FOLDER), { recursive: true });
}

/** Deletes the replaced files last, so that a killed restore leaves them in a folder of their own. */
async function replace(dataDir: string, staged: string, manifest: Manifest): Promise<void> {
  const replaced = join(dataDir, `${REPLACED}${randomUUID()}`);
  await mkdir(replaced, { mode: 0o700 });
  const former = await readPlacement(dataDir);
  await movePointer(staged, dataDir);
  const parts = [...DATABASE_PARTS, "objects", ...(manifest.has_secrets ? SECRET_FILES : [])];
  for (const name of parts) {
    const isNew = (await statOrNull(join(staged, name))) !== null;
    const isDatabase = DATABASE_PARTS.some((part) => part === name);
    // Objects in S3 are not in the backup, and secrets may be in the configuration.
    if (!isNew && !isDatabase && (name !== "objects" || manifest.objects === "elsewhere")) continue;
    if ((await statOrNull(join(dataDir, name))) !== null) await rename(join(dataDir, name), join(replaced, name));
    if (isNew) await rename(join(staged, name), join(dataDir, name));
  }
  await rm(replaced, { recursive: true });
  if (former.isRelocated) await rm(former.home, { recursive: true, force: true });
}

async function report(dataDir: string, manifest: Manifest, options: RestoreOptions, terminal: Terminal): Promise<void> {
  const { tables, entries, has_secrets, objects, created_at, patchbay } = manifest;
  const rows = rowsByTable(tables);
  const count = countRows(manifest);
  if (options.json === true)
    await write(
      terminal.stdout,
      `${JSON.stringify({ data_dir: dataDir, created_at, patchbay, rows, files: entries.length, has_secrets, objects })}\n`,
    );
  else
    await write(
      terminal.stdout,
      `${dataDir}: ${count} rows and ${entries.length} files of ${created_at}, all verified.\n`,
    );
  const missing = missingSecrets(manifest);
  if (missing.length > 0)
    await printLine(
      terminal,
      `The backup contains no ${has_secrets ? missing.join(" and no ") : "secrets"}: before the next start, put ${missing.join(" and ")} of that installation in the data directory, or set them in the configuration.`,
    );
  await printLine(terminal, "Next: patchbay doctor, then patchbay up");
}
