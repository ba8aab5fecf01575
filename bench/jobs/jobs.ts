// Measures jobs with an instantaneous provider, on embedded storage and on a server: duration of a submission, delay until a job starts, throughput and processor
// time. One process serves and works, as with `npm start`. Both engines run the same programs, because PostgreSQL 15 and 18 differ by more than the engines do.
import { startPostgresServer } from "../../test/harness/postgres/postgres-server.ts";
import { findBinaries } from "../../src/storage/embedded/binaries.ts";
import { ownCpuMsOf, treeOf } from "../cost.ts";
import type { Running } from "../measure/child-process.ts";
import { kindOf } from "../memory/process-memory.ts";
import type { Engine } from "../upstream/contenders.ts";
import { submitUpload, waitForJob, unfinishedJobs } from "./job-api.ts";
import { KEY, runLoad, startPatchbay, startStandIn } from "../measure/processes.ts";
import { quantile, type Report, round } from "../measure/report.ts";
import { noiseWav, SEED } from "../upstream/wav.ts";

export interface JobsBench {
  /** Jobs in a burst. */
  readonly jobs: number;
  readonly connections: number;
  /** Jobs submitted alone, one after the other. */
  readonly singles: number;
}

const ENGINES = ["embedded", "postgres"] as const;
const AUDIO_BYTES = 64_044;
const LONGEST_SECONDS = 600;
const WARM_UP_JOBS = 50;

/** In the first, code is still being compiled, which takes a fifth more CPU. */
const BURSTS = ["first", "second"] as const;

export interface BurstFigures {
  readonly burst: (typeof BURSTS)[number];
  readonly submitted: number;
  readonly submitP50Ms: number;
  readonly submitP99Ms: number;
  readonly finishedPerSecond: number;
  /** For each job, polls and sweeps included. */
  readonly gatewayCpuMs: number;
  readonly databaseCpuMs: number;
}

export interface JobFigures {
  readonly engine: Engine;
  /** Of PostgreSQL. */
  readonly version: string;
  readonly bursts: readonly BurstFigures[];
  readonly pickUpP50Ms: number;
  readonly pickUpP95Ms: number;
  readonly loneSubmitP50Ms: number;
}

export async function benchJobs(options: JobsBench): Promise<Report> {
  const figures: JobFigures[] = [];
  for (const engine of ENGINES) figures.push(await measureJobs(engine, options));
  return {
    name: "jobs",
    rows: figures.flatMap((each) =>
      each.bursts.map((burst) => ({
        engine: each.engine,
        PostgreSQL: each.version,
        burst: burst.burst,
        "submit p50 ms": burst.submitP50Ms,
        "submit p99 ms": burst.submitP99Ms,
        "finished/s": burst.finishedPerSecond,
        "gateway CPU ms/job": burst.gatewayCpuMs,
        "PostgreSQL CPU ms/job": burst.databaseCpuMs,
        "pick-up p50 ms": burst.burst === "first" ? each.pickUpP50Ms : "",
        "pick-up p95 ms": burst.burst === "first" ? each.pickUpP95Ms : "",
        "lone submit p50 ms": burst.burst === "first" ? each.loneSubmitP50Ms : "",
      })),
    ),
    notes: [
      `bursts of n = ${options.jobs} jobs of ${AUDIO_BYTES} bytes over ${options.connections} connections, worked off while they come in, in a process that has done ${WARM_UP_JOBS} jobs and those of the pick-up; finished/s from the first submission to the last end`,
      `pick-up: from created_at to started_at of n = ${options.singles} jobs, each alone`,
    ],
    data: { ...options, seed: SEED, audioBytes: AUDIO_BYTES, measured: figures },
  };
}

