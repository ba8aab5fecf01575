// Changes keys, or what they stand for, so that the change is in force at once [keys.change-in-force].
import type { WorkspaceId } from "../contract/ids.ts";
import type { Transacting } from "../storage/database.ts";
import type { AdminServices } from "./services.ts";

export interface KeyChangeServices extends AdminServices {
  /** What this process remembers of keys and of what they stand for is looked up again. */
  readonly forgetKeys: () => void;
}

/** A change of keys, or of what they stand for: in force on this process before it is answered; the others hear of it. */
export async function changeKeys<T>(
  { database, forgetKeys }: KeyChangeServices,
  workspaceId: WorkspaceId,
  work: (tx: Transacting) => Promise<T>,
): Promise<T> {
  const answer = await database.inWorkspace(workspaceId, work);
  forgetKeys();
  return answer;
}
