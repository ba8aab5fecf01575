// `patchbay api`: one request to any endpoint, with the key, retries and exit codes of every other command [cli.api].
import { randomUUID } from "node:crypto";
import { createParser } from "eventsource-parser";
import type { EndpointMethod } from "../../contract/endpoints/endpoint.ts";
import { postCreditsContract } from "../../contract/admin/plans.ts";
import { streamError } from "../use/answers.ts";
import { EXIT } from "../exit-codes.ts";
import { asRecord, asString } from "../../lib/json/json-guards.ts";
import { type Call, type GatewayOptions, openSession, readDocument, type Session } from "../gateway-session.ts";
import { adminUrl } from "../gateway-url.ts";
import { printBytes, printJson, requireWritable } from "../print.ts";
import { readBody, readBytes } from "../read-answer.ts";
import { readTextArgument } from "../read-argument.ts";
import { sayHowToResume } from "../use/send-audio.ts";
import { CliError, type Terminal, stripControlCharacters, write, writeTo } from "../terminal.ts";

export interface ApiOptions extends GatewayOptions {
  /** JSON, `@FILE`, or `-`. */
  readonly data?: string;
  readonly ifMatch?: string;
  readonly idempotencyKey?: string;
  readonly include?: boolean;
  readonly output?: string;
}

const GRANT = new RegExp(`^${postCreditsContract.path.replace(":tenant_id", "[^/?]+")}$`, "u");

export async function callApi(
  method: EndpointMethod,
  path: string,
  options: ApiOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  if (!/^\/(?!\/)/u.test(path))
    throw new CliError(EXIT.usage, "The path must begin with one /.", { hints: ["which gateway: --url URL"] });
  const { data, ifMatch, idempotencyKey = randomUUID() } = options;
  await requireWritable(options.output, terminal);
  // The one POST that never streams and accepts an idempotency key: repeating it has no further effect.
  const isGrant = method === "POST" && GRANT.test(path);
  const isRepeatable = method !== "POST" || isGrant;
  const body = data === undefined ? null : await readData(data, terminal);
  const call: Call = {
    method,
    headers: {
      accept: "*/*",
      ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
      ...(method === "POST" ? { "idempotency-key": idempotencyKey } : {}),
    },
    makeBody: () => ({ body, headers: body === null ? {} : { "content-type": "application/json" } }),
    isRepeatable,
    ...(options.include === true
      ? { onAnswer: (answer: Response) => write(terminal.stderr, stripControlCharacters(head(answer))) }
      : {}),
  };
  const response = await sessionFor(path, options, terminal, signal)
    .call(path, call)
    .catch(async (error: unknown) => {
      if (isGrant && !isRefusal(error)) await sayHowToResume(terminal, idempotencyKey);
      return printRefusal(error, terminal);
    });
  const type = response.headers.get("content-type") ?? "";
  if (/^application\/(?:[\w.+-]+\+)?json\b/u.test(type))
    return printJson(terminal, await readDocument(response), options.output);
  if (options.output !== undefined || !type.startsWith("text/event-stream"))
    return printBytes(terminal, await readBytes(response), options.output);
  if (response.body !== null) await printStream(response.body, terminal);
}

/** Prints events as they arrive, until the stream ends or the reader closes. An error event sets the exit code, too. */
async function printStream(body: ReadableStream<Uint8Array>, terminal: Terminal): Promise<void> {
  const decoder = new TextDecoder();
  let failure: CliError | null = null;
  const parser = createParser({
    // Events in OpenAI's format have no names.
    onEvent: ({ event, data }) => {
      if (event === undefined || event === "error") failure ??= errorIn(data);
    },
  });
  for await (const chunk of readBody(body)) {
    const text = decoder.decode(chunk, { stream: true });
    if (!(await writeTo(terminal.stdout, terminal.stdout.isTTY === true ? stripControlCharacters(text) : text))) return;
    parser.feed(text);
  }
  if (failure !== null) throw failure;
}

function errorIn(data: string): CliError | null {
  try {
    const document = JSON.parse(data) as unknown;
    return asString(asRecord(asRecord(document)["error"])["code"]) === null ? null : streamError(document);
  } catch {
    return null;
  }
}

/** The operator may use every administrator endpoint; only `/admin/v1` has a listener of its own. */
function sessionFor(path: string, options: ApiOptions, terminal: Terminal, signal: AbortSignal): Session {
  const isBelow = (place: string) => path.startsWith(`${place}/`);
  const keyOwner = isBelow("/admin") || isBelow("/workspace") ? "operator" : "app";
  const place = isBelow("/admin") ? { url: adminUrl(options.url, terminal) } : {};
  return openSession({ ...place, ...options }, terminal, signal, keyOwner);
}

/** An error is an answer as well: the gateway's own body is printed in place of a result. */
async function printRefusal(error: unknown, terminal: Terminal): Promise<never> {
  if (isRefusal(error)) await printJson(terminal, error.document);
  throw error;
}

const isRefusal = (error: unknown): error is CliError =>
  error instanceof CliError && asString(asRecord(asRecord(error.document)["error"])["code"]) !== null;

/** Sent as typed: the gateway validates it. */
async function readData(data: string, terminal: Terminal): Promise<string> {
  const isNamed = data === "-" || data.startsWith("@");
  const text = isNamed ? await readTextArgument(data.replace(/^@/u, ""), "--data", terminal) : data;
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new CliError(EXIT.usage, "--data is not JSON.", { hints: ["a file: --data @FILE"] });
  }
}

function head({ status, statusText, headers }: Response): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\n`);
  return `${status} ${statusText}\n${lines.join("")}\n`;
}