export async function measureJobs(engine: Engine, options: JobsBench): Promise<JobFigures> {
  const found = await findBinaries({ configured: null, major: null, path: process.env["PATH"] });
  if (!found.ok) throw new Error(found.message);
  const { bin, source, version } = found.binaries;
  // npm's programs lack their links where they are, and are copied.
  const programs = source === "npm" ? undefined : bin;
  const postgres = engine === "postgres" ? await startPostgresServer({ commits: "kept", bin: programs }) : null;
  try {
    await using standIn = await startStandIn();
    await using gateway = await startPatchbay({ providerUrl: standIn.origin, databaseUrl: postgres?.url ?? null });
    await burst(gateway, WARM_UP_JOBS, options.connections);
    const single = await alone(gateway, options.singles);
    const bursts: BurstFigures[] = [];
    for (const name of BURSTS) bursts.push(await measureBurst(name, gateway, postgres?.pid ?? null, options));
    return {
      engine,
      version,
      bursts,
      pickUpP50Ms: round(quantile(single.pickUpMs, 0.5), 0),
      pickUpP95Ms: round(quantile(single.pickUpMs, 0.95), 0),
      loneSubmitP50Ms: round(quantile(single.submitMs, 0.5), 1),
    };
  } finally {
    await postgres?.stop();
  }
}

async function measureBurst(
  name: BurstFigures["burst"],
  gateway: Running,
  serverPid: number | null,
  { jobs, connections }: JobsBench,
): Promise<BurstFigures> {
  const before = cpuOf(gateway.pid, serverPid);
  const { submitMs, seconds } = await burst(gateway, jobs, connections);
  const after = cpuOf(gateway.pid, serverPid);
  return {
    burst: name,
    submitted: submitMs.length,
    submitP50Ms: round(quantile(submitMs, 0.5), 1),
    submitP99Ms: round(quantile(submitMs, 0.99), 1),
    finishedPerSecond: round(submitMs.length / seconds, 1),
    gatewayCpuMs: round((after.gatewayMs - before.gatewayMs) / submitMs.length, 2),
    databaseCpuMs: round((after.databaseMs - before.databaseMs) / submitMs.length, 2),
  };
}

/** `serverPid`: null, if the server is a child of the gateway. */
function cpuOf(gatewayPid: number, serverPid: number | null) {
  const pids = [gatewayPid, ...(serverPid === null ? [] : [serverPid])].flatMap(treeOf);
  const sum = (of: (pid: number) => boolean) => pids.filter(of).reduce((total, pid) => total + ownCpuMsOf(pid), 0);
  const isDatabase = (pid: number) => kindOf(pid) === "PostgreSQL";
  return { gatewayMs: sum((pid) => !isDatabase(pid)), databaseMs: sum(isDatabase) };
}

export async function burst({ origin }: Running, jobs: number, connections: number) {
  const startedMs = performance.now();
  const result = await runLoad({
    origin,
    request: { kind: "upload", path: "/v1/transcription/jobs", fileBytes: AUDIO_BYTES },
    connections,
    seconds: LONGEST_SECONDS,
    maxRequests: jobs,
    key: KEY,
  });
  if (result.firstFault !== null) throw new Error(`A submission was refused: ${result.firstFault}`);
  await unfinishedJobs(origin, KEY, LONGEST_SECONDS);
  return { submitMs: result.latenciesMs, seconds: (performance.now() - startedMs) / 1000 };
}

async function alone({ origin }: Running, singles: number) {
  const pickUpMs: number[] = [];
  const submitMs: number[] = [];
  const audio = noiseWav(AUDIO_BYTES);
  for (let index = 0; index < singles; index += 1) {
    const sentMs = performance.now();
    const jobId = await submitUpload(origin, KEY, audio);
    submitMs.push(performance.now() - sentMs);
    const job = await waitForJob(origin, KEY, jobId);
    if (job.status !== "succeeded" || job.started_at === null) throw new Error(`a job ended as ${job.status}`);
    pickUpMs.push(Date.parse(job.started_at) - Date.parse(job.created_at));
  }
  return { pickUpMs, submitMs };
}
