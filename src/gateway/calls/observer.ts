// What metrics and traces receive of each call and each ended job.
import type { BillingClass } from "../../contract/billing-class.ts";
import type { AttemptId, RequestId } from "../../contract/ids.ts";
import type { FailureKind } from "../../providers/io.ts";

export interface ObservedCall {
  readonly requestId: RequestId;
  readonly attemptId: AttemptId;
  readonly operation: "transcription" | "chat";
  readonly provider: string;
  readonly model: string;
  /** On a connection of a workspace, which names its models as it likes. */
  readonly isWorkspaceOwned: boolean;
  readonly outcome: "succeeded" | FailureKind;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly spent: SpentAmounts | null;
}

/** What the call is charged with; as the caller sees it, not as the provider may bill it. */
export interface SpentAmounts {
  readonly billingClass: BillingClass;
  readonly audioMs: number;
  readonly billableMs: number;
  readonly chargeNanoUsd: bigint;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Called on every request's way: it only counts, never waits and never throws. */
export interface Observer {
  called(seen: ObservedCall): void;
  /** By a worker. Milliseconds from its submission to its first start, and from there to its end. */
  jobEnded(seen: { readonly waitMs: number; readonly runMs: number }): void;
}
