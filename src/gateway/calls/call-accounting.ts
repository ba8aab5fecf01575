// What a call reserves before its first byte is sent, and how its end is charged: the operator bears a failed attempt, the app one that its caller aborted
// [metering.charge-delivered] [metering.charge-cancelled].
import { type AttemptId, newId } from "../../contract/ids.ts";
import type { AttemptOutcome, Reservation, Settlement } from "../../metering/ledger-entries.ts";
import type { ProviderFailure } from "../../providers/wire/provider-failure.ts";
import type { ProviderTranscript, SpeechAudio } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { Payer } from "./candidate-run.ts";
import type { Billing } from "./quote.ts";

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

/** A target that receives each channel separately charges for each, whatever its price says. */
export function audioAmount(
  audio: Pick<SpeechAudio, "durationSeconds" | "channels">,
  verdict?: Pick<Candidate["verdict"], "cut">,
) {
  return {
    audioMs: Math.round(audio.durationSeconds * 1000),
    channels: audio.channels,
    isSplit: verdict?.cut?.perChannel === true,
  };
}

/** The amount of a recording sent in pieces that was sent so far. */
export function sentAmount(
  audio: SpeechAudio,
  verdict: Pick<Candidate["verdict"], "cut">,
  sentMs: number,
): ReturnType<typeof audioAmount> {
  const whole = audioAmount(audio, verdict);
  const sent = whole.isSplit ? Math.round(sentMs / whole.channels) : sentMs;
  return { ...whole, audioMs: Math.min(whole.audioMs, sent) };
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

export function unchargedSettlement(
  attemptId: AttemptId,
  outcome: AttemptOutcome,
  failure: ProviderFailure | null = null,
): Settlement {
  return {
    ...(failure === null ? {} : { providerFailure: failure }),
    attemptId,
    outcome,
    providerMs: null,
    billableAudioMs: 0,
    chargeNanoUsd: 0n,
    providerRequestId: null,
    receipts: [],
  };
}

/** A provider's figure is recorded but not trusted: NaN, negative or absurd ones count as missing. */
function toMs(seconds: number | null): number | null {
  return seconds === null || !Number.isFinite(seconds) || seconds < 0 || seconds > 1e7
    ? null
    : Math.round(seconds * 1000);
}
