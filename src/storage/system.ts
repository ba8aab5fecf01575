// Access to the rows of every workspace is granted in this file and nowhere else [tenancy.rls-read]: each function below is one
// reason for it, and the import check holds a list of the modules that may use that reason. All else is bound to one workspace.
import type { Kysely } from "kysely";
import type { WorkspaceId } from "../contract/ids.ts";
import type { Database, Transacting } from "./database.ts";
import type { Tables } from "./tables.ts";
import { transact } from "./transact.ts";

export type Handle = Kysely<Tables>;

type Sighted = Pick<Database, "db"> | Pick<Database, "transaction">;

function allSeeing<S extends Sighted>(database: S): S {
  return database;
}

/** Rows of many workspaces in one statement: reservations and settlements, request records, counts, uses of keys, roll-ups. */
export const batches: typeof allSeeing = allSeeing;

/** Work that processes take from one another, by its own id or the next that is due: jobs, deliveries, deletions, slots. */
export const claims: typeof allSeeing = allSeeing;

/** What died or is past its time, whosever it is; purges too. */
export const sweeps: typeof allSeeing = allSeeing;

/** By a key's or a token's hash, or by the name that the operator asks for: whose it is is what is asked. */
export const lookUps: typeof allSeeing = allSeeing;

/** The set-up of the whole installation: the file that is applied, the directory that is read from it, its keys, backups and checks. */
export const installation: typeof allSeeing = allSeeing;

/** The engine itself, and no row of a workspace: notifications, the clock, the queue's own tables. */
export const engine: typeof allSeeing = allSeeing;

/** What the operator alone may ask: lists of all workspaces, plans, the chains of the audit log, how many jobs there are. */
export const operatorsSight: typeof allSeeing = allSeeing;

/** What a caller asked for becomes what a statement sees. `workspaceId` null: only operators' endpoints may ask for that. */
export async function asWorkspaceOrSystem<T>(
  database: Pick<Database, "db" | "inWorkspace">,
  workspaceId: WorkspaceId | null,
  work: (db: Handle) => Promise<T>,
): Promise<T> {
  return workspaceId === null ? work(operatorsSight(database).db) : database.inWorkspace(workspaceId, work);
}

/** The same for a change: one transaction, bound to the workspace where there is one. */
export async function changeAsWorkspaceOrSystem<T>(
  database: Pick<Database, "transaction" | "inWorkspace">,
  workspaceId: WorkspaceId | null,
  work: (tx: Transacting) => Promise<T>,
): Promise<T> {
  return workspaceId === null ? transact(operatorsSight(database), work) : database.inWorkspace(workspaceId, work);
}
