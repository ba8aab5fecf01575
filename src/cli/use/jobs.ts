// `patchbay jobs submit|list|get|wait|result|cancel`: durable transcription of long recordings [cli.jobs].
import { type ExportFormat, type Job, type JobStatus, submittedJob } from "../../contract/jobs.ts";
import { reportAnswer, reportWarnings, saySimulated } from "./answers.ts";
import { awaitJob, jobPath, jobResult, JOBS_PATH, readableJob, requireTranscript } from "./await-job.ts";
import { EXIT } from "../exit-codes.ts";
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
  if (terminal.stderr.isTTY !== true) return awaitJob(session, id, signal);
  return awaitJob(session, id, signal, (found) => {
    const isRunning = found.status === "queued" || found.status === "processing";
    terminal.stderr.write(`\r\u001b[K${isRunning ? stripControlCharacters(`${stateOf(found)}…`) : ""}`);
  });
}

async function printEnded(
  session: Session,
  endedJob: Job,
  options: JobResultOptions,
  terminal: Terminal,
): Promise<void> {
  const id = endedJob.job_id;
  requireTranscript(endedJob);
  const { format } = options;
  if (options.json === true && format === undefined)
    return printResult(terminal, `${JSON.stringify(endedJob, null, 2)}\n`, options.output);
  // A large result that is needed in another format is not downloaded a second time for its warnings.
  const result = format === undefined ? await jobResult(session, endedJob) : endedJob.result;
  await reportWarnings(result, terminal);
  if (result === null && endedJob.simulated) await saySimulated(terminal);
  const text = format === undefined ? formatDocument(result, false) : await exported(session, id, format);
  await printResult(terminal, text, options.output);
}

async function exported(session: Session, id: string, format: ExportFormat): Promise<string> {
  const response = await session.call(`${jobPath(id)}${queryOf({ format })}`, { headers: { accept: "*/*" } });
  const text = await readText(response);
  return text.endsWith("\n") ? text : `${text}\n`;
}
