// What the verbs of this room need from the outside, and who asks.
import type { KeyId, WorkspaceId } from "../contract/ids.ts";
import type { Database, Transacting } from "../storage/database.ts";

export interface AdminServices {
  readonly database: Database;
}

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

/** The key that acts, as the audit log keeps it. */
export interface Acting {
  readonly actor: KeyId;
}

/** A page of a list: `after` is the position where the page before ended. */
export interface PageRequest {
  readonly limit: number;
  readonly after: string | null;
}

export interface Page<View> {
  readonly data: readonly View[];
  /** Where this page ends; null: it is the last. */
  readonly end: string | null;
}
