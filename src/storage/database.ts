// The handle on the PostgreSQL database, whether its server is our own child process or the operator's. Inside a transaction only `tx` exists: the outer
// handle would use another connection, outside of it.
import type { Kysely, Transaction } from "kysely";
import type { WorkspaceId } from "../contract/ids.ts";
import type { Pooling } from "./pooler.ts";
import type { TenantRole } from "./protect.ts";
import type { Tables } from "./tables.ts";

export interface Database {
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

export interface DirectAccess {
  readonly databaseUrl: string;
  /** The schema owner's; null where the process itself connects as the owner. */
  readonly migrateUrl: string | null;
  /** For notifications and for locks that a session holds; `databaseUrl` unless another is set. */
  readonly listenUrl: string;
  /** Between this process and `databaseUrl`. */
  readonly pooling: Pooling;
  /** Where `databaseUrl` leads, without credentials. */
  readonly place: string;
}

export type Transacting = Transaction<Tables>;
