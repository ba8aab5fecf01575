// Submits a job: an upload is measured, routed, reserved and durable before the 202 [jobs.accepted-durable] [jobs.upload-judged-first], a URL is validated as
// far as possible without fetching it. Row, reservation, queue message and stored response of the key are one transaction.
import { newId } from "../contract/ids.ts";
import { assertNever } from "../lib/assert-never.ts";
import { GatewayError } from "../contract/errors.ts";
import { diskFullError } from "../audio/disk-full-error.ts";
import { objectBody } from "../audio/spool.ts";
import { decideFor, decideWithChat } from "../gateway/transcription/decide-audio.ts";
import { refuseTooManyKeyterms } from "../gateway/transcription/refuse-too-many-keyterms.ts";
import { audioSlotRequest } from "../gateway/idempotency/slot-request.ts";
import { payerOf } from "../gateway/account/payer.ts";
import { budgetExceeded, isMoneyRefusal } from "../gateway/billing/budget-exceeded.ts";
import { measureAudio, type MeasuredAudio } from "../gateway/transcription/measure-audio.ts";
import { audioAmount, quoteFor } from "../gateway/billing/audio-quote.ts";
import { type GatewayReply, jsonReply } from "../gateway/reply.ts";
import { reservationOf } from "../gateway/billing/call-accounting.ts";
import { appOf } from "../gateway/account/app-of.ts";
import { requireRoute } from "../gateway/calls/routing-errors.ts";
import { permanentLackFor } from "../gateway/calls/target-unavailability.ts";
import { slotTakenOver } from "../gateway/idempotency/slot-taken-over.ts";
import { dryRunAudio } from "../gateway/dry-run/dry-run.ts";
import { withAudio } from "../gateway/transcription/with-audio.ts";
import { type ClaimedSlot, withSlot } from "../gateway/idempotency/with-slot.ts";
import type { Reservation } from "../metering/ledger-entries.ts";
import type { Candidate } from "../routing/pick-candidates.ts";
import type { DatabaseTransaction, Transactor } from "../storage/database.ts";
import { isServerUnavailable } from "../storage/database-faults.ts";
import { readJob } from "./store/jobs.ts";
import { retryUntilDeadline } from "../storage/retry-until-deadline.ts";
import { isRolledBack, repeatUnlessDone, transactExactlyOnce } from "../storage/transact.ts";
import type { Submitted } from "./submission.ts";
import { acceptJobs, type AcceptOptions, RefusedError, SlotsLostError } from "./submit-batch.ts";
import { describeSubmitted, pollUrl } from "./read/describe-job.ts";
import { type Acceptance, type JobCall, submissionsOf, type SuccessfulDecision } from "./new-submission.ts";
import type { JobServices } from "./services.ts";
import { retryAfterReclaim } from "./run/retry-after-reclaim.ts";
import {
  isDatabaseUnavailable,
  throwIfDatabaseUnavailable,
  mapDatabaseUnavailable,
} from "../gateway/calls/database-unavailable.ts";

/** Seconds after which a first poll is worthwhile. */
const RETRY_AFTER_SECONDS = 2;
/** An attempt may still be in flight when the deadline ends its job. */
const SETTLE_GRACE_SECONDS = 3_600;
/** How long an unconfirmed commit is checked before the caller is answered that the job may exist. */
const CONFIRM_WITHIN_MS = 30_000;

export async function submitJob(services: JobServices, call: JobCall): Promise<GatewayReply> {
  refuseTooManyKeyterms(services.gateway, call.fields);
  if (call.fields.dry_run === true) return explain(services, call);
  const claim = await audioSlotRequest(call, call.ownFields);
  return withSlot(services.gateway, claim, call.recorder, (slot) => acceptJob(services, call, slot));
}

