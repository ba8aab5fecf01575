// Grants access to the rows of every workspace, which no other file does, so that everything else is bound to one workspace [tenancy.rls-read].
// Each function below is one reason for such access, and the import check lists the modules that may use it.
import type { Kysely } from "kysely";
import type { WorkspaceId } from "../contract/ids.ts";
import type { Database, Transacting } from "./database.ts";
import type { Tables } from "./schema/tables.ts";
import { transact } from "./transact.ts";

export type Handle = Kysely<Tables>;

type DatabaseAccess = Pick<Database, "db"> | Pick<Database, "transaction">;

function bypassRls<S extends DatabaseAccess>(database: S): S {
  return database;
}

/** Statements that handle rows of many workspaces: reservations, settlements, request records, counts, key usage, roll-ups. */
export const batches: typeof bypassRls = bypassRls;

/** Work that processes claim from each other, by id or the next due: jobs, deliveries, deletions, slots. */
export const claims: typeof bypassRls = bypassRls;

/** Sweeps and purges of lapsed and expired rows of any workspace. */
export const sweeps: typeof bypassRls = bypassRls;

/** Lookups by a key's or token's hash, or by a name the operator gives, because the owner is not known before. */
export const lookUps: typeof bypassRls = bypassRls;

/** Provisioning of the whole installation: applying the file, reading the directory, encryption keys, backups and checks. */
export const installation: typeof bypassRls = bypassRls;

/** The database server itself, without workspaces' rows: notifications, the clock, the queue's own tables. */
export const engine: typeof bypassRls = bypassRls;

/** What only the operator may read: lists of all workspaces, plans, the audit log's chains, numbers of jobs. */
export const operatorsSight: typeof bypassRls = bypassRls;

/** Reads as a workspace, or with access to all workspaces (null), which only the operator's endpoints may use. */
export async function asWorkspaceOrSystem<T>(
  database: Pick<Database, "db" | "inWorkspace">,
  workspaceId: WorkspaceId | null,
  work: (db: Handle) => Promise<T>,
): Promise<T> {
  return workspaceId === null ? work(operatorsSight(database).db) : database.inWorkspace(workspaceId, work);
}

/** Like `asWorkspaceOrSystem`, for a change in one transaction. */
export async function changeAsWorkspaceOrSystem<T>(
  database: Pick<Database, "transaction" | "inWorkspace">,
  workspaceId: WorkspaceId | null,
  work: (tx: Transacting) => Promise<T>,
): Promise<T> {
  return workspaceId === null ? transact(operatorsSight(database), work) : database.inWorkspace(workspaceId, work);
}
