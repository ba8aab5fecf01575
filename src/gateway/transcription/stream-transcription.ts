// Streams a transcript, from targets that stream only. Until a provider's first content the next target may be tried, and a failure is an ordinary error
// response unless the status line was sent already; after it, never [transcription.stream-fallback]. Idempotency keys are ignored
// [transcription.stream-no-key].
import { GatewayError } from "../../contract/errors.ts";
import type { TranscriptionEnvelope, Warning } from "../../contract/transcription/transcription-envelope.ts";
import { createChannel, type Channel } from "../../lib/concurrency/channel.ts";
import type { RouteDecision } from "../../routing/decide-route.ts";
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import { answerOf, callWarnings, SIMULATED } from "./answer.ts";
import { createAttemptAllowance } from "../calls/attempt-allowance.ts";
import type { Execute } from "../calls/attempt.ts";
import { abortedBy, revocationOf } from "../calls/attempt-end.ts";
import { deadlineOf } from "../deadline.ts";
import { payerOf } from "../account/payer.ts";
import { unavailabilityFor } from "../calls/target-unavailability.ts";
import { decideFor } from "./decide-audio.ts";
import { refuseTooManyKeyterms } from "./refuse-too-many-keyterms.ts";
import { outcomeUnknown, streamBroke, USE_A_JOB } from "../calls/judge-failure.ts";
import { exhaustedError } from "../calls/exhausted-errors.ts";
import type { MeasuredAudio } from "./measure-audio.ts";
import { requireRoute } from "../calls/routing-errors.ts";
import type { RunOutcome, ServedOutcome } from "../calls/run-outcome.ts";
import { routingFacts } from "../routing-facts.ts";
import { runCandidates } from "../calls/run-candidates.ts";
import type { GatewayServices } from "../services.ts";
import { createSlotJournal } from "../idempotency/slot-journal.ts";
import { streamSegments, type TranscriptPiece } from "./stream-segments.ts";
import type { TranscribeCall } from "./transcribe.ts";
import { takeAudio, type TakenAudio } from "./with-audio.ts";
import { resultNotStored, mapDatabaseUnavailable } from "../calls/database-unavailable.ts";

/** What is sent to the caller, in order. Nothing follows an `error`. */
export type TranscriptPart =
  | TranscriptPiece
  | { readonly kind: "completed"; readonly envelope: TranscriptionEnvelope }
  | { readonly kind: "error"; readonly error: GatewayError };

export interface TranscriptStream {
  readonly simulated: boolean;
  /** Sent as headers, for formats that have no fields for them. */
  readonly facts: Readonly<Record<string, string>>;
  readonly parts: AsyncIterable<TranscriptPart>;
}

type StreamCall = Omit<TranscribeCall, "delivery" | "present"> & {
  /** Called with what is known before any call, for a status line that does not wait for the first content. */
  readonly onDecided?: (known: Pick<TranscriptStream, "simulated" | "facts">) => void;
};
type Decided = Extract<RouteDecision, { ok: true }>;

/** Resolves with the provider's first content, or its regular end. */
export async function streamTranscription(services: GatewayServices, call: StreamCall): Promise<TranscriptStream> {
  refuseTooManyKeyterms(services, call.fields);
  const audio = await takeAudio(services, {
    audio: call.audio,
    holders: call.principal,
    maxUrlBytes: services.limits.maxAudioUrlBytes,
    signal: call.clientGone,
  });
  const decision = await decideOrRelease(services, call, audio);
  call.onDecided?.({
    simulated: call.principal.testMode || decision.candidates.every(({ target }) => target.ownership === "simulated"),
    facts: routingFacts({ ...decision.purpose, warnings: warningsBefore(decision, audio) }),
  });
  const run = startRun(services, call, audio, decision);
  const first = await run.pieces.receive();
  // An outcome before the first content is an ordinary answer or error response.
  const teller = first === null ? requireServed(await run.outcome, decision, call.clientGone) : run.teller();
  const simulated = run.isSimulated();
  const warnings = [
    ...warningsBefore(decision, audio),
    ...callWarnings(decision.wanted, teller),
    ...(simulated ? [SIMULATED] : []),
  ];
  return {
    simulated,
    facts: routingFacts({ ...decision.purpose, warnings }),
    parts: relay(services, call, audio, decision, run, first),
  };
}

function warningsBefore(decision: Decided, audio: MeasuredAudio): readonly Warning[] {
  return [...decision.warnings, ...audio.warnings];
}

async function decideOrRelease(services: GatewayServices, call: StreamCall, audio: TakenAudio): Promise<Decided> {
  try {
    const decision = requireRoute(
      call,
      decideFor(services, call, audio.speech, unavailabilityFor(services, call.principal)),
    );
    await mapDatabaseUnavailable(services.quotas.takeAudio(call.principal, audio.speech.durationSeconds));
    return decision;
  } catch (error) {
    await audio.release();
    throw error;
  }
}

