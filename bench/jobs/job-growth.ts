// Compares jobs and polls next to many finished jobs, and with many apps, with the same in a small table of one app: two gateways on two databases of one
// server, loaded in turns, so that a busy machine slows both. The first pair is two small tables, whose ratios show the noise. Goal: at most 1.2 times.
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { cpuMsOf } from "../cost.ts";
import type { Running } from "../measure/child-process.ts";
import { type Databases, startDatabases } from "../measure/databases.ts";
import { KEY, runLoad, startPatchbay, startStandIn } from "../measure/processes.ts";
import { median, quantile, type Report, round } from "../measure/report.ts";
import { noiseWav, SEED } from "../upstream/wav.ts";
import { growTables, type Grown, keyOfApp, type Polled, type Secrets } from "./grown-tables.ts";
import { submitUpload, waitForJob } from "./job-api.ts";

export interface JobGrowthBench {
  readonly finished: readonly number[];
  readonly apps: readonly number[];
  readonly workspaces: number;
  readonly days: number;
  /** Of each table and round. */
  readonly jobs: number;
  readonly polls: number;
  readonly rounds: number;
}

const CONNECTIONS = 16;
const POLL_CONNECTIONS = 4;
const AUDIO_BYTES = 64_044;
const LONGEST_SECONDS = 600;
const WARM_UP_JOBS = 100;
const LARGEST_RATIO = 1.2;
const ASK_AGAIN_MS = 10;

interface Table extends AsyncDisposable {
  readonly gateway: Running;
  readonly client: Client;
  readonly keys: readonly string[];
  readonly polled: readonly Polled[];
  readonly rounds: Round[];
  /** Of the gateway, until it listens. */
  readonly startCpuMs: number;
}

interface Cost {
  readonly gatewayMs: number;
  readonly databaseMs: number;
}

interface Round {
  readonly jobsPerSecond: number;
  readonly job: Cost;
  readonly pollsMs: readonly number[];
  readonly poll: Cost;
}

export async function benchJobGrowth(options: JobGrowthBench): Promise<Report> {
  await using databases = await startDatabases();
  await using standIn = await startStandIn();
  const { workspaces, days } = options;
  const grown = (jobs: number, apps: number): Grown => ({ jobs, apps, workspaces: Math.min(apps, workspaces), days });
  const small = grown(options.finished[0] ?? 1, options.apps[0] ?? 1);
  const cells = options.finished.flatMap((jobs) => options.apps.map((apps) => grown(jobs, apps)));
  const pairs: Pair[] = [];
  for (const cell of cells) {
    await using base = await openTable(databases, standIn, small);
    await using other = await openTable(databases, standIn, cell);
    for (const table of [base, other]) await work(table, WARM_UP_JOBS, options.polls / 4);
    for (let turn = 0; turn < options.rounds; turn += 1) {
      const order = turn % 2 === 0 ? [base, other] : [other, base];
      for (const table of order) table.rounds.push(await work(table, options.jobs, options.polls));
    }
    pairs.push(compare(cell, base, other));
    process.stderr.write(`${JSON.stringify(rowOf(pairs.at(-1) ?? ({} as Pair)))}\n`);
  }
  const isHeld = pairs.every(({ cpu, p99 }) => cpu <= LARGEST_RATIO && p99 <= LARGEST_RATIO);
  if (!isHeld) process.exitCode = 1;
  return {
    name: "job-growth",
    rows: pairs.map(rowOf),
    notes: [
      `each row compared with ${small.jobs} finished jobs of one app, in ${options.rounds} alternating rounds of ${options.jobs} jobs over ${CONNECTIONS} connections and ${options.polls} polls over ${POLL_CONNECTIONS}; the first row compares two such tables`,
      `jobs of the last ${days} days, results of the last three, and messages of the last; the apps are in ${workspaces} workspace(s), each with a key, a budget and two routes of its own, and submit in turn`,
      `processor time per job, gateway and PostgreSQL's connections to its database; ratios are medians over the rounds, p99 of all polls; at most ${LARGEST_RATIO}: ${isHeld ? "holds" : "FAILS"}`,
    ],
    data: { ...options, engine: "postgres", seed: SEED, audioBytes: AUDIO_BYTES, pairs },
  };
}

async function openTable(databases: Databases, standIn: Running, grown: Grown): Promise<Table> {
  const secrets: Secrets = { encryptionKey: randomBytes(32), pepper: randomBytes(32).toString("base64") };
  const databaseUrl = await databases.create();
  const start = () => startPatchbay({ providerUrl: standIn.origin, databaseUrl, ...secrets });
  const first = await start();
  const source = await submitUpload(first.origin, KEY, noiseWav(AUDIO_BYTES));
  await waitForJob(first.origin, KEY, source);
  // Its last writes are made when it stops.
  await first.stop();
  const polled = await growTables(databaseUrl, source, grown, secrets);
  const gateway = await start();
  const client = new Client({ connectionString: databaseUrl, application_name: "bench" });
  await client.connect();
  return {
    gateway,
    client,
    polled,
    keys: Array.from({ length: grown.apps }, (_, index) => keyOfApp(index + 1)),
    rounds: [],
    startCpuMs: cpuMsOf(gateway.pid),
    [Symbol.asyncDispose]: async () => {
      await gateway.stop();
      const { pathname } = new URL(databaseUrl);
      await client.end();
      const server = new Client({ connectionString: databaseUrl.replace(pathname, "/postgres") });
      await server.connect();
      await server.query(`drop database ${pathname.slice(1)} with (force)`);
      await server.end();
    },
  };
}

