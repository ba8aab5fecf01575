// The only way around row-level security [tenancy.rls-read]: handles of the types `SystemHandle` and `SystemTransaction` come from `bypassRls` alone, so the
// compiler finds every use. All other code is bound to one workspace by `database.inWorkspace`.
import type { Kysely } from "kysely";
import type { WorkspaceId } from "../contract/ids.ts";
import { type Database, type SystemAccess, systemAccess, type DatabaseTransaction } from "./database.ts";
import type { Tables } from "./schema/tables.ts";
import { transact } from "./transact.ts";

/** Bound to one workspace, or to none. */
export type Handle = Kysely<Tables>;

/**
 * Why a caller needs the rows of every workspace:
 * - `batch`: statements about rows of many workspaces, such as settlements, request records, counts and roll-ups;
 * - `claim`: work that processes claim from each other, by id or as the next due;
 * - `sweep`: expired rows of any workspace;
 * - `lookup`: by the hash of a key or token, or by a name the operator gives, because the owner is not known before;
 * - `installation`: the configuration file, the directory, encryption keys, backups and checks;
 * - `server`: the database server itself, without rows of workspaces;
 * - `operator`: what only the operator may read, such as lists of all workspaces.
 */
export type BypassReason = "batch" | "claim" | "sweep" | "lookup" | "installation" | "server" | "operator";

/** The reason documents the call and has no effect. */
export function bypassRls(database: Pick<Database, typeof systemAccess>, _reason: BypassReason): SystemAccess {
  return database[systemAccess];
}

/** Reads as a workspace, or with access to all workspaces (null), which only the operator's endpoints may use. */
export async function asWorkspaceOrSystem<T>(
  database: Database,
  workspaceId: WorkspaceId | null,
  work: (db: Handle) => Promise<T>,
): Promise<T> {
  return workspaceId === null ? work(bypassRls(database, "operator").db) : database.inWorkspace(workspaceId, work);
}

/** Like `asWorkspaceOrSystem`, for a change in one transaction. */
export async function changeAsWorkspaceOrSystem<T>(
  database: Database,
  workspaceId: WorkspaceId | null,
  work: (tx: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  return workspaceId === null
    ? transact(bypassRls(database, "operator"), work)
    : database.inWorkspace(workspaceId, work);
}
