// A streamed transcript: only from targets that stream. Until a provider's first content every failure is an ordinary refusal, unless the
// edge has sent the status line by then, and the next target may be tried; after it, never [transcription.stream-fallback]. Keys are
// ignored [transcription.stream-no-key].
import { GatewayError } from "../../contract/errors.ts";
import type { TranscriptionEnvelope, Warning } from "../../contract/transcription.ts";
import { createChannel, type Channel } from "../../lib/concurrency/channel.ts";
import type { RouteDecision } from "../../routing/decide-route.ts";
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import { answerOf, callWarnings, SIMULATED } from "./answer.ts";
import { createAttemptAllowance } from "../calls/attempt-allowance.ts";
import type { Execute } from "../calls/attempt.ts";
import { abortedBy, revocationOf } from "../calls/attempt-end.ts";
import { decideFor, payerOf, refuseTooManyKeyterms } from "./audio-call.ts";
import { exhausted, outcomeUnknown, streamBroke, USE_A_JOB } from "../calls/judge-failure.ts";
import type { MeasuredAudio } from "./measure-audio.ts";
import { requireRoute } from "../calls/refuse-route.ts";
import { unavailabilityFor } from "../calls/resolve-account.ts";
import type { RunOutcome, Served } from "../calls/candidate-run.ts";
import { routingFacts } from "../routing-facts.ts";
import { runCandidates } from "../calls/run-candidates.ts";
import type { GatewayServices } from "../services.ts";
import { createSlotJournal } from "../idempotency/slot-journal.ts";
import { streamSegments, type TranscriptPiece } from "./stream-segments.ts";
import type { TranscribeCall } from "./transcribe.ts";
import { takeAudio, type TakenAudio } from "./with-audio.ts";
import { resultNotStored, mapDatabaseUnavailable } from "../calls/database-unavailable.ts";

/** What the edge sends on, in order; after an `error` nothing follows. */
export type TranscriptPart =
  | TranscriptPiece
  | { readonly kind: "completed"; readonly envelope: TranscriptionEnvelope }
  | { readonly kind: "error"; readonly error: GatewayError };

export interface TranscriptStream {
  readonly simulated: boolean;
  /** As headers, for words that have no place for them. */
  readonly facts: Readonly<Record<string, string>>;
  readonly parts: AsyncIterable<TranscriptPart>;
}

type StreamCall = Omit<TranscribeCall, "delivery" | "present"> & {
  /** Told what is known before any call, for a status line that does not wait for the first content. */
  readonly onDecided?: (known: Pick<TranscriptStream, "simulated" | "facts">) => void;
};
type Decided = Extract<RouteDecision, { ok: true }>;

/** Comes back with the provider's first content, or its regular end. */
export async function streamTranscription(services: GatewayServices, call: StreamCall): Promise<TranscriptStream> {
  refuseTooManyKeyterms(services, call);
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
  // Whatever became of it before its first content is an answer like any other.
  const teller = first === null ? servedOr(await run.outcome, decision, call.clientGone) : run.teller();
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
  /** Whose pieces they are; once there is one. */
  readonly teller: () => Teller;
}

type Teller = Pick<Served, "candidate" | "dropped">;

function startRun(services: GatewayServices, call: StreamCall, audio: TakenAudio, decision: Decided): Run {
  const left = new AbortController();
  const pieces = createChannel<TranscriptPiece>();
  const deadlineAtMs = call.receivedAtMs + services.limits.syncTimeoutSeconds * 1000;
  const journal = createSlotJournal(services, payerOf(call, decision), null, deadlineAtMs);
  const holds = new DisposableStack();
  let isSimulated = call.principal.testMode;
  let teller: Teller | null = null;
  const told = streamSegments(decision.wanted, audio.speech.durationSeconds, pieces);
  const execute: Execute = (target, plan, openIo) => {
    isSimulated ||= target.candidate.target.ownership === "simulated";
    teller = target;
    return told(target, plan, openIo);
  };
  const outcome = whileHeard(audio, pieces, () =>
    runCandidates(services, {
      payer: payerOf(call, decision),
      audio: audio.speech,
      wanted: decision.wanted,
      candidates: decision.candidates,
      mayPayTwice: decision.route.mayPayTwice,
      deadlineAtMs,
      signal: AbortSignal.any([call.clientGone, left.signal]),
      journal,
      allowance: createAttemptAllowance(services.limits.maxAttemptsPerRequest),
      holds,
      execute,
      hasBegun: () => pieces.hasBegun(),
    }),
  );
  // Its failure is awaited where it is told; until then nobody listens.
  outcome.catch(() => undefined);
  const stop = (): void => {
    left.abort();
    pieces.abandon();
  };
  const knownTeller = (): Teller => {
    if (teller === null) throw new Error("a piece was told by nobody");
    return teller;
  };
  return { pieces, outcome, journal, holds, stop, isSimulated: () => isSimulated, teller: knownTeller };
}

async function whileHeard<T>(audio: TakenAudio, pieces: Channel<TranscriptPiece>, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } finally {
    pieces.close();
    await audio.release();
  }
}

async function* relay(
  services: GatewayServices,
  { recorder, clientGone }: Pick<StreamCall, "recorder" | "clientGone">,
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
      const error = endOf(outcome, clientGone);
      if (error === null) return;
      recorder.broke(error.code);
      yield { kind: "error", error };
      return;
    }
    const { envelope } = await answerOf({
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
    // The reader left between two parts: the call is stopped, and settled as run before the audio is let go.
    if (!ended) {
      run.stop();
      await settleAbandoned(run);
    }
  }
}

/** Null: another fault. After the first content a refusal is an event as well. */
function databaseFailureOf(error: unknown): GatewayError | null {
  if (error instanceof GatewayError) return error;
  return isDatabaseUnavailable(error) ? resultNotStored(error) : null;
}

/** Served in the moment the reader left: the transcript was made, so it is charged. */
async function settleAbandoned({ outcome, journal }: Run): Promise<void> {
  const ended = await outcome.catch(() => null);
  if (ended?.kind === "served") await journal.settle(ended.settlement);
}

function servedOr(outcome: RunOutcome, { considered }: Decided, clientGone: AbortSignal): Served {
  if (outcome.kind === "served") return outcome;
  if (outcome.kind === "exhausted") throw exhausted(outcome.failures, considered, outcome.attemptLimit);
  if (outcome.kind === "aborted") throw abortedBy(clientGone);
  throw outcomeUnknown(outcome.how, { advice: USE_A_JOB, wasFollowed: outcome.wasFollowed });
}

/** What the caller is told of a stream that broke; null where nobody is left to be told. */
function endOf(outcome: Exclude<RunOutcome, { kind: "served" }>, clientGone: AbortSignal): GatewayError | null {
  if (outcome.kind === "aborted") return revocationOf(clientGone);
  return streamBroke(outcome.kind === "unknown" ? outcome.how : (outcome.failures.at(-1)?.kind ?? "unknown"));
}
