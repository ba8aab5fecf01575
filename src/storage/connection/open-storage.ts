// Opens an installation's database: on the operator's server, or on the embedded server, which is started, or joined if another process runs it.
import { type Database } from "../database.ts";
import { type DatabaseOptions, openDatabase } from "./open-database.ts";
import { type InstallationLock, InstallationInUse } from "../embedded/installation-lock.ts";
import { joinEmbeddedServer } from "../embedded/join.ts";
import {
  type EmbeddedOptions,
  type EmbeddedServer,
  EmbeddedUnavailable,
  startEmbeddedServer,
} from "../embedded/server.ts";

export interface StorageSettings {
  /** Null: embedded storage. */
  readonly databaseUrl: string | null;
  readonly migrateUrl: string | null;
  readonly listenUrl: string | null;
  readonly dataDir: string;
  readonly postgresBin: string | null;
  readonly runAs: string | null;
}

/** `own` throws `InstallationInUse` if another process owns the server; `join` waits for a running one; `either` starts one if none runs. */
export type EmbeddedMode = "own" | "join" | "either";

export interface OpenStorageOptions extends Pick<DatabaseOptions, "asItIs" | "poolSize" | "onUpdate" | "listens"> {
  readonly embedded: EmbeddedMode;
  /** The PATH to search for PostgreSQL's programs. */
  readonly path: string | undefined;
  readonly heldLock?: InstallationLock | undefined;
  readonly onProblem?: EmbeddedOptions["onProblem"];
  readonly onRestart?: EmbeddedOptions["onRestart"];
}

const JOIN_WITHIN_MS = 30_000;

/** Closing the database also stops a server that was started for it. */
export async function openStorage(settings: StorageSettings, options: OpenStorageOptions): Promise<Database> {
  const { embedded, path, heldLock, onProblem, onRestart, ...databaseOptions } = options;
  const { databaseUrl, migrateUrl, listenUrl } = settings;
  if (databaseUrl !== null)
    return openDatabase({
      databaseUrl,
      migrateUrl: migrateUrl ?? undefined,
      listenUrl: listenUrl ?? undefined,
      ...databaseOptions,
    });
  const server = await useServer({ ...settings, path, heldLock, onProblem, onRestart }, embedded);
  try {
    const database = await openDatabase({ databaseUrl: server.url, ...databaseOptions });
    let closing: Promise<void> | null = null;
    return {
      ...database,
      close: () => {
        closing ??= closeBoth(database, server);
        return closing;
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function closeBoth(database: Database, server: EmbeddedUse): Promise<void> {
  try {
    await database.close();
  } finally {
    await server.stop();
  }
}

type EmbeddedUse = Pick<EmbeddedServer, "url" | "stop">;

async function useServer(options: EmbeddedOptions, mode: EmbeddedMode): Promise<EmbeddedUse> {
  if (mode === "join") return join(options.dataDir);
  try {
    return await startEmbeddedServer(options);
  } catch (error) {
    if (mode === "either" && error instanceof InstallationInUse) return join(options.dataDir);
    throw error;
  }
}

async function join(dataDir: string): Promise<EmbeddedUse> {
  const url = await joinEmbeddedServer({ dataDir, withinMs: JOIN_WITHIN_MS });
  if (url !== null) return { url, stop: async () => undefined };
  throw new EmbeddedUnavailable(`No process runs the embedded database in ${dataDir}.`, [
    "start the gateway first: patchbay up",
  ]);
}
