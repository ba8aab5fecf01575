// `patchbay transcribe`: upload, wait, print. The transcript goes to stdout (or a file), all the rest to stderr.
import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { findApiKey } from "./api-key.ts";
import { type AudioArgument, findAudio } from "./audio-argument.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { callGateway, recordOf, textOf } from "./gateway-client.ts";
import { endpointUrl, gatewayUrl } from "./gateway-url.ts";
import { uploadProgress } from "./progress.ts";
import { readEvents } from "./read-events.ts";
import { CliError, say, type Terminal, visible, write } from "./terminal.ts";
import { fieldsOf } from "./transcription-options.ts";
import { multipartUpload } from "./upload.ts";

/** Options of the command besides the request's fields, as commander names them. */
export interface TranscribeOptions extends Readonly<Record<string, unknown>> {
  readonly sample?: boolean;
  readonly json?: boolean;
  readonly format?: string;
  readonly output?: string;
  readonly url?: string;
  readonly apiKey?: string;
  readonly idempotencyKey?: string;
  readonly mediaType?: string;
  readonly filename?: string;
}

/** Formats whose result is the whole JSON answer; of the others it is `content`. */
const JSON_FORMATS = new Set(["json", "verbose_json", "diarized_json"]);

export async function transcribe(
  argument: string | undefined,
  options: TranscribeOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const fields = requestFields(options);
  const gateway = gatewayUrl(options.url, terminal);
  const audio = await findAudio(argument, options.sample === true, terminal, signal);
  try {
    const apiKey = findApiKey(options.apiKey, gateway, terminal);
    const response = await send({ audio, fields, gateway, apiKey, options, terminal, signal });
    const wantsJson = options.json === true || (options.format !== undefined && JSON_FORMATS.has(options.format));
    const isEventStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const answer = isEventStream
      ? await readStream(response, terminal, !wantsJson && options.output === undefined)
      : { document: await readDocument(response), printed: false };
    await report(response, answer.document, terminal);
    const text = printed(answer.document, wantsJson);
    if (options.output !== undefined) await writeResult(resolve(terminal.cwd, options.output), text, terminal);
    else if (!answer.printed) await write(terminal.stdout, terminal.stdout.isTTY === true ? visible(text) : text);
    if (options.sample === true && options.json !== true)
      await say(terminal, "next: patchbay transcribe FILE --format srt -o FILE.srt");
  } finally {
    if (audio.kind === "file") await audio.dispose();
  }
}

function requestFields(options: TranscribeOptions): Record<string, unknown> {
  const fields = fieldsOf(options);
  const { format } = options;
  if (format === undefined) return fields;
  if (fields["response_format"] !== undefined && fields["response_format"] !== format)
    throw new CliError(EXIT.usage, "--format and --response-format ask for two different things.");
  return { ...fields, response_format: format };
}

