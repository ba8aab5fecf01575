// How each file of several ended, and the summary of all [cli.batch].
import { asRecord, asString } from "../../../lib/json/json-guards.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError, printLine, type Terminal } from "../../terminal.ts";
import type { BatchProgress } from "./batch-progress.ts";
import type { BatchTask } from "./batch-task.ts";

export interface Transcript {
  readonly document: unknown;
  readonly audioSeconds: number | null;
  readonly requestId: string | null;
  readonly jobId: string | null;
  /** True: the stored answer of an earlier run. */
  readonly isReplayed: boolean;
}

interface Named {
  readonly input: string;
  readonly output: string | null;
}

export type Ended =
  | (Named & { readonly status: "done"; readonly transcript: Transcript })
  | (Named & { readonly status: "skipped" | "not_sent" })
  | (Named & { readonly status: "failed"; readonly error: CliError });

/** Reports the failure of one file. A fault of the program is no failure of a file. */
export async function failed(
  progress: BatchProgress,
  { label, output }: { readonly label: string; readonly output: string | null },
  error: unknown,
): Promise<Ended> {
  if (!(error instanceof CliError)) throw error;
  await progress.end(label, [`failed       ${label}: ${error.message}`, ...error.hints.map((hint) => `  ${hint}`)]);
  return { status: "failed", input: label, output, error };
}

/** Prints the summary. Returns it as a document, or throws it if a file has no transcript. */
export async function reportBatch(task: BatchTask, ended: readonly Ended[], terminal: Terminal): Promise<unknown> {
  for (const [code, { message, count }] of warningsOf(ended))
    await printLine(terminal, `warning ${code}: ${message} (${filesText(count)})`);
  const document = documentOf(task, ended);
  const { skipped, failed: failures, not_sent: notSent, audio_seconds: seconds } = document;
  const counts = [
    `${countOf(ended, "done")} ${task.done}`,
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(failures === 0 ? [] : [`${failures} failed`]),
    ...(notSent === 0 ? [] : [`${notSent} not sent`]),
  ];
  await printLine(terminal, `${filesText(ended.length)}: ${counts.join(", ")}. ${seconds} s of audio.`);
  if (failures + notSent === 0) return document;
  const without = failures + notSent;
  const verb = without === 1 ? "has" : "have";
  throw new CliError(exitCodeOf(ended), `${without} of ${filesText(ended.length)} ${verb} no ${task.result}.`, {
    hints: ["repeat the command after fixing the cause: files that have an output are skipped"],
    document,
  });
}

function countOf(ended: readonly Ended[], status: Ended["status"]): number {
  return ended.filter((each) => each.status === status).length;
}

function documentOf({ done, request }: BatchTask, ended: readonly Ended[]) {
  const seconds = ended.reduce(
    (sum, each) => sum + (each.status === "done" ? (each.transcript.audioSeconds ?? 0) : 0),
    0,
  );
  return {
    object: `${request}_batch`,
    files: ended.toSorted(byInput).map((each) => entryOf(each, done)),
    [done]: countOf(ended, "done"),
    skipped: countOf(ended, "skipped"),
    failed: countOf(ended, "failed"),
    not_sent: countOf(ended, "not_sent"),
    // Milliseconds, as everywhere.
    audio_seconds: Math.round(seconds * 1000) / 1000,
  } as const;
}

function entryOf(each: Ended, done: BatchTask["done"]) {
  const { input, output } = each;
  const status = each.status === "done" ? done : each.status;
  if (each.status === "failed") {
    const { code, request_id: requestId } = asRecord(asRecord(each.error.document)["error"]);
    const error = { code: asString(code), message: each.error.message, request_id: asString(requestId) };
    return { input, output, status, error };
  }
  if (each.status !== "done") return { input, output, status };
  const { audioSeconds, requestId, jobId, isReplayed } = each.transcript;
  return {
    input,
    output,
    status,
    audio_seconds: audioSeconds,
    request_id: requestId,
    job_id: jobId,
    replayed: isReplayed,
  };
}

/** Files end in any order. */
function byInput({ input: one }: Ended, { input: other }: Ended): number {
  return one < other ? -1 : 1;
}

/** The code of all failures, or 1 if they differ. */
function exitCodeOf(ended: readonly Ended[]): number {
  const codes = new Set(ended.flatMap((each) => (each.status === "failed" ? [each.error.exitCode] : [])));
  const [code = EXIT.unexpected] = codes;
  return codes.size === 1 ? code : EXIT.unexpected;
}

/** Each warning once, with the number of files that have it. */
function warningsOf(
  ended: readonly Ended[],
): ReadonlyMap<string, { readonly message: string; readonly count: number }> {
  const found = new Map<string, { message: string; count: number }>();
  for (const each of ended) {
    if (each.status !== "done") continue;
    const warnings = asRecord(each.transcript.document)["warnings"];
    for (const warning of Array.isArray(warnings) ? warnings.map(asRecord) : []) {
      const code = asString(warning["code"]) ?? "";
      const before = found.get(code);
      const message = before?.message ?? asString(warning["message"]) ?? "";
      found.set(code, { message, count: (before?.count ?? 0) + 1 });
    }
  }
  return found;
}

function filesText(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}
