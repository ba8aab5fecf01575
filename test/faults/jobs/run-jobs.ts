// Jobs over HTTP while workers are killed and frozen past their lease, the database is restarted and the gateway killed (R3, R4, R7). Every accepted job ends,
// is submitted to its provider at most once, and never changes after its end [jobs.terminal-states]; each end has exactly one event [webhooks.event-per-end].
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startPostgresServer } from "../../harness/postgres/postgres-server.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { type Chaos, startChaos } from "./chaos.ts";
import { startCountingSandbox } from "./counting-sandbox.ts";
import { type JobClientOptions, readJob, type SubmittedJob, submitJob } from "./job-client.ts";
import { createJobHistory, type Facts, type JobHistory } from "./job-history.ts";
import { judgeDeliveries, judgeJobs } from "./judge-jobs.ts";
import { judgeLogs } from "./judge-logs.ts";
import { createPatchbayProcess } from "./patchbay-process.ts";
import { ADMIN_KEY, KEYS, trialConfiguration } from "./trial-configuration.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./webhook-receiver.ts";

const SUBMITTERS = 16;
const POLL_MS = 1_000;
/** Share of the jobs that end before the faults stop. */
const TROUBLED_SHARE = 0.95;
/** Lease, sweep, and work in progress (R3: deadline + 120 s). */
const QUIET_MS = 165_000;
/** From the end of the faults: a failed attempt may be the second, and the third comes five minutes later. */
const DELIVER_MS = 420_000;

export async function runJobs(options: FaultOptions): Promise<Trials> {
  const { n, seed, say } = options;
  const started = performance.now();
  // The short form ends within two minutes.
  const limits = options.isShort
    ? { spreadMs: 32_000, troubleMs: 40_000, quietMs: 55_000, deliverMs: 65_000 }
    : { spreadMs: n * 60, troubleMs: 60_000 + n * 300, quietMs: QUIET_MS, deliverMs: DELIVER_MS };
  await using resources = new AsyncDisposableStack();
  const postgres = await startPostgresServer();
  resources.defer(() => postgres.stop());
  const sandbox = await startCountingSandbox();
  resources.defer(() => sandbox.close());
  const folder = await mkdtemp(join(tmpdir(), "patchbay-job-faults-"));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const configFile = join(folder, "patchbay.yaml");
  await writeFile(configFile, JSON.stringify(trialConfiguration(postgres.url, sandbox, folder)));

  const gateway = createPatchbayProcess({ name: "gateway", command: "up", configFile, folder });
  const workers = Array.from({ length: options.workers }, (_, index) =>
    createPatchbayProcess({ name: `worker-${index + 1}`, command: "worker", configFile, folder }),
  );
  for (const process of [gateway, ...workers]) resources.defer(() => process.kill());
  await gateway.start();
  const history = createJobHistory(postgres.url);
  await history.install();
  const receiver = await startWebhookReceiver();
  resources.defer(() => receiver.close());
  await configureWebhook(gateway.origin, receiver);
  for (const worker of workers) await worker.start();

  const over = new AbortController();
  resources.defer(() => over.abort());
  const client: JobClientOptions = {
    origin: () => (gateway.isRunning ? gateway.origin : null),
    signal: over.signal,
  };
  const chaos = startChaos({ seed, postgres, sandbox, gateway, workers });
  const { accepted, faults } = await submitAll(client, options, limits, history);
  const submitSeconds = (performance.now() - started) / 1000;
  await troubled(history, accepted.length, started + limits.troubleMs, say);
  await chaos.calm();
  const calmMs = performance.now();
  const unfinished = await untilQuiet(history, limits.quietMs, say);
  const facts = await history.facts();
  await untilDelivered(receiver, facts, calmMs + limits.deliverMs, say);
  const submissions = await sandbox.countSubmissions();
  const violations = [
    ...faults,
    ...chaos.stuckStarts,
    ...(unfinished > 0 ? [`${unfinished} jobs had not ended ${limits.quietMs / 1000} s after the troubles`] : []),
    ...judgeJobs(accepted, facts, submissions),
    ...judgeDeliveries(facts, receiver),
    ...(await judgeAnswers(client, accepted, facts)),
    ...(await judgeLogs(folder)),
  ];
  const seconds = (performance.now() - started) / 1000;
  return {
    engine: "postgres",
    n: accepted.length,
    violations,
    seconds,
    figures: figuresOf({ options, chaos, accepted, facts, submissions, submitSeconds, receiver }),
  };
}