interface Run {
  readonly pieces: Channel<TranscriptPiece>;
  readonly outcome: Promise<RunOutcome>;
  readonly journal: ReturnType<typeof createSlotJournal>;
  readonly holds: DisposableStack;
  readonly stop: () => void;
  readonly isSimulated: () => boolean;
  /** The candidate that emits the pieces. Throws before the first piece. */
  readonly teller: () => Teller;
}

type Teller = Pick<ServedOutcome, "candidate" | "dropped">;

function startRun(services: GatewayServices, call: StreamCall, audio: TakenAudio, decision: Decided): Run {
  const stopController = new AbortController();
  const pieces = createChannel<TranscriptPiece>();
  const deadlineAtMs = deadlineOf(services, call);
  const payer = payerOf(call, decision.purpose);
  const journal = createSlotJournal(services, payer, null, deadlineAtMs);
  const holds = new DisposableStack();
  let isSimulated = call.principal.testMode;
  let teller: Teller | null = null;
  const executeStream = streamSegments(decision.wanted, audio.speech.durationSeconds, pieces);
  const execute: Execute = (target, plan, openIo) => {
    isSimulated ||= target.candidate.target.ownership === "simulated";
    teller = target;
    return executeStream(target, plan, openIo);
  };
  const outcome = closeAfter(audio, pieces, () =>
    runCandidates(services, {
      payer,
      audio: audio.speech,
      wanted: decision.wanted,
      candidates: decision.candidates,
      mayPayTwice: decision.route.mayPayTwice,
      deadlineAtMs,
      signal: AbortSignal.any([call.clientGone, stopController.signal]),
      journal,
      allowance: createAttemptAllowance(services.limits.maxAttemptsPerRequest),
      holds,
      execute,
      hasBegun: () => pieces.hasBegun(),
    }),
  );
  // The failure is awaited later; until then it must not count as an unhandled rejection.
  outcome.catch(() => undefined);
  const stop = (): void => {
    stopController.abort();
    pieces.abandon();
  };
  const requireTeller = (): Teller => {
    if (teller === null) throw new Error("a piece was not reported");
    return teller;
  };
  return { pieces, outcome, journal, holds, stop, isSimulated: () => isSimulated, teller: requireTeller };
}

async function closeAfter<T>(audio: TakenAudio, pieces: Channel<TranscriptPiece>, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } finally {
    pieces.close();
    await audio.release();
  }
}

async function* relay(
  services: GatewayServices,
  { principal, recorder, clientGone }: Pick<StreamCall, "principal" | "recorder" | "clientGone">,
  audio: MeasuredAudio,
  decision: Decided,
  run: Run,
  first: TranscriptPiece | null,
): AsyncGenerator<TranscriptPart> {
  let ended = false;
  using _ = run.holds;
  try {
    for (let piece = first; piece !== null; piece = await run.pieces.receive()) yield piece;
    const outcome = await run.outcome;
    ended = true;
    if (outcome.kind !== "served") {
      const error = errorOf(outcome, clientGone);
      if (error === null) return;
      recorder.broke(error.code);
      yield { kind: "error", error };
      return;
    }
    const envelope = await answerOf(services, {
      owner: principal.workspace.id,
      createdAt: services.now(),
      wanted: decision.wanted,
      purpose: decision.purpose,
      warnings: warningsBefore(decision, audio),
      audioSeconds: audio.speech.durationSeconds,
      served: outcome,
    });
    await run.journal.settle(outcome.settlement);
    yield { kind: "completed", envelope };
  } catch (error) {
    const failure = databaseFailureOf(error);
    if (failure === null) throw error;
    recorder.broke(failure.code);
    yield { kind: "error", error: failure };
  } finally {
    // The reader stopped between two parts: the call is stopped and settled before the audio is released.
    if (!ended) {
      run.stop();
      await settleAbandoned(run);
    }
  }
}

/** Null: any other error. After the first content a refusal is sent as an event as well. */
function databaseFailureOf(error: unknown): GatewayError | null {
  if (error instanceof GatewayError) return error;
  return isDatabaseUnavailable(error) ? resultNotStored(error) : null;
}

/** Charges a call that was served at the moment the reader stopped, because the transcript was made. */
async function settleAbandoned({ outcome, journal }: Run): Promise<void> {
  const ended = await outcome.catch(() => null);
  if (ended?.kind === "served") await journal.settle(ended.settlement);
}

function requireServed(outcome: RunOutcome, { considered }: Decided, clientGone: AbortSignal): ServedOutcome {
  if (outcome.kind === "served") return outcome;
  if (outcome.kind === "exhausted") throw exhaustedError(outcome.failures, considered, outcome.attemptLimit);
  if (outcome.kind === "aborted") throw abortedBy(clientGone);
  throw outcomeUnknown(outcome.how, { advice: USE_A_JOB, wasFollowed: outcome.wasFollowed });
}

/** The error that the caller receives when a stream breaks. Null: the caller disconnected. */
function errorOf(outcome: Exclude<RunOutcome, { kind: "served" }>, clientGone: AbortSignal): GatewayError | null {
  if (outcome.kind === "aborted") return revocationOf(clientGone);
  return streamBroke(outcome.kind === "unknown" ? outcome.how : (outcome.failures.at(-1)?.kind ?? "unknown"));
}
