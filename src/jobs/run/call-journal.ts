// Records a job's provider calls in the job's row: the reservation, the announcement before the first paid byte, the provider's run before its first poll,
// and a failure before the next target is tried. A successor reads it and never calls twice [jobs.resume].
import { budgetExceeded } from "../../gateway/billing/budget-exceeded.ts";
import { unchargedSettlement } from "../../gateway/billing/call-accounting.ts";
import type { CallJournal } from "../../gateway/calls/call-journal.ts";
import { brand } from "../../contract/ids.ts";
import type { RecordedCandidate } from "../../gateway/request-record.ts";
import type { Reservation } from "../../metering/ledger-entries.ts";
import { isCancelRequested, type JobCall, writeCall, writeFailure } from "../store/claimed-jobs.ts";
import type { SystemHandle, SystemTransaction } from "../../storage/database.ts";
import { retryUntilDeadline, retryPolicyFor } from "./retry-policy.ts";
import type { OpenJob } from "../job-request.ts";
import type { JobServices } from "../services.ts";
import { JobCancelledError, type JobInterruption, LeaseLostError } from "../interruptions.ts";
import { withAppMutex } from "./app-mutex.ts";
import { retryAfterReclaim } from "./retry-after-reclaim.ts";
import { bypassRls } from "../../storage/system.ts";

/** The targets as they were just evaluated. Null: stored in the job's row. */
export interface UnwrittenCandidates {
  candidates: readonly RecordedCandidate[] | null;
}

/** `maxChargeNanoUsd`: the highest charge of any target of the job. */
export function createJobCallJournal(
  services: JobServices,
  job: OpenJob,
  maxChargeNanoUsd: bigint,
  signal: AbortSignal,
  unwritten: UnwrittenCandidates = { candidates: null },
): CallJournal {
  const { database, gateway } = services;
  const retryPolicy = retryPolicyFor(job, services, signal);
  /** Retried, because only this process knows the outcome of the call. */
  const writeWithRetry = (work: (tx: SystemTransaction) => Promise<void>) =>
    retryUntilDeadline(retryPolicy, () => withAppMutex(services, job.appId, work));
  let call: JobCall | null = job.call;

  /** Replaces the reservation of the submission or of the previous attempt. */
  const replaceReservation = (next: JobCall, reservation: Reservation): Promise<void> =>
    retryAfterReclaim(services, job, () =>
      withAppMutex(services, job.appId, async (tx) => {
        if (!(await writeCall(tx, job, next))) throw await interruptionOf(tx, job);
        if (call !== null) {
          const unusedSettlement = unchargedSettlement(brand("attempt", call.attemptId), "failed:not_called");
          await gateway.ledger.settleIn(tx, unusedSettlement);
        }
        const maximum = await gateway.ledger.reserveIn(tx, { ...reservation, reserveNanoUsd: maxChargeNanoUsd });
        if (maximum.ok) return;
        // The budget does not cover the most expensive target: it may still cover this one.
        const reserved = await gateway.ledger.reserveIn(tx, reservation);
        if (reserved.ok) return;
        throw "exceeded" in reserved ? budgetExceeded(reserved.exceeded) : new Error("a job's attempt has no slot");
      }),
    );

  return {
    reserve: async (reservation) => {
      const ownCall = call?.position === reservation.position ? call : null;
      if (ownCall !== null) return brand("attempt", ownCall.attemptId);
      const next: JobCall = { attemptId: reservation.attemptId, position: reservation.position, state: "reserved" };
      await replaceReservation(next, reservation);
      call = next;
      return reservation.attemptId;
    },
    announce: async () => {
      if (call === null) throw new Error("a call without its reservation");
      if (call.state !== "reserved") return;
      const next: JobCall = { ...call, state: "submitting" };
      const announcement = { fence: job, call: next, candidates: unwritten.candidates };
      // An announcement with an unknown commit is retried, because a successor would read it as a call that may have been made.
      await retryUntilDeadline(retryPolicy, async () => {
        if (!(await services.writes.announce(bypassRls(database, "claim").db, announcement)))
          throw await interruptionOf(bypassRls(database, "claim").db, job);
      });
      call = next;
      unwritten.candidates = null;
    },
    recordRemoteRun: async (candidate, run, part) => {
      if (call === null) throw new Error("a run without its call");
      // A provider that answered synchronously cannot be polled, so its call stays in flight. A run over one piece is not recorded either: a successor would
      // take it for the whole recording.
      const isPolled = part === "whole" && gateway.providers.get(candidate.target.provider)?.remote !== undefined;
      const next: JobCall = isPolled ? { ...call, state: "submitted" } : call;
      await writeWithRetry(async (tx) => {
        if (isPolled && !(await writeCall(tx, job, next, run))) throw new LeaseLostError();
        await gateway.deletions.owe(
          {
            workspaceId: job.workspaceId,
            appId: job.appId,
            subject: job.id,
            account: candidate.target.account,
            provider: candidate.target.provider,
            testMode: job.payer.testMode,
            run,
            dueInSeconds: Math.max(0, (job.deadlineAt.getTime() - gateway.now().getTime()) / 1000) + DUE_GRACE_SECONDS,
          },
          tx,
        );
      });
      call = next;
    },
    settle: async (settlement, failure) => {
      // This process aborted the call, not the provider: the successor finds the row unchanged and decides.
      if (failure.kind === "aborted") throw new LeaseLostError();
      await writeWithRetry(async (tx) => {
        if (!(await writeFailure(tx, job, failure))) throw new LeaseLostError();
        await gateway.ledger.settleIn(tx, settlement);
      });
      call = null;
    },
    setAside: async (failure) => {
      await writeWithRetry(async (tx) => {
        if (!(await writeFailure(tx, job, failure))) throw new LeaseLostError();
      });
      call = null;
    },
    drop: (settlement) => writeWithRetry(async (tx) => void (await gateway.ledger.settleIn(tx, settlement))),
  };
}

/** The job's end releases the deletion long before. This grace period covers jobs that never end. */
const DUE_GRACE_SECONDS = 3_600;

async function interruptionOf(db: SystemHandle, job: OpenJob): Promise<JobInterruption> {
  return (await isCancelRequested(db, job)) ? new JobCancelledError() : new LeaseLostError();
}
