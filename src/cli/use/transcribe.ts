// `patchbay transcribe|translate`: uploads, waits and prints. The text goes to stdout (or a file), everything else to stderr.
import { isEventStream, readAnswerStream, reportAnswer, TRANSCRIPT_STREAM } from "./answers.ts";
import { EXIT } from "../exit-codes.ts";
import { asRecord, asString } from "../../lib/json/json-guards.ts";
import { readDocument } from "../gateway-session.ts";
import { printResult, requireWritable } from "../print.ts";
import { type AudioOptions, sendAudio } from "./send-audio.ts";
import { CliError, printLine, type Terminal } from "../terminal.ts";
import { fieldsOf } from "./transcription-options.ts";

/** Options of the commands in addition to the request's fields, under commander's names. */
export interface TranscribeOptions extends AudioOptions {
  readonly json?: boolean;
  readonly format?: string;
  readonly output?: string;
}

interface Task {
  readonly command: "transcribe" | "translate";
  readonly request: "transcription" | "translation";
  readonly doing: string;
}

const TRANSCRIBE: Task = { command: "transcribe", request: "transcription", doing: "transcribing" };
const TRANSLATE: Task = { command: "translate", request: "translation", doing: "translating" };

/** Formats with the whole JSON answer as their result; for others it is `content`. */
export const JSON_FORMATS: ReadonlySet<string> = new Set(["json", "verbose_json", "diarized_json"]);

type Run = (
  argument: string | undefined,
  options: TranscribeOptions,
  terminal: Terminal,
  signal: AbortSignal,
) => Promise<void>;

export const transcribe: Run = (...given) => run(TRANSCRIBE, ...given);
export const translate: Run = (...given) => run(TRANSLATE, ...given);

async function run(task: Task, ...[argument, options, terminal, signal]: Parameters<Run>): Promise<void> {
  const { request, doing } = task;
  const fields = requestFields(options, request);
  await requireWritable(options.output, terminal);
  const response = await sendAudio({ path: `/v1/${request}`, argument, fields, options, doing, terminal, signal });
  const wantsJson = options.json === true || (options.format !== undefined && JSON_FORMATS.has(options.format));
  const answer = isEventStream(response)
    ? await readAnswerStream(response, TRANSCRIPT_STREAM, terminal, !wantsJson && options.output === undefined)
    : { document: await readDocument(response), printed: false };
  await reportAnswer(response, answer.document, terminal);
  if (options.output !== undefined || !answer.printed)
    await printResult(terminal, formatDocument(answer.document, wantsJson), options.output);
  const jobId = asString(asRecord(answer.document)["job_id"]);
  if (jobId !== null) await printLine(terminal, `next: patchbay jobs wait ${jobId}`);
  else if (options.sample === true && options.json !== true) {
    const requestId = response.headers.get("x-request-id");
    if (requestId !== null) await printLine(terminal, `routing details: patchbay requests show ${requestId}`);
    await printLine(terminal, `next: patchbay ${task.command} FILE --format srt -o FILE.srt`);
  }
}

export function requestFields(options: TranscribeOptions, request: Task["request"] | "job"): Record<string, unknown> {
  const fields = fieldsOf(options, request);
  const { format } = options;
  if (format === undefined) return fields;
  if (fields["response_format"] !== undefined && fields["response_format"] !== format)
    throw new CliError(EXIT.usage, "--format and --response-format contradict each other.");
  return { ...fields, response_format: format };
}

/** Returns `content`, unless the whole answer is wanted. */
export function formatDocument(document: unknown, wantsJson: boolean): string {
  const content = asString(asRecord(document)["content"]);
  // A routing decision or a job has no content and is printed whole.
  if (wantsJson || content === null) return `${JSON.stringify(document, null, 2)}\n`;
  return content.endsWith("\n") ? content : `${content}\n`;
}
