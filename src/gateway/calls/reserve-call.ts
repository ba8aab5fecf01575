// Reserves a call and prepares the audio in the form that its target accepts. Nothing is sent before both are done. A model on this machine has its recording
// decoded while the reservation is committed (docs/decisions/0054).
import { Undecodable } from "../../audio/decode/pcm.ts";
import type { AttemptId } from "../../contract/ids.ts";
import type { FailureKind } from "../../providers/io.ts";
import type { SpeechAudio } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import { audioAmount, type Billing, quoteFor, withCurrentPrices } from "../billing/audio-quote.ts";
import { reservationOf, unchargedSettlement } from "../billing/call-accounting.ts";
import type { GatewayServices } from "../services.ts";
import type { Cutter, Piece } from "./cutter.ts";
import { type FailedAttempt, failedAttempt } from "./judge-failure.ts";
import type { CandidateRun } from "./run-outcome.ts";

export interface ReservedCall extends Input {
  readonly attemptId: AttemptId;
  readonly billing: Billing;
  /** With the prices of the reservation. */
  readonly pricedServices: GatewayServices;
}

interface Input {
  readonly audio: SpeechAudio;
  /** Null: sent whole. */
  readonly pieces: readonly Piece[] | null;
}

/** Throws what refuses the reservation. */
export async function reserveCall(
  services: GatewayServices,
  run: CandidateRun,
  cutter: Cutter,
  candidate: Candidate,
): Promise<ReservedCall | FailedAttempt> {
  const { payer, journal } = run;
  const { target, verdict } = candidate;
  const preparing = inputFor(services, run, cutter, candidate);
  // If the reservation is refused, nothing awaits it. The end of the run stops the decoder.
  preparing.catch(() => undefined);
  // The commit takes a fifth of the latency that a model on this machine may have. Decoding is no call.
  const isHere = services.providers.get(target.provider)?.isOnThisMachine === true;
  const early = isHere && journal.withdraw !== undefined ? null : await preparing;
  if (early !== null && "kind" in early) return early;
  const pricedServices = withCurrentPrices(services);
  const billing = quoteFor(pricedServices, payer, target, audioAmount(sentForm(run, candidate), verdict));
  const attemptId = await journal.reserve(reservationOf(run, candidate, billing));
  const input = early ?? (await unlessWithdrawn(run, attemptId, preparing));
  return "kind" in input ? input : { ...input, attemptId, billing, pricedServices };
}

/** The recording as `inputFor` returns it. */
function sentForm({ audio }: CandidateRun, candidate: Candidate): Pick<SpeechAudio, "durationSeconds" | "channels"> {
  return isSentAsSamples(candidate) ? { ...audio, channels: 1 } : audio;
}

/** Ends the reserved attempt if nothing can be sent: nothing of it was. */
async function unlessWithdrawn(
  { journal }: CandidateRun,
  attemptId: AttemptId,
  preparing: Promise<Input | FailedAttempt>,
): Promise<Input | FailedAttempt> {
  const withdraw = () => journal.withdraw?.(unchargedSettlement(attemptId, "failed:not_called"));
  const input = await preparing.catch(async (error: unknown) => {
    await withdraw();
    throw error;
  });
  if ("kind" in input) await withdraw();
  return input;
}

/** Prepares the audio in the form that this target accepts. A recording that cannot be decoded is a failure before anything is sent. */
async function inputFor(
  services: GatewayServices,
  run: CandidateRun,
  cutter: Cutter,
  candidate: Candidate,
): Promise<Input | FailedAttempt> {
  const { audio } = run;
  const { target, verdict } = candidate;
  if (verdict.cut === null && !isSentAsSamples(candidate)) return { audio, pieces: null };
  try {
    if (verdict.cut !== null) return { audio, pieces: await cutter.pieces(verdict.cut) };
    return { audio: await cutter.samples(), pieces: null };
  } catch (error) {
    const failed = (kind: FailureKind) => failedAttempt(target, { kind, retryAfterSeconds: null });
    if (run.signal.aborted) return failed("aborted");
    if (!(error instanceof Undecodable)) throw error;
    const { requestId } = run.payer;
    services.logger.warn({ request_id: requestId, event: "audio.undecodable", reason: error.reason });
    return failed("rejected");
  }
}

function isSentAsSamples({ target, verdict }: Candidate): boolean {
  return verdict.cut === null && target.speech?.samplesOnly === true;
}
