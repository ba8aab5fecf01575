// The handle on the PostgreSQL database, embedded or on the operator's server. Inside a transaction only `tx` may be used: the outer handle would use
// another connection, outside the transaction.
import type { Kysely, Transaction } from "kysely";
import type { WorkspaceId } from "../contract/ids.ts";
import type { Pooling } from "./connection/pooler.ts";
import type { TenantRole } from "./schema/protect.ts";
import type { Tables } from "./schema/tables.ts";

export interface Database {
  /** The system's handle, which sees every workspace's rows. For batches, claims, sweeps, purges and API key lookups. */
  readonly db: Kysely<Tables>;
  /**
   * Runs a transaction that can read and write the rows of one workspace only, whatever its statements are. Repeated if it was the victim of a
   * deadlock.
   */
  inWorkspace<T>(workspaceId: WorkspaceId, work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Runs a transaction that sees every workspace's rows, as `db` does. */
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Throws if the database does not answer. */
  ping(): Promise<void>;
  /** The role of transactions bound to a workspace. Null: the database's owner may not create roles. */
  readonly tenantRole: TenantRole;
  /** For the queue, which has its own SQL and connections. */
  readonly direct: DirectAccess;
  readonly close: () => Promise<void>;
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

export type Transacting = Transaction<Tables>;
