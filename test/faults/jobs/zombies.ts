// R5: a worker is frozen while it holds jobs, their leases expire by the database's clock, other workers take the jobs over and end them, and the worker is
// continued [jobs.fenced-writes]. Each such job is a trial: the zombie's later writes must not change it.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { JOB_QUEUES } from "../../../src/jobs/services.ts";
import { offerLapsed } from "../../../src/jobs/sweep.ts";
import { createQueue, type Queue } from "../../../src/queue/queue.ts";
import { JOB_LEASE_SECONDS } from "../../../src/jobs/store/claimed-jobs.ts";
import { type OpenDatabase, openSystemDatabase, shiftClock } from "../../harness/postgres/database.ts";
import { startPostgresServer } from "../../harness/postgres/postgres-server.ts";
import type { FaultOptions } from "../fault.ts";
import { seeded } from "../seeded.ts";
import { type CountingSandbox, startCountingSandbox } from "./counting-sandbox.ts";
import { type JobClientOptions, type SubmittedJob, submitJob } from "./job-client.ts";
import { createJobHistory } from "./job-history.ts";
import { judgeJobs } from "./judge-jobs.ts";
import { judgeLogs } from "./judge-logs.ts";
import { createPatchbayProcess, type PatchbayProcess } from "./patchbay-process.ts";
import { KEYS, trialConfiguration } from "./trial-configuration.ts";

const AT_ONCE = 24;
/** Long enough for the workers to hold a full round: each freeze gives as many trials as its worker holds jobs. */
const PROVIDER_MS = 6_000;
const POLL_MS = 50;
/** A frozen transaction keeps its rows locked until the server terminates it: such a job is no trial. */
const STILL_MS = PROVIDER_MS + 2_000;
const QUIET_MS = 60_000;
/** On a slow machine there are fewer trials than requested. */
const LONGEST_MS = { short: 300_000, long: 1_140_000 };

interface Field {
  readonly database: OpenDatabase;
  readonly queue: Queue;
  readonly sandbox: CountingSandbox;
  readonly client: JobClientOptions;
  readonly workers: readonly PatchbayProcess[];
  readonly folder: string;
}

/** A job that was taken over from a frozen worker and ended before that worker continued. */
interface Trial {
  readonly worker: string;
  readonly jobId: string;
  readonly attempt: number;
}

export async function runZombies(options: FaultOptions) {
  const { n, seed, say } = options;
  const started = performance.now();
  const longestMs = options.isShort ? LONGEST_MS.short : LONGEST_MS.long;
  await using resources = new AsyncDisposableStack();
  const field = await openField(resources, options.workers);
  const history = createJobHistory(field.database.direct.databaseUrl);
  await history.install();
  const random = seeded(seed);
  const accepted: SubmittedJob[] = [];
  const trials: Trial[] = [];
  let freezes = 0;
  for (; trials.length < n && performance.now() - started < longestMs; freezes += 1) {
    const worker = field.workers[Math.floor(random() * field.workers.length)];
    if (worker === undefined) throw new Error("no worker");
    await field.sandbox.setDelay(PROVIDER_MS, 0);
    const submitted = submitRound(field, accepted.length, seed);
    // When every worker is fully loaded.
    await wait(PROVIDER_MS * (0.3 + random()));
    trials.push(...(await freeze(field, worker, freezes + 1, submitted)));
    accepted.push(...(await submitted));
    say(`${trials.length} of ${n} zombies, ${freezes + 1} freezes`);
  }
  // All processes have continued, the zombies too.
  accepted.push(...(await submitRound(field, accepted.length, seed)));
  const unfinished = await untilFinished(field.database);
  const facts = await history.facts();
  const gaveUp = await countGivenUp(field, trials);
  return {
    engine: "postgres",
    n: trials.length,
    violations: [
      ...(unfinished > 0 ? [`${unfinished} jobs never ended`] : []),
      ...judgeJobs(accepted, facts, await field.sandbox.countSubmissions()),
      ...(await judgeLogs(field.folder)),
    ],
    seconds: (performance.now() - started) / 1000,
    figures: {
      workers: options.workers,
      freezes,
      jobs: accepted.length,
      "zombies that noticed and gave up": gaveUp,
      outcomes: Object.entries(Object.groupBy(facts.jobs, ({ code, status }) => code ?? status))
        .map(([outcome, jobs]) => `${outcome} ${jobs?.length ?? 0}`)
        .join(", "),
      "most attempts at a job": Math.max(...facts.jobs.map(({ attempt }) => attempt)),
    },
  };
}

