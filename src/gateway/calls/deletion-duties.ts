// The duties to delete what a provider keeps of a run.
import type { WorkspaceId } from "../../contract/ids.ts";
import type { Transacting } from "../../storage/database.ts";
import type { DeletionDuty, DeletionState } from "../../storage/provider-deletions.ts";

export interface ProviderDeletions {
  /** Takes the duty on; awaited before the run's first poll. */
  owe(duty: DeletionDuty, tx?: Transacting): Promise<void>;
  /** The subject has ended: due at once. With a transaction the sweep finds it after the commit. */
  release(workspaceId: WorkspaceId, subject: string, tx?: Transacting): Promise<void>;
  state(workspaceId: WorkspaceId, subject: string): Promise<DeletionState>;
  /** Says at a start what could finally not be deleted, for it has to be done by hand. Answers how much. */
  report(): Promise<number>;
  /** Deletes what is due. Answers how many were tried. */
  sweep(): Promise<number>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}
