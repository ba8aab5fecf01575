// The interface through which metrics and traces receive the figures of each provider call and of each ended job.
import type { BillingClass } from "../../contract/billing-class.ts";
import type { AttemptId, RequestId } from "../../contract/ids.ts";
import type { FailureKind } from "../../providers/io.ts";

export interface ObservedCall {
  readonly requestId: RequestId;
  readonly attemptId: AttemptId;
  readonly operation: "transcription" | "chat";
  readonly provider: string;
  readonly model: string;
  /** The connection belongs to a workspace, which may name its models freely. */
  readonly isWorkspaceOwned: boolean;
  readonly outcome: "succeeded" | FailureKind;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly spent: SpentAmounts | null;
}

/** The amounts that the app is charged, which may differ from what the provider bills. */
export interface SpentAmounts {
  readonly billingClass: BillingClass;
  readonly audioMs: number;
  readonly billableMs: number;
  readonly chargeNanoUsd: bigint;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Called on the path of every request: it only counts, never waits and never throws. */
export interface Observer {
  called(seen: ObservedCall): void;
  /** Reported by a worker: milliseconds from the submission to the first start, and from there to the end. */
  jobEnded(seen: { readonly waitMs: number; readonly runMs: number }): void;
}
