// `patchbay migrate-storage`: copies an embedded installation into an empty PostgreSQL database in one transaction, and compares every
// table before the commit. Objects stay where they are, and the queue's messages are sent again from the rows.
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { MigrateStorageOptions } from "../cli/operate/operations-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, printLine, type Terminal, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { isPostgresUrl, isReadablePostgresUrl, WRITE_ENCODED } from "../lib/postgres-url.ts";
import { type CopiedTable, copyTables, tablesInUse } from "./store/copy-tables.ts";
import { type Database } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { openDatabase } from "../storage/connection/open-database.ts";
import { MADE_PEPPER } from "../storage/secrets/open-secrets.ts";
import { markMoved, MOVED_FILE } from "../storage/connection/moved-database.ts";
import { DATA_FOLDER } from "../storage/embedded/placement.ts";
import { isServerUnavailable } from "../storage/database-faults.ts";
import { holdDataDir } from "./hold-data-dir.ts";
import { reasonOf } from "./doctor/finding.ts";
import { noDatabase, openInstallation, requireEmbedded } from "./open-installation.ts";
import { readConfiguration } from "./read-configuration.ts";
import { resendMessages, withQueue } from "./backup/resend-messages.ts";

export async function migrateStorage(options: MigrateStorageOptions, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  const { dataDir } = configuration.storage;
  const databaseUrl = await readTarget(options.to, terminal);
  await requireEmbedded(dataDir);
  const lock = await holdDataDir(dataDir);
  try {
    await using opened = new AsyncDisposableStack();
    // Explicit, because the configuration may already name the server.
    const embedded = { ...configuration.storage, databaseUrl: null, migrateUrl: null };
    const source = await openInstallation({ storage: embedded }, terminal, {
      asItIs: false,
      embedded: "own",
      heldLock: lock,
      // Moving again is safe: the target is another empty database, and the marker then names the last one.
      allowsMoved: true,
    });
    opened.defer(() => source.close());
    const target = await openTarget(databaseUrl);
    opened.defer(() => target.close());
    const nonEmptyTables = await tablesInUse(bypassRls(target, "installation").db);
    if (nonEmptyTables.length > 0)
      throw new CliError(EXIT.conflict, `The database is in use: there are rows in ${nonEmptyTables.join(", ")}.`, {
        hints: ["use an empty database: existing data is neither merged nor replaced"],
      });
    const result = await move(source, target, configuration).catch((error: unknown) => {
      throw isServerUnavailable(error) ? interruptedMove(error) : error;
    });
    await markMoved(dataDir, databaseUrl, new Date());
    await report(result, configuration, options, terminal);
    return EXIT.ok;
  } finally {
    await lock.release();
  }
}

async function readTarget(to: string, terminal: Terminal): Promise<string> {
  const url = to === "-" ? (await text(terminal.stdin)).trim() : to;
  if (!isPostgresUrl(url)) throw new CliError(EXIT.usage, "--to must be a postgres:// URL, or `-`.");
  if (!isReadablePostgresUrl(url)) throw new CliError(EXIT.usage, `--to ${WRITE_ENCODED}.`);
  return url;
}

async function openTarget(databaseUrl: string): Promise<Database> {
  try {
    return await openDatabase({ databaseUrl, poolSize: 2 });
  } catch (error) {
    throw noDatabase(
      error,
      (reason) => `The database server cannot be prepared: ${reason}.`,
      "the user must own the schema, or be allowed to create tables in it",
    );
  }
}

/** The outcome of a commit in progress is unknown. A second run reports whether the server has the data. */
function interruptedMove(error: unknown): CliError {
  return new CliError(EXIT.upstream, `A database connection was lost during the migration: ${reasonOf(error)}.`, {
    hints: [
      "the embedded database is unchanged; run the command again (if the server already has all data, it is reported as in use)",
    ],
  });
}

interface MoveResult {
  readonly tables: readonly CopiedTable[];
  readonly messages: number;
}

async function move(from: Database, to: Database, configuration: Configuration): Promise<MoveResult> {
  return withQueue(to, configuration, (queue) =>
    bypassRls(from, "installation").transaction((source) =>
      bypassRls(to, "installation").transaction(async (target) => {
        const tables = await copyTables(source, target);
        return { tables, messages: await resendMessages(queue, target) };
      }),
    ),
  );
}

async function report(
  { tables, messages }: MoveResult,
  { storage, secrets }: Configuration,
  options: MigrateStorageOptions,
  terminal: Terminal,
): Promise<void> {
  if (options.json === true) await write(terminal.stdout, `${JSON.stringify({ tables, messages })}\n`);
  else {
    const width = Math.max(...tables.map(({ table }) => table.length));
    const line = ({ table, rows, digest }: CopiedTable) =>
      `${table.padEnd(width)}  ${String(rows).padStart(9)}  ${digest}`;
    await write(
      terminal.stdout,
      `${[`${"table".padEnd(width)}  ${"rows".padStart(9)}  digest, equal on both sides`, ...tables.map(line)].join("\n")}\n`,
    );
  }
  const next = [
    `Moved, and ${messages} queue messages resent. The embedded database is unchanged: keep it until the server has proved itself, then remove ${join(storage.dataDir, DATA_FOLDER)}. It starts no gateway unless ${join(storage.dataDir, MOVED_FILE)} is removed.`,
    "Before the next start:",
    "  storage.database_url (or DATABASE_URL): the server, and storage.migrate_url if the gateway must not own the schema",
    ...(secrets.keyPepper === null
      ? [
          `  secrets.key_pepper: "${MADE_PEPPER}\${file:${join(storage.dataDir, "key-pepper")}}", or existing API keys are invalid`,
        ]
      : []),
    ...(secrets.encryptionKeys.length === 0
      ? [
          `  secrets.encryption_keys: ["\${file:${join(storage.dataDir, "encryption-key")}}"], or stored data cannot be decrypted`,
        ]
      : []),
    ...(storage.objects.kind === "file"
      ? [
          `  objects stay in ${join(storage.dataDir, "objects")}: keep storage.data_dir, or copy them to a bucket under the same names`,
        ]
      : []),
  ];
  for (const line of next) await printLine(terminal, line);
}
