// The interface through which metrics and traces receive the figures of each provider call and of each ended job.
import type { BillingClass } from "../../contract/billing-class.ts";
import type { AttemptId, RequestId, WorkspaceId } from "../../contract/ids.ts";
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

/** An answer by another model than the one that was asked [metrics.substitutions]. */
export interface ModelSubstitution {
  readonly requestId: RequestId;
  readonly attemptId: AttemptId;
  readonly workspaceId: WorkspaceId;
  readonly connection: string;
  readonly provider: string;
  readonly operation: "transcription" | "chat";
  readonly isWorkspaceOwned: boolean;
  readonly testMode: boolean;
  readonly asked: string;
  /** As the provider wrote it, in the characters of a name. */
  readonly answered: string;
  /** The answer was withheld, because the route or the provider's protocol requires the exact model. */
  readonly isRefused: boolean;
}

/** Called on the path of every request: it only counts, never waits and never throws. */
export interface Observer {
  called(seen: ObservedCall): void;
  /** At most once for each call, before `called`. */
  modelSubstituted(seen: ModelSubstitution): void;
  /** Reported by a worker: milliseconds from the submission to the first start, and from there to the end. */
  jobEnded(seen: { readonly waitMs: number; readonly runMs: number }): void;
}
