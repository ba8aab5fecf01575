// One candidate's call: reserved durably before its first byte leaves; what served is settled with the answer, what failed at once.
import { Undecodable } from "../../audio/decode/pcm.ts";
import type { Feature } from "../../contract/features.ts";
import { createReplyHold } from "../../providers/wire/reply-hold.ts";
import type { FailureKind } from "../../providers/io.ts";
import type { SpeechAudio } from "../../providers/provider.ts";
import { speechReplyBound } from "../../providers/wire/reply-bounds.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import { attemptOutcome, logFailedAttempt } from "./attempt-end.ts";
import { callTarget } from "./attempt.ts";
import { audioAmount, charged, chargedAsRun, reservationOf, sentAmount, uncharged } from "./call-accounting.ts";
import { joinChannels } from "../transcription/channel-transcripts.ts";
import { callPieces } from "./call-pieces.ts";
import { amountsOf, watchCall } from "./call-watch.ts";
import { type SpentAmounts } from "./observer.ts";
import type { CandidateRun, Served } from "./candidate-run.ts";
import type { Cutter, Piece } from "./cutter.ts";
import { type FailedAttempt, failedAttempt } from "./judge-failure.ts";
import { maskTranscript } from "../transcription/mask-profanity.ts";
import { withCurrentPrices, quoteFor } from "./quote.ts";
import { resolveAccount } from "./resolve-account.ts";
import type { GatewayServices } from "../services.ts";
import { speechRequest } from "../transcription/speech-request.ts";

type CandidateResult =
  | { readonly ok: true; readonly served: Served }
  | { readonly ok: false; readonly failure: FailedAttempt };

/** Throws a `ProviderError` where there is nobody to ask any more. */
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
  const account = resolveAccount(services, target, payer.testMode);
  const input = await inputFor(services, run, cutter, candidate);
  if ("kind" in input) return { ok: false, failure: input };
  const { audio, pieces } = input;
  const priced = withCurrentPrices(services);
  const billing = quoteFor(priced, payer, target, audioAmount(audio, candidate.verdict));
  const attemptId = await run.journal.reserve(reservationOf(run, candidate, billing));

  const { requestId, testMode } = payer;
  const watched = watchCall(services, { requestId, attemptId, operation: "transcription", target, testMode });
  let failure: FailureKind | null = "aborted";
  let spent: SpentAmounts | null = null;
  let sentMs = 0;
  using holds = new DisposableStack();
  const ofWhole = holds.use(createReplyHold());
  try {
    const openIo = (piece: Piece | null) =>
      services.openIo({
        expected: {
          owner: payer.workspaceId,
          bound: speechReplyBound((piece ?? { audio }).audio),
          hold: piece === null ? ofWhole : holds.use(createReplyHold()),
        },
        baseUrl: account.baseUrl,
        isCallersAddress: account.isCallersAddress,
        credential: account.credential,
        signal: run.signal,
        timeoutMs: Math.max(1, Math.min(account.timeoutMs, run.deadlineAtMs - services.now().getTime())),
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
    if (result.ok) {
      failure = null;
      spent = amountsOf(billing);
      const { dropped } = result;
      const isHere = (feature: Feature) => wanted.features.includes(feature) && byGateway(candidate, feature);
      const heard = {
        startSeconds: 0,
        durationSeconds: audio.durationSeconds,
        transcript: result.transcript,
        channel: 0,
      };
      const placed = isHere("multichannel") && pieces === null ? joinChannels([heard]) : result.transcript;
      const transcript = isHere("profanity_filter") ? maskTranscript(placed) : placed;
      const missedSpeech = "missedSpeech" in result && result.missedSpeech === true;
      const settlement = charged(attemptId, billing, transcript);
      run.holds.use(holds.move());
      return {
        ok: true,
        served: { kind: "served", candidate, transcript, dropped, billing, warnings: [], missedSpeech, settlement },
      };
    }
    failure = result.error.kind;
    logFailedAttempt(services, payer, { attemptId, target, error: result.error });
    // Charged as run when its caller hung up; otherwise a failed attempt is the operator's cost [metering.charge-cancelled].
    const asRun = failure === "aborted" && sentMs > 0;
    const failed = failedAttempt(target, result.error);
    const heard = asRun ? quoteFor(priced, payer, target, sentAmount(audio, candidate.verdict, sentMs)) : null;
    spent = heard === null ? null : amountsOf(heard);
    await run.journal.settle(
      heard === null
        ? uncharged(attemptId, attemptOutcome(failure), result.error.provider)
        : chargedAsRun(attemptId, heard),
      failed,
    );
    return { ok: false, failure: failed };
  } finally {
    watched.end(failure, spent);
  }
}

function byGateway({ target }: Candidate, feature: Feature): boolean {
  return target.speech?.features[feature]?.byGateway === true;
}

interface Input {
  readonly audio: SpeechAudio;
  /** Null: it is sent whole. */
  readonly pieces: readonly Piece[] | null;
}

/** As this target takes it. A recording that cannot be decoded is a failure before anything was reserved or sent. */
async function inputFor(
  services: GatewayServices,
  run: CandidateRun,
  cutter: Cutter,
  { target, verdict }: Candidate,
): Promise<Input | FailedAttempt> {
  const { audio } = run;
  const isDecoded = target.speech?.samplesOnly === true;
  if (verdict.cut === null && !isDecoded) return { audio, pieces: null };
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
