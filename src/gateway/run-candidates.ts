// Tries the capable targets in order until one serves (spec 1.6, contract 1 "Definite and unknown outcomes"). Every call is
// reserved durably before its first byte leaves and settled durably after; after an unknown outcome nothing else is tried.
// A request and a job run alike: what they remember of a call is their `keeper`'s.
import { type AttemptId, type AppId, type KeyId, newId, type RequestId, type WorkspaceId } from "../contract/ids.ts";
import { Undecodable } from "../audio/decode/pcm.ts";
import { GatewayError } from "../contract/errors.ts";
import type { Preference } from "../contract/features.ts";
import type { Warning } from "../contract/transcription.ts";
import type { AttemptOutcome, Reservation, Settlement } from "../metering/ledger.ts";
import { type FailureKind, ProviderError, type RemoteRun } from "../providers/io.ts";
import type { ProviderTranscript, SpeechAudio, SpeechRequest } from "../providers/provider.ts";
import type { Candidate } from "../routing/pick-candidates.ts";
import type { Requirements } from "../routing/required-features.ts";
import { attemptOutcome, logFailedAttempt } from "./attempt-end.ts";
import { callTarget, type Execute } from "./attempt.ts";
import { callPieces } from "./call-pieces.ts";
import { type Spent, spentOf, watchCall } from "./call-watch.ts";
import { type Cutter, createCutter, type Piece } from "./cutter.ts";
import { createSpeechDetector, EMPTY_TRANSCRIPT, isEmpty } from "./empty-guard.ts";
import { certaintyOf, type FailedAttempt } from "./judge-failure.ts";
import { type Billing, quoteFor } from "./quote.ts";
import { resolveAccount } from "./resolve-account.ts";
import type { GatewayServices } from "./services.ts";
import { speechRequest } from "./speech-request.ts";

/** Whose work it is, and who pays. */
export interface Payer {
  readonly requestId: RequestId;
  readonly endpoint: string;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly keyId: KeyId | null;
  /** The one that was applied. */
  readonly purpose: string | null;
  readonly testMode: boolean;
  /** Its workspace has a plan, whose credits pay for audio (spec 2.5). */
  readonly hasPlan: boolean;
}

/** What must be durable around a call. Throws what is to end the run. */
export interface CallKeeper {
  /** Commits before a byte leaves. Answers the id of the attempt, which is another's than given where one was reserved before. */
  reserve(reservation: Reservation): Promise<AttemptId>;
  /** Commits that the call is made, before the first byte of a request that is not free. */
  announce?(): Promise<void>;
  /** Ends an attempt that served nobody. */
  settle(settlement: Settlement, failure: FailedAttempt): Promise<void>;
  /** An answer that is doubted while another target is asked: its attempt stays open, and its target is not called again. */
  setAside(failure: FailedAttempt): Promise<void>;
  /** Ends an attempt that was set aside and whose answer nobody gets. */
  drop(settlement: Settlement): Promise<void>;
  /**
   * Commits before the first poll: what the provider now keeps has to be deleted there. Also told of providers that answer at
   * once and keep a copy; those have no `remote`.
   */
  keepRun(candidate: Candidate, remote: RemoteRun, part: "whole" | "piece"): Promise<void>;
}

export interface CandidateRun {
  readonly payer: Payer;
  readonly audio: SpeechAudio;
  readonly wanted: Requirements;
  readonly candidates: readonly Candidate[];
  readonly mayPayTwice: boolean;
  readonly deadlineAtMs: number;
  readonly signal: AbortSignal;
  readonly keeper: CallKeeper;
  /** What to ask of a candidate, when it is more than what is wanted. */
  readonly requestOf?: (candidate: Candidate, wanted: Requirements) => SpeechRequest;
  readonly execute?: Execute;
  /** Something of an answer has reached the caller: whatever happens now, no other target continues it. */
  readonly hasBegun?: () => boolean;
}

export interface Served {
  readonly kind: "served";
  readonly candidate: Candidate;
  readonly transcript: ProviderTranscript;
  readonly dropped: readonly Preference[];
  readonly billing: Billing;
  readonly warnings: readonly Warning[];
  /** Of audio sent in pieces: one came back without a word, though somebody speaks in it. */
  readonly missedSpeech: boolean;
  /** Charges the attempt; to be made in the transaction that stores the answer. */
  readonly settlement: Settlement;
}

