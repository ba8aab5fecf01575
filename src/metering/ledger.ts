// What every paid call leaves behind (contract 9): reserved before its first byte goes out, settled after, both durable and
// both gathered over concurrent requests into few transactions. Locks are taken attempts, budgets, slots, each in id order.
import type { AppId, AttemptId, KeyId, RequestId, WorkspaceId } from "../contract/ids.ts";
import { createBatcher } from "../lib/batch.ts";
import type { Database, Transacting } from "../storage/database.ts";
import type { SlotRef, StoredReply } from "../storage/idempotency-slots.ts";
import type { Seal } from "../storage/seal.ts";
import { batches, sweeps } from "../storage/system.ts";
import { isBadData, transact, transactAgain } from "../storage/transact.ts";
import type { BudgetExceeded, BudgetState } from "./budget.ts";
import type { Price } from "./price.ts";
import { readBudgetStates } from "./read-budgets.ts";
import { reserveBatch } from "./reserve-batch.ts";
import { settleBatch } from "./settle-batch.ts";
import { sweepAttempts } from "./sweep-attempts.ts";

/** `aborted`: the caller hung up or cancelled, and is charged as run. */
export type AttemptOutcome = "succeeded" | `failed:${string}` | "unknown" | "aborted";

export type Funding = "none" | "allowance" | "credits";

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
  readonly billingClass: "metered" | "provider_billed" | "simulated";
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
  | { readonly kind: "complete"; readonly ref: SlotRef; readonly reply: StoredReply }
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

export interface Ledger {
  reserve(reservation: Reservation): Promise<Reserved>;
  settle(settlement: Settlement): Promise<Settled>;
  /** Several that stand or fall together: one transaction. */
  settleTogether(settlements: readonly Settlement[]): Promise<readonly Settled[]>;
  /** In a transaction of the caller's, which locks nothing of the ledger's before and runs again after a deadlock. */
  reserveIn(tx: Transacting, reservation: Reservation): Promise<Reserved>;
  settleIn(tx: Transacting, settlement: Settlement): Promise<Settled>;
  /** Settles what a crash left open, at no charge to the app, and marks it unresolved. Answers how many. */
  sweepReservations(): Promise<number>;
  budgetsOf(workspaceId: WorkspaceId, appId: AppId): Promise<readonly BudgetState[]>;
}

/** Larger ones hold budgets longer than they save commits. */
const MAX_BATCH = 200;
/** A batch of the embedded engine holds the process's one thread, and costs about the same for one as for ten. */
const EMBEDDED_REST_FACTOR = 4;

export interface LedgerOptions {
  readonly database: Database;
  readonly seal: Seal;
  /** The clock that deadlines are given in; the database keeps them in its own. */
  readonly nowMs?: () => number;
}

export function createLedger({ database, seal, nowMs = Date.now }: LedgerOptions): Ledger {
  const restFactor = database.engine === "pglite" ? EMBEDDED_REST_FACTOR : 0;
  const options = { maxItems: MAX_BATCH, restFactor, isOneItemsFault: isBadData };
  return {
    reserve: createBatcher(
      (items: readonly Reservation[]) => transact(batches(database), (tx) => reserveBatch(tx, items, nowMs())),
      options,
    ),
    settle: createBatcher(
      // A paid answer in hand is not given up with the session: what was settled stays settled.
      (items: readonly Settlement[]) => transactAgain(batches(database), (tx) => settleBatch(tx, seal, items)),
      options,
    ),
    settleTogether: (items) => transact(batches(database), (tx) => settleBatch(tx, seal, items)),
    reserveIn: async (tx, reservation) => only(await reserveBatch(tx, [reservation], nowMs())),
    settleIn: async (tx, settlement) => only(await settleBatch(tx, seal, [settlement])),
    sweepReservations: () => sweeps(database).transaction((tx) => sweepAttempts(tx)),
    budgetsOf: (workspaceId, appId) =>
      database.inWorkspace(workspaceId, (tx) => readBudgetStates(tx, workspaceId, appId)),
  };
}

function only<Answer>(answers: readonly Answer[]): Answer {
  const [answer] = answers;
  if (answer === undefined || answers.length !== 1) throw new Error(`${answers.length} answers to one question`);
  return answer;
}
