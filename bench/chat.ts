// Chat through the gateway beside a bare proxy, on the same stand-in with the same load, in alternating rounds: a busy machine
// slows both. Everything is on: keys, schema, routing, leases and settlement on disk.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgresServer } from "../test/harness/postgres-server.ts";
import type { ChatLoadResult } from "./chat-load.ts";
import {
  cpuMsOf,
  type GatewayOptions,
  KEY,
  nameOf,
  type Running,
  runChatLoad,
  startChatProxy,
  startChatStandIn,
  startPatchbay,
} from "./processes.ts";
import { type ProfileSummary, shareTable, summarise, type Window } from "./profile-summary.ts";
import { median, quantile, type Report, round } from "./report.ts";

export interface ChatBench {
  readonly seconds: number;
  readonly connections: readonly number[];
  readonly engine: "pglite" | "postgres";
  readonly processes: number;
  /** Another gateway that is running already and takes Portkey's headers; null: none. */
  readonly peer: string | null;
}

const ROUNDS = 3;
const WARM_UP_SECONDS = 3;
const PROFILE_SECONDS = 4;
const TARGET_RATIO = 0.5;
/** As the stand-in sends: so many pieces of text in one streamed answer. */
const CHUNKS_PER_ANSWER = 64;
const MODES = ["plain", "stream"] as const;
type Mode = (typeof MODES)[number];

const PROMPT = "Summarise the minutes of the meeting in three sentences. ".repeat(8);

interface Contender {
  readonly name: string;
  readonly origin: string;
  readonly path: string;
  /** Null: its process is not ours to look at. */
  readonly pid: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: boolean;
}

interface Round extends ChatLoadResult {
  readonly cpuMs: number | null;
}

export async function benchChat(options: ChatBench): Promise<Report> {
  const postgres = options.engine === "postgres" ? await startPostgresServer() : null;
  const profileDir = await mkdtemp(join(tmpdir(), "patchbay-profile-"));
  try {
    await using standIn = await startChatStandIn();
    const target = { providerUrl: standIn.origin, databaseUrl: postgres?.url ?? null, processes: options.processes };
    const results = await compareAll(options, standIn, target);
    const window = await runProfiled(options, { ...target, processes: 1, profileDir });
    return report(options, results, summarise(profileDir, window), window.requests);
  } finally {
    await postgres?.stop();
    await rm(profileDir, { recursive: true, force: true });
  }
}

interface Result {
  readonly mode: Mode;
  readonly connections: number;
  readonly contender: Contender;
  readonly rounds: readonly Round[];
}

async function compareAll(options: ChatBench, standIn: Running, target: GatewayOptions): Promise<readonly Result[]> {
  await using proxy = await startChatProxy(standIn.origin);
  await using gateway = await startPatchbay(target);
  const contenders: readonly Contender[] = [
    { name: "bare proxy", origin: proxy.origin, path: "/", pid: proxy.pid, headers: {}, model: true },
    gatewayContender(options, gateway),
    ...(options.peer === null ? [] : [peerContender(options.peer, standIn.origin)]),
  ];
  const results: Result[] = [];
  for (const contender of contenders) {
    for (const mode of MODES) await load(contender, mode, options.connections[0] ?? 32, WARM_UP_SECONDS);
  }
  for (const mode of MODES) {
    for (const connections of options.connections) {
      const rounds = new Map<Contender, Round[]>(contenders.map((contender) => [contender, []]));
      for (let turn = 0; turn < ROUNDS; turn += 1) {
        for (const contender of contenders)
          rounds.get(contender)?.push(await load(contender, mode, connections, options.seconds / ROUNDS));
      }
      for (const contender of contenders)
        results.push({ mode, connections, contender, rounds: rounds.get(contender) ?? [] });
    }
  }
  return results;
}

function gatewayContender(options: ChatBench, { origin, pid }: Running): Contender {
  return { name: nameOf(options), origin, path: "/v1/chat", pid, headers: {}, model: false };
}

/** `npx @portkey-ai/gateway` listens on 8787; where it sends a request, it is told with the request. */
function peerContender(origin: string, standIn: string): Contender {
  const headers = { "x-portkey-provider": "openai", "x-portkey-custom-host": `${standIn}/v1` };
  return { name: "peer", origin, path: "/v1/chat/completions", pid: null, headers, model: true };
}