export type RunOutcome =
  | Served
  | { readonly kind: "exhausted"; readonly failures: readonly FailedAttempt[] }
  /** A call may have been done and paid. */
  | { readonly kind: "unknown"; readonly how: "unknown" | "timeout" }
  /** The signal stopped it. */
  | { readonly kind: "aborted" };

/** The first answer that is believed: one that is empty though somebody speaks has to be confirmed where it can be. */
export async function runCandidates(services: GatewayServices, run: CandidateRun): Promise<RunOutcome> {
  const { candidates, keeper, hasBegun } = run;
  const holdsSpeech = createSpeechDetector(services.decoder, run.audio, run.signal);
  const isDoubtful = async ({ transcript, missedSpeech }: Served) =>
    missedSpeech || (isEmpty(transcript) && (await holdsSpeech()));
  await using cutter = createCutter(services, run.audio, run.signal);
  const firstServed = (among: readonly Candidate[]) => serveInOrder(services, run, cutter, among);

  const first = await firstServed(candidates);
  if (first.kind !== "served" || !(await isDoubtful(first))) return first;
  const rest = candidates.slice(candidates.indexOf(first.candidate) + 1);
  if (rest.length === 0 || hasBegun?.() === true) return withWarning(first);

  await keeper.setAside(heardNothing(services, run, first));
  const drop = () => keeper.drop(uncharged(first.settlement.attemptId, attemptOutcome("feature_dropped")));
  try {
    const second = await firstServed(rest);
    // Nobody could say better, and nobody else may have been paid.
    if (second.kind === "exhausted" && hasBegun?.() !== true) return withWarning(first);
    await drop();
    return second.kind === "served" && (await isDoubtful(second)) ? withWarning(second) : second;
  } catch (error) {
    // There is no money for a second opinion; the first is paid for.
    if (error instanceof GatewayError && (error.code === "BUDGET_EXCEEDED" || error.code === "CREDITS_REQUIRED"))
      return withWarning(first);
    await drop();
    throw error;
  }
}

function withWarning(served: Served): Served {
  return { ...served, warnings: [...served.warnings, EMPTY_TRANSCRIPT] };
}

function heardNothing(services: GatewayServices, run: CandidateRun, { candidate, settlement }: Served): FailedAttempt {
  const error = new ProviderError("feature_dropped", { reason: "empty_transcript" });
  logFailedAttempt(services, run.payer, { attemptId: settlement.attemptId, target: candidate.target, error });
  return { position: candidate.target.position, kind: error.kind, retryAfterSeconds: null };
}

/** In order, until one serves or none may be tried any more. */
async function serveInOrder(
  services: GatewayServices,
  run: CandidateRun,
  cutter: Cutter,
  candidates: readonly Candidate[],
): Promise<RunOutcome> {
  const failures: FailedAttempt[] = [];
  let unknown: "unknown" | "timeout" | null = null;
  for (const [index, candidate] of candidates.entries()) {
    const result = await runOne(services, run, cutter, candidate).catch((error: unknown) => {
      // Refused a second call, for its budget or the like: what became of the first is as unknown as before.
      if (unknown !== null && error instanceof GatewayError) return null;
      throw error;
    });
    if (result === null) break;
    if (result.ok) return result.served;
    const { kind } = result.failure;
    const certainty = certaintyOf(kind);
    if (certainty === "definite") failures.push(result.failure);
    if (certainty === "aborted") return { kind: "aborted" };
    if (run.hasBegun?.() === true) {
      if (kind === "unknown" || kind === "timeout") unknown = kind;
      break;
    }
    if (kind === "unknown" || kind === "timeout") {
      unknown = kind;
      const mayContinue = run.mayPayTwice && index + 1 < candidates.length;
      if (!mayContinue) break;
    }
  }
  return unknown === null ? { kind: "exhausted", failures } : { kind: "unknown", how: unknown };
}

type RunResult =
  | { readonly ok: true; readonly served: Served }
  | { readonly ok: false; readonly failure: FailedAttempt };

