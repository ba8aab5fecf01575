// `patchbay backup`: writes an embedded installation into one file, with or without a running gateway. The file is written under a temporary
// name, read back and verified before it is renamed.
import { randomUUID } from "node:crypto";
import { open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import type { BackupOptions } from "../../cli/operate/operations-commands.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import { packageVersion } from "../../cli/package-root.ts";
import { CliError, printLine, type Terminal, write } from "../../cli/terminal.ts";
import type { Configuration } from "../../config/configuration.ts";
import { openSecrets } from "../../storage/secrets/open-secrets.ts";
import { readSecret } from "../../storage/secrets/secrets.ts";
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
import { reasonOf } from "../doctor/finding.ts";
import { openInstallation } from "../open-installation.ts";
import { readConfiguration } from "../read-configuration.ts";

const NOT_EMBEDDED =
  "This installation keeps its state on a PostgreSQL server. Back it up with pg_dump or its provider's snapshots.";

export async function backup(target: string, options: BackupOptions, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  const { storage } = configuration;
  if (storage.databaseUrl !== null)
    throw new CliError(EXIT.usage, NOT_EMBEDDED, {
      hints: ["back up objects and secrets as well: see docs/operations.md"],
    });
  const file = await chooseFileName(resolve(terminal.cwd, target));
  await refuseInside(file, storage.dataDir);
  await using opened = new AsyncDisposableStack();
  const database = await openInstallation(configuration, terminal, { asItIs: true, embedded: "either" });
  opened.defer(() => database.close());
  // A unique name, so that files of another run or program are never removed.
  const temporaryPath = `${file}.${randomUUID()}.partial`;
  const collected = join(storage.dataDir, `${COLLECTED}${randomUUID()}`);
  try {
    // Reported before anything is written, because leftovers may fill the disk.
    await reportLeftovers(dirname(file), terminal);
    const contents = await collectBackup(database, configuration, collected, options.secrets);
    const manifest = await writeVerified(temporaryPath, collected, {
      created_at: new Date().toISOString(),
      patchbay: packageVersion(),
      ...contents,
      has_secrets: options.secrets,
      objects: storage.objects.kind === "file" ? "included" : "elsewhere",
    });
    await rename(temporaryPath, file);
    await report(file, manifest, { ...options, ...(await examineSecrets(configuration)) }, terminal);
    return EXIT.ok;
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  } finally {
    await rm(collected, { recursive: true, force: true });
  }
}

/** Once it resolves, the archive is on disk, read back and verified. */
async function writeVerified(temporaryPath: string, collected: string, about: About): Promise<Manifest> {
  try {
    const archive = await open(temporaryPath, "wx", 0o600);
    try {
      await writeArchive(archive, collected, about);
      await archive.sync();
    } finally {
      await archive.close();
    }
    return await readArchive(temporaryPath, null);
  } catch (error) {
    throw new CliError(EXIT.unexpected, `No backup was created in ${dirname(temporaryPath)}: ${reasonOf(error)}.`, {
      hints: ["no partial file remains; check free space and write permission"],
    });
  }
}

/** In a directory, returns a file name with the current time. Throws if the file exists, because backups never overwrite. */
async function chooseFileName(target: string): Promise<string> {
  const targetStat = await statOrNull(target);
  if (targetStat?.isDirectory() === true)
    return join(target, `patchbay-${new Date().toISOString().replaceAll(/[-:]|\.\d+/gu, "")}.tar`);
  if (targetStat !== null)
    throw new CliError(EXIT.conflict, `${target} already exists; backups never overwrite files.`);
  if ((await statOrNull(dirname(target))) === null)
    throw new CliError(EXIT.notFound, `There is no directory ${dirname(target)}.`);
  return target;
}

/** Refuses a target inside the installation's own folders, because a later backup would contain it. */
async function refuseInside(file: string, dataDir: string): Promise<void> {
  const folder = await realpath(dirname(file));
  for (const part of [...DATABASE_PARTS, "objects"]) {
    const partFolder = await realpath(join(dataDir, part)).catch(() => null);
    if (partFolder !== null && `${folder}${sep}`.startsWith(`${partFolder}${sep}`))
      throw new CliError(EXIT.usage, `${file} would be in ${partFolder}, which belongs to the installation.`, {
        hints: [`choose a path outside of ${dataDir}`],
      });
  }
}

const LEFTOVER = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.partial$/u;

/** Reports partial files of backups that were killed, which may contain all secrets. Running backups of other installations look the same. */
async function reportLeftovers(folder: string, terminal: Terminal): Promise<void> {
  // The folder may be writable but not readable.
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => LEFTOVER.test(each)))
    await printLine(
      terminal,
      `${join(folder, name)} was left by an unfinished backup; remove it unless another backup is running.`,
    );
}

interface SecretsReview {
  /** Secrets that the database uses and only the configuration contains, even if the data directory has an older one. */
  readonly configured: readonly string[];
  readonly faults: readonly string[];
}

async function examineSecrets({ storage, secrets }: Configuration): Promise<SecretsReview> {
  const { dataDir } = storage;
  const opened = await openSecrets({ ...storage, ...secrets });
  // The secrets' files are backed up even if they are invalid.
  if (!opened.ok) return { configured: [], faults: opened.faults };
  const used = { "key-pepper": [opened.pepper], "encryption-key": opened.encryptionKeys };
  const configured: string[] = [];
  for (const name of NEEDED_SECRETS) {
    // A file that is not in use may be unreadable.
    const storedSecret = await readSecret(dataDir, name).catch(() => null);
    if (!used[name].every((secret) => storedSecret?.equals(secret) === true)) configured.push(name);
  }
  return { configured, faults: [] };
}

function secretsIn(manifest: Manifest, configured: readonly string[]): string {
  const missing = missingSecrets(manifest);
  if (!manifest.has_secrets)
    return `It contains no secrets: without ${missing.join(" and ")} of this installation, nothing can be decrypted and all API keys are invalid.`;
  const lacking = NEEDED_SECRETS.filter((name) => missing.includes(name) || configured.includes(name)).join(" and ");
  if (lacking === "")
    return "It contains the installation's secrets: anyone with the file can decrypt its data and use its API keys. Store it securely.";
  return `The configuration gives ${lacking}, so the backup does not contain them: without ${lacking} of this installation it cannot be used. Store them separately.`;
}

type ReportOptions = BackupOptions & SecretsReview;

async function report(file: string, manifest: Manifest, options: ReportOptions, terminal: Terminal): Promise<void> {
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
  await printLine(terminal, `${rows} rows, ${manifest.entries.length} files, ${size} bytes, read back and compared.`);
  const { configured, faults } = options;
  await printLine(
    terminal,
    faults.length === 0 || !manifest.has_secrets
      ? secretsIn(manifest, configured)
      : `The secrets have errors, which are part of the backup too: ${faults.join("; ")}.`,
  );
  if (manifest.objects === "elsewhere")
    await printLine(terminal, "Objects are stored in S3 and are not included: version or copy the bucket separately.");
}
