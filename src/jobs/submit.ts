// A job's acceptance: an upload is measured, routed, reserved and durable before the 202 [jobs.accepted-durable] [jobs.upload-judged-first].
// Of a URL, whatever can be judged without fetching it is judged. Row, reservation, queue message and the key's answer are one transaction.
import { newId, type JobId } from "../contract/ids.ts";
import { GatewayError } from "../contract/errors.ts";
import type { JobRequestFields } from "../contract/jobs.ts";
import { noRoom } from "../audio/no-room.ts";
import { objectBody } from "../audio/spool.ts";
import {
  type AudioCall,
  decideFor,
  payerOf,
  refuseTooManyKeyterms,
  slotRequest,
} from "../gateway/transcription/audio-call.ts";
import { budgetExceeded, isMoneyRefusal } from "../gateway/calls/budget-exceeded.ts";
import { measureAudio, type MeasuredAudio } from "../gateway/transcription/measure-audio.ts";
import { billingClassOf, quoteFor } from "../gateway/calls/quote.ts";
import { type GatewayReply, jsonReply } from "../gateway/reply.ts";
import { audioAmount, reservationOf } from "../gateway/calls/call-accounting.ts";
import { appOf } from "../gateway/account/app-of.ts";
import { decided, seesNames } from "../gateway/calls/refuse-route.ts";
import { unpricedFor } from "../gateway/calls/resolve-account.ts";
import { takenOver } from "../gateway/idempotency/taken-over.ts";
import { explain } from "../gateway/dry-run/explain.ts";
import type { AudioRequest } from "../gateway/transcription/with-audio.ts";
import { type HeldSlot, withSlot } from "../gateway/idempotency/with-slot.ts";
import type { Reservation } from "../metering/ledger-entries.ts";
import type { RouteDecision } from "../routing/decide-route.ts";
import type { Candidate } from "../routing/pick-candidates.ts";
import type { Database, Transacting } from "../storage/database.ts";
import { completeReservedSlot } from "../storage/idempotency-slots.ts";
import { insertJob, readJob } from "../storage/jobs.ts";
import { retryUntilDeadline } from "../storage/retry-until-deadline.ts";
import { transactExactlyOnce } from "../storage/transact.ts";
import { describeSubmitted, pollUrl } from "./describe-job.ts";
import { pricesFor } from "./job-prices.ts";
import { jobAudio, type JobRequest, sealRequest } from "./job-request.ts";
import { enqueueJob, type JobServices } from "./services.ts";
import { retryAfterReclaim } from "./retry-after-reclaim.ts";
import {
  isDatabaseUnavailable,
  throwIfDatabaseUnavailable,
  mapDatabaseUnavailable,
} from "../gateway/calls/database-unavailable.ts";

export interface JobCall extends AudioCall {
  /** What jobs have beside the fields of a transcription, as it was sent: a key is held to that, and no default is filled in. */
  readonly ownFields: Pick<JobRequestFields, "task" | "metadata">;
}

type Decided = Extract<RouteDecision, { ok: true }>;

/** Seconds until a first poll is worth while. */
const RETRY_AFTER_SECONDS = 2;
/** An attempt may still be on its way when the deadline ends its job. */
const SETTLE_GRACE_SECONDS = 3_600;
/** How long a commit that was not confirmed is looked up before its caller is answered that the job may exist. */
const CONFIRM_WITHIN_MS = 30_000;

export async function submitJob(services: JobServices, call: JobCall): Promise<GatewayReply> {
  refuseTooManyKeyterms(services.gateway, call);
  if (call.fields.dry_run === true) return explain(services.gateway, call, explained(services, call));
  const claim = await slotRequest(call, call.ownFields);
  return withSlot(services.gateway, claim, call.recorder, (slot) => accept(services, call, slot));
}

