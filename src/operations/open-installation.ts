// The database of an installation, opened by a command of the operator: none is made on the way, and a gateway that has the
// embedded one is named.
import { EXIT } from "../cli/exit-codes.ts";
import { CliError } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { DataDirInUse } from "../storage/data-dir-lock.ts";
import { type Database, openDatabase } from "../storage/database.ts";
import { MOVED, readMoved } from "../storage/moved-database.ts";
import { holdsDatabase } from "../storage/pglite.ts";
import { ServerUnavailable } from "../storage/server-fault.ts";
import { reasonOf } from "./finding.ts";

export interface HowToOpen {
  /** Nothing is migrated or prepared. */
  readonly asItIs: boolean;
  /** What to do where a gateway has the embedded database. */
  readonly inUse: string;
}

export async function openInstallation(
  configuration: Pick<Configuration, "storage">,
  { asItIs, inUse }: HowToOpen,
): Promise<Database> {
  return open(configuration, asItIs, (inside) => {
    throw new CliError(EXIT.conflict, inside.message, { hints: [inUse] });
  });
}

/** Null: a gateway has the embedded database, and can be asked itself. */
export async function openUnlessRunning(
  configuration: Pick<Configuration, "storage">,
  { asItIs }: Pick<HowToOpen, "asItIs">,
): Promise<Database | null> {
  return open(configuration, asItIs, () => null);
}

async function open<Otherwise>(
  { storage }: Pick<Configuration, "storage">,
  asItIs: boolean,
  whenInUse: (error: DataDirInUse) => Otherwise,
): Promise<Database | Otherwise> {
  if (storage.databaseUrl === null) await requireEmbedded(storage.dataDir);
  if (storage.databaseUrl === null && !asItIs) await refuseMoved(storage.dataDir);
  try {
    return await openDatabase({
      databaseUrl: storage.databaseUrl ?? undefined,
      migrateUrl: storage.migrateUrl ?? undefined,
      dataDir: storage.dataDir,
      poolSize: 1,
      asItIs,
    });
  } catch (error) {
    if (error instanceof DataDirInUse) return whenInUse(error);
    throw noDatabase(error, (reason) => `The database does not open: ${reason}.`);
  }
}

/** What was moved to a server is looked at, and not changed. */
async function refuseMoved(dataDir: string): Promise<void> {
  const moved = await readMoved(dataDir);
  if (moved !== null)
    throw new CliError(EXIT.config, `Storage: ${MOVED.message(moved, dataDir)}.`, { hints: [MOVED.fix(dataDir)] });
}

/** Brought up to date, to be changed: on a server beside running gateways, embedded without one. */
export async function openToChange(configuration: Pick<Configuration, "storage">): Promise<Database> {
  return openInstallation(configuration, {
    asItIs: false,
    inUse: "stop the gateway first: the embedded database is opened by one process at a time",
  });
}

/** A server that cannot be used says so itself; `otherwise` tells anything else. */
export function noDatabase(error: unknown, otherwise: (reason: string) => string, hint?: string): CliError {
  return error instanceof ServerUnavailable
    ? new CliError(EXIT.upstream, error.message, { hints: [error.check] })
    : new CliError(EXIT.upstream, otherwise(reasonOf(error)), { hints: hint === undefined ? [] : [hint] });
}

export async function requireEmbedded(dataDir: string): Promise<void> {
  if (!(await holdsDatabase(dataDir)))
    throw new CliError(EXIT.notFound, `There is no embedded database in ${dataDir}.`);
}
