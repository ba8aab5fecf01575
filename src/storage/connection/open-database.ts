// Opens the PostgreSQL database: connection pool, migrations, and transactions bound to a workspace.
import { Kysely, PostgresDialect, sql } from "kysely";
import { type CustomTypesConfig, Pool, type PoolConfig, types } from "pg";
import { dropReadOnly } from "../schema/drop-read-only.ts";
import { migrate } from "../schema/migrate.ts";
import { reachServer, requireListening } from "./pooler.ts";
import { preparingPool, type SessionOptions } from "./prepared.ts";
import { protect, type TenantRole } from "../schema/protect.ts";
import { type ServerAddress, sessionConfig, TRANSACTION_SETTINGS } from "./server-sessions.ts";
import type { Tables } from "../schema/tables.ts";
import type { WorkspaceId } from "../../contract/ids.ts";
import { tagRolledBack, transact } from "../transact.ts";
import {
  asSystemHandle,
  asSystemTransaction,
  type Database,
  type SystemAccess,
  systemAccess,
  type DatabaseTransaction,
} from "../database.ts";

export interface DatabaseOptions {
  readonly databaseUrl: string;
  /** The schema owner's URL, if the process itself runs as a less privileged role. */
  readonly migrateUrl?: string | undefined;
  /** A direct connection to the server, if `databaseUrl` leads to a transaction pooler. */
  readonly listenUrl?: string | undefined;
  /** The process needs notifications, so opening fails if they would not arrive (pooler.ts). */
  readonly listens?: boolean | undefined;
  readonly poolSize?: number | undefined;
  /** Opens the database without migrating or preparing it. */
  readonly asItIs?: boolean | undefined;
  /** Receives the migrations that an older schema is about to get (migrate.ts). */
  readonly onUpdate?: (pending: readonly string[]) => void;
  /** Clock for the age of query plans (prepared.ts). */
  readonly nowMs?: (() => number) | undefined;
}

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl, poolSize, asItIs, onUpdate, nowMs } = options;
  const migrateUrl = ownAddress(options.migrateUrl, databaseUrl);
  const listenUrl = ownAddress(options.listenUrl, databaseUrl);
  const server = await reachServer(databaseUrl);
  if (options.listens === true) await requireListening(server, { databaseUrl, listenUrl });
  const { pooling, login, place } = server;
  const db = connect({ url: databaseUrl, pooling }, poolSize ?? 10, nowMs);
  const prepare = async () => {
    if (asItIs === true) return undefined;
    if (migrateUrl === null) {
      await migrate(db, onUpdate);
      return protect(db);
    }
    const owner = connect({ url: migrateUrl, pooling: (await reachServer(migrateUrl)).pooling }, 1);
    try {
      await migrate(owner, onUpdate);
      return await protect(owner, login);
    } finally {
      await owner.destroy();
    }
  };
  const urls = { databaseUrl, migrateUrl, listenUrl: listenUrl ?? databaseUrl };
  const direct = { ...urls, pooling, place };
  return prepareDatabase({ db, direct }, prepare, () => db.destroy());
}

/** Null: not set, or equal to the database's URL. */
export function ownAddress(url: string | undefined, databaseUrl: string): string | null {
  return url === undefined || url === "" || url === databaseUrl ? null : url;
}

export function connect(address: ServerAddress, max: number, nowMs?: () => number): Kysely<Tables> {
  const config = {
    ...sessionConfig(address),
    max,
    connectionTimeoutMillis: 5_000,
    application_name: "patchbay",
  };
  const pool = openPool(config);
  const watch = dropReadOnly(pool);
  pool.on("connect", watch.opened);
  const sessions: SessionOptions =
    address.pooling === "transaction" ? { isNamed: false, beginWith: TRANSACTION_SETTINGS } : { isNamed: true, nowMs };
  const prepared = preparingPool(pool, { ...sessions, onError: watch.failed });
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: prepared }) });
}

function openPool({ onConnect, ...config }: PoolConfig): Pool {
  const pool = new Pool({
    ...config,
    onConnect: (client) => {
      // The pool listens for errors of idle connections only. If a connection breaks between two statements of a transaction, the next one fails;
      // without this listener the error would end the process.
      client.on("error", () => undefined);
      return onConnect?.(client);
    },
    types: int8As(BigInt),
  });
  // The pool replaces an idle connection that breaks. Without a listener the error would end the process.
  pool.on("error", () => undefined);
  return pool;
}

/** Uses the driver's parser for all other types. */
export function int8As(read: (text: string) => bigint | number): CustomTypesConfig {
  return {
    getTypeParser: (oid, format) => (oid === types.builtins.INT8 ? read : types.getTypeParser(oid, format)),
  };
}

export async function prepareDatabase(
  { db, direct }: { readonly db: Kysely<Tables>; readonly direct: SystemAccess["direct"] },
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
  const transaction: SystemAccess["transaction"] = (work) =>
    tagRolledBack((run) => db.transaction().execute((tx) => run(asSystemTransaction(tx))), work);
  return {
    [systemAccess]: { db: asSystemHandle(db), transaction, direct },
    tenantRole: role ?? null,
    inWorkspace: (workspaceId, work) =>
      transact({ transaction }, async (tx) => {
        if (role === undefined) throw new Error("a database opened as it is cannot be bound to a workspace");
        await bindToWorkspace(tx, workspaceId, role);
        return work(tx);
      }),
    ping: async () => {
      await sql`select 1`.execute(db);
    },
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}

/** Lasts until the transaction ends, whether it commits or not. */
export async function bindToWorkspace(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  role: TenantRole,
): Promise<void> {
  const binding = sql`set_config('patchbay.workspace', ${workspaceId}, true)`;
  await (role === null ? sql`select ${binding}` : sql`select ${binding}, set_config('role', ${role}, true)`).execute(
    tx,
  );
}
