// What a synchronous request records of its calls: the ledger's row, the slot of its idempotency key [idempotency.write-ahead], and what a
// provider has to delete afterwards [providers.deletion].
import type { Settled, Settlement } from "../../metering/ledger-entries.ts";
import { isServerUnavailable } from "../../storage/database-faults.ts";
import { budgetExceeded } from "../calls/budget-exceeded.ts";
import type { CallJournal, Payer } from "../calls/candidate-run.ts";
import type { GatewayReply } from "../reply.ts";
import type { GatewayServices } from "../services.ts";
import { takenOver } from "./taken-over.ts";
import type { HeldSlot } from "./with-slot.ts";
import { settleWhenAvailable } from "../calls/settle-when-available.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";

export interface SlotJournal extends CallJournal {
  settle(settlement: Settlement): Promise<void>;
  /** A call, and the one that made use of its answer and ends the slot: one transaction. Then the provider may forget. */
  settleTogether(settlements: readonly Settlement[]): Promise<readonly Settled[]>;
  /** The charge, the answer under the idempotency key, and the key's end: one transaction. Then the provider may forget. */
  finish(settlement: Settlement, reply: GatewayReply): Promise<void>;
}

/** After a crash the sweep deletes, once nobody can be waiting for the run any more. */
const DELETION_GRACE_SECONDS = 60;

/** `deadlineAtMs`: until then what came of a call waits for a database that is unavailable. */
export function createSlotJournal(
  services: Pick<GatewayServices, "ledger" | "deletions" | "limits" | "now">,
  payer: Payer,
  slot: HeldSlot | null,
  deadlineAtMs: number,
): SlotJournal {
  const { ledger, deletions, limits } = services;
  const stored = async <T>(write: () => Promise<T>): Promise<T> =>
    settleWhenAvailable(services, { deadlineAtMs, slot }, write);
  let hasRuns = false;
  const releaseRuns = async (): Promise<void> => {
    if (!hasRuns) return;
    await deletions.release(payer.workspaceId, payer.requestId).catch((error: unknown) => {
      // What is settled is settled, and the run is deleted when its own time comes.
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
      throw takenOver();
    },
    dispatched: () => slot?.markDispatched(),
    settle: async (settlement) => {
      await stored(() => ledger.settle(settlement));
      await releaseRuns();
    },
    setAside: async () => undefined,
    drop: async (settlement) => {
      await stored(() => ledger.settle(settlement));
    },
    settleTogether: async (settlements) => {
      const settled = await stored(() => ledger.settleTogether(settlements));
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
      return stored(() => deletions.owe(duty));
    },
    finish: async (settlement, reply) => {
      const end = slot === null ? {} : { slot: { kind: "complete", ref: slot.ref, reply } as const };
      await stored(() => ledger.settle({ ...settlement, ...end }));
      await releaseRuns();
    },
  };
}
