// `patchbay backup`: an embedded installation in one file, written aside, read back and compared before it gets its name.
import { randomUUID } from "node:crypto";
import { open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import type { BackupOptions } from "../cli/operations-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { packageVersion } from "../cli/package-root.ts";
import { CliError, say, type Terminal, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { countRows } from "../storage/catalogue.ts";
import type { DataDirLock } from "../storage/data-dir-lock.ts";
import { openDatabase } from "../storage/database.ts";
import { migrationState } from "../storage/migrate.ts";
import { openSecrets } from "../storage/open-secrets.ts";
import { readSecret } from "../storage/secrets.ts";
import { type About, type Manifest, missingSecrets, readArchive, writeArchive } from "./backup-archive.ts";
import { NEEDED_SECRETS, partsOf, statOrNull } from "./data-dir-contents.ts";
import { reasonOf } from "./finding.ts";
import { holdDataDir } from "./hold-data-dir.ts";
import { installation } from "../storage/system.ts";
import { requireEmbedded } from "./open-installation.ts";
import { readConfiguration } from "./read-configuration.ts";

const NOT_EMBEDDED =
  "This installation keeps its state on a PostgreSQL server, whose own tools back it up: pg_dump, or its provider's snapshots.";

export async function backup(target: string, options: BackupOptions, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  const { storage } = configuration;
  if (storage.databaseUrl !== null)
    throw new CliError(EXIT.usage, NOT_EMBEDDED, {
      hints: ["objects and secrets go with it: see docs/operations.md"],
    });
  await requireEmbedded(storage.dataDir);
  const file = await nameOf(resolve(terminal.cwd, target));
  await refuseInside(file, storage.dataDir);
  const lock = await holdDataDir(storage.dataDir);
  // A name of its own: what another run left, or somebody else has there, is not this one's to remove.
  const aside = `${file}.${randomUUID()}.partial`;
  try {
    // Before anything is written: it may be what fills the disk.
    await tellOfLeftovers(dirname(file), terminal);
    const { migrations, rows } = await readContents(storage.dataDir, lock);
    const manifest = await writeChecked(aside, storage.dataDir, {
      created_at: new Date().toISOString(),
      patchbay: packageVersion(),
      migrations: [...migrations],
      rows,
      has_secrets: options.secrets,
      objects: storage.objects.kind === "file" ? "included" : "elsewhere",
    });
    await rename(aside, file);
    await report(file, manifest, { ...options, ...(await examineSecrets(configuration)) }, terminal);
    return EXIT.ok;
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  } finally {
    await lock.release();
  }
}

/** On disk, read back and compared when it resolves. */
async function writeChecked(aside: string, dataDir: string, about: About): Promise<Manifest> {
  try {
    const archive = await open(aside, "wx", 0o600);
    try {
      await writeArchive(archive, dataDir, about);
      await archive.sync();
    } finally {
      await archive.close();
    }
    return await readArchive(aside, null);
  } catch (error) {
    throw new CliError(EXIT.unexpected, `No backup was made in ${dirname(aside)}: ${reasonOf(error)}.`, {
      hints: ["nothing is left of it; see that there is room for all of it, and that this user may write there"],
    });
  }
}

/** Opened and closed in good order once: a copy of files that a killed process left would have to recover at its restore. */
async function readContents(dataDir: string, heldLock: DataDirLock) {
  const database = await openDatabase({ dataDir, heldLock, asItIs: true });
  try {
    const { db } = installation(database);
    return { migrations: (await migrationState(db)).applied, rows: await countRows(db) };
  } finally {
    await database.close();
  }
}

/** A directory gets a file named for the moment; a file that is there is not replaced. */
async function nameOf(target: string): Promise<string> {
  const facts = await statOrNull(target);
  if (facts?.isDirectory() === true)
    return join(target, `patchbay-${new Date().toISOString().replaceAll(/[-:]|\.\d+/gu, "")}.tar`);
  if (facts !== null) throw new CliError(EXIT.conflict, `${target} exists already; a backup replaces nothing.`);
  if ((await statOrNull(dirname(target))) === null)
    throw new CliError(EXIT.notFound, `There is no directory ${dirname(target)}.`);
  return target;
}

/** It would be copied into itself, and grow until the disk is full. */
async function refuseInside(file: string, dataDir: string): Promise<void> {
  const folder = await realpath(dirname(file));
  for (const part of partsOf(false)) {
    const copied = await realpath(join(dataDir, part)).catch(() => null);
    if (copied !== null && `${folder}${sep}`.startsWith(`${copied}${sep}`))
      throw new CliError(EXIT.usage, `${file} would lie in ${copied}, which is backed up itself.`, {
        hints: [`choose a place outside of ${dataDir}`],
      });
  }
}

const LEFTOVER = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.partial$/u;

/** Of a backup that was killed, perhaps with all secrets in it. One of another installation, under way right now, looks the same. */
async function tellOfLeftovers(folder: string, terminal: Terminal): Promise<void> {
  // A folder may be one to write to and not to look into.
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => LEFTOVER.test(each)))
    await say(
      terminal,
      `${join(folder, name)} is what a backup that never ended left behind; unless another is being made there now, remove it.`,
    );
}