async function work(table: Table, jobs: number, polls: number): Promise<Round> {
  const { gateway, polled, keys } = table;
  const common = { origin: gateway.origin, seconds: LONGEST_SECONDS, key: KEY };
  const startedMs = performance.now();
  const job = await costOf(table, jobs, async () => {
    const load = await runLoad({
      ...common,
      request: { kind: "upload", path: "/v1/transcription/jobs", fileBytes: AUDIO_BYTES },
      connections: CONNECTIONS,
      maxRequests: jobs,
      // As an argument of a process, only so many as are used.
      keys: rotated(keys, table.rounds.length * jobs).slice(0, jobs),
    });
    if (load.firstFault !== null) throw new Error(`A submission was refused: ${load.firstFault}`);
    await untilFinished(table);
  });
  const jobsPerSecond = jobs / ((performance.now() - startedMs) / 1000);
  let pollsMs: readonly number[] = [];
  const poll = await costOf(table, polls, async () => {
    const load = await runLoad({
      ...common,
      request: { kind: "get", paths: polled.map(({ path }) => path) },
      connections: POLL_CONNECTIONS,
      maxRequests: polls,
      keys: polled.map(({ key }) => key),
    });
    if (load.firstFault !== null) throw new Error(`A poll failed: ${load.firstFault}`);
    pollsMs = load.latenciesMs;
  });
  return { jobsPerSecond, job, pollsMs, poll };
}

function rotated(keys: readonly string[], by: number): readonly string[] {
  const at = by % keys.length;
  return [...keys.slice(at), ...keys.slice(0, at)];
}

async function untilFinished({ client }: Table): Promise<void> {
  const lastMs = performance.now() + LONGEST_SECONDS * 1000;
  while (performance.now() < lastMs) {
    const { rowCount } = await client.query("select from jobs where status in ('queued', 'processing') limit 1");
    if (rowCount === 0) return;
    await wait(ASK_AGAIN_MS);
  }
  throw new Error("the jobs did not end in time");
}

/** Per item. Connections that end before the last reading are not counted. */
async function costOf({ gateway, client }: Table, items: number, run: () => Promise<void>): Promise<Cost> {
  const readConnections = async (): Promise<ReadonlyMap<number, number>> => {
    const { rows } = await client.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    return new Map(rows.map(({ pid }) => [pid, cpuMsOf(pid)]));
  };
  const before = { gateway: cpuMsOf(gateway.pid), connections: await readConnections() };
  await run();
  const after = await readConnections();
  const databaseMs = [...after].reduce((sum, [pid, ms]) => sum + ms - (before.connections.get(pid) ?? 0), 0);
  return { gatewayMs: (cpuMsOf(gateway.pid) - before.gateway) / items, databaseMs: databaseMs / items };
}

interface Pair {
  readonly cell: Grown;
  /** Of each table. */
  readonly polls: number;
  readonly jobsPerSecond: readonly [number, number];
  readonly gatewayMs: readonly [number, number];
  readonly databaseMs: readonly [number, number];
  readonly pollMs: readonly [number, number];
  readonly pollP50Ms: readonly [number, number];
  readonly pollP99Ms: readonly [number, number];
  readonly startCpuMs: readonly [number, number];
  /** Ratios. */
  readonly rate: number;
  readonly cpu: number;
  readonly p99: number;
}

function compare(cell: Grown, base: Table, other: Table): Pair {
  const both = (of: (round: Round) => number, digits: number): readonly [number, number] => [
    round(median(base.rounds.map(of)), digits),
    round(median(other.rounds.map(of)), digits),
  ];
  const polls = (share: number): readonly [number, number] => [
    round(
      quantile(
        base.rounds.flatMap(({ pollsMs }) => pollsMs),
        share,
      ),
      2,
    ),
    round(
      quantile(
        other.rounds.flatMap(({ pollsMs }) => pollsMs),
        share,
      ),
      2,
    ),
  ];
  const ratio = (of: (round: Round) => number): number =>
    round(median(base.rounds.map((each, index) => of(other.rounds[index] ?? each) / of(each))), 2);
  const [smallP99, largeP99] = polls(0.99);
  return {
    cell,
    polls: other.rounds.reduce((total, { pollsMs }) => total + pollsMs.length, 0),
    jobsPerSecond: both(({ jobsPerSecond }) => jobsPerSecond, 1),
    gatewayMs: both(({ job }) => job.gatewayMs, 2),
    databaseMs: both(({ job }) => job.databaseMs, 2),
    pollMs: both(({ poll }) => poll.gatewayMs + poll.databaseMs, 3),
    pollP50Ms: polls(0.5),
    pollP99Ms: [smallP99, largeP99],
    startCpuMs: [base.startCpuMs, other.startCpuMs],
    rate: ratio(({ jobsPerSecond }) => jobsPerSecond),
    cpu: ratio(({ job }) => job.gatewayMs + job.databaseMs),
    p99: round(largeP99 / smallP99, 2),
  };
}

function rowOf(pair: Pair): Readonly<Record<string, string | number>> {
  const both = ([small, large]: readonly [number, number]) => `${small} → ${large}`;
  return {
    "finished jobs": pair.cell.jobs,
    apps: pair.cell.apps,
    "jobs/s": both(pair.jobsPerSecond),
    "jobs/s ratio": pair.rate,
    "gateway ms": both(pair.gatewayMs),
    "PostgreSQL ms": both(pair.databaseMs),
    "ms ratio": pair.cpu,
    "poll ms": both(pair.pollMs),
    "poll p50": both(pair.pollP50Ms),
    "poll p99": both(pair.pollP99Ms),
    "p99 ratio": pair.p99,
    "start CPU ms": both(pair.startCpuMs),
  };
}
