// The interface to the deletion of what a provider keeps of a request or job. `provider-deletions.ts` implements it.
import type { WorkspaceId } from "../../contract/ids.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { DeletionDuty, DeletionState, DeletionSubject } from "../store/provider-deletions.ts";

export interface ProviderDeletions {
  /** Stores the task. Awaited before the run's first poll. */
  owe(duty: DeletionDuty, tx?: DatabaseTransaction): Promise<void>;
  /** Makes the tasks of an ended subject due at once. */
  release(workspaceId: WorkspaceId, subject: string): Promise<void>;
  /** The same for several, in the transaction that ends them. The sweep finds the tasks after the commit. */
  releaseIn(tx: DatabaseTransaction, subjects: readonly DeletionSubject[]): Promise<void>;
  state(workspaceId: WorkspaceId, subject: string): Promise<DeletionState>;
  /** Logs at start-up which deletions finally failed, because they have to be done manually. Returns how many. */
  report(): Promise<number>;
  /** Deletes what is due. Returns how many deletions were tried. */
  sweep(): Promise<number>;
  /** Waits for running deletions. */
  close(): Promise<void>;
}
