// `patchbay listen --forward-to URL` [cli.listen]: reads a workspace's events from the gateway and forwards each, with its signature, to a receiver that the
// gateway cannot reach. Prints one line per delivery on stdout, the rest on stderr.
import { setTimeout as wait } from "node:timers/promises";
import { errorCode } from "../../lib/error-code.ts";
import { EXIT } from "../exit-codes.ts";
import { asRecord, asString } from "../../lib/json/json-guards.ts";
import { openSession, ownWorkspace } from "../gateway-session.ts";
import { readEvents } from "./read-events.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../terminal.ts";

export interface ListenOptions {
  readonly forwardTo: string;
  readonly workspace?: string;
  readonly json?: boolean;
  readonly url?: string;
  readonly apiKey?: string;
}

/** Same as the gateway's default timeout for receivers. */
const RECEIVER_TIMEOUT_MS = 15_000;
const RECONNECT_MS = 1_000;
const MAX_REMEMBERED = 10_000;

/** Runs until interrupted or refused. */
export async function listen(options: ListenOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const session = openSession(options, terminal, signal, "operator");
  const receiver = receiverUrl(options.forwardTo);
  const workspace = options.workspace ?? (await ownWorkspace(session));
  const path = `/workspace/${encodeURIComponent(workspace)}/stt-webhook/stream`;
  const forwarded = new Set<string>();
  for (let isFirst = true; ; isFirst = false) {
    const last = [...forwarded].at(-1);
    const query = last === undefined ? "" : `?after=${encodeURIComponent(last)}`;
    const headers = { accept: "text/event-stream" };
    const response = await session.call(`${path}${query}`, { headers }).catch((error: unknown) => {
      // The gateway was reachable before, so it is expected to become available again.
      if (isFirst || !(error instanceof CliError) || error.exitCode !== EXIT.upstream) throw error;
      return null;
    });
    if (response !== null) await forwardAll(response, { receiver, workspace, forwarded, options, terminal, signal });
    signal.throwIfAborted();
    await printLine(terminal, "The stream ended; reconnecting.");
    await wait(RECONNECT_MS, undefined, { signal });
  }
}

interface Forwarding {
  readonly receiver: URL;
  readonly workspace: string;
  /** Event ids, newest last. */
  readonly forwarded: Set<string>;
  readonly options: ListenOptions;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function forwardAll(response: Response, forwarding: Forwarding): Promise<void> {
  const { terminal, forwarded, signal } = forwarding;
  if (response.body === null) return;
  try {
    for await (const event of readEvents(response.body)) {
      const data = asRecord(event.data);
      if (event.name === "ready") await greet(data, forwarding);
      const id = asString(data["id"]);
      if (event.name !== "delivery" || id === null || forwarded.has(id)) continue;
      await report(await forward(data, forwarding), forwarding);
      forwarded.add(id);
      if (forwarded.size > MAX_REMEMBERED) forwarded.delete(forwarded.values().next().value ?? "");
    }
  } catch (error) {
    signal.throwIfAborted();
    await printLine(
      terminal,
      `The connection to the gateway broke: ${error instanceof Error ? error.message : "unknown"}`,
    );
  }
}

async function greet(data: Readonly<Record<string, unknown>>, { terminal, receiver, workspace }: Forwarding) {
  const secret = asString(data["secret"]);
  await printLine(
    terminal,
    `Forwarding the events of workspace ${workspace} to ${receiver.href}. Press Ctrl-C to stop.`,
  );
  await printLine(
    terminal,
    secret === null
      ? `They are signed with the secret of the workspace's webhook (it ends in ${asString(data["secret_last4"]) ?? "?"}).`
      : `The workspace has no webhook; for this session they are signed with ${secret}`,
  );
}

interface Forwarded {
  readonly type: string;
  readonly job_id: string;
  readonly event_id: string;
  readonly status_code: number | null;
  readonly latency_ms: number;
  readonly error: string | null;
}

/** Forwards exactly the bytes and headers that the gateway would have sent. */
async function forward(data: Readonly<Record<string, unknown>>, { receiver, signal }: Forwarding): Promise<Forwarded> {
  const body = asString(data["body"]) ?? "";
  const headers = Object.fromEntries(
    Object.entries(asRecord(data["headers"])).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : [],
    ),
  );
  const event = asRecord(parse(body));
  const started = performance.now();
  const outcomeOf = (statusCode: number | null, error: string | null): Forwarded => ({
    type: asString(event["type"]) ?? "event",
    job_id: asString(event["job_id"]) ?? "",
    event_id: asString(data["id"]) ?? "",
    status_code: statusCode,
    latency_ms: Math.round(performance.now() - started),
    error,
  });
  try {
    const response = await fetch(receiver, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(RECEIVER_TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return outcomeOf(response.status, null);
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const code = errorCode(cause);
    return outcomeOf(null, code ?? (cause instanceof Error ? cause.name : "unknown"));
  }
}

async function report(forwarded: Forwarded, { options, terminal }: Forwarding): Promise<void> {
  const { type, job_id: jobId, status_code: status, latency_ms: latencyMs, error } = forwarded;
  const line =
    options.json === true
      ? JSON.stringify(forwarded)
      : `${new Date().toISOString()}  ${type}  ${jobId}  ${status ?? error ?? ""}  ${latencyMs} ms`;
  await write(terminal.stdout, `${terminal.stdout.isTTY === true ? stripControlCharacters(line) : line}\n`);
}

function receiverUrl(text: string): URL {
  const source = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(source) ? new URL(source) : null;
  if (url === null || url.username !== "")
    throw new CliError(EXIT.usage, "--forward-to must be a URL such as http://localhost:3000/hooks.");
  return url;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
