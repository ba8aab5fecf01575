// The types of the ledger: what is reserved before a provider call, what is settled after it, and the results of both.
import type { BillingClass } from "../contract/billing-class.ts";
import type { AppId, AttemptId, KeyId, RequestId, WorkspaceId } from "../contract/ids.ts";
import type { SlotRef, NewReply } from "../storage/idempotency-slots.ts";
import type { Funding } from "../storage/schema/tables-metering.ts";
import type { BudgetExceeded } from "./budget.ts";
import type { Price } from "./price.ts";

/** `aborted`: the caller disconnected or cancelled, and is charged as if the call had completed. */
export type AttemptOutcome = "succeeded" | `failed:${string}` | "unknown" | "aborted";

/** `estimated`: the provider reported nothing, so the gateway counted. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly source: "reported" | "estimated";
}

export interface Reservation {
  readonly attemptId: AttemptId;
  readonly requestId: RequestId;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly keyId: KeyId | null;
  readonly endpoint: string;
  readonly connection: string;
  readonly provider: string;
  readonly model: string;
  readonly position: number;
  readonly billingClass: BillingClass;
  /** The purpose that was applied, for usage reports. */
  readonly purpose?: string | null;
  /** Whole milliseconds of submitted audio, regardless of channels. 0 for chat. */
  readonly audioMs: number;
  /** The maximum number of tokens that a chat can use. */
  readonly tokens?: number;
  /** What the workspace's plan pays from, in addition to the app's budgets. Absent: it has no plan, or the provider bills. */
  readonly funding?: Funding;
  /** The maximum charge to the app. */
  readonly reserveNanoUsd: bigint;
  /** The estimate at list price. Null: unknown. */
  readonly estimateNanoUsd: bigint | null;
  readonly price: Price | null;
  /** After this time the sweep settles an open attempt as unknown. */
  readonly deadlineAt: Date;
  /** The idempotency slot, marked as dispatched in the same transaction. */
  readonly slot?: SlotRef;
}

export type ReservationVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly exceeded: BudgetExceeded }
  | { readonly ok: false; readonly slotLost: true };

export type SlotEnd =
  | { readonly kind: "complete"; readonly ref: SlotRef; readonly reply: NewReply }
  | { readonly kind: "burn"; readonly ref: SlotRef }
  | { readonly kind: "release"; readonly ref: SlotRef };

export interface Settlement {
  readonly attemptId: AttemptId;
  readonly outcome: AttemptOutcome;
  /** The provider's own measurement, stored next to ours and never charged. */
  readonly providerMs: number | null;
  readonly billableAudioMs: number;
  /** For live audio: how much of the reserved audio arrived. */
  readonly audioMs?: number;
  /** At most the reserved amount. */
  readonly chargeNanoUsd: bigint;
  readonly providerRequestId: string | null;
  /** Stored as JSON with the attempt. */
  readonly receipts: readonly unknown[];
  /** The provider's failure reason, stored as JSON with the attempt. */
  readonly providerFailure?: object;
  /** For a chat, however it ended. */
  readonly usage?: TokenUsage;
  readonly slot?: SlotEnd;
}

export interface SettlementResult {
  /**
   * False: it was settled before (by this very call, if a connection was lost after its commit) or never reserved. Nothing changed, except that a slot still
   * running is burned.
   */
  readonly changed: boolean;
  /** Whether the slot ended as requested. False: it had been lost, or the response was too large to store. */
  readonly slotEnded: boolean;
}
