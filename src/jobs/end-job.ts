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
import type { SpentAudio } from "./store/spent-audio.ts";

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
  const { created_at: createdAt, started_at: startedAt } = ended.locked;
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
  return true;
}

export type EndServices = Pick<JobServices, "gateway" | "limits" | "onTerminal">;

/**
 * The caller has locked the rows and checked that their statuses may change to these ends. `recordsAudio`: the caller deletes the audio that is returned.
 * Otherwise the next sweep deletes it.
 */
export async function endLocked(
  { gateway, limits, onTerminal }: EndServices,
  tx: DatabaseTransaction,
  jobs: readonly EndingJob[],
  { recordsAudio }: { readonly recordsAudio: boolean } = { recordsAudio: false },
): Promise<SpentAudio | null> {
  if (jobs.length === 0) return null;
  const subjects = jobs.map(({ locked: { workspace_id: workspaceId, id } }) => ({
    workspaceId: brand("workspace", workspaceId),
    subject: id,
  }));
  await gateway.deletions.releaseIn(tx, subjects);
  const endings = jobs.map(({ locked: { id, attempt, audio_key: audioKey }, end }) => ({
    id,
    attempt,
    status: end.status,
    result: end.stored?.result ?? null,
    resultKey: end.stored?.resultKey ?? null,
    error: end.error ?? null,
    usage: end.usage ?? null,
    eventId: newId("event"),
    spentAudioKey: recordsAudio ? audioKey : null,
  }));
  const { finishedAt: occurredAt, spentAudio } = await endRows(tx, endings, limits.sttJobResultTtlSeconds);
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
  return spentAudio;
}
