// Compares a burst of jobs worked off by one gateway with several on one PostgreSQL server, in alternating rounds, and samples what the server's connections wait
// for.
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { cpuMsOf } from "../cost.ts";
import type { Running } from "../measure/child-process.ts";
import { type Databases, startDatabases } from "../measure/databases.ts";
import { KEY, runLoad, startPatchbay, startStandIn } from "../measure/processes.ts";
import { median, quantile, type Report, round } from "../measure/report.ts";
import { SEED } from "../upstream/wav.ts";
import { unfinishedJobs } from "./job-api.ts";

export interface JobProcessesBench {
  /** Of all rounds. */
  readonly jobs: number;
  readonly connections: number;
  readonly processes: number;
}

const ROUNDS = 3;
const AUDIO_BYTES = 64_044;
const WARM_UP_JOBS = 100;
const LONGEST_SECONDS = 600;
const SAMPLE_EVERY_MS = 20;

interface Contender {
  readonly processes: number;
  readonly gateway: Running;
  readonly client: Client;
  readonly rounds: Round[];
  /** Samples of waiting connections, by what they waited for. */
  readonly waits: Map<string, number>;
}

interface Round {
  readonly perSecond: number;
  readonly submitMs: readonly number[];
  readonly gatewayMs: number;
  readonly serverMs: number;
}

export async function benchJobProcesses({ jobs, connections, processes }: JobProcessesBench): Promise<Report> {
  await using databases = await startDatabases();
  await using standIn = await startStandIn();
  await using opened = new AsyncDisposableStack();
  const open = async (count: number): Promise<Contender> => {
    const databaseUrl = await databases.create();
    const client = new Client({ connectionString: databaseUrl, application_name: "bench" });
    await client.connect();
    opened.defer(() => client.end());
    const gateway = await startPatchbay({ providerUrl: standIn.origin, databaseUrl, processes: count });
    opened.use(gateway);
    return { processes: count, gateway, client, rounds: [], waits: new Map() };
  };
  const contenders = [await open(1), await open(processes)] as const;
  // Twice, because the further processes begin to listen later.
  for (const contender of [...contenders, ...contenders]) await burst(databases, contender, WARM_UP_JOBS, connections);
  for (let turn = 0; turn < ROUNDS; turn += 1)
    for (const contender of turn % 2 === 0 ? contenders : contenders.toReversed())
      contender.rounds.push(await sampled(contender, () => burst(databases, contender, jobs / ROUNDS, connections)));
  const figures = contenders.map(figuresOf);
  const [one, many] = figures;
  return {
    name: "jobs",
    rows: figures.map((each) => ({
      processes: each.processes,
      "finished/s": each.perSecond,
      rounds: each.rounds.join(", "),
      "submit p50 ms": each.submitP50Ms,
      "submit p99 ms": each.submitP99Ms,
      "gateway ms/job": each.gatewayMs,
      "PostgreSQL ms/job": each.serverMs,
      "waits per 100 samples": each.waits,
    })),
    notes: [
      `n = ${jobs} jobs of ${AUDIO_BYTES} bytes each, over ${connections} connections, in ${ROUNDS} alternating rounds; ${processes} processes finish ${round((many?.perSecond ?? 0) / (one?.perSecond ?? 1), 2)} times as many per second`,
      `waits: connections that wait for a lock or a disk at one time, sampled every ${SAMPLE_EVERY_MS} ms`,
    ],
    data: { jobs, connections, processes, engine: "postgres", seed: SEED, measured: figures },
  };
}

async function burst({ pid }: Databases, { gateway }: Contender, jobs: number, connections: number): Promise<Round> {
  const before = { gateway: cpuMsOf(gateway.pid), server: cpuMsOf(pid) };
  const startedMs = performance.now();
  const load = await runLoad({
    origin: gateway.origin,
    request: { kind: "upload", path: "/v1/transcription/jobs", fileBytes: AUDIO_BYTES },
    connections,
    seconds: LONGEST_SECONDS,
    maxRequests: jobs,
    key: KEY,
  });
  if (load.firstFault !== null) throw new Error(`A submission was refused: ${load.firstFault}`);
  await unfinishedJobs(gateway.origin, KEY, LONGEST_SECONDS);
  return {
    perSecond: load.requests / ((performance.now() - startedMs) / 1000),
    submitMs: load.latenciesMs,
    gatewayMs: (cpuMsOf(gateway.pid) - before.gateway) / load.requests,
    serverMs: (cpuMsOf(pid) - before.server) / load.requests,
  };
}

async function sampled({ client, waits }: Contender, run: () => Promise<Round>): Promise<Round> {
  const ended = new AbortController();
  const sampling = sampleWaits(client, waits, ended.signal);
  try {
    return await run();
  } finally {
    ended.abort();
    await sampling;
  }
}

async function sampleWaits(client: Client, waits: Map<string, number>, ended: AbortSignal): Promise<void> {
  const add = (name: string, count: number): void => {
    waits.set(name, (waits.get(name) ?? 0) + count);
  };
  while (!ended.aborted) {
    const { rows } = await client.query<{ name: string; count: number }>(
      `select wait_event_type || ' ' || wait_event as name, count(*)::int as count from pg_stat_activity
       where datname = current_database() and state <> 'idle' and wait_event_type in ('Lock', 'LWLock', 'IO', 'IPC') group by 1`,
    );
    for (const { name, count } of rows) add(name, count);
    add("samples", 1);
    await wait(SAMPLE_EVERY_MS);
  }
}

function figuresOf({ processes, rounds, waits }: Contender) {
  const submitMs = rounds.flatMap((each) => each.submitMs);
  const samples = waits.get("samples") ?? 1;
  const waited = [...waits]
    .filter(([name]) => name !== "samples")
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, 4);
  return {
    processes,
    perSecond: round(median(rounds.map((each) => each.perSecond)), 1),
    rounds: rounds.map((each) => round(each.perSecond, 0)),
    submitP50Ms: round(quantile(submitMs, 0.5), 1),
    submitP99Ms: round(quantile(submitMs, 0.99), 1),
    gatewayMs: round(median(rounds.map((each) => each.gatewayMs)), 2),
    serverMs: round(median(rounds.map((each) => each.serverMs)), 2),
    waits: waited.map(([name, count]) => `${name} ${Math.round((100 * count) / samples)}`).join(", "),
  };
}
