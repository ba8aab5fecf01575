// Determines the end and the charge of a job without a result: a failed or cancelled one that may still have an open attempt.
import { brand } from "../../contract/ids.ts";
import type { JobError } from "../../contract/jobs.ts";
import type { TranscriptionEnvelope } from "../../contract/transcription/transcription-envelope.ts";
import { audioAmount, type Billing, quoteFor } from "../../gateway/billing/audio-quote.ts";
import { chargedAsRun, unchargedSettlement } from "../../gateway/billing/call-accounting.ts";
import type { ServedOutcome } from "../../gateway/calls/run-outcome.ts";
import type { Settlement } from "../../metering/ledger-entries.ts";
import type { Seal } from "../../storage/secrets/seal.ts";
import type { JobRow } from "../../storage/schema/tables.ts";
import type { JobEnd } from "../job-end.ts";
import { atPricesOf } from "../job-prices.ts";
import { type OpenJob, openJob } from "../job-request.ts";
import type { JobServices } from "../services.ts";

/** Settlement of the attempt that is open in the row. Null: none is. */
export function openSettlement(
  { call_attempt_id: attemptId, call_state: state }: JobRow,
  unusedOutcome: "failed:cancelled" | "failed:not_called",
): Settlement | null {
  if (attemptId === null) return null;
  return unchargedSettlement(brand("attempt", attemptId), state === "reserved" ? unusedOutcome : "unknown");
}

/** A call that a provider accepted is charged as executed. A reservation without a call is released [jobs.cancel-charge]. */
export function cancelledEnd(services: JobServices, locked: JobRow): JobEnd {
  const settlement = openSettlement(locked, "failed:cancelled");
  if (settlement === null || locked.call_state !== "submitted") return { status: "cancelled", settlement };
  const billing = billingOf(services, locked);
  return billing === null ? { status: "cancelled", settlement } : cancelledAsServed(settlement.attemptId, billing);
}

/** The end of a job without a result. A cancellation flag that was set earlier wins over any failure, as over a success [jobs.cancel-processing]. */
export function failedEnd(services: JobServices, locked: JobRow, error: JobError): JobEnd {
  if (locked.cancel_requested) return cancelledEnd(services, locked);
  return { status: "failed", error, settlement: openSettlement(locked, "failed:not_called") };
}

/** Null if the charge cannot be computed: the target is gone, or the key that sealed the request. */
function billingOf({ gateway, seal }: JobServices, locked: JobRow): Billing | null {
  const job = openJobOrNull(seal, locked);
  const target = job?.request.route.targets.find(({ position }) => position === locked.call_position);
  return job === null || target === undefined || job.audio === null
    ? null
    : quoteFor(atPricesOf(job, gateway), job.payer, target, audioAmount(job.audio.facts));
}

/** Null if the row cannot be opened: a deadline ends that job too. */
function openJobOrNull(seal: Seal, locked: JobRow): OpenJob | null {
  try {
    return openJob(seal, locked);
  } catch {
    return null;
  }
}

/** A job that was cancelled while its call was made. A model on this machine costs nothing unless the operator priced it [jobs.cancel-charge]. */
export function cancelledAfterCall(
  { gateway }: Pick<JobServices, "gateway">,
  { settlement: { attemptId }, candidate, billing }: Pick<ServedOutcome, "settlement" | "candidate" | "billing">,
): JobEnd {
  const isHere = gateway.providers.get(candidate.target.provider)?.isOnThisMachine === true;
  return isHere && billing.chargeNanoUsd === 0n
    ? { status: "cancelled", settlement: unchargedSettlement(attemptId, "failed:cancelled") }
    : cancelledAsServed(attemptId, billing);
}

function cancelledAsServed(attemptId: Settlement["attemptId"], billing: Billing): JobEnd {
  return { status: "cancelled", usage: usageOf(billing), settlement: chargedAsRun(attemptId, billing) };
}

function usageOf(billing: Billing): TranscriptionEnvelope["usage"] {
  return {
    audio_seconds: billing.audioMs / 1000,
    billable_audio_seconds: billing.billableMs / 1000,
    total_tokens: 0,
  };
}
