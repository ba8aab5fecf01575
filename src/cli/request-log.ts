// `patchbay requests list` and `patchbay requests tail`: the request log of a workspace or, from the admin listener, of all of them
// (contract 10). A line for each request on stdout, the rest on stderr.
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { listedRequest, type ListedRequestView, type RequestOutcome } from "../contract/request-list.ts";
import { EXIT } from "./exit-codes.ts";
import { openSession, queryOf, understood, workspacePath } from "./gateway-session.ts";
import { CliError, say, type Terminal, visible, write } from "./terminal.ts";

export interface RequestLogOptions {
  readonly workspace?: string;
  /** Of the admin listener: every workspace's. */
  readonly adminUrl?: string;
  readonly from?: string;
  readonly to?: string;
  readonly app?: string;
  readonly key?: string;
  readonly outcome?: RequestOutcome;
  readonly code?: string;
  readonly limit?: number;
  readonly json?: boolean;
  readonly url?: string;
  readonly apiKey?: string;
}

const USUAL_LINES = 20;
const PAGE = 100;
const POLL_MS = 1_000;
/** A record may be seen a moment after the time it bears: so far back each look begins, and what was shown is left out. */
const OVERLAP_MS = 10_000;
const MAX_REMEMBERED = 20_000;

const page = z.object({ data: z.array(listedRequest), next_cursor: z.string().nullable() });

type Ask = (query: Readonly<Record<string, string | undefined>>) => Promise<z.infer<typeof page>>;

export async function listRequests(options: RequestLogOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const ask = await openLog(options, terminal, signal);
  const wanted = options.limit ?? USUAL_LINES;
  let cursor: string | undefined;
  for (let shown = 0; shown < wanted; ) {
    const { data, next_cursor: next } = await ask({ limit: String(Math.min(PAGE, wanted - shown)), cursor });
    for (const request of data) await print(request, options, terminal);
    shown += data.length;
    if (next === null) return;
    cursor = next;
  }
}

/** The latest, and then each as it is written down, until interrupted. */
export async function tailRequests(options: RequestLogOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const ask = await openLog(options, terminal, signal);
  const first = await ask({ limit: String(Math.min(PAGE, options.limit ?? USUAL_LINES)) });
  const shown = new Set<string>();
  let latestMs = await printNew(first.data, shown, options, terminal);
  await say(terminal, "Following the request log. Ctrl-C ends it.");
  for (;;) {
    await wait(POLL_MS, undefined, { signal });
    const since = latestMs === 0 ? undefined : new Date(latestMs - OVERLAP_MS).toISOString();
    const news = await readNew(ask, since).catch((error: unknown) => {
      // A gateway that was there will come back.
      if (!(error instanceof CliError) || error.exitCode !== EXIT.upstream) throw error;
      return [];
    });
    latestMs = Math.max(latestMs, await printNew(news, shown, options, terminal));
  }
}

async function readNew(ask: Ask, since: string | undefined): Promise<readonly ListedRequestView[]> {
  if (since === undefined) return (await ask({ limit: String(PAGE) })).data;
  const found: ListedRequestView[] = [];
  let cursor: string | undefined;
  do {
    const { data, next_cursor: next } = await ask({ limit: String(PAGE), recorded_from: since, cursor });
    found.push(...data);
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** Oldest first. Answers when the latest of them was written, 0 where there is none. */
async function printNew(
  requests: readonly ListedRequestView[],
  shown: Set<string>,
  options: RequestLogOptions,
  terminal: Terminal,
): Promise<number> {
  let latestMs = 0;
  for (const request of requests.toReversed()) {
    latestMs = Math.max(latestMs, Date.parse(request.recorded_at));
    if (shown.has(request.id)) continue;
    shown.add(request.id);
    if (shown.size > MAX_REMEMBERED) shown.delete(shown.values().next().value ?? "");
    await print(request, options, terminal);
  }
  return latestMs;
}

async function openLog(options: RequestLogOptions, terminal: Terminal, signal: AbortSignal): Promise<Ask> {
  const { adminUrl, workspace, from, to, app, key, outcome, code } = options;
  const session = openSession(
    adminUrl === undefined ? options : { ...options, url: adminUrl },
    terminal,
    signal,
    "operator",
  );
  const path = adminUrl === undefined ? `${await workspacePath(session, workspace)}/requests` : "/admin/v1/requests";
  const filters = { from, to, app, key, outcome, code, ...(adminUrl === undefined ? {} : { workspace }) };
  return async (query) =>
    understood(page, await session.document(`${path}${queryOf({ ...filters, ...query })}`), "list");
}

async function print(request: ListedRequestView, options: RequestLogOptions, terminal: Terminal): Promise<void> {
  const text = options.json === true ? JSON.stringify(request) : visible(line(request));
  await write(terminal.stdout, `${text}\n`);
}

function line(request: ListedRequestView): string {
  const { purpose, attempts, audio_seconds: seconds } = request;
  const calls = attempts.map(({ provider, outcome }) =>
    outcome === "succeeded" ? provider : `${provider} (${outcome ?? "under way"})`,
  );
  return [
    request.created_at,
    request.id,
    `${request.status}${request.code === null ? "" : ` ${request.code}`}`,
    request.endpoint,
    ...(purpose === null || purpose.source === "none"
      ? []
      : [`${purpose.requested ?? "none"} -> ${purpose.applied ?? "none"}`]),
    ...(calls.length === 0 ? [] : [calls.join(", ")]),
    ...(seconds === null ? [] : [`${seconds} s audio`]),
    `${request.duration_seconds} s`,
    `${request.charge_usd} USD`,
  ].join("  ");
}
