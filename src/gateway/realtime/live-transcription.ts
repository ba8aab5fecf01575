// Live audio to a transcript, with the route, purpose, features and events of a file's stream. Audio that was sent cannot be sent again, so that only a refused
// socket falls back [realtime.no-fallback-after-audio].
import { GatewayError } from "../../contract/errors.ts";
import { createChannel, type Channel } from "../../lib/concurrency/channel.ts";
import { createReplyHold } from "../../providers/wire/reply-hold.ts";
import { type FailureKind, ProviderError } from "../../providers/io.ts";
import type { LiveEncoding } from "../../providers/provider.ts";
import { LIVE_REPLY } from "../../providers/wire/reply-bounds.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { RouteDecision } from "../../routing/decide-route.ts";
import { answerOf } from "../transcription/answer.ts";
import { attemptOutcome, logFailedAttempt } from "../calls/attempt-end.ts";
import { createAttemptAllowance } from "../calls/attempt-allowance.ts";
import { callTarget } from "../calls/attempt.ts";
import type { RoutedCall } from "../transcription/audio-call.ts";
import { decideFor } from "../transcription/decide-audio.ts";
import { refuseTooManyKeyterms } from "../transcription/refuse-too-many-keyterms.ts";
import { isMoneyRefusal } from "../billing/budget-exceeded.ts";
import { amountsOf, watchCall } from "../calls/call-watch.ts";
import { certaintyOf, type FailedAttempt, failedAttempt, streamBroke } from "../calls/judge-failure.ts";
import { exhaustedError } from "../calls/exhausted-errors.ts";
import { createLiveSource, type LiveSource, meteredAudio } from "./live-audio.ts";
import { createLiveMeter } from "./live-meter.ts";
import { withCurrentPrices, quoteFor } from "../billing/audio-quote.ts";
import { requireRoute } from "../calls/routing-errors.ts";
import { payerOf } from "../account/payer.ts";
import { requireDataPolicy } from "../calls/require-data-policy.ts";
import { resolveAccount } from "../calls/resolve-account.ts";
import { isPausedByNow, unavailabilityFor } from "../calls/target-unavailability.ts";
import { unusedAnswer } from "../calls/unused-answer.ts";
import type { ServedOutcome } from "../calls/run-outcome.ts";
import type { GatewayServices } from "../services.ts";
import { speechRequest } from "../transcription/speech-request.ts";
import type { TranscriptPart } from "../transcription/stream-transcription.ts";
import { liveFacts } from "../transcription/unmeasured-audio.ts";
import { streamSegments, type TranscriptPiece } from "../transcription/stream-segments.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";

export interface LiveCall extends RoutedCall {
  readonly encoding: LiveEncoding;
  /** Aborts when the caller disconnects. If its reason is an error, that error ends the session. */
  readonly clientGone: AbortSignal;
}

/** The end of the error message of a session that broke. */
const CHARGE = "The last seconds of the audio are not charged; the audio before them is.";

/** The time for the provider to finish after the audio ended. */
const CLOSING_MS = 60_000;

/** Ends with `completed`, or throws; ends silently if the caller disconnected. Leaving the loop stops the provider. */
export async function* liveTranscription(
  services: GatewayServices,
  call: LiveCall,
  frames: AsyncIterable<Uint8Array>,
): AsyncGenerator<TranscriptPart> {
  refuseTooManyKeyterms(services, call.fields);
  const decision = requireRoute(
    call,
    decideFor(services, call, liveFacts(call.encoding), unavailabilityFor(services, call.principal)),
  );
  const stopController = new AbortController();
  const pieces = createChannel<TranscriptPiece>();
  const signal = AbortSignal.any([call.clientGone, stopController.signal]);
  const source = createLiveSource(call.encoding, frames, services.limits.maxAudioDurationSeconds);
  const outcome = runLive(services, { call, decision, source, pieces, signal }).finally(() => pieces.close());
  // The failure is awaited below; until then it must not count as an unhandled rejection.
  outcome.catch(() => undefined);
  let isOver = false;
  try {
    for (let piece = await pieces.receive(); piece !== null; piece = await pieces.receive()) yield piece;
    const served = await outcome;
    isOver = true;
    if (served === null) return;
    const envelope = await answerOf(services, {
      owner: call.principal.workspace.id,
      createdAt: services.now(),
      wanted: decision.wanted,
      purpose: decision.purpose,
      warnings: decision.warnings,
      audioSeconds: served.audioSeconds,
      served,
    });
    yield { kind: "completed", envelope };
  } finally {
    if (!isOver) {
      stopController.abort();
      pieces.abandon();
      await outcome.catch(() => undefined);
    }
  }
}

interface LiveRun {
  readonly call: LiveCall;
  readonly decision: Extract<RouteDecision, { ok: true }>;
  readonly source: LiveSource;
  readonly pieces: Channel<TranscriptPiece>;
  readonly signal: AbortSignal;
}

type LiveServed = Omit<ServedOutcome, "kind" | "settlement" | "missedSpeech"> & { readonly audioSeconds: number };

