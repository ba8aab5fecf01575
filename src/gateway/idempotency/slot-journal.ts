// The call journal of a synchronous request: records the ledger's row, the slot of its idempotency key [idempotency.write-ahead] and the data to delete at the
// provider [providers.deletion].
import type { SettlementResult, Settlement } from "../../metering/ledger-entries.ts";
import { isServerUnavailable } from "../../storage/database-faults.ts";
import { budgetExceeded } from "../billing/budget-exceeded.ts";
import type { CallJournal } from "../calls/call-journal.ts";
import type { Payer } from "../account/payer.ts";
import type { GatewayReply } from "../reply.ts";
import type { GatewayServices } from "../services.ts";
import { slotTakenOver } from "./slot-taken-over.ts";
import type { ClaimedSlot } from "./with-slot.ts";
import { settleWhenAvailable } from "../billing/settle-when-available.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";

export interface SlotJournal extends CallJournal {
  settle(settlement: Settlement): Promise<void>;
  /** Settles a call together with the one that used its answer and ends the slot, in one transaction. Then the provider's data is deleted. */
  settleTogether(settlements: readonly Settlement[]): Promise<readonly SettlementResult[]>;
  /** Settles the charge and completes the slot with the answer, in one transaction. Then the provider's data is deleted. */
  finish(settlement: Settlement, reply: GatewayReply): Promise<void>;
}

/** After a crash the sweep deletes the run once no request can be waiting for it any more. */
const DELETION_GRACE_SECONDS = 60;

/** `deadlineAtMs`: until then a settlement waits for an unavailable database. */
export function createSlotJournal(
  services: Pick<GatewayServices, "ledger" | "deletions" | "limits" | "now">,
  payer: Payer,
  slot: ClaimedSlot | null,
  deadlineAtMs: number,
): SlotJournal {
  const { ledger, deletions, limits } = services;
  const storeWhenAvailable = async <T>(write: () => Promise<T>): Promise<T> =>
    settleWhenAvailable(services, { deadlineAtMs, slot }, write);
  const settleAlone = async (settlement: Settlement): Promise<void> => {
    await storeWhenAvailable(() => ledger.settle(settlement));
  };
  let hasRuns = false;
  const releaseRuns = async (): Promise<void> => {
    if (!hasRuns) return;
    await deletions.release(payer.workspaceId, payer.requestId).catch((error: unknown) => {
      // The settlement is committed, and the run is deleted when its own due time comes.
      if (!isServerUnavailable(error)) throw error;
    });
  };
  return {
    reserve: async (reservation) => {
      const reserved = await mapDatabaseUnavailable(
        ledger.reserve({ ...reservation, ...(slot === null ? {} : { slot: slot.ref }) }),
      );
      if (reserved.ok) return reservation.attemptId;
      if ("exceeded" in reserved) throw budgetExceeded(reserved.exceeded);
      throw slotTakenOver();
    },
    dispatched: () => slot?.markDispatched(),
    settle: async (settlement) => {
      await storeWhenAvailable(() => ledger.settle(settlement));
      await releaseRuns();
    },
    // A reservation under an idempotency key marks the key as used, which a crash before the call must not do.
    ...(slot === null ? { withdraw: settleAlone } : {}),
    setAside: async () => undefined,
    drop: settleAlone,
    settleTogether: async (settlements) => {
      const settled = await storeWhenAvailable(() => ledger.settleTogether(settlements));
      await releaseRuns();
      return settled;
    },
    recordRemoteRun: ({ target }, run) => {
      hasRuns = true;
      const duty = {
        workspaceId: payer.workspaceId,
        appId: payer.appId,
        subject: payer.requestId,
        account: target.account,
        provider: target.provider,
        testMode: payer.testMode,
        run,
        dueInSeconds: limits.syncTimeoutSeconds + DELETION_GRACE_SECONDS,
      };
      return storeWhenAvailable(() => deletions.owe(duty));
    },
    finish: async (settlement, reply) => {
      const end = slot === null ? {} : { slot: { kind: "complete", ref: slot.ref, reply } as const };
      await storeWhenAvailable(() => ledger.settle({ ...settlement, ...end }));
      await releaseRuns();
    },
  };
}
