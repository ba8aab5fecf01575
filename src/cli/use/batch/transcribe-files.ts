// `patchbay transcribe|translate FILE… --out-dir DIR`: sends several recordings and writes each result to a file of its own [cli.batch]. One that fails does not stop
// the others.
import { mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { RESPONSE_FORMATS, type ResponseFormat } from "../../../contract/transcription/transcription-fields.ts";
import { errorCode } from "../../../lib/error-code.ts";
import { asRecord, asString } from "../../../lib/json/json-guards.ts";
import { EXIT } from "../../exit-codes.ts";
import { UnreachableError } from "../../gateway-client.ts";
import { openSession } from "../../gateway-session.ts";
import { samplePath } from "../../package-root.ts";
import { printJson, requireWritable, writeAtomically } from "../../print.ts";
import { CliError, printLine, type Terminal } from "../../terminal.ts";
import { formatDocument, JSON_FORMATS, requestFields, type TranscribeOptions } from "../transcribe.ts";
import { type BatchProgress, batchProgress } from "./batch-progress.ts";
import { type Ended, failed, reportBatch, type Transcript } from "./batch-report.ts";
import type { BatchTask } from "./batch-task.ts";
import { findRecordings } from "./find-recordings.ts";
import { outputPaths } from "./output-paths.ts";
import { type Sender, sendRecording, submitRecording, transcriptOfJob } from "./send-recording.ts";

export interface BatchOptions extends TranscribeOptions {
  readonly outDir?: string;
  readonly jobs?: boolean;
  readonly force?: boolean;
  readonly concurrency?: number;
}

const USUAL_CONCURRENCY = 4;
/** Width of the first column of a file's line. */
const LABEL = 13;

export function isBatch(names: readonly string[], { outDir, jobs, force, concurrency }: BatchOptions): boolean {
  return names.length > 1 || jobs === true || force === true || outDir !== undefined || concurrency !== undefined;
}

export async function transcribeFiles(
  task: BatchTask,
  names: readonly string[],
  options: BatchOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const outDir = requireBatchOptions(task, names, options);
  const fields = requestFields(options, options.jobs === true ? "job" : task.request);
  const found = await findRecordings(options.sample === true ? [samplePath()] : names, terminal.cwd);
  for (const folder of found.emptyFolders) await printLine(terminal, `There are no recordings in ${folder}.`);
  for (const file of found.unsupported) await printLine(terminal, `ignored ${file}: convert it to WAV or MP3 first`);
  const outputs = outputPaths(found.recordings, formatOf(fields));
  const items = found.recordings.map((recording, index) => {
    const shown = join(outDir, outputs[index] ?? "");
    return { recording, shown, output: resolve(terminal.cwd, shown) };
  });
  if (items.length === 0 && found.failures.length === 0)
    throw new CliError(EXIT.notFound, `There is nothing to ${task.command}.`, {
      hints: ["recordings end in .mp3, .mp4, .m4a, .mpeg, .wav or .webm"],
    });
  const session = openSession(options, terminal, signal);
  await makeDirectory(resolve(terminal.cwd, outDir), terminal);
  const progress = batchProgress(terminal, items.length + found.failures.length);
  const ended: Ended[] = [];
  for (const { label, error } of found.failures) ended.push(await failed(progress, { label, output: null }, error));
  const batch: Batch = { items, options, signal, progress, ended };
  const sender: Sender = { task, session, fields, options, terminal, signal, progress };
  try {
    await (options.jobs === true ? runJobs : runRequests)(batch, sender);
  } catch (error) {
    if (signal.aborted)
      await printLine(
        terminal,
        "To continue, repeat the command: finished files are skipped, and what was answered or submitted is not paid twice.",
      );
    throw error;
  }
  const document = await reportBatch(task, ended, terminal);
  if (options.json === true) await printJson(terminal, document);
}

interface Item {
  readonly recording: { readonly source: string; readonly label: string };
  readonly output: string;
  /** `output` as printed. */
  readonly shown: string;
}

interface Batch {
  readonly items: readonly Item[];
  readonly options: BatchOptions;
  readonly signal: AbortSignal;
  readonly progress: BatchProgress;
  readonly ended: Ended[];
}

async function runRequests(batch: Batch, sender: Sender): Promise<void> {
  await forEachFile(batch, batch.items, async (item) => {
    if (await isDone(batch, item)) return;
    await finish(batch, sender, item, await sendRecording(sender, item.recording));
  });
}

/** All jobs are submitted before the first is waited for, so that the gateway works on them together. */
async function runJobs(batch: Batch, sender: Sender): Promise<void> {
  const submitted: (Item & { readonly jobId: string })[] = [];
  await forEachFile(batch, batch.items, async (item) => {
    if (await isDone(batch, item)) return;
    submitted.push({ ...item, jobId: await submitRecording(sender, item.recording) });
    batch.progress.show(item.recording.label, "submitted");
  });
  await forEachFile(batch, submitted, async (item) => {
    await finish(batch, sender, item, await transcriptOfJob(sender, item.recording, item.jobId));
  });
}

/** Several at once, in their order. An error is the end of its file, unless all others would fail like it. */
async function forEachFile<T extends Item>(
  { options, signal, progress, ended }: Batch,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  let isStopped = false;
  const run = async (): Promise<void> => {
    for (const item of waiting) {
      const { label } = item.recording;
      if (isStopped) ended.push({ status: "not_sent", input: label, output: item.shown });
      else
        await work(item).catch(async (error: unknown) => {
          if (signal.aborted) throw error;
          isStopped ||= concernsAll(error);
          ended.push(await failed(progress, { label, output: item.shown }, error));
        });
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? USUAL_CONCURRENCY }, run));
}