async function load(contender: Contender, mode: Mode, connections: number, seconds: number): Promise<Round> {
  const body = {
    ...(contender.model ? { model: "bench" } : {}),
    messages: [
      { role: "system", content: "You are brief." },
      { role: "user", content: PROMPT },
    ],
    max_tokens: 256,
    ...(mode === "stream" ? { stream: true } : {}),
  };
  const before = contender.pid === null ? null : cpuMsOf(contender.pid);
  const { origin, path, headers } = contender;
  const result = await runChatLoad({
    origin,
    path,
    headers,
    key: KEY,
    body: JSON.stringify(body),
    connections,
    seconds,
  });
  if (result.firstFault !== null) throw new Error(`${contender.name}: an answer was not a 200: ${result.firstFault}`);
  return {
    ...result,
    cpuMs: contender.pid === null || before === null ? null : cpuMsOf(contender.pid) - before,
  };
}

async function runProfiled(
  options: ChatBench,
  target: GatewayOptions,
): Promise<Window & { readonly requests: number }> {
  // The profile is written as the process ends, so it has ended when this returns.
  await using running = await startPatchbay(target);
  const contender = gatewayContender(options, running);
  const connections = options.connections[0] ?? 32;
  await load(contender, "plain", connections, WARM_UP_SECONDS);
  const fromUs = nowUs();
  const { requests } = await load(contender, "plain", connections, PROFILE_SECONDS);
  return { fromUs, toUs: nowUs(), requests };
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function figures({ rounds, mode }: Result) {
  const latencies = rounds.flatMap((each) => each.latenciesMs);
  const first = rounds.flatMap((each) => each.firstMs);
  const requests = rounds.reduce((sum, each) => sum + each.requests, 0);
  const cpuMs = rounds.reduce<number | null>(
    (sum, each) => (sum === null || each.cpuMs === null ? null : sum + each.cpuMs),
    0,
  );
  const perSecond = median(rounds.map((each) => each.requests / each.seconds));
  return {
    n: requests,
    requestsPerSecond: round(perSecond, 1),
    chunksPerSecond: mode === "stream" ? Math.round(perSecond * CHUNKS_PER_ANSWER) : null,
    rounds: rounds.map((each) => round(each.requests / each.seconds, 1)),
    p50Ms: round(quantile(latencies, 0.5), 2),
    p99Ms: round(quantile(latencies, 0.99), 2),
    firstP50Ms: round(quantile(first, 0.5), 2),
    cpuMsPerRequest: cpuMs === null ? null : round(cpuMs / requests, 3),
  };
}

function report(
  options: ChatBench,
  results: readonly Result[],
  profile: ProfileSummary,
  profiledRequests: number,
): Report {
  const data = results.map((result) => {
    const bare = results.find(
      ({ mode, connections, contender }) =>
        mode === result.mode && connections === result.connections && contender.name === "bare proxy",
    );
    const own = figures(result);
    const base = bare === undefined ? own : figures(bare);
    return {
      mode: result.mode,
      connections: result.connections,
      name: result.contender.name,
      ...own,
      ratio: round(own.requestsPerSecond / base.requestsPerSecond, 2),
      addedP50Ms: round(own.p50Ms - base.p50Ms, 2),
      addedFirstMs: round(own.firstP50Ms - base.firstP50Ms, 2),
    };
  });
  const ours = data.filter(({ name }) => name.startsWith("Patchbay"));
  const met = ours.every(({ ratio }) => ratio >= TARGET_RATIO);
  return {
    name: "chat",
    rows: data.map((row) => ({
      "": row.name,
      mode: row.mode,
      connections: row.connections,
      "requests/s (median)": row.requestsPerSecond,
      ratio: row.ratio,
      "chunks/s": row.chunksPerSecond ?? "",
      n: row.n,
      "p50 ms": row.p50Ms,
      "added p50 ms": row.addedP50Ms,
      "p99 ms": row.p99Ms,
      "first byte p50 ms": row.firstP50Ms,
      "added first ms": row.addedFirstMs,
      "CPU ms/request": row.cpuMsPerRequest ?? "",
    })),
    notes: [
      `ratios ${ours.map(({ mode, connections, ratio }) => `${mode} ${connections}: ${ratio}`).join(", ")} (target ${TARGET_RATIO}: ${met ? "met" : "MISSED"}); CPU is the process alone, all its threads`,
      `${ROUNDS} rounds of ${round(options.seconds / ROUNDS, 1)} s for each; a streamed answer is ${CHUNKS_PER_ANSWER} chunks, each a write of its own`,
      options.peer === null
        ? "no peer: start `npx @portkey-ai/gateway` beside it and pass its address with --peer http://127.0.0.1:8787"
        : `peer at ${options.peer}`,
      `where the time goes, plain (a further run of ${profiledRequests} requests under the profiler, all threads):\n\n${shareTable(profile.rooms, profiledRequests)}\n\n${shareTable(profile.functions, profiledRequests)}`,
    ],
    data: { ...options, results: data, profiledRequests, profile },
  };
}
