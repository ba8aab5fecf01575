// Stores the submissions of a workspace that arrive at the same time in one transaction: one commit, and each statement once. A submission alone has the same
// statements (docs/decisions/0053-jobs-share-transactions.md).
import type { WorkspaceId } from "../contract/ids.ts";
import type { GatewayReply } from "../gateway/reply.ts";
import { createBatcher } from "../lib/concurrency/batcher.ts";
import type { BudgetExceeded } from "../metering/budget.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { isDatabaseUnavailable } from "../storage/database-faults.ts";
import { completeReservedSlots } from "../storage/idempotency-slots.ts";
import { enqueueJobs, type JobServices } from "./services.ts";
import type { ReservedSlot } from "../queue/queue.ts";
import { beginJobs, insertJobs } from "./store/jobs.ts";
import type { PendingSubmission, Submission, SubmitInBatch, Submitted } from "./submission.ts";

type AcceptServices = Pick<JobServices, "gateway" | "queue" | "seal" | "limits">;
type BatchServices = AcceptServices & Pick<JobServices, "database" | "localStarts">;

const MAX_BATCH = 64;

/**
 * Budgets are locked last, so that other requests of the apps wait for the commit alone: in a burst, settlements took 2.6 ms a job before and take 1.1. A refusal
 * costs a second transaction, so that for this long after one they are locked first.
 */
const REFUSALS_EXPECTED_MS = 1_000;

/** Of each workspace, so that row-level security binds the transaction to it [tenancy.row-level-security]. */
export function createSubmitBatch(services: BatchServices): SubmitInBatch {
  const batches = new Map<WorkspaceId, { readonly enqueue: SubmitInBatch; waiting: number }>();
  const refusals = { expectedUntilMs: 0 };
  return async (submission) => {
    const { workspaceId } = submission.owner;
    const batch = batches.get(workspaceId) ?? {
      enqueue: batchOf(services, workspaceId, refusals),
      waiting: 0,
    };
    batches.set(workspaceId, batch);
    batch.waiting += 1;
    try {
      return await batch.enqueue(submission);
    } finally {
      batch.waiting -= 1;
      if (batch.waiting === 0) batches.delete(workspaceId);
    }
  };
}

function batchOf(
  services: BatchServices,
  workspaceId: WorkspaceId,
  refusals: { expectedUntilMs: number },
): SubmitInBatch {
  const run = async (batch: readonly PendingSubmission[]): Promise<readonly Submitted[]> => {
    const lost = new Set<Submission>();
    using slots = reserveSlots(services, batch);
    for (;;) {
      const remaining = batch.filter((each) => !lost.has(each));
      const reserves = performance.now() < refusals.expectedUntilMs ? "first" : "last";
      try {
        const submitted = await services.database.inWorkspace(workspaceId, async (tx) => {
          for (const { onBegin } of remaining) onBegin();
          return acceptJobs(services, tx, remaining, { reserves, begun: slots });
        });
        begin(services, slots, remaining, submitted);
        const answers = new Map(remaining.map((each, index) => [each, submitted[index]]));
        return batch.map((each) => answers.get(each) ?? { kind: "slot_lost" });
      } catch (error) {
        // The others' transaction is made again.
        if (error instanceof RefusedError) refusals.expectedUntilMs = performance.now() + REFUSALS_EXPECTED_MS;
        else if (error instanceof SlotsLostError) for (const each of error.submissions) lost.add(each);
        else throw error;
      }
    }
  };
  return createBatcher(run, { maxItems: MAX_BATCH, isItemFault: (error) => !isDatabaseUnavailable(error) });
}

/** Slots of this process, for as many of the batch as there are. Those that are not used are released. */
function reserveSlots(
  { localStarts }: Pick<BatchServices, "localStarts">,
  batch: readonly PendingSubmission[],
): Map<Submission, ReservedSlot> & Disposable {
  const slots = new Map<Submission, ReservedSlot>();
  for (const each of batch) {
    const slot = localStarts.reserve(each.owner.appId);
    if (slot !== null) slots.set(each, slot);
  }
  return Object.assign(slots, {
    [Symbol.dispose]: () => {
      for (const slot of slots.values()) slot.release();
    },
  });
}

function begin(
  { localStarts }: Pick<BatchServices, "localStarts">,
  slots: Map<Submission, ReservedSlot>,
  committed: readonly PendingSubmission[],
  submitted: readonly Submitted[],
): void {
  for (const [index, each] of committed.entries()) {
    const slot = slots.get(each);
    const outcome = submitted[index];
    if (slot === undefined || outcome?.kind !== "accepted") continue;
    localStarts.begin(slot, { job: each.openAt(outcome.deadlineAt), audio: each.keepAudio() });
    slots.delete(each);
  }
}