/** Null: the caller disconnected. */
async function runLive(services: GatewayServices, run: LiveRun): Promise<LiveServed | null> {
  const failures: FailedAttempt[] = [];
  const allowance = createAttemptAllowance(services.limits.maxAttemptsPerRequest);
  let refusal: GatewayError | null = null;
  for (const candidate of run.decision.candidates) {
    if (failures.length > 0 && isPausedByNow(services, candidate.target, run.call.principal)) continue;
    if (!allowance.take()) throw exhaustedError(failures, run.decision.considered, allowance.max);
    const { result, hasBegun } = await runOne(services, run, candidate).catch((error: unknown) => {
      if (error instanceof ProviderError) return { result: failedAttempt(candidate.target, error), hasBegun: false };
      throw error;
    });
    if (result instanceof GatewayError) {
      refusal ??= result;
      allowance.giveBack();
      continue;
    }
    if (!("kind" in result)) return result;
    if (certaintyOf(result.kind) === "aborted") return null;
    if (hasBegun) throw streamBroke(result.kind, CHARGE);
    failures.push(result);
  }
  throw refusal ?? exhaustedError(failures, run.decision.considered);
}

/** False: the call ended before any audio was received. */
async function firstAudio({ source, signal }: LiveRun): Promise<boolean> {
  const ended = Promise.withResolvers<boolean>();
  const end = (): void => ended.resolve(false);
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([source.begun().then(() => true), ended.promise]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

interface LiveResult {
  /** A `GatewayError`: the budget refused this target. */
  readonly result: LiveServed | FailedAttempt | GatewayError;
  /** The audio was read, so that it cannot be sent to another target. */
  readonly hasBegun: boolean;
}

async function runOne(services: GatewayServices, run: LiveRun, candidate: Candidate): Promise<LiveResult> {
  const { call, decision, signal } = run;
  const { target } = candidate;
  const provider = services.providers.get(target.provider);
  if (provider === undefined) throw new Error(`no adapter for ${target.provider}`);
  const payer = payerOf(call, decision.purpose);
  requireDataPolicy(services, candidate, "audio_input");
  const account = resolveAccount(services, target, payer.testMode);
  const sessionMs = services.limits.maxAudioDurationSeconds * 1000 + CLOSING_MS;
  const deadlineAtMs = services.now().getTime() + sessionMs;
  const pricedServices = withCurrentPrices(services);
  const meter = createLiveMeter(pricedServices, { payer, principal: call.principal, candidate, deadlineAtMs });
  try {
    await mapDatabaseUnavailable(meter.begin());
  } catch (error) {
    if (isMoneyRefusal(error)) return { result: error, hasBegun: false };
    throw error;
  }
  const hasAudio = await firstAudio(run).catch(async (error: unknown) => {
    await meter.end("aborted");
    throw error;
  });
  if (!hasAudio) {
    await meter.end("aborted");
    return { result: failedAttempt(target, new ProviderError("aborted")), hasBegun: false };
  }
  const audio = meteredAudio(call.encoding, run.source, meter);
  const callWatch = watchCall(services, {
    requestId: payer.requestId,
    attemptId: meter.attemptId(),
    operation: "transcription",
    target,
    workspaceId: payer.workspaceId,
    testMode: payer.testMode,
  });
  let failure: FailureKind | null = "aborted";
  using hold = createReplyHold();
  try {
    const openIo = () =>
      services.openIo({
        baseUrl: account.baseUrl,
        isCallersAddress: account.isCallersAddress,
        credential: account.credential,
        signal,
        timeoutMs: sessionMs,
        onDispatch: () => undefined,
        expected: { owner: payer.workspaceId, bound: LIVE_REPLY, hold },
      });
    const { wanted } = decision;
    const request = speechRequest(candidate, wanted);
    const execute = streamSegments(wanted, Number.POSITIVE_INFINITY, run.pieces);
    const result = await callTarget({ provider, candidate, request, audio, wanted }, openIo, execute);
    callWatch.answered(result.ok ? result.transcript.receipts : result.error.receipts, result.ok);
    if (result.ok) {
      failure = null;
      const { transcript, dropped } = result;
      await meter.end("succeeded", transcript);
      const billing = quoteFor(pricedServices, payer, target, { audioMs: meter.passedMs(), channels: 1 });
      const served = { candidate, transcript, dropped, billing, warnings: [], audioSeconds: meter.passedMs() / 1000 };
      return { result: served, hasBegun: true };
    }
    failure = result.error.kind;
    logFailedAttempt(services, payer, { attemptId: meter.attemptId(), target, error: result.error });
    await meter.end(
      isBrokenHere(signal.reason) ? "unknown" : attemptOutcome(failure),
      undefined,
      unusedAnswer(result.error, request),
    );
    return { result: failedAttempt(target, result.error), hasBegun: audio.hasBegun() };
  } catch (error) {
    // Stopped by the gateway, because a budget is exhausted or the caller made an error: what was sent is charged.
    await meter.end(isBrokenHere(error) ? "unknown" : "aborted");
    throw error;
  } finally {
    call.recorder.measured(meter.passedMs() / 1000);
    const sentBilling = quoteFor(pricedServices, payer, target, { audioMs: meter.passedMs(), channels: 1 });
    callWatch.end(failure, failure === null || failure === "aborted" ? amountsOf(sentBilling) : null);
  }
}

/** The session ended through an error of the gateway and not of the caller: the slice in progress is not charged [realtime.shutdown]. */
function isBrokenHere(cause: unknown): boolean {
  return cause instanceof GatewayError && cause.status >= 500;
}
