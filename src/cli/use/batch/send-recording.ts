// Sends one recording of several, as a request or as a durable job, under a key by its content [cli.batch-again].
import { randomUUID } from "node:crypto";
import { submittedJob } from "../../../contract/jobs.ts";
import { asRecord } from "../../../lib/json/json-guards.ts";
import { parseReply, readDocument, type Session } from "../../gateway-session.ts";
import type { Terminal } from "../../terminal.ts";
import { type AudioArgument, findAudio } from "../audio-argument.ts";
import { awaitJob, jobPath, jobResult, JOBS_PATH, readableJob, requireTranscript } from "../await-job.ts";
import { stateOf } from "../job-text.ts";
import { type AudioOptions, postAudio } from "../send-audio.ts";
import type { BatchProgress } from "./batch-progress.ts";
import type { Transcript } from "./batch-report.ts";
import type { BatchTask } from "./batch-task.ts";
import { contentKey } from "./content-key.ts";

export interface Sender {
  readonly task: BatchTask;
  readonly session: Session;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly options: AudioOptions & {
    /** Under new keys. */
    readonly force?: boolean;
  };
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly progress: BatchProgress;
}

interface Named {
  readonly source: string;
  readonly label: string;
}

/** As one request. */
export async function sendRecording(sender: Sender, recording: Named): Promise<Transcript> {
  const audio = await open(sender, recording);
  const { request, doing } = sender.task;
  const path = `/v1/${request}`;
  const idempotencyKey = await keyOf(sender, path, audio);
  const response = await post(sender, recording, { path, audio, idempotencyKey, doing });
  const document = await readDocument(response);
  return {
    document,
    audioSeconds: secondsOf(document),
    requestId: response.headers.get("x-request-id"),
    jobId: null,
    isReplayed: isReplay(response),
  };
}

/** Returns the job's id. The job of an earlier run is found again, unless it ended without a result. */
export async function submitRecording(sender: Sender, recording: Named): Promise<string> {
  const audio = await open(sender, recording);
  const key = await keyOf(sender, JOBS_PATH, audio);
  for (let tries = 1; ; tries += 1) {
    const idempotencyKey = tries === 1 ? key : `${key}-${tries}`;
    const response = await post(sender, recording, { path: JOBS_PATH, audio, idempotencyKey, doing: "submitting" });
    const { job_id: jobId } = parseReply(submittedJob, await readDocument(response), "job");
    if (!isReplay(response) || (await isUsable(sender.session, jobId))) return jobId;
  }
}

export async function transcriptOfJob({ session, signal, progress }: Sender, { label }: Named, jobId: string) {
  const endedJob = await awaitJob(session, jobId, signal, (found) => progress.show(label, stateOf(found)));
  requireTranscript(endedJob);
  const document = await jobResult(session, endedJob);
  const audioSeconds = endedJob.usage?.audio_seconds ?? secondsOf(document);
  return { document, audioSeconds, requestId: null, jobId, isReplayed: false };
}

async function isUsable(session: Session, jobId: string): Promise<boolean> {
  const found = parseReply(readableJob, await session.document(jobPath(jobId)), "job");
  // Its provider may have been paid, so it runs again only with --force.
  if (found.error?.code === "PROVIDER_RESULT_UNKNOWN") return true;
  return found.status !== "failed" && found.status !== "cancelled" && !found.result_expired;
}

function open({ terminal, signal }: Sender, { source }: Named): Promise<AudioArgument> {
  return findAudio(source, false, terminal, signal);
}

async function keyOf({ fields, options }: Sender, path: string, audio: AudioArgument): Promise<string> {
  return options.force === true ? `cli-${randomUUID()}` : contentKey({ path, fields }, audio);
}

interface Posted {
  readonly path: string;
  readonly audio: AudioArgument;
  readonly idempotencyKey: string;
  readonly doing: string;
}

function post(
  { session, fields, options, progress }: Sender,
  { label }: Named,
  { doing, ...posted }: Posted,
): Promise<Response> {
  const { audio } = posted;
  const total = audio.kind === "file" ? audio.sizeBytes : 0;
  progress.show(label, doing);
  return postAudio(session, {
    ...posted,
    fields,
    options,
    onBytes: (sent) => progress.show(label, sent >= total ? doing : `${Math.floor((sent / total) * 100)} %`),
    onRetry: (message, delaySeconds) => void progress.note(`${label}: ${message} Trying again in ${delaySeconds} s.`),
  });
}

function isReplay(response: Response): boolean {
  return response.headers.get("x-svc-idempotent-replay") === "true";
}

function secondsOf(document: unknown): number | null {
  const { audio_seconds: seconds } = asRecord(asRecord(document)["usage"]);
  return typeof seconds === "number" ? seconds : null;
}