async function acceptJob(services: JobServices, call: JobCall, slot: ClaimedSlot | null): Promise<GatewayReply> {
  const { gateway, objects } = services;
  const jobId = newId("job");
  if (call.audio.kind === "url") {
    await gateway.remoteAudio.check({ workspaceId: call.principal.workspace.id, url: call.audio.url });
    const decision = requireRoute(call, decideFor(gateway, call, null, permanentLackFor(gateway, call.principal)));
    return commit(services, call, { jobId, decision, audio: null, audioKey: null, slot });
  }
  const audio = await measureAudio(gateway, { audio: call.audio, workspaceId: call.principal.workspace.id });
  // Open circuits are ignored: they may be closed when the job runs.
  const decision = requireRoute(
    call,
    decideFor(gateway, call, audio.speech, permanentLackFor(gateway, call.principal)),
  );
  await mapDatabaseUnavailable(gateway.quotas.takeAudio(call.principal, audio.speech.durationSeconds));
  const audioKey = `audio/${jobId}`;
  await objects.put(audioKey, objectBody(call.audio.spooled), call.audio.spooled.sizeBytes).catch((error: unknown) => {
    throw diskFullError(error) ?? error;
  });
  try {
    const sha256 = await call.audio.spooled.sha256();
    return await commit(services, call, { jobId, decision, audio: { measured: audio, sha256 }, audioKey, slot });
  } catch (error) {
    // After any other error it is unknown whether the job exists. The sweep removes objects that no row names.
    if (error instanceof GatewayError) await objects.remove(audioKey).catch(() => undefined);
    throw error;
  }
}

/** `dry_run`: checks everything up to the call; nothing is reserved, called or stored [routing.dry-run]. */
async function explain({ gateway, limits }: JobServices, call: JobCall): Promise<GatewayReply> {
  const { audio, principal } = call;
  const signal = new AbortController().signal;
  const request = { audio, holders: principal, maxUrlBytes: limits.maxJobAudioUrlBytes, signal };
  return withAudio(gateway, request, async ({ speech }) =>
    jsonReply(200, await dryRunAudio(gateway, call, speech, decideWithChat(gateway, call, speech))),
  );
}

/** Sent through the queue: whether an earlier try is still being committed is unknown. */
const ALONE: AcceptOptions = { reserves: "last", begun: new Map() };

async function commit(services: JobServices, call: JobCall, acceptance: Acceptance): Promise<GatewayReply> {
  const { database, gateway } = services;
  const { jobId, decision, audio } = acceptance;
  const owner = { workspaceId: call.principal.workspace.id, appId: appOf(call.principal).id };
  const reservations = audio === null ? [null] : reservationsFor(services, call, decision, audio.measured);
  const submitted = (createdAt: Date): GatewayReply =>
    jsonReply(202, describeSubmitted(jobId, createdAt), {
      location: pollUrl(jobId),
      "retry-after": String(RETRY_AFTER_SECONDS),
    });
  let mayExist = false;
  const submission = submissionsOf(services, call, acceptance, submitted);
  const findSubmitted = async (tx: DatabaseTransaction): Promise<GatewayReply | null> => {
    const row = await readJob(tx, owner, jobId);
    return row === null ? null : submitted(row.created_at);
  };
  const transaction: Transactor<DatabaseTransaction>["transaction"] = (work) =>
    database.inWorkspace(owner.workspaceId, work);
  const insertAlone = async (tx: DatabaseTransaction, reservation: Reservation | null): Promise<GatewayReply> => {
    // The row first: an earlier try that is still being committed has to be noticed by its id, not by the budget that it uses.
    const [accepted] = await acceptJobs(services, tx, [submission(reservation)], ALONE).catch(refuseAlone);
    const reply = replyOf(accepted ?? { kind: "slot_lost" });
    // The id was free, so no earlier try of this submission is still being committed. This one may be.
    mayExist = true;
    return reply;
  };
  /** After an unconfirmed commit: looks the job up, and inserts it again if it does not exist. */
  const confirm = (reservation: Reservation | null): Promise<GatewayReply> =>
    retryUntilDeadline(
      {
        signal: new AbortController().signal,
        deadlineAt: new Date(gateway.now().getTime() + CONFIRM_WITHIN_MS),
        now: gateway.now,
      },
      () =>
        transactExactlyOnce(
          { transaction },
          async (tx) => (await findSubmitted(tx)) ?? insertAlone(tx, reservation),
          findSubmitted,
        ),
      isDatabaseUnavailable,
    );
  const insertOnce = async (reservation: Reservation | null): Promise<GatewayReply> => {
    let hasBegun = false;
    const onBegin = (): void => {
      hasBegun = true;
    };
    try {
      return replyOf(await services.submitInBatch({ ...submission(reservation), onBegin }));
    } catch (error) {
      if (!hasBegun || error instanceof GatewayError) throw error;
      mayExist = !isRolledBack(error);
      if (!isServerUnavailable(error)) throw error;
      return repeatUnlessDone({ transaction }, (tx) => insertAlone(tx, reservation), findSubmitted);
    }
  };
  const insertWith = (reservation: Reservation | null): Promise<GatewayReply> =>
    retryAfterReclaim(services, owner, () => insertOnce(reservation)).catch((error: unknown) => {
      if (mayExist && isDatabaseUnavailable(error)) return confirm(reservation);
      throw error;
    });
  const answer = await firstAffordable(reservations, insertWith).catch((error: unknown) => {
    // After a connection lost during COMMIT the job may exist. Only an idempotency key keeps a retry from creating a second job.
    if (mayExist) throw error;
    return throwIfDatabaseUnavailable(error);
  });
  call.recorder.jobMade(jobId);
  gateway.logger.info({ request_id: call.requestId, job_id: jobId, event: "job.submitted" });
  return answer;
}

