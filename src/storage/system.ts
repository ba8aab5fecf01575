// Where what a caller asked for becomes what a statement may see: the rows of the workspace it asked about, or, for the operator who
// asked about all of them, the system's sight (reliability 6).
import type { Kysely } from "kysely";
import type { WorkspaceId } from "../contract/ids.ts";
import type { Database, Transacting } from "./database.ts";
import type { Tables } from "./tables.ts";
import { transact } from "./transact.ts";

export type Handle = Kysely<Tables>;

/** `workspaceId` null: every workspace, and what belongs to none. Only operators' endpoints may ask for that. */
export async function asWorkspaceOrSystem<T>(
  database: Pick<Database, "db" | "inWorkspace">,
  workspaceId: WorkspaceId | null,
  work: (db: Handle) => Promise<T>,
): Promise<T> {
  return workspaceId === null ? work(database.db) : database.inWorkspace(workspaceId, work);
}

/** The same for a change: one transaction, bound to the workspace where there is one. */
export async function changeAsWorkspaceOrSystem<T>(
  database: Pick<Database, "transaction" | "inWorkspace">,
  workspaceId: WorkspaceId | null,
  work: (tx: Transacting) => Promise<T>,
): Promise<T> {
  return workspaceId === null ? transact(database, work) : database.inWorkspace(workspaceId, work);
}
