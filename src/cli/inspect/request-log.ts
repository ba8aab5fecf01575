// `patchbay requests list` and `patchbay requests tail`: the request log of one workspace or, on the admin listener, of all [cli.requests]. Prints one line per
// request on stdout, the rest on stderr.
import { setTimeout as wait } from "node:timers/promises";
import { listedRequest, type ListedRequestView, type RequestOutcome } from "../../contract/admin/request-list.ts";
import { EXIT } from "../exit-codes.ts";
import { openSession, ownWorkspace, type PlaceOptions, type Session, workspacePath } from "../gateway-session.ts";
import { type ListRequest, readList, readPages, USUAL_LINES } from "../print-list.ts";
import { roundUsd } from "../round-usd.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../terminal.ts";

/** On the admin listener: requests of every workspace. */
export interface RequestLogOptions extends PlaceOptions {
  readonly from?: string;
  readonly to?: string;
  readonly app?: string;
  readonly key?: string;
  readonly outcome?: RequestOutcome;
  readonly code?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

/** Most lines that a tail starts with, and reads per poll until one was shown. */
const LATEST = 100;
const POLL_MS = 1_000;
/** A record may become visible a moment after its timestamp: each poll starts this far back and skips what was shown. */
const OVERLAP_MS = 10_000;
const MAX_REMEMBERED = 20_000;

interface OpenedLog {
  readonly session: Session;
  /** Slug or id. Null: all workspaces. */
  readonly workspace: string | null;
  readonly log: ListRequest<ListedRequestView>;
}

/** Prints page by page: the first lines appear before the last are fetched. */
export async function listRequests(options: RequestLogOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const openedLog = await openLog(options, terminal, signal);
  let count = 0;
  for await (const { data } of readPages(openedLog.session, openedLog.log, options.limit))
    for (const request of data) {
      count += 1;
      await print(request, options, terminal);
    }
  if (count === 0) await reportNothing(openedLog, options, terminal);
}

/** The operator's key belongs to a workspace without apps, so its own log is empty. */
async function reportNothing(
  { workspace }: OpenedLog,
  { adminUrl, workspace: named }: RequestLogOptions,
  terminal: Terminal,
): Promise<void> {
  await printLine(
    terminal,
    workspace === null ? "No matching requests." : `No matching requests in the workspace ${workspace}.`,
  );
  await printLine(terminal, "A request is listed 5 s after its end at the latest.");
  if (adminUrl === undefined && named === undefined)
    await printLine(
      terminal,
      "This is the workspace of the key. Another one: --workspace WORKSPACE; all, with the operator's key: --admin-url URL",
    );
}

/** Prints the latest records, then each new one, until interrupted. */
export async function tailRequests(options: RequestLogOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const openedLog = await openLog(options, terminal, signal);
  const first = await readList(openedLog.session, openedLog.log, Math.min(LATEST, options.limit ?? USUAL_LINES));
  const printedIds = new Set<string>();
  let latestMs = await printNew(first.data, printedIds, options, terminal);
  await printLine(terminal, "Following the request log. Press Ctrl-C to stop.");
  for (;;) {
    await wait(POLL_MS, undefined, { signal });
    const newRecords = await readNew(openedLog, latestMs).catch((error: unknown) => {
      // The gateway was reachable before, so it is expected to become available again.
      if (!(error instanceof CliError) || error.exitCode !== EXIT.upstream) throw error;
      return [];
    });
    latestMs = Math.max(latestMs, await printNew(newRecords, printedIds, options, terminal));
  }
}

async function readNew({ session, log }: OpenedLog, latestMs: number): Promise<readonly ListedRequestView[]> {
  if (latestMs === 0) return (await readList(session, log, LATEST)).data;
  const since = new Date(latestMs - OVERLAP_MS).toISOString();
  const query = { ...log.query, recorded_from: since };
  return (await readList(session, { ...log, query }, Number.POSITIVE_INFINITY)).data;
}

/** Oldest first. Returns the time of the latest, 0 if there is none. */
async function printNew(
  requests: readonly ListedRequestView[],
  printedIds: Set<string>,
  options: RequestLogOptions,
  terminal: Terminal,
): Promise<number> {
  let latestMs = 0;
  for (const request of requests.toReversed()) {
    latestMs = Math.max(latestMs, Date.parse(request.recorded_at));
    if (printedIds.has(request.id)) continue;
    printedIds.add(request.id);
    if (printedIds.size > MAX_REMEMBERED) printedIds.delete(printedIds.values().next().value ?? "");
    await print(request, options, terminal);
  }
  return latestMs;
}

async function openLog(options: RequestLogOptions, terminal: Terminal, signal: AbortSignal): Promise<OpenedLog> {
  const { adminUrl, workspace, from, to, app, key, outcome, code } = options;
  const session = openSession(
    adminUrl === undefined ? options : { ...options, url: adminUrl },
    terminal,
    signal,
    "operator",
  );
  const own = adminUrl === undefined ? (workspace ?? (await ownWorkspace(session))) : null;
  const path = own === null ? "/admin/v1/requests" : `${await workspacePath(session, own)}/requests`;
  const query = { from, to, app, key, outcome, code, ...(adminUrl === undefined ? {} : { workspace }) };
  return { session, workspace: own, log: { path, query, item: listedRequest, what: "list of requests" } };
}

async function print(request: ListedRequestView, options: RequestLogOptions, terminal: Terminal): Promise<void> {
  const text = options.json === true ? JSON.stringify(request) : stripControlCharacters(line(request));
  await write(terminal.stdout, `${text}\n`);
}

function line(request: ListedRequestView): string {
  const { purpose, attempts, audio_seconds: seconds } = request;
  const calls = attempts.map(({ provider, model, outcome }) =>
    outcome === "succeeded" ? `${provider} ${model}` : `${provider} ${model} (${outcome ?? "in progress"})`,
  );
  return [
    request.created_at,
    request.id,
    `${request.status}${request.code === null ? "" : ` ${request.code}`}`,
    request.endpoint,
    ...(attempts.at(-1)?.billing_class === "simulated" ? ["simulated"] : []),
    ...(purpose === null || purpose.source === "none"
      ? []
      : [`${purpose.requested ?? "none"} -> ${purpose.applied ?? "none"}`]),
    ...(calls.length === 0 ? [] : [calls.join(", ")]),
    ...(seconds === null ? [] : [`${seconds} s audio`]),
    `${request.duration_seconds} s`,
    `${roundUsd(request.charge_usd)} USD`,
  ].join("  ");
}
