// The database, embedded or a server, behind one face: the same migrations, the same SQL, the same types (architecture "Engines").
// Inside a transaction only `tx` exists: on the embedded engine the outer handle would wait for it forever.
import { Kysely, PostgresDialect, sql, type Transaction } from "kysely";
import { type ClientBase, type CustomTypesConfig, Pool, type PoolConfig, types } from "pg";
import type { WorkspaceId } from "../contract/ids.ts";
import type { DataDirLock } from "./data-dir-lock.ts";
import { migrate } from "./migrate.ts";
import { type DirectoryOptions, type EmbeddedEngine, startInDirectory } from "./pglite.ts";
import { prepareMarked } from "./prepared.ts";
import { protect, type TenantRole } from "./protect.ts";
import { watchSilence } from "./silent-connections.ts";
import { serverFault } from "./server-fault.ts";
import type { Tables } from "./tables.ts";
import { orUndone, transact } from "./transact.ts";

export interface Database {
  readonly engine: "pglite" | "postgres";
  /** The system's handle: every workspace's rows. For batches, claims, sweeps, purges and the look-up of keys. */
  readonly db: Kysely<Tables>;
  /**
   * A transaction that sees and writes the rows of one workspace and no others, whatever its statements ask for; made again
   * when it was the victim of a deadlock.
   */
  inWorkspace<T>(workspaceId: WorkspaceId, work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** The system's, as `db` is. */
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  /** What transactions bound to a workspace run as; null where the database's owner may make no roles. */
  readonly tenantRole: TenantRole;
  /** For the queue, which brings SQL and connections of its own. */
  readonly direct: DirectAccess;
  readonly close: () => Promise<void>;
}

/** On the embedded engine there is one connection, for whoever asks this pool and for Kysely. */
export type DirectAccess =
  | { readonly engine: "pglite"; readonly pool: Pool; readonly dump: EmbeddedEngine["dump"] }
  | { readonly engine: "postgres"; readonly databaseUrl: string; readonly migrateUrl: string | null };

export interface DatabaseOptions {
  /** A server; empty or absent: embedded. */
  readonly databaseUrl?: string | undefined;
  /** The schema's owner, when the process itself runs as a lesser role. */
  readonly migrateUrl?: string | undefined;
  readonly dataDir?: string | undefined;
  /** Of `dataDir`, taken before by the caller, who also releases it. */
  readonly heldLock?: DataDirLock | undefined;
  /** Of the embedded engine in `dataDir` (pglite.ts). */
  readonly onRestart?: DirectoryOptions["onRestart"];
  /** Embedded, and the caller's: started by it, and ended by whoever closes this. */
  readonly embedded?: EmbeddedEngine | undefined;
  readonly poolSize?: number | undefined;
  /** What is there is looked at: nothing is migrated or prepared. */
  readonly asItIs?: boolean | undefined;
  /** The schema is an older version's, and these migrations follow (migrate.ts). */
  readonly onUpdate?: (pending: readonly string[]) => void;
}

const LONGEST_IDLE_IN_TRANSACTION_MS = 5_000;

export type Transacting = Transaction<Tables>;

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl, dataDir, embedded, heldLock: held, onRestart } = options;
  if (databaseUrl !== undefined && databaseUrl !== "") return openServer(databaseUrl, options);
  if (embedded !== undefined) return openEmbedded(embedded, options);
  if (dataDir !== undefined) return openEmbedded(await startInDirectory(dataDir, { held, onRestart }), options);
  throw new Error("openDatabase needs a databaseUrl, a dataDir or an embedded engine.");
}

async function openEmbedded(engine: EmbeddedEngine, { asItIs, onUpdate }: DatabaseOptions): Promise<Database> {
  const pool = openPool({ ...EMBEDDED_SESSION, stream: engine.connect });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return migrated(
    { db, engine: "pglite", direct: { engine: "pglite", pool, dump: engine.dump } },
    async () => {
      if (asItIs === true) return undefined;
      await migrate(db, onUpdate);
      return protect(db);
    },
    async () => {
      await db.destroy();
      await engine.close();
    },
  );
}

