// R14: two gateways on one PostgreSQL server behind a balancer are stopped and restarted one after the other under requests of every kind. No request fails,
// every accepted job ends, and a gateway exits within the deadline and five seconds.
import { setTimeout as wait } from "node:timers/promises";
import { quantile } from "../../../bench/measure/report.ts";
import { type Sandbox, startSandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { seeded } from "../seeded.ts";
import { startBalancer } from "./balancer.ts";
import { KEYS, type Kind, runLoad, SLOW_MS } from "./load.ts";
import { type OpenDatabase } from "../../harness/postgres/database.ts";

const RESTARTS = { long: 20, short: 2 };
/** Duration of one restart: connections drain until each was used once more, the slowest request ends, the next process starts. */
const RESTART_SECONDS = 12;
const SYNC_TIMEOUT_SECONDS = 20;
const GRACE_SECONDS = 20;
/** Guaranteed: the deadline of running requests plus five seconds. */
const LONGEST_STOP_MS = (Math.max(SYNC_TIMEOUT_SECONDS, GRACE_SECONDS) + 5) * 1_000;
/** The duration of a start is not tested here; a busy machine may be slow. */
const READY_MS = 180_000;
const BETWEEN_MS = 1_000;
const JOBS_END_MS = 60_000;
const POLL_MS = 200;

export async function runRollingRestart(options: FaultOptions): Promise<Trials> {
  const { n, seed, isShort, say } = options;
  const started = performance.now();
  await using slow = await startSlowSandbox();
  await using gateways = await startGateways((fast) => configuration(fast, slow.sandbox), { count: 2 });
  const { processes, database } = gateways;
  await using balancer = await startBalancer(() =>
    processes.map(({ origin, isRunning }) => (isRunning ? origin : null)),
  );
  for (const { origin } of processes) await balancer.untilReady(origin ?? "", READY_MS);

  const restarts = isShort ? RESTARTS.short : RESTARTS.long;
  const violations: string[] = [];
  const counts = new Map<Kind, number>();
  let answerCount = 0;
  let restarted = 0;
  const load = runLoad({
    origin: balancer.origin,
    requestsPerSecond: n / (restarts * RESTART_SECONDS),
    random: seeded(seed),
    seed,
    isOver: () => restarted === restarts && answerCount >= n,
    onAnswer: (kind, fault) => {
      answerCount += 1;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      if (fault !== null) violations.push(`restart ${restarted + 1}: ${fault}`);
    },
  });
  const stopMs: number[] = [];
  for (; restarted < restarts; restarted += 1) {
    await wait(BETWEEN_MS);
    const gateway = processes[restarted % processes.length];
    if (gateway === undefined) throw new Error("there is no gateway");
    const askedMs = performance.now();
    await gateway.terminate();
    stopMs.push(performance.now() - askedMs);
    await gateway.start();
    await balancer.untilReady(gateway.origin ?? "", READY_MS);
    say(`restarted ${restarted + 1} of ${restarts}, ${answerCount} requests, ${violations.length} violations`);
  }
  await load;
  for (const ms of stopMs.filter((each) => each > LONGEST_STOP_MS))
    violations.push(`a gateway stopped after ${ms.toFixed(0)} ms`);
  const jobs = await untilJobsEnd(database);
  violations.push(...jobs.faults);
  return {
    engine: "postgres",
    n: answerCount,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      restarts,
      requests: [...counts].map(([kind, count]) => `${kind} ${count}`).join(", "),
      "from SIGTERM to exit": `p50 ${quantile(stopMs, 0.5).toFixed(0)} ms, at most ${Math.max(...stopMs).toFixed(0)} ms (bound ${LONGEST_STOP_MS})`,
      jobs: `${jobs.count} accepted, all ended: ${jobs.ended}`,
    },
  };
}

/** Every answer takes long enough for its request to be in flight when the stop is requested. */
async function startSlowSandbox(): Promise<AsyncDisposable & { readonly sandbox: Sandbox }> {
  const sandbox = await startSandbox();
  sandbox.addFault({ fault: { kind: "delay", ms: SLOW_MS } });
  sandbox.addFault({ fault: { kind: "pace", ms: 100 } });
  return { sandbox, [Symbol.asyncDispose]: () => sandbox.close() };
}

function configuration(fast: Sandbox, slow: Sandbox): ConfigurationFile {
  const both = { fast, slow };
  const speeds = ["fast", "slow"] as const;
  return {
    limits: { sync_timeout_seconds: SYNC_TIMEOUT_SECONDS, worker_grace_seconds: GRACE_SECONDS },
    connections: speeds.flatMap((speed) => [
      { id: `dg-${speed}`, kind: "deepgram" as const, api_key: "secret", base_url: both[speed].deepgramUrl },
      { id: `oa-${speed}`, kind: "openai" as const, api_key: "secret", base_url: both[speed].openaiUrl },
    ]),
    routes: speeds.flatMap((speed) => [
      { id: `speech-${speed}`, targets: [{ connection: `dg-${speed}`, model: "nova-3" }] },
      { id: `chat-${speed}`, targets: [{ connection: `oa-${speed}`, model: "gpt-4o" }] },
    ]),
    workspaces: [
      {
        id: "acme",
        apps: speeds.map((speed) => ({
          id: speed,
          route: `chat-${speed}`,
          audio_input_override: `speech-${speed}`,
          keys: [
            {
              id: `key-${speed}`,
              secret: KEYS[speed],
              scopes: ["transcribe" as const, "jobs" as const, "chat" as const],
            },
          ],
        })),
      },
    ],
  };
}

async function untilJobsEnd(database: OpenDatabase) {
  const read = () => database.db.selectFrom("jobs").select(["id", "status", "attempt", "error"]).execute();
  let jobs = await read();
  const isOpen = ({ status }: (typeof jobs)[number]) => status === "queued" || status === "processing";
  for (const lastMs = performance.now() + JOBS_END_MS; jobs.some(isOpen) && performance.now() < lastMs; ) {
    await wait(POLL_MS);
    jobs = await read();
  }
  const bad = jobs.filter(({ status }) => status !== "succeeded");
  return {
    count: jobs.length,
    ended: jobs.length - jobs.filter(isOpen).length,
    faults: bad.map(
      ({ id, status, attempt, error }) => `job ${id}: ${status} in attempt ${attempt}, ${JSON.stringify(error)}`,
    ),
  };
}
