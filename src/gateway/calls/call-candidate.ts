// Calls one candidate, a target of the route that can serve the request: reserves its cost durably before the first byte is sent. A served call is settled
// with the answer, a failed one at once.
import type { Feature } from "../../contract/features.ts";
import { createReplyHold } from "../../providers/wire/reply-hold.ts";
import type { FailureKind } from "../../providers/io.ts";
import type { ProviderTranscript } from "../../providers/provider.ts";
import { speechReplyBound } from "../../providers/wire/reply-bounds.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import { attemptOutcome, logFailedAttempt } from "./attempt-end.ts";
import { callTarget } from "./attempt.ts";
import { chargedSettlement, chargedAsRun, unchargedSettlement } from "../billing/call-accounting.ts";
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
import { quoteFor, sentAmount } from "../billing/audio-quote.ts";
import { reserveCall } from "./reserve-call.ts";
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
  const reserved = await reserveCall(services, run, cutter, candidate);
  if ("kind" in reserved) return { ok: false, failure: reserved };
  const { audio, pieces, attemptId, billing, pricedServices } = reserved;

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