interface Examined {
  /** What the database is used with and the configuration alone has, also where an older one lies in the data directory. */
  readonly given: readonly string[];
  readonly faults: readonly string[];
}

async function examineSecrets({ storage, secrets }: Configuration): Promise<Examined> {
  const { dataDir } = storage;
  const opened = await openSecrets({ ...storage, ...secrets });
  // What is there is backed up all the same.
  if (!opened.ok) return { given: [], faults: opened.faults };
  const used = { "key-pepper": [opened.pepper], "encryption-key": opened.encryptionKeys };
  const given: string[] = [];
  for (const name of NEEDED_SECRETS) {
    // One that nobody uses may be anything.
    const kept = await readSecret(dataDir, name).catch(() => null);
    if (!used[name].every((secret) => kept?.equals(secret) === true)) given.push(name);
  }
  return { given, faults: [] };
}

function secretsIn(manifest: Manifest, given: readonly string[]): string {
  const missing = missingSecrets(manifest);
  if (!manifest.has_secrets)
    return `It holds no secrets: without ${missing.join(" and ")} of this installation it opens nothing and knows no key.`;
  const lacking = NEEDED_SECRETS.filter((name) => missing.includes(name) || given.includes(name)).join(" and ");
  if (lacking === "")
    return "It holds the installation's secrets: whoever has it can open what is sealed and call as its apps. Keep it so.";
  return `The configuration gives ${lacking}, so the backup does not hold them: without ${lacking} of this installation it cannot be used. Keep them elsewhere.`;
}

type Reported = BackupOptions & Examined;

async function report(file: string, manifest: Manifest, options: Reported, terminal: Terminal): Promise<void> {
  const { size } = await stat(file);
  const rows = Object.values(manifest.rows).reduce((total, count) => total + count, 0);
  if (options.json === true) {
    const { entries, ...about } = manifest;
    await write(terminal.stdout, `${JSON.stringify({ file, size, files: entries.length, ...about })}\n`);
    return;
  }
  await write(terminal.stdout, `${file}\n`);
  await say(terminal, `${rows} rows, ${manifest.entries.length} files, ${size} bytes, read back and compared.`);
  const { given, faults } = options;
  await say(
    terminal,
    faults.length === 0 || !manifest.has_secrets
      ? secretsIn(manifest, given)
      : `The secrets have faults, which the backup does not mend: ${faults.join("; ")}.`,
  );
  if (manifest.objects === "elsewhere")
    await say(terminal, "Objects are kept in S3 and are not in it: version or copy the bucket beside it.");
}
