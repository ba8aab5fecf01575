// What a job records of its calls in its own row: the reservation of a call; that it is about to be made, before the first paid byte;
// the provider's run, before its first poll; that it failed, before the next target is tried. A successor reads it and never calls
// twice [jobs.resume].
import { budgetExceeded } from "../gateway/calls/budget-exceeded.ts";
import { uncharged } from "../gateway/calls/call-accounting.ts";
import type { CallJournal } from "../gateway/calls/candidate-run.ts";
import { brand } from "../contract/ids.ts";
import type { Reservation } from "../metering/ledger-entries.ts";
import { type JobCall, writeCall, writeFailure } from "../storage/job-work.ts";
import type { Transacting } from "../storage/database.ts";
import { retryUntilDeadline, retryPolicyFor } from "./retry-policy.ts";
import type { OpenJob } from "./job-request.ts";
import type { JobServices } from "./services.ts";
import { JobStop } from "./stop.ts";
import { withAppMutex } from "./app-mutex.ts";
import { retryAfterReclaim } from "./retry-after-reclaim.ts";
import { claims } from "../storage/system.ts";

/** `maxChargeNanoUsd`: the most that any target of the job can cost. */
export function createJobCallJournal(
  services: JobServices,
  job: OpenJob,
  maxChargeNanoUsd: bigint,
  signal: AbortSignal,
): CallJournal {
  const { database, gateway } = services;
  const insistence = retryPolicyFor(job, services, signal);
  /** After a call: what it came to is known here alone. */
  const keep = (work: (tx: Transacting) => Promise<void>) =>
    retryUntilDeadline(insistence, () => withAppMutex(services, job.appId, work));
  let call: JobCall | null = job.call;

  /** The reservation made at submission, or by the attempt before, gives way to this one. */
  const exchange = (next: JobCall, reservation: Reservation): Promise<void> =>
    retryAfterReclaim(services, job, () =>
      withAppMutex(services, job.appId, async (tx) => {
        if (!(await writeCall(tx, job, next))) throw await whyNot(tx, job);
        if (call !== null) {
          const unused = uncharged(brand("attempt", call.attemptId), "failed:not_called");
          await gateway.ledger.settleIn(tx, unused);
        }
        const most = await gateway.ledger.reserveIn(tx, { ...reservation, reserveNanoUsd: maxChargeNanoUsd });
        if (most.ok) return;
        // There is no money for the dearest target: what this one costs may do.
        const reserved = await gateway.ledger.reserveIn(tx, reservation);
        if (reserved.ok) return;
        throw "exceeded" in reserved ? budgetExceeded(reserved.exceeded) : new Error("a job's attempt has no slot");
      }),
    );

  return {
    reserve: async (reservation) => {
      const mine = call?.position === reservation.position ? call : null;
      if (mine !== null) return brand("attempt", mine.attemptId);
      const next: JobCall = { attemptId: reservation.attemptId, position: reservation.position, state: "reserved" };
      await exchange(next, reservation);
      call = next;
      return reservation.attemptId;
    },
    announce: async () => {
      if (call === null) throw new Error("a call without its reservation");
      if (call.state !== "reserved") return;
      const next: JobCall = { ...call, state: "submitting" };
      // Left to a successor, an announcement whose commit is unknown would read as a call that may have been made.
      await retryUntilDeadline(insistence, async () => {
        if (!(await writeCall(claims(database).db, job, next))) throw await whyNot(claims(database).db, job);
      });
      call = next;
    },
    recordRemoteRun: async (candidate, run, part) => {
      if (call === null) throw new Error("a run without its call");
      // What answered at once and only keeps a copy cannot be asked again: its call stays one in flight. Nor can a run over one piece
      // be followed by whoever takes the job over: it would pass for the whole.
      const isPolled = part === "whole" && gateway.providers.get(candidate.target.provider)?.remote !== undefined;
      const next: JobCall = isPolled ? { ...call, state: "submitted" } : call;
      await keep(async (tx) => {
        if (isPolled && !(await writeCall(tx, job, next, run))) throw new JobStop("lost");
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
      // Stopped by us, not by the provider: whoever takes the job over finds the row as it is, and judges.
      if (failure.kind === "aborted") throw new JobStop("lost");
      await keep(async (tx) => {
        if (!(await writeFailure(tx, job, failure))) throw new JobStop("lost");
        await gateway.ledger.settleIn(tx, settlement);
      });
      call = null;
    },
    setAside: async (failure) => {
      await keep(async (tx) => {
        if (!(await writeFailure(tx, job, failure))) throw new JobStop("lost");
      });
      call = null;
    },
    drop: (settlement) => keep(async (tx) => void (await gateway.ledger.settleIn(tx, settlement))),
  };
}

/** The job's end releases it long before; this is for an end that never came. */
const DUE_GRACE_SECONDS = 3_600;

async function whyNot(db: Parameters<typeof writeCall>[0], job: OpenJob): Promise<JobStop> {
  const row = await db
    .selectFrom("jobs")
    .select(["cancel_requested"])
    .where("id", "=", job.id)
    .where("attempt", "=", job.attempt)
    .where("status", "=", "processing")
    .executeTakeFirst();
  return new JobStop(row?.cancel_requested === true ? "cancelled" : "lost");
}
