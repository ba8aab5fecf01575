// Calls one candidate, a target of the route that can serve the request: reserves its cost durably before the first byte is sent. A served call is settled
// with the answer, a failed one at once.
import { Undecodable } from "../../audio/decode/pcm.ts";
import type { Feature } from "../../contract/features.ts";
import type { AttemptId } from "../../contract/ids.ts";
import { createReplyHold } from "../../providers/wire/reply-hold.ts";
import type { FailureKind } from "../../providers/io.ts";
import type { ProviderTranscript, SpeechAudio } from "../../providers/provider.ts";
import { speechReplyBound } from "../../providers/wire/reply-bounds.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import { attemptOutcome, logFailedAttempt } from "./attempt-end.ts";
import { callTarget } from "./attempt.ts";
import { chargedSettlement, chargedAsRun, reservationOf, unchargedSettlement } from "../billing/call-accounting.ts";
import { joinChannels } from "../transcription/channel-transcripts.ts";
import { callPieces } from "./call-pieces.ts";
import { amountsOf, watchCall } from "./call-watch.ts";
import { type SpentAmounts } from "./observer.ts";
import { requireDataPolicy } from "./require-data-policy.ts";
import { unusedAnswer } from "./unused-answer.ts";
import type { CandidateRun, ServedOutcome } from "./run-outcome.ts";
import type { Cutter, Piece } from "./cutter.ts";
import { type FailedAttempt, failedAttempt } from "./judge-failure.ts";
import { maskTranscript } from "../transcription/mask-profanity.ts";
import { audioAmount, quoteFor, sentAmount, withCurrentPrices } from "../billing/audio-quote.ts";
import { resolveAccount } from "./resolve-account.ts";
import type { GatewayServices } from "../services.ts";
import { speechRequest } from "../transcription/speech-request.ts";

type CandidateResult =
  | { readonly ok: true; readonly served: ServedOutcome }
  | { readonly ok: false; readonly failure: FailedAttempt };

