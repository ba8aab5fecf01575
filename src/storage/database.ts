// The types of the database handle: transactions bound to one workspace by row-level security, and, for `bypassRls` alone, access to all rows. Inside a
// transaction only `tx` may be used: another handle would use another connection.
import type { Kysely, Transaction } from "kysely";
import type { WorkspaceId } from "../contract/ids.ts";
import type { Pooling } from "./connection/pooler.ts";
import type { TenantRole } from "./schema/protect.ts";
import type { Tables } from "./schema/tables.ts";

/** Key of the access that bypasses row-level security. Read by `bypassRls` alone. */
export const systemAccess: unique symbol = Symbol("system access");

export interface Database {
  readonly [systemAccess]: SystemAccess;
  /**
   * Runs a transaction that can read and write the rows of one workspace only, whatever its statements are. Repeated if it was the victim of a
   * deadlock.
   */
  inWorkspace<T>(workspaceId: WorkspaceId, work: (tx: DatabaseTransaction) => Promise<T>): Promise<T>;
  /** Throws if the database does not answer. */
  ping(): Promise<void>;
  /** The role of transactions bound to a workspace. Null: the database's owner may not create roles. */
  readonly tenantRole: TenantRole;
  readonly close: () => Promise<void>;
}

/** Reads and writes the rows of every workspace. */
export interface SystemAccess {
  readonly db: SystemHandle;
  transaction<T>(work: (tx: SystemTransaction) => Promise<T>): Promise<T>;
  /** For the queue, which has its own SQL and connections. */
  readonly direct: DirectAccess;
}

declare const allWorkspaces: unique symbol;

/** A type that no other code can name a value of: it marks handles that bypass row-level security. */
interface AllWorkspaces {
  readonly [allWorkspaces]: true;
}

export type SystemHandle = Kysely<Tables> & AllWorkspaces;
export type SystemTransaction = Transaction<Tables> & AllWorkspaces;

/** Its guarantee: within `src` only `openDatabase` calls it, for the pool that it has opened. */
export function asSystemHandle(db: Kysely<Tables>): SystemHandle {
  return db as SystemHandle;
}

/** Its guarantee: `tx` is a transaction of a `SystemHandle`, not bound to a workspace. */
export function asSystemTransaction(tx: DatabaseTransaction): SystemTransaction {
  return tx as SystemTransaction;
}

export interface DirectAccess {
  readonly databaseUrl: string;
  /** The schema owner's URL. Null: the process itself connects as the owner. */
  readonly migrateUrl: string | null;
  /** For notifications and session-level locks. Equals `databaseUrl` unless another is set. */
  readonly listenUrl: string;
  /** The pooler between this process and `databaseUrl`. */
  readonly pooling: Pooling;
  /** Host and port of `databaseUrl`, without credentials. */
  readonly place: string;
}

export type DatabaseTransaction = Transaction<Tables>;

/** Runs transactions, bound to a workspace or with access to all. */
export interface Transactor<Tx extends DatabaseTransaction> {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}
