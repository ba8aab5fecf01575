// Changes keys, or the apps and workspaces behind them, and invalidates the key cache, so that the change is in force immediately [keys.change-in-force].
import type { WorkspaceId } from "../../contract/ids.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { AdminServices } from "../services.ts";

export interface KeyChangeServices extends AdminServices {
  /** Invalidates this process's cache of keys with their apps and workspaces. */
  readonly forgetKeys: () => void;
}

/** Runs a change of keys. It is in force on this process before the response, and is announced to the others. */
export async function changeKeys<T>(
  { database, forgetKeys }: KeyChangeServices,
  workspaceId: WorkspaceId,
  work: (tx: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  const answer = await database.inWorkspace(workspaceId, work);
  forgetKeys();
  return answer;
}
