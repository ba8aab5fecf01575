// The record of every paid call: reserved before its first byte is sent [metering.reserve-before-call] and settled after it. Both are durable, and concurrent
// requests share transactions (ledger-batch.ts).
import type { AppId, WorkspaceId } from "../contract/ids.ts";
import { createBatcher } from "../lib/concurrency/batcher.ts";
import type { Database, DatabaseTransaction } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import { bypassRls } from "../storage/system.ts";
import { transact, transactIdempotently } from "../storage/transact.ts";
import { isServerUnavailable, isBadData } from "../storage/database-faults.ts";
import type { BudgetExceeded, BudgetState } from "./budget.ts";
import { judgeQuote, type Quote } from "./judge-quote.ts";
import { readBudgetStates } from "./read-budgets.ts";
import { type LedgerBatch, runLedgerBatch } from "./ledger-batch.ts";
import type { LeaseReclaimer } from "./lease-reclaimer.ts";
import { sweepAttempts } from "./sweep-attempts.ts";
import type { Reservation, ReservationVerdict, Settlement, SettlementResult } from "./ledger-entries.ts";

export type { Funding } from "../storage/schema/tables-metering.ts";

export interface Ledger {
  reserve(reservation: Reservation): Promise<ReservationVerdict>;
  settle(settlement: Settlement): Promise<SettlementResult>;
  /** Settles several attempts atomically, in one transaction. */
  settleTogether(settlements: readonly Settlement[]): Promise<readonly SettlementResult[]>;
  /** Reserves in the caller's transaction, which must lock nothing of the ledger before and must be repeatable after a deadlock. */
  reserveIn(tx: DatabaseTransaction, reservation: Reservation): Promise<ReservationVerdict>;
  settleIn(tx: DatabaseTransaction, settlement: Settlement): Promise<SettlementResult>;
  /** Like `reserveIn`, for several in order. A refused one reserves nothing and leaves its share to those behind it. */
  reserveAllIn(tx: DatabaseTransaction, reservations: readonly Reservation[]): Promise<readonly ReservationVerdict[]>;
  settleAllIn(tx: DatabaseTransaction, settlements: readonly Settlement[]): Promise<readonly SettlementResult[]>;
  /** Settles attempts that a crash left open, without a charge to the app, and marks them unresolved. Returns how many. */
  sweepReservations(): Promise<number>;
  /** The refusal that this reservation would get now. Null: it fits. */
  judge(quote: Quote): Promise<BudgetExceeded | null>;
  budgetsOf(workspaceId: WorkspaceId, appId: AppId): Promise<readonly BudgetState[]>;
}

/** Larger batches lock budgets for longer than the saved commits are worth. */
const MAX_BATCH = 200;
/** Each batch is a commit: fewer, larger batches use a quarter less server CPU (docs/decisions/0020-one-ledger-batch-and-prepared-statements.md). */
const PAUSE_FACTOR = 0.5;

export interface LedgerOptions {
  /** The reclaimer of this process's leases. */
  readonly reclaimer?: Pick<LeaseReclaimer, "reserve">;
  readonly database: Database;
  readonly seal: Seal;
  /** The clock of the deadlines. The database converts them to its own. */
  readonly nowMs?: () => number;
}

/** A reservation or a settlement of a batch. */
type Entry = { readonly reservation: Reservation } | { readonly settlement: Settlement };
type Answer =
  | { readonly reserved: ReservationVerdict }
  | { readonly settled: SettlementResult }
  | { readonly error: unknown };

export function createLedger({ database, seal, reclaimer, nowMs = Date.now }: LedgerOptions): Ledger {
  const runIn = (tx: DatabaseTransaction, batch: Partial<LedgerBatch>) =>
    runLedgerBatch(tx, { seal, nowMs: nowMs() }, { reservations: [], settlements: [], ...batch });
  const settleWithRetry = (settlements: readonly Settlement[]) =>
    transactIdempotently(bypassRls(database, "batch"), (tx) => runIn(tx, { settlements }));

  /** Settlements are retried when the database session ends, so that no paid result is lost. Reservations of the batch fail. */
  const run = async (entries: readonly Entry[]): Promise<readonly Answer[]> => {
    const reservations = entries.flatMap((entry) => ("reservation" in entry ? [entry.reservation] : []));
    const settlements = entries.flatMap((entry) => ("settlement" in entry ? [entry.settlement] : []));
    try {
      const { reserved, settled } = await (reservations.length === 0
        ? settleWithRetry(settlements)
        : transact(bypassRls(database, "batch"), (tx) => runIn(tx, { reservations, settlements })));
      return mergeInOrder(entries, reserved.map(asReserved), settled.map(asSettled));
    } catch (error) {
      if (reservations.length === 0 || settlements.length === 0 || !isServerUnavailable(error)) throw error;
      const { settled } = await settleWithRetry(settlements);
      return mergeInOrder(
        entries,
        reservations.map(() => ({ error })),
        settled.map(asSettled),
      );
    }
  };
  const enqueue = createBatcher(run, {
    maxItems: MAX_BATCH,
    pauseFactor: PAUSE_FACTOR,
    isItemFault: isBadData,
  });

  const reserve = async (reservation: Reservation): Promise<ReservationVerdict> => {
    const answer = await enqueue({ reservation });
    if ("reserved" in answer) return answer.reserved;
    throw "error" in answer ? answer.error : new Error("a reservation was answered as a settlement");
  };

  return {
    reserve: (item) => (reclaimer === undefined ? reserve(item) : reclaimer.reserve(item, () => reserve(item))),
    settle: async (settlement) => {
      const answer = await enqueue({ settlement });
      if ("settled" in answer) return answer.settled;
      throw "error" in answer ? answer.error : new Error("a settlement was answered as a reservation");
    },
    settleTogether: async (settlements) => (await settleWithRetry(settlements)).settled,
    reserveIn: async (tx, reservation) => requireOnly((await runIn(tx, { reservations: [reservation] })).reserved),
    settleIn: async (tx, settlement) => requireOnly((await runIn(tx, { settlements: [settlement] })).settled),
    reserveAllIn: async (tx, reservations) =>
      reservations.length === 0 ? [] : (await runIn(tx, { reservations })).reserved,
    settleAllIn: async (tx, settlements) =>
      settlements.length === 0 ? [] : (await runIn(tx, { settlements })).settled,
    sweepReservations: () => bypassRls(database, "sweep").transaction((tx) => sweepAttempts(tx)),
    judge: (quote) => database.inWorkspace(quote.owner.workspaceId, (tx) => judgeQuote(tx, quote)),
    budgetsOf: (workspaceId, appId) =>
      database.inWorkspace(workspaceId, (tx) => readBudgetStates(tx, workspaceId, appId)),
  };
}

const asReserved = (reserved: ReservationVerdict): Answer => ({ reserved });
const asSettled = (settled: SettlementResult): Answer => ({ settled });

function mergeInOrder(
  entries: readonly Entry[],
  reserved: readonly Answer[],
  settled: readonly Answer[],
): readonly Answer[] {
  const [reservations, settlements] = [reserved.values(), settled.values()];
  return entries.map((entry) => {
    const { value } = ("reservation" in entry ? reservations : settlements).next();
    if (value === undefined) throw new Error("an entry of the ledger without an answer");
    return value;
  });
}

function requireOnly<T>(answers: readonly T[]): T {
  const [answer] = answers;
  if (answer === undefined || answers.length !== 1) throw new Error(`${answers.length} answers to one question`);
  return answer;
}
