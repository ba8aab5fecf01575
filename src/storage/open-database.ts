// Opens the PostgreSQL database: connections, migrations, and transactions bound to a workspace.
import { Kysely, PostgresDialect, sql } from "kysely";
import { type CustomTypesConfig, Pool, type PoolConfig, types } from "pg";
import { dropReadOnly } from "./drop-read-only.ts";
import { migrate } from "./migrate.ts";
import { reachServer, requireListening } from "./pooler.ts";
import { prepareMarked, type Preparing } from "./prepared.ts";
import { protect, type TenantRole } from "./protect.ts";
import { type ServerAddress, sessionConfig, TRANSACTION_SETTINGS } from "./server-sessions.ts";
import type { Tables } from "./tables.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import { tagRolledBack, transact } from "./transact.ts";
import type { Database, Transacting } from "./database.ts";

export interface DatabaseOptions {
  readonly databaseUrl: string;
  /** The schema's owner, when the process itself runs as a lesser role. */
  readonly migrateUrl?: string | undefined;
  /** Straight to the server, where `databaseUrl` goes through a transaction pooler. */
  readonly listenUrl?: string | undefined;
  /** The process hears notifications: it is refused where none would arrive (pooler.ts). */
  readonly listens?: boolean | undefined;
  readonly poolSize?: number | undefined;
  /** Opens what is there: nothing is migrated or prepared. */
  readonly asItIs?: boolean | undefined;
  /** The schema is an older version's, and these migrations follow (migrate.ts). */
  readonly onUpdate?: (pending: readonly string[]) => void;
  /** What the age of plans is measured by (prepared.ts). */
  readonly nowMs?: (() => number) | undefined;
}

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl, poolSize, asItIs, onUpdate, nowMs } = options;
  const migrateUrl = ownAddress(options.migrateUrl, databaseUrl);
  const listenUrl = ownAddress(options.listenUrl, databaseUrl);
  const reached = await reachServer(databaseUrl);
  if (options.listens === true) await requireListening(reached, { databaseUrl, listenUrl });
  const { pooling, login, place } = reached;
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
  return migrated({ db, direct }, prepare, () => db.destroy());
}

/** Null: none, or the database's own. */
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
  const preparing: Preparing =
    address.pooling === "transaction" ? { isNamed: false, beginWith: TRANSACTION_SETTINGS } : { isNamed: true, nowMs };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(config, preparing) }) });
}

export function openPool({ onConnect, ...config }: PoolConfig, preparing: Preparing): Pool {
  const pool = new Pool({
    ...config,
    // Statements leave without waiting for the answer before them (prepared.ts).
    pipeline: true,
    onConnect: (client) => {
      watchReadOnly(client);
      prepareMarked(client, preparing);
      // The pool listens to idle connections only. One that breaks between two statements of a transaction fails the next of them;
      // unheard, the break itself would end the process.
      client.on("error", () => undefined);
      return onConnect?.(client);
    },
    types: int8As(BigInt),
  });
  const watchReadOnly = dropReadOnly(pool);
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

export async function migrated(
  { db, direct }: Pick<Database, "db" | "direct">,
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
  const transaction: Database["transaction"] = (work) =>
    tagRolledBack((begun) => db.transaction().execute(begun), work);
  return {
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
export async function bind(tx: Transacting, workspaceId: WorkspaceId, role: TenantRole): Promise<void> {
  const binding = sql`set_config('patchbay.workspace', ${workspaceId}, true)`;
  await (role === null ? sql`select ${binding}` : sql`select ${binding}, set_config('role', ${role}, true)`).execute(
    tx,
  );
}
