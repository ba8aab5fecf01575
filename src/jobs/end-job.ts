// Ends a job: status, result, usage, charge, expiry of its idempotency key and webhook event are one transaction [jobs.end-transaction]. The locked row
// decides: a cancellation that was committed earlier wins over a success and over a failure.
import { brand, newId } from "../contract/ids.ts";
import type { JobError } from "../contract/jobs.ts";
import type { TranscriptionEnvelope } from "../contract/transcription-envelope.ts";
import type { Settlement } from "../metering/ledger-entries.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { moveSlotExpiry } from "../storage/idempotency-slots.ts";
import { endRow, type Fence, lockFenced } from "./store/claimed-jobs.ts";
import type { JobRow } from "../storage/schema/tables.ts";
import { insertWebhookEvent, type TerminalEvent } from "../webhooks/store/webhook-events.ts";
import type { StoredResult } from "./run/store-result.ts";
import { type JobServices, jobTopic } from "./services.ts";
import { removeAudio } from "./remove-audio.ts";
import type { TerminalStatus } from "./states.ts";
import { withAppMutex } from "./run/app-mutex.ts";

export interface JobEnd {
  readonly status: TerminalStatus;
  readonly stored?: StoredResult;
  readonly error?: JobError;
  readonly usage?: TranscriptionEnvelope["usage"];
  /** Of the attempt that is still open. Null: none is. */
  readonly settlement: Settlement | null;
}

/** Returns false, without any change, if another worker has taken over the job. */
export async function endJob(
  services: JobServices,
  fence: Fence & { readonly appId: string },
  endOf: (locked: JobRow) => JobEnd,
): Promise<boolean> {
  const ended = await withAppMutex(services, fence.appId, async (tx) => {
    const locked = await lockFenced(tx, fence);
    if (locked === null) return null;
    const end = endOf(locked);
    await endLocked(services, tx, locked, end);
    return { locked, end };
  });
  if (ended === null) {
    services.gateway.logger.info({ job_id: fence.id, attempt: fence.attempt, reason: "lost", event: "job.left" });
    return false;
  }
  const { created_at: createdAt, started_at: startedAt, audio_key: audioKey } = ended.locked;
  const startedMs = (startedAt ?? createdAt).getTime();
  services.gateway.observer.jobEnded({
    waitMs: startedMs - createdAt.getTime(),
    runMs: services.gateway.now().getTime() - startedMs,
  });
  services.gateway.logger.info({
    job_id: fence.id,
    attempt: fence.attempt,
    status: ended.end.status,
    code: ended.end.error?.code ?? null,
    event: "job.ended",
  });
  if (audioKey !== null) await removeAudio(services, fence.id, audioKey);
  return true;
}

/** The caller has locked the row and checked that the status may change to this end. */
export async function endLocked(
  services: JobServices,
  tx: DatabaseTransaction,
  row: JobRow,
  end: JobEnd,
): Promise<void> {
  const { gateway, limits, queue, onTerminal } = services;
  const { finishedAt, expiresAt } = await endRow(tx, row, {
    status: end.status,
    result: end.stored?.result ?? null,
    resultKey: end.stored?.resultKey ?? null,
    error: end.error ?? null,
    usage: end.usage ?? null,
    ttlSeconds: limits.sttJobResultTtlSeconds,
  });
  const workspaceId = brand("workspace", row.workspace_id);
  const appId = brand("app", row.app_id);
  if (row.slot_key !== null) await moveSlotExpiry(tx, { workspaceId, appId, keySha256: row.slot_key }, expiresAt);
  await gateway.deletions.release(workspaceId, row.id, tx);
  const event: TerminalEvent = {
    id: newId("event"),
    workspaceId,
    appId,
    jobId: brand("job", row.id),
    type: `transcription.job.${end.status}`,
    status: end.status,
    occurredAt: finishedAt,
  };
  await insertWebhookEvent(tx, event);
  await onTerminal(tx, event);
  await queue.publish(jobTopic(row.id), tx);
  // Last, because other requests of the app wait while its budgets are locked.
  if (end.settlement !== null) await gateway.ledger.settleIn(tx, end.settlement);
}
