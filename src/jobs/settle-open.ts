// Settles the attempt that a job's row still holds open when the job ends without an answer.
import { brand } from "../contract/ids.ts";
import type { JobError } from "../contract/jobs.ts";
import type { TranscriptionEnvelope } from "../contract/transcription.ts";
import { type Billing, quoteFor } from "../gateway/calls/quote.ts";
import { audioAmount, chargedAsRun, uncharged } from "../gateway/calls/call-accounting.ts";
import type { Settlement } from "../metering/ledger-entries.ts";
import type { Seal } from "../storage/seal.ts";
import type { JobRow } from "../storage/tables.ts";
import type { JobEnd } from "./end-job.ts";
import { atPricesOf } from "./job-prices.ts";
import { type OpenJob, openJob } from "./job-request.ts";
import type { JobServices } from "./services.ts";

/** Of the attempt that the row still holds open; null when there is none. */
export function openSettlement(
  { call_attempt_id: attemptId, call_state: state }: JobRow,
  unused: "failed:cancelled" | "failed:not_called",
): Settlement | null {
  if (attemptId === null) return null;
  return uncharged(brand("attempt", attemptId), state === "reserved" ? unused : "unknown");
}

/** A call that a provider accepted is charged as run. A reservation without a call is returned [jobs.cancel-charge]. */
export function cancelledEnd(services: JobServices, locked: JobRow): JobEnd {
  const settlement = openSettlement(locked, "failed:cancelled");
  if (settlement === null || locked.call_state !== "submitted") return { status: "cancelled", settlement };
  const billing = billingOf(services, locked);
  return billing === null ? { status: "cancelled", settlement } : cancelled(settlement.attemptId, billing);
}

/** The end of a job without an answer: a flag that was set before wins over any failure, as over a success [jobs.cancel-processing]. */
export function failedEnd(services: JobServices, locked: JobRow, error: JobError): JobEnd {
  if (locked.cancel_requested) return cancelledEnd(services, locked);
  return { status: "failed", error, settlement: openSettlement(locked, "failed:not_called") };
}

/** Null where nobody can say: what it ran on is gone, or the key that sealed it. */
function billingOf({ gateway, seal }: JobServices, locked: JobRow): Billing | null {
  const job = openedOrNull(seal, locked);
  const target = job?.request.route.targets.find(({ position }) => position === locked.call_position);
  return job === null || target === undefined || job.audio === null
    ? null
    : quoteFor(atPricesOf(job, gateway), job.payer, target, audioAmount(job.audio.facts));
}

/** A deadline ends a job that no worker can open, too. */
function openedOrNull(seal: Seal, locked: JobRow): OpenJob | null {
  try {
    return openJob(seal, locked);
  } catch {
    return null;
  }
}

export function cancelled(attemptId: Settlement["attemptId"], billing: Billing): JobEnd {
  return { status: "cancelled", usage: usageOf(billing), settlement: chargedAsRun(attemptId, billing) };
}

function usageOf(billing: Billing): TranscriptionEnvelope["usage"] {
  return {
    audio_seconds: billing.audioMs / 1000,
    billable_audio_seconds: billing.billableMs / 1000,
    total_tokens: 0,
  };
}
