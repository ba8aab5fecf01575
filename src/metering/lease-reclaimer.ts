// Reclaims what leases hold of a workspace's budgets and no call uses, before a request is refused for want of it or draws on credits
// [metering.lease-reclaim]: first what this process holds, then what others do.
import { setTimeout as pause } from "node:timers/promises";
import type { WorkspaceId } from "../contract/ids.ts";
import { announceChange } from "../storage/announce.ts";
import { isHeldElsewhere, type LeaseOwner } from "../storage/budget-leases.ts";
import type { AppOf } from "../storage/budgets.ts";
import type { Database } from "../storage/database.ts";
import { batches } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import type { BudgetExceeded } from "./budget.ts";
import { NOTHING, type Slice } from "./grow-lease.ts";

/** Whoever holds some of a workspace's budgets in advance. */
export interface Reclaimable {
  readonly owner: LeaseOwner;
  reclaimable(): Slice;
  giveBack(): Promise<void>;
}

type Tried = { readonly ok: true } | { readonly ok: false; readonly exceeded: BudgetExceeded } | OtherRefusal;
interface OtherRefusal {
  readonly ok: false;
  readonly slotLost: true;
}

/** A workspace's, in this process. */
export interface LeaseReclaimer {
  add(holder: Reclaimable): void;
  /** Something is on its way back to the budgets. */
  returns(returning: Promise<unknown>): void;
  /** Retries while leases give back enough for it. `counted`: of what is held here that was available to the attempt. */
  reserve<T extends Tried>(payer: AppOf, attempt: () => Promise<T>, counted?: () => Slice): Promise<T>;
  /** A reservation waits for what leases of this owner give back: a lease that took more than its calls need would take it away again. */
  isReclaiming(owner: LeaseOwner): boolean;
}

/** So long others have to give back what was asked for; it is asked for at most once a second, or a spent budget would cost them more. */
const RETURN_MS = 150;
const ASK_EVERY_MS = 1_000;
/** A reservation that loses what came back to smaller ones this often is refused. */
const MAX_RECLAIMS = 16;

export interface LeaseReclaimerOptions {
  readonly database: Database;
  readonly workspaceId: WorkspaceId;
  /** Its holder's name, as leases have it. */
  readonly process: string;
  /** Resolves when others have had their time to give back. */
  readonly waitForOthers?: (() => Promise<unknown>) | undefined;
}

export function createLeaseReclaimer(options: LeaseReclaimerOptions): LeaseReclaimer {
  const holders: Reclaimable[] = [];
  const others = createOthers(options);
  const reclaims = new Set<Reclaim>();
  let underWay = 0;
  let returned = 0;

  const holdersFor = (reclaim: Reclaim) => holders.filter(({ owner }) => paysFrom(owner, reclaim));

  /** Whether enough comes back for another attempt. */
  const isWorthwhile = (reclaim: Reclaim, since: number, counted: Slice): boolean =>
    underWay > 0 ||
    returned !== since ||
    reclaimableOf(holdersFor(reclaim), reclaim.exceeded, counted) >= missingOf(reclaim.exceeded);

  return {
    add: (holder) => {
      holders.push(holder);
    },
    returns: (returning) => {
      underWay += 1;
      const end = (): void => {
        underWay -= 1;
        returned += 1;
      };
      returning.then(end, end);
    },
    isReclaiming: (owner) => [...reclaims].some((reclaim) => paysFrom(owner, reclaim)),
    reserve: async (payer, attempt, counted = () => NOTHING) => {
      const own: Reclaim[] = [];
      let mayComeFromOthers = true;
      try {
        for (;;) {
          const since = returned;
          const tried = await attempt();
          if (tried.ok || !("exceeded" in tried)) return tried;
          const reclaim = { payer, exceeded: tried.exceeded };
          if (own.length < MAX_RECLAIMS && isWorthwhile(reclaim, since, counted())) {
            own.push(reclaim);
            // Before anything is given back, and until this reservation has ended.
            reclaims.add(reclaim);
            await Promise.all(holdersFor(reclaim).map((holder) => holder.giveBack()));
          } else if (mayComeFromOthers && (await others.gaveBack())) mayComeFromOthers = false;
          else return tried;
        }
      } finally {
        for (const reclaim of own) reclaims.delete(reclaim);
      }
    },
  };
}

/** A reservation that was refused, and waits for what leases give back. */
interface Reclaim {
  readonly payer: AppOf;
  readonly exceeded: BudgetExceeded;
}

/** Whether what this one holds is held of the budget that was exceeded. */
function paysFrom(owner: LeaseOwner, { payer, exceeded: { budgetKind } }: Reclaim): boolean {
  return budgetKind === "budget" ? owner.appId === payer.appId : owner.funding === budgetKind;
}

function missingOf({ spent, reserved, requested, limit }: BudgetExceeded): bigint {
  return spent + reserved + requested - limit;
}

function reclaimableOf(holders: readonly Reclaimable[], { kind }: BudgetExceeded, counted: Slice): bigint {
  // Of audio nothing is held in advance.
  if (kind === "audio_seconds") return 0n;
  const unit = kind === "usd" ? "nanoUsd" : "tokens";
  return holders.reduce((sum, holder) => sum + holder.reclaimable()[unit], -counted[unit]);
}

/** Other processes. Of many that are refused at one time one asks for all. */
function createOthers({ database, workspaceId, process, waitForOthers = pauseForReturn }: LeaseReclaimerOptions) {
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<boolean> | null = null;

  const ask = async (): Promise<boolean> => {
    if (!(await isHeldElsewhere(batches(database).db, workspaceId, process))) return false;
    askedAtMs = performance.now();
    await transact(batches(database), (tx) => announceChange(tx, "leases", workspaceId));
    await waitForOthers();
    return true;
  };

  return {
    /** False: nothing is on its way back. */
    gaveBack: async (): Promise<boolean> => {
      if (asking === null && performance.now() - askedAtMs < ASK_EVERY_MS) return false;
      asking ??= ask().finally(() => {
        asking = null;
      });
      return asking;
    },
  };
}

function pauseForReturn(): Promise<void> {
  return pause(RETURN_MS, undefined, { ref: false });
}