/** Budgets refused submissions after their rows were inserted. The transaction must be rolled back. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly refusals: ReadonlyMap<Submission, BudgetExceeded>;

  constructor(refusals: ReadonlyMap<Submission, BudgetExceeded>) {
    super("budgets refused submissions");
    this.refusals = refusals;
  }
}

/** Slots that another process has taken over. The transaction must be rolled back. */
export class SlotsLostError extends Error {
  override readonly name = "SlotsLostError";
  readonly submissions: readonly Submission[];

  constructor(submissions: readonly Submission[]) {
    super("idempotency slots of submissions were taken over");
    this.submissions = submissions;
  }
}

export interface AcceptOptions {
  readonly reserves: "first" | "last";
  /** Those that this process begins, which need no message. */
  readonly begun: Pick<ReadonlyMap<Submission, unknown>, "has">;
}

/**
 * Reserves, inserts, enqueues and stores the replies, all or nothing but for those that a budget refuses. Throws `SlotsLostError`, and `RefusedError` if a
 * budget refuses one and `reserves` is "last".
 */
export async function acceptJobs(
  services: AcceptServices,
  tx: DatabaseTransaction,
  batch: readonly Submission[],
  { reserves, begun }: AcceptOptions,
): Promise<readonly Submitted[]> {
  const refusals = reserves === "first" ? await reserve(services, tx, batch) : new Map<Submission, BudgetExceeded>();
  const admitted = batch.filter((each) => !refusals.has(each));
  const created = await insertJobs(
    tx,
    admitted.map(({ owner, job }) => ({ ...owner, ...job })),
    services.limits.jobDeadlineSeconds,
  );
  await beginJobs(
    tx,
    admitted.filter((each) => begun.has(each)).map(({ job }) => job.id),
  );
  await enqueueJobs(
    services.queue,
    admitted.filter((each) => !begun.has(each)).map(({ owner, job }) => ({ id: job.id, appId: owner.appId })),
    { goesFirst: false },
    tx,
  );
  const replies = new Map(
    admitted.flatMap((each) => {
      const times = created.get(each.job.id);
      return times === undefined
        ? []
        : [[each, { reply: each.replyAt(times.createdAt), deadlineAt: times.deadlineAt }] as const];
    }),
  );
  await completeSlots(services, tx, replies);
  if (reserves === "last") {
    const late = await reserve(services, tx, batch);
    if (late.size > 0) throw new RefusedError(late);
  }
  return batch.map((each) => {
    const accepted = replies.get(each);
    const refusal = refusals.get(each);
    if (refusal !== undefined) return { kind: "exceeded", exceeded: refusal };
    if (accepted === undefined) throw new Error("a submission without its row");
    return { kind: "accepted", ...accepted };
  });
}

async function reserve(
  { gateway }: Pick<BatchServices, "gateway">,
  tx: DatabaseTransaction,
  batch: readonly Submission[],
): Promise<ReadonlyMap<Submission, BudgetExceeded>> {
  const priced = batch.flatMap((each) => (each.reservation === null ? [] : [{ each, reservation: each.reservation }]));
  const verdicts = await gateway.ledger.reserveAllIn(
    tx,
    priced.map(({ reservation }) => reservation),
  );
  return new Map(
    priced.flatMap(({ each }, index) => {
      const verdict = verdicts[index];
      if (verdict === undefined || "slotLost" in verdict) throw new Error("a job's reservation has no slot");
      return verdict.ok ? [] : [[each, verdict.exceeded] as const];
    }),
  );
}

interface Accepted {
  readonly reply: GatewayReply;
  readonly deadlineAt: Date;
}

async function completeSlots(
  { seal, limits }: Pick<BatchServices, "seal" | "limits">,
  tx: DatabaseTransaction,
  accepted: ReadonlyMap<Submission, Accepted>,
): Promise<void> {
  const keyed = [...accepted].flatMap(([submission, { reply, deadlineAt }]) => {
    const { slot } = submission;
    // A preliminary expiry: the end of the job moves it.
    const expiresAt = new Date(deadlineAt.getTime() + limits.sttJobResultTtlSeconds * 1000);
    return slot === null ? [] : [{ submission, completion: { ref: slot, reply, expiresAt } }];
  });
  const completed = await completeReservedSlots(
    tx,
    seal,
    keyed.map(({ completion }) => completion),
  );
  const lost = keyed.filter(({ completion }) => !completed.has(completion.ref.owner));
  if (lost.length > 0) throw new SlotsLostError(lost.map(({ submission }) => submission));
}