async function openServer(
  databaseUrl: string,
  { migrateUrl, poolSize, asItIs, onUpdate }: DatabaseOptions,
): Promise<Database> {
  const db = connect(databaseUrl, poolSize ?? 10);
  const ownerUrl = migrateUrl === undefined || migrateUrl === "" || migrateUrl === databaseUrl ? null : migrateUrl;
  const prepare = async () => {
    // Asked first of all: who cannot be reached is told apart from what is found there.
    const login = await telling(databaseUrl, async () => {
      const { rows } = await sql<{ name: string }>`select current_user as name`.execute(db);
      return rows[0]?.name ?? null;
    });
    if (asItIs === true) return undefined;
    if (ownerUrl === null) {
      await migrate(db, onUpdate);
      return protect(db);
    }
    const owner = connect(ownerUrl, 1);
    try {
      await telling(ownerUrl, () => sql`select`.execute(owner));
      await migrate(owner, onUpdate);
      return await protect(owner, login);
    } finally {
      await owner.destroy();
    }
  };
  const direct = { engine: "postgres", databaseUrl, migrateUrl: ownerUrl } as const;
  return migrated({ db, engine: "postgres", direct }, prepare, () => db.destroy());
}

/** A server that cannot be used is named, and why. */
async function telling<T>(connectionString: string, ask: () => Promise<T>): Promise<T> {
  return ask().catch((error: unknown) => {
    throw serverFault(error, connectionString);
  });
}

async function migrated(
  { db, engine, direct }: Pick<Database, "db" | "engine" | "direct">,
  prepare: () => Promise<TenantRole | undefined>,
  end: () => Promise<void>,
): Promise<Database> {
  let role: TenantRole | undefined;
  try {
    role = await prepare();
  } catch (error) {
    await end();
    throw error;
  }
  let closing: Promise<void> | null = null;
  const transaction: Database["transaction"] = (work) => orUndone((begun) => db.transaction().execute(begun), work);
  return {
    engine,
    db,
    direct,
    tenantRole: role ?? null,
    inWorkspace: (workspaceId, work) =>
      transact({ transaction }, async (tx) => {
        if (role === undefined) throw new Error("a database opened as it is binds nobody");
        await bind(tx, workspaceId, role);
        return work(tx);
      }),
    transaction,
    ping: async () => {
      await sql`select 1`.execute(db);
    },
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}

/** Until the transaction ends, however it ends. */
async function bind(tx: Transacting, workspaceId: WorkspaceId, role: TenantRole): Promise<void> {
  const binding = sql`set_config('patchbay.workspace', ${workspaceId}, true)`;
  await (role === null ? sql`select ${binding}` : sql`select ${binding}, set_config('role', ${role}, true)`).execute(
    tx,
  );
}

/** Said in full: what is left out the driver takes from the environment. */
const EMBEDDED_SESSION = {
  host: "embedded",
  port: 5432,
  user: "postgres",
  database: "postgres",
  password: "",
  ssl: false,
  // Its one session, kept for as long as it works.
  max: 1,
  idleTimeoutMillis: 0,
} satisfies PoolConfig;

function connect(connectionString: string, max: number): Kysely<Tables> {
  const watch = watchSilence(connectionString);
  const pool = openPool({
    connectionString,
    max,
    connectionTimeoutMillis: 5_000,
    // A connection whose other end is gone without a word is found out while it idles, not by the next statement.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: "patchbay",
    onConnect: (client) => {
      watch(client);
      return prepareConnection(client);
    },
  });
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

function openPool({ onConnect, ...config }: PoolConfig): Pool {
  const pool = new Pool({
    ...config,
    // Statements leave without waiting for the answer before them (prepared.ts).
    pipeline: true,
    onConnect: (client) => {
      prepareMarked(client);
      // The pool listens to idle connections only. One that breaks between two statements of a transaction fails the next of them;
      // unheard, the break itself would end the process.
      client.on("error", () => undefined);
      return onConnect?.(client);
    },
    types: int8As(BigInt),
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => undefined);
  return pool;
}

/** All other types as the driver reads them. */
export function int8As(read: (text: string) => bigint | number): CustomTypesConfig {
  return {
    getTypeParser: (oid, format) => (oid === types.builtins.INT8 ? read : types.getTypeParser(oid, format)),
  };
}

/** The pool awaits what this returns, though its type does not say so. */
function prepareConnection(client: ClientBase): unknown {
  // No transaction waits for anything but its own statements: one that does belongs to a process that was stopped or cut off,
  // and its locks would hold up all the others.
  return client.query(`set idle_in_transaction_session_timeout = ${LONGEST_IDLE_IN_TRANSACTION_MS}`);
}