interface Sending {
  readonly audio: AudioArgument;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly gateway: URL;
  readonly apiKey: string;
  readonly options: TranscribeOptions;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function send(sending: Sending): Promise<Response> {
  const { audio, gateway, options, terminal, signal } = sending;
  const progress = uploadProgress(terminal, audio.kind === "file" ? audio.sizeBytes : 0);
  // One key for all tries of this command: the work is done once however often it is sent.
  const idempotencyKey = options.idempotencyKey ?? `cli-${randomUUID()}`;
  try {
    return await callGateway({
      url: endpointUrl(gateway, "/v1/transcription"),
      headers: {
        authorization: `Bearer ${sending.apiKey}`,
        "idempotency-key": idempotencyKey,
        accept: sending.fields["stream"] === true ? "text/event-stream, application/json" : "application/json",
      },
      makeBody: () => makeBody(sending, progress.onBytes),
      signal,
      onRetry(message, delaySeconds) {
        progress.clear();
        terminal.stderr.write(`${visible(message)} Trying again in ${delaySeconds} s.\n`);
      },
    });
  } catch (error) {
    progress.clear();
    if (signal.aborted)
      await say(
        terminal,
        `To fetch the answer if the work was done: the same command with --idempotency-key ${idempotencyKey}`,
      );
    throw error;
  } finally {
    progress.clear();
  }
}

function makeBody(sending: Sending, onProgress: (sentBytes: number) => void) {
  const { audio, fields, options } = sending;
  const mediaType = options.mediaType;
  const filename = options.filename;
  if (audio.kind === "url") {
    const hints = {
      ...(mediaType === undefined ? {} : { media_type: mediaType }),
      ...(filename === undefined ? {} : { filename }),
    };
    return {
      body: JSON.stringify({ ...fields, audio: { url: audio.url, ...hints } }),
      headers: { "content-type": "application/json" },
    };
  }
  // The gateway judges by content; a type that is not known is better not claimed.
  const source = {
    path: audio.path,
    sizeBytes: audio.sizeBytes,
    fileName: filename ?? audio.name,
    mediaType: mediaType ?? "application/octet-stream",
  };
  const upload = multipartUpload(source, fields, onProgress);
  return {
    body: upload.body,
    headers: { "content-type": upload.contentType, "content-length": String(upload.sizeBytes) },
  };
}

async function readDocument(response: Response): Promise<unknown> {
  try {
    return JSON.parse(await response.text());
  } catch (error) {
    throw new CliError(EXIT.upstream, "The answer is not JSON; is a gateway at this address?", {
      hints: [error instanceof Error ? error.name : ""],
    });
  }
}

/** Text as it comes, when it is what is asked for; the last event holds the whole answer. */
async function readStream(
  response: Response,
  terminal: Terminal,
  printsText: boolean,
): Promise<{ document: unknown; printed: boolean }> {
  let printed = false;
  if (response.body !== null) {
    for await (const event of readEvents(response.body)) {
      const data = recordOf(event.data);
      if (event.name === "transcript.completed") {
        if (printed) await write(terminal.stdout, "\n");
        return { document: event.data, printed };
      }
      if (event.name === "error") throw streamError(event.data);
      if (event.name !== "transcript.delta" || !printsText) continue;
      printed = true;
      await write(terminal.stdout, visible(textOf(data["text"]) ?? ""));
    }
  }
  throw new CliError(EXIT.upstream, "The stream ended before the transcript did.");
}

function streamError(document: unknown): CliError {
  const outer = recordOf(document);
  const error = recordOf(outer["error"] ?? outer);
  const code = textOf(error["code"]);
  const hints = [textOf(error["doc_url"]), textOf(error["request_id"])].flatMap((text, index) =>
    text === null ? [] : [`${index === 0 ? "what to do:" : "request"} ${text}`],
  );
  return new CliError(exitCodeOf(code, 502), `${code ?? "error"}: ${textOf(error["message"]) ?? "no message"}`, {
    hints,
    document: { error },
  });
}

/** What a person should know beside the transcript. */
async function report(response: Response, document: unknown, terminal: Terminal): Promise<void> {
  const warnings = recordOf(document)["warnings"];
  for (const warning of Array.isArray(warnings) ? warnings.map(recordOf) : []) {
    await say(terminal, `warning ${textOf(warning["code"]) ?? ""}: ${textOf(warning["message"]) ?? ""}`);
  }
  if (response.headers.get("x-svc-simulated") === "true")
    await say(terminal, "simulated: no provider was called, nothing was recognised");
  if (response.headers.get("x-svc-idempotent-replay") === "true")
    await say(terminal, "replayed: the stored answer of an earlier request with this Idempotency-Key");
  const requestId = response.headers.get("x-request-id");
  if (requestId !== null) await say(terminal, `request ${requestId}`);
}

function printed(document: unknown, wantsJson: boolean): string {
  const content = textOf(recordOf(document)["content"]);
  // A routing decision or a job has no content; it is its own result.
  if (wantsJson || content === null) return `${JSON.stringify(document, null, 2)}\n`;
  return content.endsWith("\n") ? content : `${content}\n`;
}

/** All or nothing: a reader never sees half a file. */
async function writeResult(path: string, text: string, terminal: Terminal): Promise<void> {
  const draft = `${path}.${process.pid}.part`;
  try {
    await writeFile(draft, text);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CliError(
      EXIT.usage,
      `${path} cannot be written (${error instanceof Error && "code" in error ? String(error.code) : "unknown reason"}).`,
    );
  }
  await say(terminal, `wrote ${path}`);
}
