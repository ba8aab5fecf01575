// The database of an installation, opened by a command of the operator: none is created on the way. The embedded server is started, or joined where
// a gateway runs it.
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, type Terminal } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Database } from "../storage/database.ts";
import { EmbeddedUnavailable, hasEmbeddedDatabase } from "../storage/embedded/server.ts";
import { ownerOf } from "../storage/embedded/installation-lock.ts";
import { MOVED, readMoved } from "../storage/moved-database.ts";
import { openStorage, type OpenStorageOptions } from "../storage/open-storage.ts";
import { ServerUnavailable } from "../storage/server-fault.ts";
import { reasonOf } from "./finding.ts";

interface Opening extends Pick<OpenStorageOptions, "asItIs" | "embedded" | "heldLock"> {
  /** Also opened to change it where it was moved to a server before. */
  readonly allowsMoved?: boolean;
}

export async function openInstallation(
  { storage }: Pick<Configuration, "storage">,
  { env }: Pick<Terminal, "env">,
  { allowsMoved = false, ...opening }: Opening,
): Promise<Database> {
  if (storage.databaseUrl === null) await requireEmbedded(storage.dataDir);
  if (storage.databaseUrl === null && opening.asItIs !== true && !allowsMoved) await refuseMoved(storage.dataDir);
  try {
    return await openStorage(storage, { poolSize: 1, path: env["PATH"], ...opening });
  } catch (error) {
    throw noDatabase(error, (reason) => `The database does not open: ${reason}.`);
  }
}

/** What was moved to a server is looked at, and not changed. */
async function refuseMoved(dataDir: string): Promise<void> {
  const moved = await readMoved(dataDir);
  if (moved !== null)
    throw new CliError(EXIT.config, `Storage: ${MOVED.message(moved, dataDir)}.`, { hints: [MOVED.fix(dataDir)] });
}

/** Null: a gateway runs the embedded database, and can be asked itself. */
export async function openUnlessRunning(
  configuration: Pick<Configuration, "storage">,
  terminal: Pick<Terminal, "env">,
): Promise<Database | null> {
  const { storage } = configuration;
  if (storage.databaseUrl === null && (await ownerOf(storage.dataDir)) !== null) return null;
  return openInstallation(configuration, terminal, { asItIs: true, embedded: "either" });
}

/** Brought up to date, to be changed, also while gateways run. */
export async function openToChange(
  configuration: Pick<Configuration, "storage">,
  terminal: Pick<Terminal, "env">,
): Promise<Database> {
  return openInstallation(configuration, terminal, { asItIs: false, embedded: "either" });
}

/** A server that cannot be used says so itself; `otherwise` words anything else. */
export function noDatabase(error: unknown, otherwise: (reason: string) => string, hint?: string): CliError {
  if (error instanceof ServerUnavailable) return new CliError(EXIT.upstream, error.message, { hints: [error.check] });
  if (error instanceof EmbeddedUnavailable) return new CliError(EXIT.config, error.message, { hints: error.hints });
  return new CliError(EXIT.upstream, otherwise(reasonOf(error)), { hints: hint === undefined ? [] : [hint] });
}

export async function requireEmbedded(dataDir: string): Promise<void> {
  if (!(await hasEmbeddedDatabase(dataDir)))
    throw new CliError(EXIT.notFound, `There is no embedded database in ${dataDir}.`);
}
