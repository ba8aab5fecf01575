// A submission of a job as it is stored, and the interface to the transaction that stores it together with others.
import type { AppId, WorkspaceId } from "../contract/ids.ts";
import type { GatewayReply } from "../gateway/reply.ts";
import type { BudgetExceeded } from "../metering/budget.ts";
import type { Reservation } from "../metering/ledger-entries.ts";
import type { SlotRef } from "../storage/idempotency-slots.ts";
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
  | { readonly kind: "accepted"; readonly reply: GatewayReply }
  | { readonly kind: "exceeded"; readonly exceeded: BudgetExceeded }
  /** Another process has taken over the slot. */
  | { readonly kind: "slot_lost" };

export interface PendingSubmission extends Submission {
  /** Called when the transaction has begun: from then on its failure may be one of the commit. */
  readonly onBegin: () => void;
}

export type SubmitInBatch = (submission: PendingSubmission) => Promise<Submitted>;
