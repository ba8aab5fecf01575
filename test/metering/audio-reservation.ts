// A transcription of ten seconds as it is reserved, for tests of the ledger.
import { newId } from "../../src/contract/ids.ts";
import type { Reservation } from "../../src/metering/ledger-entries.ts";
import type { makeTenant } from "../harness/postgres/database.ts";

export function audioReservation(
  tenant: Awaited<ReturnType<typeof makeTenant>>,
  deadlineAt: Date,
  changes: Partial<Reservation> = {},
): Reservation {
  return {
    attemptId: newId("attempt"),
    requestId: newId("request"),
    ...tenant,
    keyId: newId("key"),
    endpoint: "POST /v1/transcription",
    connection: "el",
    provider: "elevenlabs",
    model: "scribe_v2",
    position: 1,
    billingClass: "metered",
    audioMs: 10_000,
    reserveNanoUsd: 1_000n,
    estimateNanoUsd: null,
    price: null,
    deadlineAt,
    ...changes,
  };
}
