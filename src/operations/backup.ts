// `patchbay backup`: an embedded installation in one file, with or without a running gateway: written aside, read back and compared before it gets its
// name.
import { randomUUID } from "node:crypto";
import { open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import type { BackupOptions } from "../cli/operations-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { packageVersion } from "../cli/package-root.ts";
import { CliError, say, type Terminal, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { openSecrets } from "../storage/open-secrets.ts";
import { readSecret } from "../storage/secrets.ts";
import {
  type About,
  countRows,
  type Manifest,
  missingSecrets,
  readArchive,
  rowsByTable,
  writeArchive,
} from "./backup-archive.ts";
import { collectBackup } from "./collect-backup.ts";
import { COLLECTED, DATABASE_PARTS, NEEDED_SECRETS, statOrNull } from "./data-dir-contents.ts";
import { reasonOf } from "./finding.ts";
import { openInstallation } from "./open-installation.ts";
import { readConfiguration } from "./read-configuration.ts";

const NOT_EMBEDDED =
  "This installation keeps its state on a PostgreSQL server. Back it up with pg_dump or its provider's snapshots.";

export async function backup(target: string, options: BackupOptions, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  const { storage } = configuration;
  if (storage.databaseUrl !== null)
    throw new CliError(EXIT.usage, NOT_EMBEDDED, {
      hints: ["objects and secrets go with it: see docs/operations.md"],
    });
  const file = await nameOf(resolve(terminal.cwd, target));
  await refuseInside(file, storage.dataDir);
  await using opened = new AsyncDisposableStack();
  const database = await openInstallation(configuration, terminal, { asItIs: true, embedded: "either" });
  opened.defer(() => database.close());
  // A name of its own: what another run left, or other programs keep there, is not removed.
  const aside = `${file}.${randomUUID()}.partial`;
  const collected = join(storage.dataDir, `${COLLECTED}${randomUUID()}`);
  try {
    // Before anything is written: it may be what fills the disk.
    await reportLeftovers(dirname(file), terminal);
    const contents = await collectBackup(database, configuration, collected, options.secrets);
    const manifest = await writeChecked(aside, collected, {
      created_at: new Date().toISOString(),
      patchbay: packageVersion(),
      ...contents,
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
    await rm(collected, { recursive: true, force: true });
  }
}

/** On disk, read back and compared when it resolves. */
async function writeChecked(aside: string, collected: string, about: About): Promise<Manifest> {
  try {
    const archive = await open(aside, "wx", 0o600);
    try {
      await writeArchive(archive, collected, about);
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

/** A later backup would contain it. */
async function refuseInside(file: string, dataDir: string): Promise<void> {
  const folder = await realpath(dirname(file));
  for (const part of [...DATABASE_PARTS, "objects"]) {
    const copied = await realpath(join(dataDir, part)).catch(() => null);
    if (copied !== null && `${folder}${sep}`.startsWith(`${copied}${sep}`))
      throw new CliError(EXIT.usage, `${file} would be in ${copied}, which belongs to the installation.`, {
        hints: [`choose a place outside of ${dataDir}`],
      });
  }
}

const LEFTOVER = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.partial$/u;

/** Of a backup that was killed, perhaps with all secrets in it. One of another installation, under way right now, looks the same. */
async function reportLeftovers(folder: string, terminal: Terminal): Promise<void> {
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
  const rows = countRows(manifest);
  if (options.json === true) {
    const { entries, tables, ...about } = manifest;
    await write(
      terminal.stdout,
      `${JSON.stringify({ file, size, files: entries.length, rows: rowsByTable(tables), ...about })}\n`,
    );
    return;
  }
  await write(terminal.stdout, `${file}\n`);
  await say(terminal, `${rows} rows, ${manifest.entries.length} files, ${size} bytes, read back and compared.`);
  const { given, faults } = options;
  await say(
    terminal,
    faults.length === 0 || !manifest.has_secrets
      ? secretsIn(manifest, given)
      : `The secrets have faults, which the backup does not fix: ${faults.join("; ")}.`,
  );
  if (manifest.objects === "elsewhere")
    await say(terminal, "Objects are kept in S3 and are not in it: version or copy the bucket beside it.");
}
