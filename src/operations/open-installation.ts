// Opens the database of an existing installation for an operator's command, and never creates one. The embedded server is started, or joined
// if a gateway runs it.
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, type Terminal } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Database } from "../storage/database.ts";
import { EmbeddedUnavailable, hasEmbeddedDatabase } from "../storage/embedded/server.ts";
import { ownerOf } from "../storage/embedded/installation-lock.ts";
import { MOVED, readMoved } from "../storage/connection/moved-database.ts";
import { openStorage, type OpenStorageOptions } from "../storage/connection/open-storage.ts";
import { ServerUnavailable } from "../storage/connection/server-fault.ts";
import { reasonOf } from "./doctor/finding.ts";

interface OpenOptions extends Pick<OpenStorageOptions, "asItIs" | "embedded" | "heldLock"> {
  /** Whether to open for writing even if the installation was moved to a server. */
  readonly allowsMoved?: boolean;
}

export async function openInstallation(
  { storage }: Pick<Configuration, "storage">,
  { env }: Pick<Terminal, "env">,
  { allowsMoved = false, ...options }: OpenOptions,
): Promise<Database> {
  if (storage.databaseUrl === null) await requireEmbedded(storage.dataDir);
  if (storage.databaseUrl === null && options.asItIs !== true && !allowsMoved) await refuseMoved(storage.dataDir);
  try {
    return await openStorage(storage, { poolSize: 1, path: env["PATH"], ...options });
  } catch (error) {
    throw noDatabase(error, (reason) => `The database cannot be opened: ${reason}.`);
  }
}

/** An installation that was moved to a server may be read, but not changed. */
async function refuseMoved(dataDir: string): Promise<void> {
  const moved = await readMoved(dataDir);
  if (moved !== null)
    throw new CliError(EXIT.config, `Storage: ${MOVED.message(moved, dataDir)}.`, { hints: [MOVED.fix(dataDir)] });
}

/** Null: a gateway runs the embedded database, so the caller should ask that gateway. */
export async function openUnlessRunning(
  configuration: Pick<Configuration, "storage">,
  terminal: Pick<Terminal, "env">,
): Promise<Database | null> {
  const { storage } = configuration;
  if (storage.databaseUrl === null && (await ownerOf(storage.dataDir)) !== null) return null;
  return openInstallation(configuration, terminal, { asItIs: true, embedded: "either" });
}

/** Opens for writing, also while gateways run. Migrates the schema first. */
export async function openToChange(
  configuration: Pick<Configuration, "storage">,
  terminal: Pick<Terminal, "env">,
): Promise<Database> {
  return openInstallation(configuration, terminal, { asItIs: false, embedded: "either" });
}

/** The error of a database that does not open. `otherwise` builds the message for errors without their own. */
export function noDatabase(error: unknown, otherwise: (reason: string) => string, hint?: string): CliError {
  if (error instanceof ServerUnavailable) return new CliError(EXIT.upstream, error.message, { hints: [error.check] });
  if (error instanceof EmbeddedUnavailable) return new CliError(EXIT.config, error.message, { hints: error.hints });
  return new CliError(EXIT.upstream, otherwise(reasonOf(error)), { hints: hint === undefined ? [] : [hint] });
}

export async function requireEmbedded(dataDir: string): Promise<void> {
  if (!(await hasEmbeddedDatabase(dataDir))) throw new CliError(EXIT.notFound, `No embedded database in ${dataDir}.`);
}
