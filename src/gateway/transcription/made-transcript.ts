// A served transcript before it is finished into an answer, made by one call, or by two if a chat model translated it.
import type { Warning } from "../../contract/transcription/transcription-envelope.ts";
import type { Requirements } from "../../routing/required-features.ts";
import type { ServedOutcome } from "../calls/run-outcome.ts";
import type { SlotJournal } from "../idempotency/slot-journal.ts";
import type { GatewayReply } from "../reply.ts";

export interface MadeTranscript {
  readonly wanted: Requirements;
  readonly served: ServedOutcome;
  readonly warnings: readonly Warning[];
  readonly isSimulated: boolean;
  /** Charges all calls and stores the answer under the idempotency key, in one transaction. */
  readonly finish: (reply: GatewayReply) => Promise<unknown>;
}

/** Made by a target alone. */
export function madeByTargets(wanted: Requirements, served: ServedOutcome, journal: SlotJournal): MadeTranscript {
  return {
    wanted,
    served,
    warnings: [],
    isSimulated: served.billing.billingClass === "simulated",
    finish: (reply) => journal.finish(served.settlement, reply),
  };
}
