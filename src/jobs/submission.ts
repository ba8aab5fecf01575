// A submission of a job as it is stored, and the interface to the transaction that stores it together with others.
import type { KeptAudio } from "../audio/spool.ts";
import type { AppId, WorkspaceId } from "../contract/ids.ts";
import type { GatewayReply } from "../gateway/reply.ts";
import type { BudgetExceeded } from "../metering/budget.ts";
import type { Reservation } from "../metering/ledger-entries.ts";
import type { SlotRef } from "../storage/idempotency-slots.ts";
import type { OpenJob } from "./job-request.ts";
import type { NewJob } from "./store/jobs.ts";

export interface Submission {
  readonly owner: { readonly workspaceId: WorkspaceId; readonly appId: AppId };
  readonly job: NewJob;
  /** Null: nothing is known of the audio yet. */
  readonly reservation: Reservation | null;
  /** The slot of its idempotency key, which stores the reply. */
  readonly slot: SlotRef | null;
  readonly replyAt: (createdAt: Date) => GatewayReply;
}

export type Submitted =
  | { readonly kind: "accepted"; readonly reply: GatewayReply; readonly deadlineAt: Date }
  | { readonly kind: "exceeded"; readonly exceeded: BudgetExceeded }
  /** Another process has taken over the slot. */
  | { readonly kind: "slot_lost" };

export interface PendingSubmission extends Submission {
  /** Called when the transaction has begun: from then on its failure may be one of the commit. */
  readonly onBegin: () => void;
  /** The job as its first attempt has it. */
  readonly openAt: (deadlineAt: Date) => OpenJob;
  /** Null: the recording has to be read from the object store. */
  readonly keepAudio: () => KeptAudio | null;
}

export type SubmitInBatch = (submission: PendingSubmission) => Promise<Submitted>;