async function accept(services: JobServices, call: JobCall, slot: HeldSlot | null): Promise<GatewayReply> {
  const { gateway, objects } = services;
  const jobId = newId("job");
  if (call.audio.kind === "url") {
    await gateway.remoteAudio.check({ workspaceId: call.principal.workspace.id, url: call.audio.url });
    const decision = decided(call, decideFor(gateway, call, null, unpricedFor(gateway, call.principal)));
    return commit(services, call, { jobId, decision, audio: null, audioKey: null, slot });
  }
  const audio = await measureAudio(gateway, { audio: call.audio, workspaceId: call.principal.workspace.id });
  // Who rests now may be well when the job runs.
  const decision = decided(call, decideFor(gateway, call, audio.speech, unpricedFor(gateway, call.principal)));
  await mapDatabaseUnavailable(gateway.quotas.takeAudio(call.principal, audio.speech.durationSeconds));
  const audioKey = `audio/${jobId}`;
  await objects.put(audioKey, objectBody(call.audio.spooled), call.audio.spooled.sizeBytes).catch((error: unknown) => {
    throw noRoom(error) ?? error;
  });
  try {
    const sha256 = await call.audio.spooled.sha256();
    return await commit(services, call, { jobId, decision, audio: { measured: audio, sha256 }, audioKey, slot });
  } catch (error) {
    // Of any other failure it is unknown whether the job exists. What no row names, this left too, is found and removed later.
    if (error instanceof GatewayError) await objects.remove(audioKey).catch(() => undefined);
    throw error;
  }
}

function explained({ limits }: JobServices, { audio, principal }: JobCall): AudioRequest {
  const signal = new AbortController().signal;
  return { audio, holders: principal, maxUrlBytes: limits.maxJobAudioUrlBytes, signal };
}

interface Acceptance {
  readonly jobId: JobId;
  readonly decision: Decided;
  readonly audio: { readonly measured: MeasuredAudio; readonly sha256: string } | null;
  readonly audioKey: string | null;
  readonly slot: HeldSlot | null;
}

async function commit(services: JobServices, call: JobCall, acceptance: Acceptance): Promise<GatewayReply> {
  const { database, gateway, seal, queue, limits } = services;
  const { jobId, decision, audio, audioKey, slot } = acceptance;
  const owner = { workspaceId: call.principal.workspace.id, appId: appOf(call.principal).id };
  const reservations = audio === null ? [null] : reservationsFor(services, call, decision, audio.measured);
  const request = sealRequest(seal, owner.workspaceId, jobId, requestOf(gateway, call, decision));
  const submitted = (createdAt: Date): GatewayReply =>
    jsonReply(202, describeSubmitted(jobId, createdAt), {
      location: pollUrl(jobId),
      "retry-after": String(RETRY_AFTER_SECONDS),
    });
  let mayBeMade = false;
  const take = async (tx: Transacting, reservation: Reservation | null): Promise<GatewayReply> => {
    const { createdAt, deadlineAt } = await insertJob(tx, owner, {
      id: jobId,
      keyId: call.principal.key.id,
      requestId: call.requestId,
      task: call.task,
      request,
      audio: audio === null ? null : jobAudio(audio.measured, audio.sha256),
      audioKey,
      reserved: reservation,
      purpose: decision.purpose,
      metadata: call.ownFields.metadata ?? {},
      slotKey: slot?.ref.keySha256 ?? null,
      deadlineSeconds: limits.jobDeadlineSeconds,
      beginsSimulated: beginsSimulated(call, decision),
    });
    // Its id was free, so no earlier try is still being committed.
    mayBeMade = false;
    await enqueueJob(queue, { id: jobId, appId: owner.appId }, { goesFirst: false }, tx);
    // Behind all that needs no budget: others of the app wait while it is held.
    if (reservation !== null) await reserve(services, tx, reservation);
    const reply = submitted(createdAt);
    if (slot !== null) {
      // Until the job's own end is known; its end moves it.
      const expiresAt = new Date(deadlineAt.getTime() + limits.sttJobResultTtlSeconds * 1000);
      if (!(await completeReservedSlot(tx, seal, slot.ref, reply, expiresAt))) throw takenOver();
    }
    mayBeMade = true;
    return reply;
  };
  const taken = async (tx: Transacting): Promise<GatewayReply | null> => {
    const row = await readJob(tx, owner, jobId);
    return row === null ? null : submitted(row.created_at);
  };
  const transaction: Database["transaction"] = (work) => database.inWorkspace(owner.workspaceId, work);
  /** The commit was not confirmed: looked up, and made again where it was not made. */
  const confirm = (reservation: Reservation | null): Promise<GatewayReply> =>
    retryUntilDeadline(
      {
        signal: new AbortController().signal,
        deadlineAt: new Date(gateway.now().getTime() + CONFIRM_WITHIN_MS),
        now: gateway.now,
      },
      () => transactExactlyOnce({ transaction }, async (tx) => (await taken(tx)) ?? take(tx, reservation), taken),
      isDatabaseUnavailable,
    );
  const takeWith = (reservation: Reservation | null): Promise<GatewayReply> =>
    retryAfterReclaim(services, owner, () =>
      transactExactlyOnce({ transaction }, (tx) => take(tx, reservation), taken),
    ).catch((error: unknown) => {
      if (mayBeMade && isDatabaseUnavailable(error)) return confirm(reservation);
      throw error;
    });
  const answer = await firstAffordable(reservations, takeWith).catch((error: unknown) => {
    // Cut at its commit it may be a job. Only its key, where there is one, keeps a retry from making a second one.
    if (mayBeMade) throw error;
    return throwIfDatabaseUnavailable(error);
  });
  call.recorder.jobMade(jobId);
  gateway.logger.info({ request_id: call.requestId, job_id: jobId, event: "job.submitted" });
  return answer;
}

