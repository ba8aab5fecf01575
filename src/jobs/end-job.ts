// Ends a job: status, result, usage, charge, expiry of its idempotency key and webhook event are one transaction [jobs.end-transaction]. The locked row
// decides: a cancellation that was committed earlier wins over a success and over a failure.
import { brand, newId } from "../contract/ids.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import type { Fence } from "./store/claimed-jobs.ts";
import { endRows } from "./store/end-jobs.ts";
import type { JobRow } from "../storage/schema/tables.ts";
import type { TerminalEvent } from "../webhooks/store/webhook-events.ts";
import type { JobServices } from "./services.ts";
import type { EndingJob, JobEnd } from "./job-end.ts";
import { removeAudio } from "./remove-audio.ts";

/** Returns false, without any change, if another worker has taken over the job. Jobs that end at once share a transaction (end-batch.ts). */
export async function endJob(
  services: JobServices,
  fence: Fence,
  endOf: (locked: JobRow) => JobEnd,
  resultBytes = 0,
): Promise<boolean> {
  const ended = await services.endInBatch({ fence, endOf, resultBytes });
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
  // The worker need not wait for it.
  if (audioKey !== null) services.removals.add(removeAudio(services, fence.id, audioKey));
  return true;
}

export type EndServices = Pick<JobServices, "gateway" | "limits" | "onTerminal">;

/** The caller has locked the rows and checked that their statuses may change to these ends. */
export async function endLocked(
  { gateway, limits, onTerminal }: EndServices,
  tx: DatabaseTransaction,
  jobs: readonly EndingJob[],
): Promise<void> {
  if (jobs.length === 0) return;
  const subjects = jobs.map(({ locked: { workspace_id: workspaceId, id } }) => ({
    workspaceId: brand("workspace", workspaceId),
    subject: id,
  }));
  await gateway.deletions.releaseIn(tx, subjects);
  const endings = jobs.map(({ locked: { id, attempt }, end }) => ({
    id,
    attempt,
    status: end.status,
    result: end.stored?.result ?? null,
    resultKey: end.stored?.resultKey ?? null,
    error: end.error ?? null,
    usage: end.usage ?? null,
    eventId: newId("event"),
  }));
  const occurredAt = await endRows(tx, endings, limits.sttJobResultTtlSeconds);
  const events = jobs.map(
    ({ locked, end: { status } }, index): TerminalEvent => ({
      id: brand("event", endings[index]?.eventId ?? ""),
      workspaceId: brand("workspace", locked.workspace_id),
      appId: brand("app", locked.app_id),
      jobId: brand("job", locked.id),
      type: `transcription.job.${status}`,
      status,
      occurredAt,
    }),
  );
  await onTerminal(tx, events);
  // Last, because other requests of the apps wait while their budgets are locked.
  await gateway.ledger.settleAllIn(
    tx,
    jobs.flatMap(({ end }) => end.settlement ?? []),
  );
}
