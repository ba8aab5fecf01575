// `patchbay jobs submit|list|get|wait|result|cancel`: durable transcription of long recordings [cli.jobs].
import { setTimeout as wait } from "node:timers/promises";
import { type ExportFormat, type Job, job, type JobStatus, submittedJob } from "../../contract/jobs.ts";
import { reportAnswer, reportWarnings, saySimulated } from "./answers.ts";
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import {
  type GatewayOptions,
  openSession,
  queryOf,
  readDocument,
  type Session,
  parseReply,
} from "../gateway-session.ts";
import { audioSeconds, describeJob, markedState, nextOf, stateOf } from "./job-text.ts";
import { type ListOptions, printList, readList } from "../print-list.ts";
import { printJson, printResult, requireWritable } from "../print.ts";
import { readText } from "../read-answer.ts";
import { type AudioOptions, sendAudio } from "./send-audio.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../terminal.ts";
import { formatDocument, requestFields } from "./transcribe.ts";

const JOBS_PATH = "/v1/transcription/jobs";
/** Older gateways do not return `simulated`. */
const readableJob = job.extend({ simulated: job.shape.simulated.default(false) });
/** Longest time that a gateway holds a poll. */
const HOLD_SECONDS = 60;
/** Shortest interval between two polls, also while the gateway is unavailable. */
const PAUSE_MS = 1_000;

export interface JobOptions extends GatewayOptions {
  readonly json?: boolean;
}
export interface SubmitOptions extends AudioOptions {
  readonly json?: boolean;
  readonly wait?: boolean;
}
export interface JobListOptions extends JobOptions, ListOptions {
  readonly status?: JobStatus;
}
export interface JobResultOptions extends JobOptions {
  readonly format?: ExportFormat;
  readonly output?: string;
}

export async function submitJob(
  argument: string | undefined,
  options: SubmitOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const fields = requestFields(options, "job");
  const response = await sendAudio({
    path: JOBS_PATH,
    argument,
    fields,
    options,
    doing: "submitting",
    terminal,
    signal,
  });
  const document = await readDocument(response);
  await reportAnswer(response, document, terminal);
  // A dry run returns the routing decision.
  const accepted = submittedJob.safeParse(document);
  if (!accepted.success) return printJson(terminal, document);
  const { job_id: jobId } = accepted.data;
  if (options.wait === true) return waitForJob(jobId, options, terminal, signal);
  if (options.json === true) return printJson(terminal, document);
  await write(terminal.stdout, `${jobId}\n`);
  await printLine(terminal, `next: patchbay jobs wait ${jobId}`);
}

export async function listJobs(options: JobListOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const session = openSession(options, terminal, signal);
  const query = { status: options.status };
  const list = await readList(
    session,
    { path: JOBS_PATH, query, item: readableJob, what: "list of jobs" },
    options.limit,
  );
  const columns = {
    head: ["JOB", "STATE", "AUDIO S", "CREATED", "CODE"],
    row: (one: Job) => [one.job_id, markedState(one), audioSeconds(one), one.created_at, one.error?.code ?? ""],
    nothing: "No matching jobs. Submit one: patchbay jobs submit FILE",
  };
  await printList(terminal, list, columns, options);
}

export async function showJob(id: string, options: JobOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const session = openSession(options, terminal, signal);
  const document = await session.document(jobPath(id));
  if (options.json === true) return printJson(terminal, document);
  const found = parseReply(readableJob, document, "job");
  await write(terminal.stdout, describeJob(found));
  await printLine(terminal, `next: ${nextOf(found)}`);
}

/** Waits until the job has ended, then prints its transcript or its error. */
export async function waitForJob(
  id: string,
  options: JobResultOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  await requireWritable(options.output, terminal);
  const session = openSession(options, terminal, signal);
  const endedJob = await untilEnded(session, id, terminal, signal).catch(async (error: unknown) => {
    if (signal.aborted)
      await printLine(
        terminal,
        `The job continues. Wait again: patchbay jobs wait ${id}; stop it: patchbay jobs cancel ${id}`,
      );
    throw error;
  });
  await printEnded(session, endedJob, options, terminal);
}

export async function printJobResult(
  id: string,
  options: JobResultOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const session = openSession(options, terminal, signal);
  const found = parseReply(readableJob, await session.document(jobPath(id)), "job");
  if (found.status === "queued" || found.status === "processing")
    throw new CliError(EXIT.notFound, `The job has no result yet: it is ${stateOf(found)}.`, {
      hints: [`wait for it: patchbay jobs wait ${id}`],
      document: found,
    });
  await printEnded(session, found, options, terminal);
}

export async function cancelJob(
  id: string,
  options: JobOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const session = openSession(options, terminal, signal);
  const document = await session.document(jobPath(id), { method: "DELETE" });
  if (options.json === true) return printJson(terminal, document);
  const found = parseReply(readableJob, document, "job");
  await write(terminal.stdout, `${found.status}\n`);
  if (found.status === "processing")
    await printLine(terminal, `It stops at the end of its current stage: patchbay jobs wait ${id}`);
  else if (found.status !== "cancelled") await printLine(terminal, "It had already ended; nothing was changed.");
}

async function untilEnded(session: Session, id: string, terminal: Terminal, signal: AbortSignal): Promise<Job> {
  const shows = terminal.stderr.isTTY === true;
  // The first poll returns at once: it shows the state of the job, or that it does not exist.
  for (let hold = 0; ; hold = shows ? 2 : HOLD_SECONDS) {
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
    const isOver = found.status !== "queued" && found.status !== "processing";
    if (shows) terminal.stderr.write(`\r\u001b[K${isOver ? "" : stripControlCharacters(`${stateOf(found)}…`)}`);
    if (isOver) return found;
    // A stopping gateway answers polls at once.
    if (hold > 0) await wait(Math.max(0, askedAtMs + PAUSE_MS - performance.now()), undefined, { signal });
  }
}

async function printEnded(
  session: Session,
  endedJob: Job,
  options: JobResultOptions,
  terminal: Terminal,
): Promise<void> {
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
      {
        document: endedJob,
      },
    );
  const { format } = options;
  if (options.json === true && format === undefined)
    return printResult(terminal, `${JSON.stringify(endedJob, null, 2)}\n`, options.output);
  // A large result that is needed in another format is not downloaded a second time for its warnings.
  const result = format === undefined ? await resultOf(session, endedJob) : endedJob.result;
  await reportWarnings(result, terminal);
  if (result === null && endedJob.simulated) await saySimulated(terminal);
  const text = format === undefined ? formatDocument(result, false) : await exported(session, id, format);
  await printResult(terminal, text, options.output);
}

/** Null: no result, or an expired one. */
async function resultOf(session: Session, { result, result_url: url }: Job): Promise<unknown> {
  if (result !== null || url === null) return result;
  // Only a path on the gateway itself: the key is sent to no other host.
  if (!url.startsWith("/v1/"))
    throw new CliError(EXIT.upstream, "The result's address does not belong to the gateway.");
  return session.document(url);
}

async function exported(session: Session, id: string, format: ExportFormat): Promise<string> {
  const response = await session.call(`${jobPath(id)}${queryOf({ format })}`, { headers: { accept: "*/*" } });
  const text = await readText(response);
  return text.endsWith("\n") ? text : `${text}\n`;
}

function jobPath(id: string): string {
  return `${JOBS_PATH}/${encodeURIComponent(id)}`;
}