/** A test key, or a first target in the sandbox. */
function beginsSimulated({ principal }: JobCall, { candidates }: Decided): boolean {
  const [first] = candidates;
  return first !== undefined && billingClassOf(principal, first.target, null) === "simulated";
}

/** Throws the first refusal where there is no money for any. */
async function firstAffordable<T>(
  reservations: readonly (Reservation | null)[],
  take: (reservation: Reservation | null) => Promise<T>,
): Promise<T> {
  let refusal: unknown = null;
  for (const reservation of reservations) {
    try {
      return await take(reservation);
    } catch (error) {
      if (!isMoneyRefusal(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/**
 * The most that any target can cost, for which of them serves is decided when the job runs; where there is no money for that, what one
 * target costs, in their order.
 */
function reservationsFor(
  { gateway, limits }: JobServices,
  call: JobCall,
  decision: Decided,
  audio: MeasuredAudio,
): readonly Reservation[] {
  const { candidates } = decision;
  const payer = payerOf(call, decision);
  const quote = ({ target, verdict }: Candidate) =>
    quoteFor(gateway, payer, target, audioAmount(audio.speech, verdict));
  const [first] = candidates;
  if (first === undefined) throw new Error("a decision without a target");
  const seconds = limits.jobDeadlineSeconds + SETTLE_GRACE_SECONDS;
  const deadlineAtMs = gateway.now().getTime() + seconds * 1000;
  const own = candidates.map((each) => reservationOf({ payer, deadlineAtMs }, each, quote(each)));
  const most = own.map(({ reserveNanoUsd }) => reserveNanoUsd).reduce((a, b) => (a > b ? a : b));
  const ofFirst = reservationOf({ payer, deadlineAtMs }, first, quote(first));
  return [{ ...ofFirst, reserveNanoUsd: most }, ...own.filter(({ reserveNanoUsd }) => reserveNanoUsd < most)];
}

async function reserve({ gateway }: JobServices, tx: Transacting, reservation: Reservation): Promise<void> {
  const reserved = await gateway.ledger.reserveIn(tx, reservation);
  if (reserved.ok) return;
  throw "exceeded" in reserved ? budgetExceeded(reserved.exceeded) : takenOver();
}

function requestOf(gateway: JobServices["gateway"], call: JobCall, decision: Decided): JobRequest {
  const { principal, audio } = call;
  const app = appOf(principal);
  return {
    ...(audio.kind === "url"
      ? { url: audio.url, hints: { mediaType: audio.mediaTypeHint, fileName: audio.fileNameHint } }
      : { url: null }),
    endpoint: call.endpoint,
    testMode: principal.testMode,
    hasPlan: principal.workspace.plan !== null,
    showNames: seesNames(principal),
    holders: {
      key: { id: principal.key.id, quota: principal.key.quota },
      app: { id: app.id, quota: app.quota },
    },
    route: decision.route,
    prices: pricesFor(gateway, decision.route),
    profile: call.fields.response_profile ?? null,
    wanted: decision.wanted,
    purpose: decision.purpose,
    warnings: decision.warnings,
  };
}