async function submitAll(
  client: JobClientOptions,
  { n, seed, say }: FaultOptions,
  { spreadMs, troubleMs }: { readonly spreadMs: number; readonly troubleMs: number },
  history: JobHistory,
): Promise<{ readonly accepted: readonly SubmittedJob[]; readonly faults: readonly string[] }> {
  const accepted: SubmittedJob[] = [];
  const faults: string[] = [];
  const startedMs = performance.now();
  const lastMs = startedMs + troubleMs;
  let next = 0;
  const submitter = async () => {
    while (next < n && performance.now() < lastMs) {
      const index = next;
      next += 1;
      // Spread over the faults, not in one burst before them.
      await wait(Math.max(0, startedMs + (index * spreadMs) / n - performance.now()));
      // Jobs that wait in the queue test nothing.
      while (accepted.length - (await history.countTerminal()) > MOST_WAITING && performance.now() < lastMs)
        await wait(POLL_MS);
      try {
        accepted.push(await submitJob(client, { key: KEYS[index % KEYS.length] ?? KEYS[0], index, seed }));
      } catch (error) {
        faults.push(error instanceof Error ? error.message : String(error));
      }
      if (accepted.length % 100 === 0) say(`accepted ${accepted.length}`);
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
  return { accepted, faults };
}

const MOST_WAITING = 200;

async function troubled(history: JobHistory, n: number, lastMs: number, say: (text: string) => void): Promise<void> {
  for (;;) {
    const endedCount = await history.countTerminal();
    say(`ended ${endedCount} of ${n}, under trouble`);
    if (endedCount >= n * TROUBLED_SHARE || performance.now() > lastMs) return;
    await wait(POLL_MS);
  }
}

async function untilQuiet(history: JobHistory, quietMs: number, say: (text: string) => void): Promise<number> {
  const lastMs = performance.now() + quietMs;
  for (;;) {
    const unfinished = await history.countUnfinished();
    say(`${unfinished} still to end`);
    if (unfinished === 0 || performance.now() > lastMs) return unfinished;
    await wait(POLL_MS);
  }
}

async function untilDelivered(receiver: WebhookReceiver, { jobs }: Facts, lastMs: number, say: (text: string) => void) {
  for (;;) {
    const missing = jobs.filter((job) => job.events > 0 && !receiver.deliveries.has(job.id)).length;
    say(`${missing} events still to deliver`);
    if (missing === 0 || performance.now() > lastMs) return;
    await wait(POLL_MS);
  }
}

/** Checks that answers match the stored state. */
async function judgeAnswers(
  client: JobClientOptions,
  accepted: readonly SubmittedJob[],
  facts: Facts,
): Promise<readonly string[]> {
  const byId = new Map(facts.jobs.map((job) => [job.id, job]));
  const found: string[] = [];
  let next = 0;
  const reader = async () => {
    for (let job = accepted[next]; job !== undefined; job = accepted[next]) {
      next += 1;
      const view = await readJob(client, job);
      if (view === null) found.push(`${job.jobId} was accepted, and its poll is a 404`);
      else if (view.status !== byId.get(job.jobId)?.status) found.push(`${job.jobId} is reported as ${view.status}`);
      else if (view.status === "succeeded" && view.result === null) found.push(`${job.jobId} succeeded with no result`);
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, reader));
  return found;
}

interface Outcome {
  readonly options: FaultOptions;
  readonly chaos: Chaos;
  readonly accepted: readonly SubmittedJob[];
  readonly facts: Facts;
  readonly submissions: ReadonlyMap<string, number>;
  readonly submitSeconds: number;
  readonly receiver: WebhookReceiver;
}

function figuresOf({ options, chaos, accepted, facts, submissions, submitSeconds, receiver }: Outcome) {
  const runs = new Set(accepted.filter(({ key }) => key === KEYS[1]).map(({ jobId }) => jobId));
  const outcomes = Object.groupBy(
    facts.jobs,
    (job) => `${runs.has(job.id) ? "runs" : "calls"} ${job.code ?? job.status}`,
  );
  const failed = new Set(facts.jobs.filter((job) => job.status === "failed").map((job) => job.id));
  const mostSubmissions = Math.max(0, ...submissions.values());
  return {
    workers: options.workers,
    ...chaos.counts,
    outcomes: Object.entries(outcomes)
      .map(([outcome, jobs]) => `${outcome} ${jobs?.length ?? 0}`)
      .join(", "),
    "jobs tried more than once": facts.jobs.filter((job) => job.attempt > 1).length,
    "most attempts at a job": Math.max(0, ...facts.jobs.map((job) => job.attempt)),
    "take-overs": facts.takeOverSeconds.n,
    "take-over p50 s": (facts.takeOverSeconds.p50 ?? 0).toFixed(1),
    "take-over p99 s": (facts.takeOverSeconds.p99 ?? 0).toFixed(1),
    "take-over max s": (facts.takeOverSeconds.max ?? 0).toFixed(1),
    "first offered to others, max s": (facts.takeOverSeconds.offeredMax ?? 0).toFixed(1),
    submissions: [...submissions.values()].reduce((sum, calls) => sum + calls, 0),
    "most submissions of a job": mostSubmissions,
    "failed and never submitted": accepted.filter(({ jobId, term }) => failed.has(jobId) && !submissions.has(term))
      .length,
    "posts repeated": accepted.reduce((sum, job) => sum + job.posts - 1, 0),
    "events delivered": receiver.received(),
    "submitted in s": submitSeconds.toFixed(0),
  };
}

async function configureWebhook(origin: string | null, { url }: WebhookReceiver): Promise<void> {
  const answer = await fetch(`${origin}/workspace/acme/stt-webhook`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ url, enabled: true }),
  });
  if (!answer.ok) throw new Error(`the webhook was refused: ${await answer.text()}`);
}
