// The compared systems: each has an address and processes whose CPU time is counted. They are loaded in turns, so that a busy machine slows all alike.
import { cpuMsOf } from "../cost.ts";
import type { Databases } from "../measure/databases.ts";
import { peerHeaders, startNginx, startPeer } from "./others.ts";
import { startForwarder, startPatchbay } from "../measure/processes.ts";
import { median, quantile, round } from "../measure/report.ts";

export type Engine = "embedded" | "postgres";

/** The addresses of a workload: its stand-in for the provider, and the gateway for the callers. */
export interface Workload {
  readonly upstream: string;
  /** Paths of the provider, for the bare process and nginx, of the peer, and of Patchbay. */
  readonly paths: { readonly provider: string; readonly peer: string; readonly gateway: string };
}

export interface Contender {
  readonly name: string;
  readonly kind: "bare" | "other" | "gateway";
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: its process cannot be inspected. */
  readonly pid: number | null;
  readonly databasePid: number | null;
}

export interface Gateway {
  readonly engine: Engine;
  readonly processes: number;
}

export interface Loaded {
  readonly requests: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  /** Time to the first byte of the body, if measured. */
  readonly firstMs?: readonly number[];
  /** Longest time without a completed answer, if measured. */
  readonly longestGapMs?: number;
  readonly firstFault: string | null;
}

export interface Round extends Loaded {
  readonly cpuMs: number | null;
  readonly databaseCpuMs: number | null;
}

export const BARE = "bare Node";
const ROUNDS = 3;

export function transcription(upstream: string): Workload {
  const paths = { provider: "/v1/listen?model=nova-3", peer: "/v1/audio/transcriptions", gateway: "/v1/transcription" };
  return { upstream, paths };
}

export function chat(upstream: string): Workload {
  const paths = { provider: "/v1/chat/completions", peer: "/v1/chat/completions", gateway: "/v1/chat" };
  return { upstream, paths };
}

/** `peerUrl`: of an instance that is already running. */
export async function openOthers(
  resources: AsyncDisposableStack,
  { upstream, paths }: Workload,
  peerUrl: string | null = null,
): Promise<readonly Contender[]> {
  const bare = resources.use(await startForwarder(upstream + paths.provider));
  const nginx = resources.use(await startNginx(upstream));
  const peer = peerUrl === null ? resources.use(await startPeer()) : { origin: peerUrl, pid: null };
  const own = { headers: {}, databasePid: null };
  return [
    { ...own, name: BARE, kind: "bare", origin: bare.origin, path: "/", pid: bare.pid },
    ...(nginx === null
      ? []
      : [
          { ...own, name: "nginx", kind: "other", origin: nginx.origin, path: paths.provider, pid: nginx.pid } as const,
        ]),
    ...(peer === null
      ? []
      : [
          {
            ...own,
            name: "Portkey gateway",
            kind: "other",
            origin: peer.origin,
            path: paths.peer,
            headers: peerHeaders(upstream),
            pid: peer.pid,
          } as const,
        ]),
  ];
}

export async function openGateway(
  resources: AsyncDisposableStack,
  databases: Databases | null,
  { upstream, paths }: Workload,
  gateway: Gateway,
): Promise<Contender> {
  const databaseUrl = gateway.engine === "postgres" && databases !== null ? await databases.create() : null;
  const { origin, pid } = resources.use(
    await startPatchbay({ providerUrl: upstream, databaseUrl, processes: gateway.processes }),
  );
  const databasePid = databaseUrl === null ? null : (databases?.pid ?? null);
  return { name: nameOf(gateway), kind: "gateway", origin, path: paths.gateway, headers: {}, pid, databasePid };
}

function nameOf({ engine, processes }: Gateway): string {
  const storage = engine === "embedded" ? "embedded" : "PostgreSQL";
  return `Patchbay, ${storage}${processes === 1 ? "" : `, ${processes} processes`}`;
}

/** Loads each for `seconds`, in alternating rounds. */
export async function inTurns(
  contenders: readonly Contender[],
  seconds: number,
  load: (contender: Contender, seconds: number) => Promise<Loaded>,
  roundCount = ROUNDS,
): Promise<readonly { readonly contender: Contender; readonly rounds: readonly Round[] }[]> {
  const results = contenders.map((contender) => ({ contender, rounds: [] as Round[] }));
  for (let turn = 0; turn < roundCount; turn += 1) {
    for (const { contender, rounds } of results)
      rounds.push(await measured(contender, () => load(contender, seconds / roundCount)));
  }
  return results;
}

/** Loads all at the same time, in rounds. For loads that leave most of the cores idle. */
export async function together(
  contenders: readonly Contender[],
  seconds: number,
  load: (contender: Contender, seconds: number) => Promise<Loaded>,
  roundCount: number,
): Promise<readonly { readonly contender: Contender; readonly rounds: readonly Round[] }[]> {
  const results = contenders.map((contender) => ({ contender, rounds: [] as Round[] }));
  for (let turn = 0; turn < roundCount; turn += 1)
    await Promise.all(
      results.map(async ({ contender, rounds }) => {
        rounds.push(await measured(contender, () => load(contender, seconds / roundCount)));
      }),
    );
  return results;
}

export async function measured({ name, pid, databasePid }: Contender, run: () => Promise<Loaded>): Promise<Round> {
  const before = [pid, databasePid].map((each) => (each === null ? null : cpuMsOf(each)));
  const loaded = await run();
  if (loaded.firstFault !== null) throw new Error(`${name}: an answer was no success: ${loaded.firstFault}`);
  const [cpuMs = null, databaseCpuMs = null] = [pid, databasePid].map((each, index) => {
    const began = before[index] ?? null;
    return each === null || began === null ? null : cpuMsOf(each) - began;
  });
  return { ...loaded, cpuMs, databaseCpuMs };
}

export interface Figures {
  readonly n: number;
  readonly perSecond: number;
  readonly rounds: readonly number[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly firstP50Ms: number | null;
  readonly longestGapMs: number | null;
  readonly cpuMs: number | null;
  readonly databaseCpuMs: number | null;
}

/** CPU time is per request. */
export function figuresOf(rounds: readonly Round[]): Figures {
  const latencies = rounds.flatMap((each) => each.latenciesMs);
  const first = rounds.flatMap((each) => each.firstMs ?? []);
  const gaps = rounds.flatMap((each) => each.longestGapMs ?? []);
  const n = rounds.reduce((sum, each) => sum + each.requests, 0);
  const perSecond = rounds.map((each) => each.requests / each.seconds);
  const share = (of: (each: Round) => number | null) => {
    const all = rounds.map(of);
    return all.includes(null) ? null : round(all.reduce<number>((sum, each) => sum + (each ?? 0), 0) / n, 3);
  };
  return {
    n,
    perSecond: round(median(perSecond), 1),
    rounds: perSecond.map((each) => round(each, 1)),
    p50Ms: round(quantile(latencies, 0.5), 2),
    p99Ms: round(quantile(latencies, 0.99), 2),
    firstP50Ms: first.length === 0 ? null : round(quantile(first, 0.5), 2),
    longestGapMs: gaps.length === 0 ? null : round(Math.max(...gaps), 1),
    cpuMs: share((each) => each.cpuMs),
    databaseCpuMs: share((each) => each.databaseCpuMs),
  };
}
