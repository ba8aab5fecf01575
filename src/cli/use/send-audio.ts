// Sends one request with audio: the file streamed with a progress bar, or its URL, under one Idempotency-Key for all tries [cli.retries]. A stream accepts no
// such key, so it is not retried once it may have been received [cli.streams-once].
import { randomUUID } from "node:crypto";
import { type AudioArgument, findAudio } from "./audio-argument.ts";
import { EXIT } from "../exit-codes.ts";
import type { GatewayRequest } from "../gateway-client.ts";
import { openSession, type Session } from "../gateway-session.ts";
import { uploadProgress } from "./progress.ts";
import { CliError, printLine, type Terminal, stripControlCharacters } from "../terminal.ts";
import { multipartUpload } from "./upload.ts";

/** Options shared by all commands with audio, under commander's names. */
export interface AudioOptions extends Readonly<Record<string, unknown>> {
  readonly sample?: boolean;
  readonly url?: string;
  readonly apiKey?: string;
  readonly idempotencyKey?: string;
  readonly mediaType?: string;
  readonly filename?: string;
}

export interface AudioSending {
  readonly path: string;
  /** FILE, URL or `-`. */
  readonly argument: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly options: AudioOptions;
  /** Activity shown on a terminal once everything is sent: "transcribing". */
  readonly doing: string;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Returns the answer with its body unread. */
export async function sendAudio(sending: AudioSending): Promise<Response> {
  const { argument, fields, options, terminal, signal } = sending;
  if (isStreamed(fields) && options.idempotencyKey !== undefined)
    throw new CliError(
      EXIT.usage,
      "--idempotency-key cannot be used with a stream; remove --stream and --mode realtime.",
    );
  const audio = await findAudio(argument, options.sample === true, terminal, signal);
  try {
    return await send(sending, audio);
  } finally {
    if (audio.kind === "file") await audio.dispose();
  }
}

async function send(sending: AudioSending, audio: AudioArgument): Promise<Response> {
  const { path, options, terminal, signal, fields } = sending;
  const session = openSession(options, terminal, signal);
  const progress = uploadProgress(terminal, audio.kind === "file" ? audio.sizeBytes : 0, sending.doing);
  // One key for all tries of this command, so that the work is done once.
  const idempotencyKey = isStreamed(fields) ? null : (options.idempotencyKey ?? `cli-${randomUUID()}`);
  try {
    return await postAudio(session, {
      path,
      audio,
      fields,
      options,
      idempotencyKey,
      onBytes: progress.onBytes,
      onRetry(message, delaySeconds) {
        progress.clear();
        terminal.stderr.write(`${stripControlCharacters(message)} Trying again in ${delaySeconds} s.\n`);
      },
    });
  } catch (error) {
    progress.clear();
    if (signal.aborted && idempotencyKey !== null) await sayHowToResume(terminal, idempotencyKey);
    throw error;
  } finally {
    progress.clear();
  }
}

export interface AudioPost extends Pick<AudioSending, "path" | "fields" | "options"> {
  readonly audio: AudioArgument;
  /** Null for a stream. */
  readonly idempotencyKey: string | null;
  readonly onBytes: (sentBytes: number) => void;
  readonly onRetry: GatewayRequest["onRetry"];
}

/** Returns the answer with its body unread. */
export function postAudio(session: Session, post: AudioPost): Promise<Response> {
  const { path, idempotencyKey, onRetry } = post;
  return session.call(path, {
    method: "POST",
    headers:
      idempotencyKey === null
        ? { accept: "text/event-stream, application/json" }
        : { "idempotency-key": idempotencyKey, accept: "application/json" },
    isRepeatable: idempotencyKey !== null,
    makeBody: () => makeBody(post),
    onRetry,
  });
}

/** A dry run answers at once and costs nothing. */
function isStreamed(fields: AudioSending["fields"]): boolean {
  if (fields["dry_run"] === true) return false;
  return fields["stream"] === true || fields["mode"] === "realtime";
}

export function sayHowToResume(terminal: Terminal, idempotencyKey: string): Promise<void> {
  return printLine(
    terminal,
    `To fetch the result if the work was done, repeat the command with --idempotency-key ${idempotencyKey}`,
  );
}

function makeBody({ fields, options, audio, onBytes }: AudioPost) {
  const { mediaType, filename } = options;
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
  // The gateway detects the format from the content; an unknown type is better omitted.
  const source = {
    path: audio.path,
    sizeBytes: audio.sizeBytes,
    fileName: filename ?? audio.name,
    mediaType: mediaType ?? "application/octet-stream",
  };
  const upload = multipartUpload(source, fields, onBytes);
  return {
    body: upload.body,
    headers: { "content-type": upload.contentType, "content-length": String(upload.sizeBytes) },
  };
}