async function runOne(
  services: GatewayServices,
  run: CandidateRun,
  cutter: Cutter,
  candidate: Candidate,
): Promise<RunResult> {
  const { payer, wanted } = run;
  const { target } = candidate;
  const provider = services.providers.get(target.provider);
  if (provider === undefined) throw new Error(`no adapter for ${target.provider}`);
  const account = resolveAccount(services, target, payer.testMode);
  const input = await inputFor(services, run, cutter, candidate);
  if ("kind" in input) return { ok: false, failure: input };
  const { audio, pieces } = input;
  const billing = quoteFor(services, payer, target, audioAmount(audio));
  const attemptId = await run.keeper.reserve(reservationOf(run, candidate, billing));

  const watched = watchCall(services, { requestId: payer.requestId, attemptId, operation: "transcription", target });
  let failure: FailureKind | null = "aborted";
  let spent: Spent | null = null;
  let sentMs = 0;
  try {
    const openIo = (piece: Piece | null) =>
      services.openIo({
        baseUrl: account.baseUrl,
        isCallersAddress: account.isCallersAddress,
        credential: account.credential,
        signal: run.signal,
        timeoutMs: Math.max(1, Math.min(account.timeoutMs, run.deadlineAtMs - services.now().getTime())),
        beforePaid: async () => run.keeper.announce?.(),
        onDispatch: () => {
          sentMs += Math.round((piece?.audio ?? audio).durationSeconds * 1000);
        },
        onRemoteRun: (remote) => run.keeper.keepRun(candidate, remote, piece === null ? "whole" : "piece"),
      });
    const request = (run.requestOf ?? speechRequest)(candidate, wanted);
    const call = { provider, candidate, request, wanted };
    const result =
      pieces === null
        ? await callTarget({ ...call, audio }, () => openIo(null), run.execute)
        : await callPieces(call, pieces, openIo);
    if (result.ok) {
      failure = null;
      spent = spentOf(billing);
      const { transcript, dropped } = result;
      const missedSpeech = "missedSpeech" in result && result.missedSpeech === true;
      const settlement = {
        attemptId,
        outcome: "succeeded",
        providerMs: toMs(transcript.providerSeconds),
        billableAudioMs: billing.billableMs,
        chargeNanoUsd: billing.chargeNanoUsd,
        providerRequestId: transcript.providerRequestId,
        receipts: transcript.receipts,
      } as const;
      return {
        ok: true,
        served: { kind: "served", candidate, transcript, dropped, billing, warnings: [], missedSpeech, settlement },
      };
    }
    failure = result.error.kind;
    logFailedAttempt(services, payer, { attemptId, target, error: result.error });
    // Charged as run when its caller hung up on it; otherwise a failed attempt is the operator's cost (contract 9).
    const asRun = failure === "aborted" && sentMs > 0;
    const failed = { position: target.position, kind: failure, retryAfterSeconds: result.error.retryAfterSeconds };
    const heard = asRun ? quoteFor(services, payer, target, sentAmount(audio, sentMs)) : null;
    spent = heard === null ? null : spentOf(heard);
    await run.keeper.settle(
      heard === null ? uncharged(attemptId, attemptOutcome(failure)) : chargedAsRun(attemptId, heard),
      failed,
    );
    return { ok: false, failure: failed };
  } finally {
    watched.end(failure, spent);
  }
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
    const failed = (kind: FailureKind) => ({ position: target.position, kind, retryAfterSeconds: null });
    if (run.signal.aborted) return failed("aborted");
    if (!(error instanceof Undecodable)) throw error;
    const { requestId } = run.payer;
    services.logger.warn({ request_id: requestId, event: "audio.undecodable", reason: error.reason });
    return failed("rejected");
  }
}

/** Of a recording sent in pieces: those that had left by then. */
function sentAmount(audio: SpeechAudio, sentMs: number): ReturnType<typeof audioAmount> {
  const whole = audioAmount(audio);
  return { ...whole, audioMs: Math.min(whole.audioMs, sentMs) };
}

/** What the caller stopped after the provider had it. */
export function chargedAsRun(attemptId: AttemptId, billing: Billing): Settlement {
  return {
    ...uncharged(attemptId, "aborted"),
    billableAudioMs: billing.billableMs,
    chargeNanoUsd: billing.chargeNanoUsd,
  };
}

export function uncharged(attemptId: AttemptId, outcome: AttemptOutcome): Settlement {
  return {
    attemptId,
    outcome,
    providerMs: null,
    billableAudioMs: 0,
    chargeNanoUsd: 0n,
    providerRequestId: null,
    receipts: [],
  };
}

export function audioAmount(audio: Pick<SpeechAudio, "durationSeconds" | "channels">) {
  return { audioMs: Math.round(audio.durationSeconds * 1000), channels: audio.channels };
}

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

/** A provider's figure is noted, never trusted: NaN, negative or absurd ones count as missing. */
function toMs(seconds: number | null): number | null {
  return seconds === null || !Number.isFinite(seconds) || seconds < 0 || seconds > 1e7
    ? null
    : Math.round(seconds * 1000);
}
