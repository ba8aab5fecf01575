// What is reserved before a call and settled after it, and what the ledger answers.
import type { BillingClass } from "../contract/billing-class.ts";
import type { AppId, AttemptId, KeyId, RequestId, WorkspaceId } from "../contract/ids.ts";
import type { SlotRef, NewReply } from "../storage/idempotency-slots.ts";
import type { Funding } from "../storage/tables-metering.ts";
import type { BudgetExceeded } from "./budget.ts";
import type { Price } from "./price.ts";

/** `aborted`: the caller hung up or cancelled, and is charged as run. */
export type AttemptOutcome = "succeeded" | `failed:${string}` | "unknown" | "aborted";

/** `estimated`: the provider reported nothing, and this is our own count. */
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
  /** The one that was applied, for usage. */
  readonly purpose?: string | null;
  /** Whole milliseconds of submitted audio, however many channels; 0 for chat. */
  readonly audioMs: number;
  /** The most tokens that a chat can use. */
  readonly tokens?: number;
  /** What of the workspace's plan pays besides the app's budgets; absent: it has no plan, or the provider bills. */
  readonly funding?: Funding;
  /** The most that it can cost the app. */
  readonly reserveNanoUsd: bigint;
  /** The list price; null when unknown. */
  readonly estimateNanoUsd: bigint | null;
  readonly price: Price | null;
  /** Still open after it: the sweeper settles it as unknown. */
  readonly deadlineAt: Date;
  /** Marked dispatched in the same transaction. */
  readonly slot?: SlotRef;
}

export type Reserved =
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
  /** The provider's own figure: kept beside ours, never charged. */
  readonly providerMs: number | null;
  readonly billableAudioMs: number;
  /** Of live audio: how much came of what was reserved. */
  readonly audioMs?: number;
  /** At most what was reserved. */
  readonly chargeNanoUsd: bigint;
  readonly providerRequestId: string | null;
  /** Kept as JSON with the attempt. */
  readonly receipts: readonly unknown[];
  /** Why it failed, as the provider put it; kept as JSON with the attempt. */
  readonly providerFailure?: object;
  /** Of a chat, however it ended. */
  readonly usage?: TokenUsage;
  readonly slot?: SlotEnd;
}

export interface Settled {
  /**
   * False: it was settled before (by this very call, where a session was cut after its commit), or never reserved. Nothing changed, but
   * that a slot still running is burned.
   */
  readonly changed: boolean;
  /** Whether the slot ended as asked; false when it had been lost, or the answer was too large to keep. */
  readonly slotEnded: boolean;
}