/** Throws a `ProviderError` if the target's account no longer exists, or no longer proves what is required of it. */
export async function callCandidate(
  services: GatewayServices,
  run: CandidateRun,
  cutter: Cutter,
  candidate: Candidate,
): Promise<CandidateResult> {
  const { payer, wanted } = run;
  const { target } = candidate;
  const provider = services.providers.get(target.provider);
  if (provider === undefined) throw new Error(`no adapter for ${target.provider}`);
  requireDataPolicy(services, candidate, "audio_input");
  const account = resolveAccount(services, target, payer.testMode);
  const preparing = inputFor(services, run, cutter, candidate);
  // If the reservation is refused, nothing awaits it. The end of the run stops the decoder.
  preparing.catch(() => undefined);
  // Decoding for a model on this machine is no call. The commit takes a fifth of the latency that may be added (docs/decisions/0054).
  const isPreparedMeanwhile = provider.isOnThisMachine === true && run.journal.withdraw !== undefined;
  const early = isPreparedMeanwhile ? null : await preparing;
  if (early !== null && "kind" in early) return { ok: false, failure: early };
  const pricedServices = withCurrentPrices(services);
  const billing = quoteFor(pricedServices, payer, target, audioAmount(sentForm(run, candidate), candidate.verdict));
  const attemptId = await run.journal.reserve(reservationOf(run, candidate, billing));
  const input = early ?? (await unlessWithdrawn(run, attemptId, preparing));
  if ("kind" in input) return { ok: false, failure: input };
  const { audio, pieces } = input;

  const { requestId, workspaceId, testMode } = payer;
  const callWatch = watchCall(services, {
    requestId,
    attemptId,
    operation: "transcription",
    target,
    workspaceId,
    testMode,
  });
  let failure: FailureKind | null = "aborted";
  let spent: SpentAmounts | null = null;
  let sentMs = 0;
  using holds = new DisposableStack();
  const wholeHold = holds.use(createReplyHold());
  try {
    const openIo = (piece: Piece | null) =>
      services.openIo({
        expected: {
          owner: payer.workspaceId,
          bound: speechReplyBound((piece ?? { audio }).audio),
          hold: piece === null ? wholeHold : holds.use(createReplyHold()),
        },
        baseUrl: account.baseUrl,
        isCallersAddress: account.isCallersAddress,
        credential: account.credential,
        signal: run.signal,
        timeoutMs: Math.max(1, Math.min(account.timeoutMs, run.deadlineAtMs - services.now().getTime())),
        waitsForRoom: run.waitsForRoom === true,
        beforePaid: async () => run.journal.announce?.(),
        onDispatch: () => {
          run.journal.dispatched?.();
          sentMs += Math.round((piece?.audio ?? audio).durationSeconds * 1000);
        },
        onRemoteRun: (remote) => run.journal.recordRemoteRun(candidate, remote, piece === null ? "whole" : "piece"),
      });
    const request = (run.requestOf ?? speechRequest)(candidate, wanted);
    const call = { provider, candidate, request, wanted };
    const result =
      pieces === null
        ? await callTarget({ ...call, audio }, () => openIo(null), run.execute)
        : await callPieces(call, pieces, openIo);
    callWatch.answered(result.ok ? result.transcript.receipts : result.error.receipts, result.ok);
    if (result.ok) {
      failure = null;
      spent = amountsOf(billing);
      const { dropped } = result;
      const transcript = finishHere(
        candidate,
        wanted,
        result.transcript,
        pieces === null ? audio.durationSeconds : null,
      );
      const missedSpeech = "missedSpeech" in result && result.missedSpeech === true;
      const settlement = chargedSettlement(attemptId, billing, transcript);
      run.holds.use(holds.move());
      return {
        ok: true,
        served: { kind: "served", candidate, transcript, dropped, billing, warnings: [], missedSpeech, settlement },
      };
    }
    failure = result.error.kind;
    logFailedAttempt(services, payer, { attemptId, target, error: result.error });
    // Charged if the caller aborted it; otherwise the operator bears a failed attempt [metering.charge-cancelled].
    const isChargedAsRun = failure === "aborted" && sentMs > 0;
    const failedCall = failedAttempt(target, result.error);
    const sentBilling = isChargedAsRun
      ? quoteFor(pricedServices, payer, target, sentAmount(audio, candidate.verdict, sentMs))
      : null;
    spent = sentBilling === null ? null : amountsOf(sentBilling);
    await run.journal.settle(
      sentBilling === null
        ? unchargedSettlement(attemptId, attemptOutcome(failure), unusedAnswer(result.error, request))
        : chargedAsRun(attemptId, sentBilling),
      failedCall,
    );
    return { ok: false, failure: failedCall };
  } finally {
    callWatch.end(failure, spent);
  }
}

/** Does what the gateway does in place of the provider. `wholeSeconds`: length of a recording that was sent in one piece. Null: pieces are joined already. */
function finishHere(
  candidate: Candidate,
  wanted: CandidateRun["wanted"],
  transcript: ProviderTranscript,
  wholeSeconds: number | null,
): ProviderTranscript {
  const isWanted = (feature: Feature) => wanted.features.includes(feature) && isDoneHere(candidate, feature);
  const channels =
    isWanted("multichannel") && wholeSeconds !== null
      ? joinChannels([{ startSeconds: 0, durationSeconds: wholeSeconds, transcript, channel: 0 }])
      : transcript;
  return isWanted("profanity_filter") ? maskTranscript(channels) : channels;
}

function isDoneHere({ target }: Candidate, feature: Feature): boolean {
  return target.speech?.features[feature]?.byGateway === true;
}

/** The recording as `inputFor` returns it. */
function sentForm({ audio }: CandidateRun, candidate: Candidate): Pick<SpeechAudio, "durationSeconds" | "channels"> {
  return isSentAsSamples(candidate) ? { ...audio, channels: 1 } : audio;
}

interface Input {
  readonly audio: SpeechAudio;
  /** Null: sent whole. */
  readonly pieces: readonly Piece[] | null;
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