async function openField(resources: AsyncDisposableStack, workerCount: number): Promise<Field> {
  const postgres = await startPostgresServer();
  resources.defer(() => postgres.stop());
  const sandbox = await startCountingSandbox();
  resources.defer(() => sandbox.close());
  const folder = await mkdtemp(join(tmpdir(), "patchbay-zombies-"));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const configFile = join(folder, "patchbay.yaml");
  await writeFile(
    configFile,
    JSON.stringify(trialConfiguration(postgres.url, sandbox, folder, { job_concurrency: AT_ONCE })),
  );
  const gateway = createPatchbayProcess({ name: "gateway", command: "up", configFile, folder });
  const workers = Array.from({ length: workerCount }, (_, index) =>
    createPatchbayProcess({ name: `worker-${index + 1}`, command: "worker", configFile, folder }),
  );
  for (const each of [gateway, ...workers]) {
    resources.defer(() => each.kill());
    await each.start();
  }
  const database = await openSystemDatabase({ databaseUrl: postgres.url, poolSize: 4 });
  resources.defer(() => database.close());
  const queue = createQueue({ database, queues: JOB_QUEUES, onError: () => undefined });
  await queue.start();
  resources.defer(() => queue.stop());
  const over = new AbortController();
  resources.defer(() => over.abort());
  return { database, queue, sandbox, folder, workers, client: { origin: () => gateway.origin, signal: over.signal } };
}

/** Enough to keep every worker busy: calls and runs alternate. */
function submitRound({ client, workers }: Field, first: number, seed: number): Promise<readonly SubmittedJob[]> {
  return Promise.all(
    Array.from({ length: AT_ONCE * (workers.length + 1) }, (_, each) => {
      const index = first + each;
      return submitJob(client, { key: KEYS[index % KEYS.length] ?? KEYS[0], index, seed });
    }),
  );
}

async function freeze(
  { database, queue, sandbox, folder }: Field,
  worker: PatchbayProcess,
  number: number,
  submitted: Promise<unknown>,
): Promise<readonly Trial[]> {
  worker.stop();
  try {
    await submitted;
    // Jobs held or taken over by the other workers need not take long.
    await sandbox.setDelay(0, 0);
    const heldJobs = await heldBy(folder, worker);
    const isHeld = ({ id }: Unfinished) => heldJobs.some(({ jobId }) => jobId === id);
    // Only the frozen worker's leases may expire: waits until the others are done, or blocked by its locks.
    await untilStill(database, (jobs) => jobs.every(isHeld));
    await shiftClock(database, number * (JOB_LEASE_SECONDS + 1));
    await offerLapsed({ database, queue });
    await untilStill(database, (jobs) => !jobs.some(isHeld));
    return await trialsAmong(database, worker, heldJobs);
  } finally {
    worker.resume();
  }
}

interface Unfinished {
  readonly id: string;
}

async function unfinishedJobs({ db }: OpenDatabase): Promise<readonly Unfinished[]> {
  return db.selectFrom("jobs").select(["id"]).where("status", "in", ["queued", "processing"]).execute();
}

async function trialsAmong(
  { db }: OpenDatabase,
  worker: PatchbayProcess,
  heldJobs: readonly Omit<Trial, "worker">[],
): Promise<readonly Trial[]> {
  const { rows } = await sql<Omit<Trial, "worker">>`
    select held."jobId", held.attempt
    from jsonb_to_recordset(${JSON.stringify(heldJobs)}::jsonb) as held ("jobId" text, attempt int)
    join jobs on jobs.id = held."jobId" and jobs.attempt > held.attempt and jobs.finished_at is not null`.execute(db);
  return rows.map((row) => ({ ...row, worker: worker.name }));
}

interface LogLine {
  readonly event?: string;
  readonly job_id?: string;
  readonly attempt?: number;
  readonly reason?: string;
}

async function logOf(folder: string, name: string): Promise<readonly LogLine[]> {
  const text = await readFile(join(folder, `${name}.log`), "utf8");
  return text
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line) as LogLine);
}

async function heldBy(folder: string, { name }: PatchbayProcess): Promise<readonly Omit<Trial, "worker">[]> {
  const heldJobs = new Map<string, number>();
  for (const { event, job_id: jobId, attempt } of await logOf(folder, name)) {
    if (jobId === undefined || attempt === undefined) continue;
    if (event === "job.claimed") heldJobs.set(jobId, attempt);
    else if (event === "job.ended" || event === "job.left") heldJobs.delete(jobId);
  }
  return [...heldJobs].map(([jobId, attempt]) => ({ jobId, attempt }));
}

async function countGivenUp({ folder, workers }: Field, trials: readonly Trial[]): Promise<number> {
  const lostJobs = new Set<string>();
  for (const { name } of workers)
    for (const { event, reason, job_id: jobId, attempt } of await logOf(folder, name))
      if (event === "job.left" && reason === "lost") lostJobs.add(`${name} ${jobId} ${attempt}`);
  return trials.filter(({ worker, jobId, attempt }) => lostJobs.has(`${worker} ${jobId} ${attempt}`)).length;
}

/** Until the condition holds, or nothing has ended for a while. */
async function untilStill(database: OpenDatabase, holds: (jobs: readonly Unfinished[]) => boolean): Promise<void> {
  let [count, sinceMs] = [-1, 0];
  await until(QUIET_MS, async () => {
    const jobs = await unfinishedJobs(database);
    if (jobs.length !== count) [count, sinceMs] = [jobs.length, performance.now()];
    return holds(jobs) || performance.now() - sinceMs > STILL_MS;
  });
}

async function untilFinished(database: OpenDatabase): Promise<number> {
  await until(QUIET_MS, async () => (await unfinishedJobs(database)).length === 0);
  return (await unfinishedJobs(database)).length;
}

async function until(timeMs: number, holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + timeMs;
  while (performance.now() < endMs && !(await holds())) await wait(POLL_MS);
}
