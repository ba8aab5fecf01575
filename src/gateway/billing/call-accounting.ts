// What a call reserves before its first byte is sent, and how its end is charged: the operator bears a failed attempt, the app one that its caller aborted
// [metering.charge-delivered] [metering.charge-cancelled].
import { type AttemptId, newId } from "../../contract/ids.ts";
import type { AttemptOutcome, Reservation, Settlement } from "../../metering/ledger-entries.ts";
import type { ProviderTranscript, Receipt } from "../../providers/provider.ts";
import type { RecordableFailure } from "../../providers/wire/recordable-failure.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { Payer } from "../account/payer.ts";
import type { Billing } from "./audio-quote.ts";

export function reservationOf(
  run: { readonly payer: Payer; readonly deadlineAtMs: number },
  { target }: Candidate,
  billing: Billing,
): Reservation {
  const { testMode: _, hasPlan, ...payer } = run.payer;
  return {
    ...payer,
    attemptId: newId("attempt"),
    connection: target.connection,
    provider: target.provider,
    model: target.model,
    position: target.position,
    billingClass: billing.billingClass,
    audioMs: billing.audioMs,
    ...(hasPlan && billing.billingClass === "metered" ? { funding: "credits" as const } : {}),
    reserveNanoUsd: billing.chargeNanoUsd,
    estimateNanoUsd: billing.listNanoUsd,
    price: billing.price,
    deadlineAt: new Date(run.deadlineAtMs),
  };
}

/** Charges the attempt, and records the provider's figures in addition to our own. */
export function chargedSettlement(attemptId: AttemptId, billing: Billing, transcript: ProviderTranscript): Settlement {
  return {
    attemptId,
    outcome: "succeeded",
    providerMs: toMs(transcript.providerSeconds),
    billableAudioMs: billing.billableMs,
    chargeNanoUsd: billing.chargeNanoUsd,
    providerRequestId: transcript.providerRequestId,
    receipts: transcript.receipts,
  };
}

/** Charges a call that the caller aborted after the provider had received it. */
export function chargedAsRun(attemptId: AttemptId, billing: Billing): Settlement {
  return {
    ...unchargedSettlement(attemptId, "aborted"),
    billableAudioMs: billing.billableMs,
    chargeNanoUsd: billing.chargeNanoUsd,
  };
}

/** What is recorded of an answer that was not used, and of a refusal. */
export interface UnusedAnswer {
  readonly failure?: RecordableFailure | null;
  readonly receipts?: readonly Receipt[];
}

export function unchargedSettlement(
  attemptId: AttemptId,
  outcome: AttemptOutcome,
  { failure = null, receipts = [] }: UnusedAnswer = {},
): Settlement {
  return {
    ...(failure === null ? {} : { providerFailure: failure }),
    attemptId,
    outcome,
    providerMs: null,
    billableAudioMs: 0,
    chargeNanoUsd: 0n,
    providerRequestId: null,
    receipts,
  };
}

/** A provider's figure is recorded but not trusted: NaN, negative or absurd ones count as missing. */
function toMs(seconds: number | null): number | null {
  return seconds === null || !Number.isFinite(seconds) || seconds < 0 || seconds > 1e7
    ? null
    : Math.round(seconds * 1000);
}
