// Checks a batch of reservations against their apps' budgets in order of arrival, marks the idempotency slots of admitted ones as dispatched and writes
// their rows (ledger-batch.ts). No provider is called before the commit.
import type { DatabaseTransaction } from "../storage/database.ts";
import { addAmounts, type WindowChange } from "./store/budget-windows.ts";
import type { BudgetRow } from "./store/budgets.ts";
import { dispatchSlots } from "../storage/idempotency-slots.ts";
import { addReserved, type Amounts, type BudgetExceeded, type BudgetState, judgeBudget } from "./budget.ts";
import type { Reservation, ReservationVerdict } from "./ledger-entries.ts";

type Verdict = { readonly budgets: readonly BudgetState[] } | { readonly exceeded: BudgetExceeded };

/** The result of a batch of reservations. Slots of admitted ones are dispatched. */
export interface ReservationOutcome {
  readonly verdicts: readonly ReservationVerdict[];
  readonly admitted: readonly Admitted[];
  /** Changes of the budget windows by the admitted reservations. */
  readonly moves: readonly WindowChange[];
}

/** Locked rows and their states, in the same order. */
export interface LockedBudgets {
  readonly rows: readonly BudgetRow[];
  readonly states: readonly BudgetState[];
}

interface Admitted {
  readonly item: Reservation;
  readonly budgets: readonly BudgetState[];
}

/** The caller has locked the rows of all budgets. `before`: other changes of the windows that come first. */
export async function judgeReservations(
  tx: DatabaseTransaction,
  batch: readonly Reservation[],
  held: LockedBudgets,
  before: readonly WindowChange[],
): Promise<ReservationOutcome> {
  const ledgers = budgetsOf(held, before);
  const lostItems = new Set<Reservation>();
  let verdicts: ReadonlyMap<Reservation, Verdict>;
  // A slot lost to another process frees its share of the budget for those behind it, so they are checked again.
  for (;;) {
    const remaining = batch.filter((item) => !lostItems.has(item));
    verdicts = judgeInOrder(remaining, ledgers);
    const withSlot = remaining.filter((item) => isAdmitted(verdicts.get(item)) && item.slot !== undefined);
    const held = await dispatchSlots(
      tx,
      withSlot.flatMap((item) => item.slot ?? []).toSorted((a, b) => Buffer.compare(a.keySha256, b.keySha256)),
    );
    const justLost = withSlot.filter((item) => item.slot !== undefined && !held.has(item.slot.owner));
    if (justLost.length === 0) break;
    for (const item of justLost) lostItems.add(item);
  }

  const admitted = batch.flatMap((item) => {
    const verdict = verdicts.get(item);
    return verdict !== undefined && "budgets" in verdict ? [{ item, budgets: verdict.budgets }] : [];
  });
  return {
    admitted,
    moves: admitted.flatMap(({ item, budgets }) =>
      budgets.map((budget) => ({
        budgetId: budget.id,
        windowStart: budget.windowStart,
        spentNanoUsd: 0n,
        spentAudioMs: 0n,
        reservedNanoUsd: item.reserveNanoUsd,
        reservedAudioMs: BigInt(item.audioMs),
        spentTokens: 0n,
        reservedTokens: BigInt(item.tokens ?? 0),
      })),
    ),
    verdicts: batch.map((item) => {
      const verdict = verdicts.get(item);
      if (verdict === undefined) return { ok: false, slotLost: true };
      return "exceeded" in verdict ? { ok: false, exceeded: verdict.exceeded } : { ok: true };
    }),
  };
}

/** The locked budgets that apply to each reservation. */
interface Ledgers {
  readonly states: ReadonlyMap<string, BudgetState>;
  readonly idsOf: (item: Reservation) => readonly string[];
}

function budgetsOf({ rows, states: initialStates }: LockedBudgets, before: readonly WindowChange[]): Ledgers {
  const states = initialStates.map((state) => addMoves(state, before));
  const isApplicable = (row: BudgetRow, item: Reservation) =>
    row.workspace_id === item.workspaceId &&
    (row.kind === "budget" ? row.app_id === item.appId : row.kind === item.funding);
  return {
    states: new Map(states.map((state) => [state.id, state])),
    idsOf: (item) => rows.flatMap((row) => (isApplicable(row, item) ? [row.id] : [])),
  };
}

function addMoves(state: BudgetState, moves: readonly WindowChange[]): BudgetState {
  const ownMoves = moves.filter(
    (move) => move.budgetId === state.id && move.windowStart.getTime() === state.windowStart.getTime(),
  );
  return ownMoves.reduce(addAmounts<BudgetState>, state);
}

function judgeInOrder(batch: readonly Reservation[], { states, idsOf }: Ledgers): ReadonlyMap<Reservation, Verdict> {
  const currentStates = new Map(states);
  const verdicts = new Map<Reservation, Verdict>();
  for (const item of batch) {
    const budgets = idsOf(item).flatMap((id) => currentStates.get(id) ?? []);
    const amounts = amountsOf(item);
    const exceeded = budgets.map((budget) => judgeBudget(budget, amounts)).find((verdict) => verdict !== null);
    if (exceeded !== undefined) {
      verdicts.set(item, { exceeded });
      continue;
    }
    verdicts.set(item, { budgets });
    for (const budget of budgets) currentStates.set(budget.id, addReserved(budget, amounts));
  }
  return verdicts;
}

function amountsOf(item: Reservation): Amounts {
  return { nanoUsd: item.reserveNanoUsd, audioMs: BigInt(item.audioMs), tokens: BigInt(item.tokens ?? 0) };
}

function isAdmitted(verdict: Verdict | undefined): boolean {
  return verdict !== undefined && "budgets" in verdict;
}
