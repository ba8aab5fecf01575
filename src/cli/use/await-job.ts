// Waits until a job has ended, and reads its result, for every command that shows jobs.
import { setTimeout as wait } from "node:timers/promises";
import { type Job, job } from "../../contract/jobs.ts";
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import { parseReply, queryOf, type Session } from "../gateway-session.ts";
import { CliError } from "../terminal.ts";

export const JOBS_PATH = "/v1/transcription/jobs";
/** Older gateways do not return `simulated`. */
export const readableJob = job.extend({ simulated: job.shape.simulated.default(false) });
/** Longest time that a gateway holds a poll. */
const HOLD_SECONDS = 60;
/** The same while each change is shown. */
const SHOWN_HOLD_SECONDS = 2;
/** Shortest interval between two polls, also while the gateway is unavailable. */
const PAUSE_MS = 1_000;

/** `onState`: called at each look at the job, the last included. Undefined: nothing is shown. */
export async function awaitJob(
  session: Session,
  id: string,
  signal: AbortSignal,
  onState?: (found: Job) => void,
): Promise<Job> {
  // The first poll returns at once: it shows the state of the job, or that it does not exist.
  for (let hold = 0; ; hold = onState === undefined ? HOLD_SECONDS : SHOWN_HOLD_SECONDS) {
    const askedAtMs = performance.now();
    const document = await session
      .document(`${jobPath(id)}${queryOf({ wait: hold })}`)
      .catch(async (error: unknown) => {
        // The gateway was reachable before, so it is expected to become available again with the job.
        if (hold === 0 || !(error instanceof CliError) || error.exitCode !== EXIT.upstream) throw error;
        await wait(PAUSE_MS, undefined, { signal });
        return null;
      });
    if (document === null) continue;
    const found = parseReply(readableJob, document, "job");
    onState?.(found);
    if (found.status !== "queued" && found.status !== "processing") return found;
    // A stopping gateway answers polls at once.
    if (hold > 0) await wait(Math.max(0, askedAtMs + PAUSE_MS - performance.now()), undefined, { signal });
  }
}

/** Throws if the ended job has no transcript. */
export function requireTranscript(endedJob: Job): void {
  const { job_id: id, status, error } = endedJob;
  if (status !== "succeeded")
    throw new CliError(
      EXIT.job,
      `The job ${status === "failed" ? "failed" : "was cancelled"}.${error === null ? "" : ` ${error.code}: ${error.message}`}`,
      {
        hints: [
          ...(error?.retryable === true ? ["submitting it again may help"] : []),
          `see why: patchbay jobs get ${id}`,
        ],
        document: endedJob,
      },
    );
  if (endedJob.result_expired)
    throw new CliError(
      exitCodeOf("NOT_FOUND", 404),
      `The result was deleted at ${endedJob.expires_at ?? "its time"}.`,
      { document: endedJob, hints: ["submit the recording again: patchbay jobs submit FILE"] },
    );
}

/** Null: no result, or an expired one. */
export async function jobResult(session: Session, { result, result_url: url }: Job): Promise<unknown> {
  if (result !== null || url === null) return result;
  // Only a path on the gateway itself: the key is sent to no other host.
  if (!url.startsWith("/v1/"))
    throw new CliError(EXIT.upstream, "The result's address does not belong to the gateway.");
  return session.document(url);
}

export function jobPath(id: string): string {
  return `${JOBS_PATH}/${encodeURIComponent(id)}`;
}
