// Reclaims what leases hold of a workspace's budgets and no call uses, before a request is refused for lack of it or uses credits [metering.lease-reclaim]:
// first from this process, then from others.
import { setTimeout as pause } from "node:timers/promises";
import type { WorkspaceId } from "../contract/ids.ts";
import { announceChange } from "../storage/connection/announce.ts";
import { isLeasedElsewhere, type LeaseOwner } from "./store/budget-leases.ts";
import type { AppOf } from "./store/budgets.ts";
import type { Database } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import type { BudgetExceeded } from "./budget.ts";
import { NOTHING, type Slice } from "./grow-lease.ts";

/** A holder of part of a workspace's budgets in advance. */
export interface Reclaimable {
  readonly owner: LeaseOwner;
  reclaimable(): Slice;
  giveBack(): Promise<void>;
}

type Attempt = { readonly ok: true } | { readonly ok: false; readonly exceeded: BudgetExceeded } | OtherRefusal;
interface OtherRefusal {
  readonly ok: false;
  readonly slotLost: true;
}

/** One per workspace and process. */
export interface LeaseReclaimer {
  add(holder: Reclaimable): void;
  /** Announces a return to the budgets that is in progress. */
  returns(returning: Promise<unknown>): void;
  /** Retries `attempt` while leases return enough for it. `counted`: what the attempt already had available of this process's holdings. */
  reserve<T extends Attempt>(payer: AppOf, attempt: () => Promise<T>, counted?: () => Slice): Promise<T>;
  /** Whether a reservation waits for what this owner's leases return. A lease that took more than its calls need would take it away again. */
  isReclaiming(owner: LeaseOwner): boolean;
}

/** Time for other processes to return what was requested. Requested at most once a second, or a spent budget would cost them more. */
const RETURN_MS = 150;
const ASK_EVERY_MS = 1_000;
/** A reservation that loses the reclaimed amounts to smaller ones this often is refused. */
const MAX_RECLAIMS = 16;

export interface LeaseReclaimerOptions {
  readonly database: Database;
  readonly workspaceId: WorkspaceId;
  /** This process's holder name, as in the leases. */
  readonly process: string;
  /** Resolves when other processes have had their time to return amounts. */
  readonly waitForOthers?: (() => Promise<unknown>) | undefined;
}

export function createLeaseReclaimer(options: LeaseReclaimerOptions): LeaseReclaimer {
  const holders: Reclaimable[] = [];
  const otherProcesses = createOthers(options);
  const reclaims = new Set<Reclaim>();
  let returningCount = 0;
  let returnedCount = 0;

  const holdersFor = (reclaim: Reclaim) => holders.filter(({ owner }) => paysFrom(owner, reclaim));

  /** Whether enough is being returned for another attempt. */
  const isWorthwhile = (reclaim: Reclaim, returnedBefore: number, counted: Slice): boolean =>
    returningCount > 0 ||
    returnedCount !== returnedBefore ||
    reclaimableOf(holdersFor(reclaim), reclaim.exceeded, counted) >= missingOf(reclaim.exceeded);

  return {
    add: (holder) => {
      holders.push(holder);
    },
    returns: (returning) => {
      returningCount += 1;
      const end = (): void => {
        returningCount -= 1;
        returnedCount += 1;
      };
      returning.then(end, end);
    },
    isReclaiming: (owner) => [...reclaims].some((reclaim) => paysFrom(owner, reclaim)),
    reserve: async (payer, attempt, counted = () => NOTHING) => {
      const ownReclaims: Reclaim[] = [];
      let canAskOthers = true;
      try {
        for (;;) {
          const returnedBefore = returnedCount;
          const result = await attempt();
          if (result.ok || !("exceeded" in result)) return result;
          const reclaim = { payer, exceeded: result.exceeded };
          if (ownReclaims.length < MAX_RECLAIMS && isWorthwhile(reclaim, returnedBefore, counted())) {
            ownReclaims.push(reclaim);
            // Registered before anything is returned, and until this reservation has ended.
            reclaims.add(reclaim);
            await Promise.all(holdersFor(reclaim).map((holder) => holder.giveBack()));
          } else if (canAskOthers && (await otherProcesses.gaveBack())) canAskOthers = false;
          else return result;
        }
      } finally {
        for (const reclaim of ownReclaims) reclaims.delete(reclaim);
      }
    },
  };
}

/** A refused reservation that waits for what leases return. */
interface Reclaim {
  readonly payer: AppOf;
  readonly exceeded: BudgetExceeded;
}

/** Whether this owner's leases hold some of the budget that was exceeded. */
function paysFrom(owner: LeaseOwner, { payer, exceeded: { budgetKind } }: Reclaim): boolean {
  return budgetKind === "budget" ? owner.appId === payer.appId : owner.funding === budgetKind;
}

function missingOf({ spent, reserved, requested, limit }: BudgetExceeded): bigint {
  return spent + reserved + requested - limit;
}

function reclaimableOf(holders: readonly Reclaimable[], { kind }: BudgetExceeded, counted: Slice): bigint {
  // Leases hold no audio.
  if (kind === "audio_seconds") return 0n;
  const unit = kind === "usd" ? "nanoUsd" : "tokens";
  return holders.reduce((sum, holder) => sum + holder.reclaimable()[unit], -counted[unit]);
}

/** Requests returns from other processes. Concurrent refusals share one request. */
function createOthers({ database, workspaceId, process, waitForOthers = pauseForReturn }: LeaseReclaimerOptions) {
  let requestedAtMs = Number.NEGATIVE_INFINITY;
  let request: Promise<boolean> | null = null;

  const requestReturn = async (): Promise<boolean> => {
    if (!(await isLeasedElsewhere(bypassRls(database, "batch").db, workspaceId, process))) return false;
    requestedAtMs = performance.now();
    await transact(bypassRls(database, "batch"), (tx) => announceChange(tx, "leases", workspaceId));
    await waitForOthers();
    return true;
  };

  return {
    /** Returns false if nothing is being returned. */
    gaveBack: async (): Promise<boolean> => {
      if (request === null && performance.now() - requestedAtMs < ASK_EVERY_MS) return false;
      request ??= requestReturn().finally(() => {
        request = null;
      });
      return request;
    },
  };
}

function pauseForReturn(): Promise<void> {
  return pause(RETURN_MS, undefined, { ref: false });
}