/** No gateway, no valid key, no money. */
function concernsAll(error: unknown): boolean {
  if (error instanceof UnreachableError) return true;
  if (!(error instanceof CliError)) return false;
  const code = asString(asRecord(asRecord(error.document)["error"])["code"]);
  return error.exitCode === EXIT.auth || code === "BUDGET_EXCEEDED" || code === "CREDITS_REQUIRED";
}

async function isDone({ options, progress, ended }: Batch, { recording, output, shown }: Item): Promise<boolean> {
  const exists = await stat(output).then(
    () => true,
    () => false,
  );
  if (!exists || options.force === true) {
    await mkdir(dirname(output), { recursive: true }).catch((error: unknown) => {
      throw cannotBeWritten(dirname(output), error);
    });
    return false;
  }
  ended.push({ status: "skipped", input: recording.label, output: shown });
  await progress.end(recording.label, [`skipped      ${recording.label}: ${shown} exists (--force replaces it)`]);
  return true;
}

async function finish(batch: Batch, { fields, task }: Sender, item: Item, transcript: Transcript): Promise<void> {
  const { recording, output, shown } = item;
  await writeAtomically(output, formatDocument(transcript.document, JSON_FORMATS.has(formatOf(fields) ?? "")));
  const { audioSeconds, isReplayed } = transcript;
  const notes = [
    ...(audioSeconds === null ? [] : [`${audioSeconds} s of audio`]),
    ...(isReplayed ? ["answered earlier, not paid again"] : []),
  ];
  batch.ended.push({ status: "done", input: recording.label, output: shown, transcript });
  await batch.progress.end(recording.label, [
    `${task.done.padEnd(LABEL)}${recording.label} -> ${shown}${notes.length === 0 ? "" : `  (${notes.join(", ")})`}`,
  ]);
}

/** Returns the directory of the outputs. */
function requireBatchOptions({ command }: BatchTask, names: readonly string[], options: BatchOptions): string {
  const refuse = (message: string, hint: string): never => {
    throw new CliError(EXIT.usage, message, { hints: [hint] });
  };
  const { outDir, output, idempotencyKey, filename, mode, stream, dryRun, sample } = options;
  if (output !== undefined) refuse("-o writes one file.", "use --out-dir DIR for several files");
  if (outDir === undefined)
    return refuse(
      `Several files, and ${command === "translate" ? "" : "--jobs, "}--force and --concurrency, need a directory.`,
      "add --out-dir DIR",
    );
  if (sample === true && names.length > 0) refuse("Use either FILE or --sample, not both.", "remove one of them");
  if (sample !== true && names.length === 0) refuse("No audio.", `name files or folders: patchbay ${command} FILE`);
  if (names.includes("-")) refuse("`-` cannot be used with --out-dir.", `${command} stdin alone, with -o FILE`);
  if (idempotencyKey !== undefined)
    refuse("--idempotency-key is for one request.", "remove it: with --out-dir each file has a key by its content");
  if (filename !== undefined) refuse("--filename is for one file.", "remove it: with --out-dir files have their own");
  if (stream === true || dryRun === true || mode === "async" || mode === "realtime")
    refuse(
      "--stream, --dry-run and --mode cannot be used with --out-dir.",
      command === "translate" ? "remove them" : "remove them, or use --jobs for durable jobs",
    );
  return outDir;
}

/** Before anything is sent: a paid result must not be lost because it cannot be written. */
async function makeDirectory(path: string, terminal: Terminal): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw cannotBeWritten(path, error);
  });
  await requireWritable(join(path, "transcript"), terminal);
}

function cannotBeWritten(path: string, error: unknown): CliError {
  return new CliError(EXIT.usage, `${path} cannot be created: ${errorCode(error) ?? "no reason given"}.`, {
    hints: ["use another directory: --out-dir DIR"],
  });
}

function formatOf(fields: Readonly<Record<string, unknown>>): ResponseFormat | undefined {
  return RESPONSE_FORMATS.find((format) => format === fields["response_format"]);
}