/** Throws the first refusal if the budget covers none of the reservations. */
async function firstAffordable<T>(
  reservations: readonly (Reservation | null)[],
  insert: (reservation: Reservation | null) => Promise<T>,
): Promise<T> {
  let refusal: unknown = null;
  for (const reservation of reservations) {
    try {
      return await insert(reservation);
    } catch (error) {
      if (!isMoneyRefusal(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/**
 * The highest cost of any target, because the target is chosen when the job runs. Then the lower costs of single targets, in order, in case the budget does
 * not cover the highest.
 */
function reservationsFor(
  { gateway, limits }: JobServices,
  call: JobCall,
  decision: SuccessfulDecision,
  audio: MeasuredAudio,
): readonly Reservation[] {
  const { candidates } = decision;
  const payer = payerOf(call, decision.purpose);
  const quote = ({ target, verdict }: Candidate) =>
    quoteFor(gateway, payer, target, audioAmount(audio.speech, verdict));
  const [first] = candidates;
  if (first === undefined) throw new Error("a decision without a target");
  const seconds = limits.jobDeadlineSeconds + SETTLE_GRACE_SECONDS;
  const deadlineAtMs = gateway.now().getTime() + seconds * 1000;
  const perTarget = candidates.map((each) => reservationOf({ payer, deadlineAtMs }, each, quote(each)));
  const highest = perTarget.map(({ reserveNanoUsd }) => reserveNanoUsd).reduce((a, b) => (a > b ? a : b));
  const firstReservation = reservationOf({ payer, deadlineAtMs }, first, quote(first));
  return [
    { ...firstReservation, reserveNanoUsd: highest },
    ...perTarget.filter(({ reserveNanoUsd }) => reserveNanoUsd < highest),
  ];
}

/** The answer to a submission that was alone in its transaction. */
function refuseAlone(error: unknown): never {
  if (error instanceof SlotsLostError) throw slotTakenOver();
  const [exceeded] = error instanceof RefusedError ? error.refusals.values() : [];
  throw exceeded === undefined ? error : budgetExceeded(exceeded);
}

function replyOf(submitted: Submitted): GatewayReply {
  switch (submitted.kind) {
    case "accepted":
      return submitted.reply;
    case "exceeded":
      throw budgetExceeded(submitted.exceeded);
    case "slot_lost":
      throw slotTakenOver();
    default:
      return assertNever(submitted);
  }
}
