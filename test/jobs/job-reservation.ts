// The reservation of a job of one second, as its submission makes it.
import { newId } from "../../src/contract/ids.ts";
import type { JobOwner } from "../../src/jobs/store/jobs.ts";
import type { Reservation } from "../../src/metering/ledger-entries.ts";

export function reservationOf(own: JobOwner, reserveNanoUsd: bigint): Reservation {
  return {
    ...own,
    attemptId: newId("attempt"),
    requestId: newId("request"),
    keyId: null,
    endpoint: "/v1/transcription/jobs",
    connection: "dg",
    provider: "deepgram",
    model: "nova-3",
    position: 1,
    billingClass: "metered",
    audioMs: 1_000,
    reserveNanoUsd,
    estimateNanoUsd: null,
    price: null,
    deadlineAt: new Date(Date.now() + 60_000),
  };
}
