// What a synchronous request keeps of its calls: the ledger's row, and the slot of its idempotency key (contract 3).
import { GatewayError } from "../contract/errors.ts";
import type { Ledger } from "../metering/ledger.ts";
import { budgetExceeded } from "./budget-exceeded.ts";
import type { CallKeeper } from "./run-candidates.ts";
import type { HeldSlot } from "./with-slot.ts";

export function slotKeeper(ledger: Ledger, slot: HeldSlot | null): CallKeeper {
  return {
    reserve: async (reservation) => {
      const reserved = await ledger.reserve({ ...reservation, ...(slot === null ? {} : { slot: slot.ref }) });
      if (reserved.ok) {
        slot?.markDispatched();
        return reservation.attemptId;
      }
      if ("exceeded" in reserved) throw budgetExceeded(reserved.exceeded);
      // Our lease lapsed while we measured and another request took the key over: that one answers.
      throw new GatewayError("IDEMPOTENCY_REPLAY_IN_PROGRESS", {
        message:
          "Another request with this Idempotency-Key has taken over. Retry after a few seconds with the same key.",
      });
    },
    settle: async (settlement) => {
      await ledger.settle(settlement);
    },
  };
}
