// Claims and records the deliveries of this process that come at the same time in one transaction, of every workspace: one commit, and each statement once. A
// delivery alone has the same statements (docs/decisions/0055-deliveries-share-transactions.md).
import { brand, newId } from "../contract/ids.ts";
import { createBatcher } from "../lib/concurrency/batcher.ts";
import type { Queue } from "../queue/queue.ts";
import { writeAudit } from "../storage/audit-log.ts";
import type { Database, systemAccess, SystemTransaction } from "../storage/database.ts";
import { isDatabaseUnavailable } from "../storage/database-faults.ts";
import { bypassRls } from "../storage/system.ts";
import { transactIdempotently } from "../storage/transact.ts";
import type { Attempted } from "./attempted.ts";
import { type Decisions, type DecisionServices, decideSteps, type RecordStep, type Step } from "./batch-decisions.ts";
import type { Claim, ClaimedDelivery } from "./claim.ts";
import type { WebhookState } from "./delivery-state.ts";
import {
  BUSY_SECONDS,
  type DeliveryMessage,
  enqueueAll,
  type Lane,
  leaseSeconds,
  PER_RECEIVER,
  type ScheduledMessage,
} from "./queues.ts";
import { listStoredAttempts, lockDeliveries } from "./store/lock-deliveries.ts";
import { disableWebhook, type HealthChange, writeHealth } from "./store/webhooks.ts";
import { writeDeliveries } from "./store/write-deliveries.ts";
import { auditView } from "./webhook-row.ts";

export interface DeliveryWrites {
  /** If the receiver is busy, the message is sent to its queue again. */
  claim(message: DeliveryMessage, lane: Lane): Promise<Claim>;
  record(delivery: ClaimedDelivery, attempt: Attempted): Promise<void>;
  /** For an attempt that was not made. The claim of a process that dies expires by itself. */
  release(delivery: ClaimedDelivery): Promise<void>;
}

export interface WriteServices extends DecisionServices {
  readonly database: Pick<Database, typeof systemAccess>;
  readonly queue: Pick<Queue, "sendAll">;
  readonly timeoutMs: number;
}

const MAX_BATCH = 100;
/** A receiver gets four requests at once, so that only a pause lets their ends and the next claims come together. */
const PAUSE_FACTOR = 1;

type Answer = Claim | { readonly kind: "stored" } | { readonly kind: "failed"; readonly error: unknown };

export function createDeliveryWrites(services: WriteServices): DeliveryWrites {
  const enqueue = createBatcher((steps: readonly Step[]) => writeTogether(services, steps), {
    maxItems: MAX_BATCH,
    pauseFactor: PAUSE_FACTOR,
    isItemFault: (error) => !isDatabaseUnavailable(error),
  });
  const store = async (step: Step): Promise<void> => {
    const answer = await enqueue(step);
    if (answer.kind === "failed") throw answer.error;
  };
  return {
    claim: async (message, lane) => {
      const answer = await enqueue({ kind: "claim", message, lane });
      if (answer.kind === "failed") throw answer.error;
      if (answer.kind === "stored") throw new Error("a claim was answered as a record");
      return answer;
    },
    record: (delivery, attempt) => store({ kind: "record", attemptId: newId("deliveryAttempt"), delivery, attempt }),
    release: (delivery) => store({ kind: "release", delivery }),
  };
}

/** Repeated if the connection breaks, when it is unknown whether the transaction was committed: what it has written then is found by its ids. */
async function writeTogether(services: WriteServices, steps: readonly Step[]): Promise<readonly Answer[]> {
  const claims = new Map<string, string>();
  const records = steps.filter((step) => step.kind === "record");
  let isRepeat = false;
  return transactIdempotently(bypassRls(services.database, "batch"), async (tx) => {
    const locked = await lockDeliveries(tx, steps.map(subjectOf));
    const attempts = isRepeat ? await storedAttempts(tx, records) : new Set<string>();
    isRepeat = true;
    return writeDecisions(services, tx, steps, decideSteps(services, steps, locked, { attempts, claims }), claims);
  });
}

function subjectOf(step: Step): { readonly id: string; readonly workspaceId: string } {
  const { deliveryId, workspaceId } = step.kind === "claim" ? step.message : step.delivery.message;
  return { id: deliveryId, workspaceId };
}

async function storedAttempts(tx: SystemTransaction, records: readonly RecordStep[]): Promise<ReadonlySet<string>> {
  return listStoredAttempts(
    tx,
    records.map(({ attemptId }) => attemptId),
  );
}

/** Adds to `claims` the end of each claim. */
async function writeDecisions(
  { queue, timeoutMs }: WriteServices,
  tx: SystemTransaction,
  steps: readonly Step[],
  { answers, deliveries, attempts, webhooks, retries }: Decisions,
  claims: Map<string, string>,
): Promise<readonly Answer[]> {
  const due = [...answers].flatMap(([step, { kind }]) => (kind === "due" ? [subjectOf(step)] : []));
  const granted = await writeDeliveries(tx, {
    changes: deliveries.map(({ row, ...state }) => ({ ...state, id: row.id, workspaceId: row.workspace_id })),
    attempts: attempts.map(({ attemptId, attempt, delivery: { message }, number }) => ({
      ...attempt,
      ...message,
      id: attemptId,
      number,
    })),
    claims: due,
    leaseSeconds: leaseSeconds(timeoutMs),
    perReceiver: PER_RECEIVER,
  });
  for (const [id, until] of granted) claims.set(id, until);
  await writeWebhooks(tx, webhooks);
  const busy: ScheduledMessage[] = [];
  const answered = steps.map((step): Answer => {
    const answer = answers.get(step) ?? { kind: "stored" };
    const claimedUntil = answer.kind === "due" ? granted.get(answer.delivery.message.deliveryId) : undefined;
    if (answer.kind === "due" && claimedUntil !== undefined)
      return { kind: "claimed", delivery: { ...answer.delivery, claimedUntil } };
    if (answer.kind !== "due" && answer.kind !== "busy") return answer;
    if (step.kind === "claim") busy.push({ message: step.message, lane: step.lane, delaySeconds: BUSY_SECONDS });
    return { kind: "busy" };
  });
  await enqueueAll(queue, [...retries, ...busy], tx);
  return answered;
}

async function writeWebhooks(tx: SystemTransaction, webhooks: readonly WebhookState[]): Promise<void> {
  const health = webhooks.flatMap(({ row, failing }): HealthChange[] => {
    const { workspace_id: workspaceId } = row;
    if (failing === "from_now_on") return [{ workspaceId, isFailing: true }];
    return failing === "no" && row.failing_since !== null ? [{ workspaceId, isFailing: false }] : [];
  });
  await writeHealth(tx, health);
  const disabled = webhooks.toSorted((left, right) => (left.row.workspace_id < right.row.workspace_id ? -1 : 1));
  for (const { row, disabled: cause } of disabled) {
    if (cause === null) continue;
    const after = await disableWebhook(tx, row.workspace_id, cause.reason);
    await writeAudit(tx, {
      workspaceId: brand("workspace", row.workspace_id),
      actorKeyId: null,
      action: "stt_webhook.disabled",
      object: row.workspace_id,
      before: auditView({ ...row, failing_since: after.failing_since }, cause.url),
      after: auditView(after, cause.url),
    });
  }
}
