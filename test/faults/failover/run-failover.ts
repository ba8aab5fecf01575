// R16: two gateways on a primary with a synchronous standby, behind one address. The primary is killed under keyed submissions, the standby is promoted, and
// the address is switched. Nothing is lost, billed twice or answered with 500; gateways and keys are usable at once [storage.failover].
import { setTimeout as wait } from "node:timers/promises";
import { askHttp } from "../ask-http.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { type Gateways, startGateways } from "../gateways.ts";
import { findPgBouncer, PGBOUNCER_MISSING, startPgBouncer } from "../../harness/postgres/pgbouncer.ts";
import { seeded } from "../seeded.ts";
import { judgeFailover, type Judged, summarise } from "./judge-failover.ts";
import { type Ended, KINDS, type Submission, submit } from "./keyed-client.ts";
import { measureNotified } from "./notifications.ts";
import { startReplicatedPostgres } from "./replicated-postgres.ts";
import { startSwitchingProxy } from "./switching-proxy.ts";
import { speechAndChat } from "../speech-and-chat.ts";
import { type OpenDatabase } from "../../harness/postgres/database.ts";

const SECRET = "faults-key-of-the-failover-app-1";
const ADMIN_SECRET = "faults-admin-key-of-the-failover";
const SUBMISSIONS = { long: 300, short: 90 };
/** Duration of a provider call, so that calls are in flight when the primary dies. */
const CALL_MS = 300;
/** Submissions start throughout the failover: before the kill, while no server listens, on the standby, and after its promotion. */
const BEFORE_MS = 1_000;
const DEAD_MS = 1_000;
/** The address points to the standby before its promotion: statements that arrive are refused as read-only. */
const READ_ONLY_MS = 1_000;
const AFTER_MS = 500;
const USABLE_MS = 60_000;
const JOBS_END_MS = 90_000;
const POLL_MS = 50;
/** What an operator configures in front of a server that fails over: by default the pooler does not reconnect for 15 s. */
const POOLER = { mode: "transaction", settings: ["server_login_retry = 1"] } as const;
/** Every third client polls for its key, the others wait for Retry-After. */
const IMPATIENT_SHARE = 1 / 3;

export async function runFailover({ n, seed, isShort, pooler, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  const program = pooler ? findPgBouncer() : null;
  if (pooler && program === null)
    return { engine: "postgres", n: 0, violations: [], seconds: 0, figures: { skipped: PGBOUNCER_MISSING } };
  const runs: Judged[] = [];
  for (let run = 1; run <= n; run += 1) {
    const count = isShort ? SUBMISSIONS.short : SUBMISSIONS.long;
    runs.push(await runOnce({ run, seed, count, program, judgesTimes: !isShort }));
    say(`run ${run} of ${n}, ${runs.flatMap(({ violations }) => violations).length} violations`);
  }
  return {
    engine: "postgres",
    n,
    violations: runs.flatMap(({ violations }, index) => violations.map((text) => `run ${index + 1}: ${text}`)),
    seconds: (performance.now() - started) / 1000,
    figures: summarise(runs),
  };
}

interface Run {
  readonly run: number;
  readonly seed: number;
  readonly count: number;
  /** Path of the pooler. Null: the gateways connect directly. */
  readonly program: string | null;
  /** The short form runs in CI, next to other trials. */
  readonly judgesTimes: boolean;
}

async function runOnce(options: Run): Promise<Judged> {
  const { run, seed, program, judgesTimes } = options;
  await using postgres = await startReplicatedPostgres();
  await using proxy = await startSwitchingProxy(postgres.primaryPort);
  const restart = () => Promise.reject(new Error("this server is replaced, not restarted"));
  const url = postgres.urlAt(proxy.port);
  await using bouncer = program === null ? null : await startPgBouncer(program, url, POOLER);
  await using gateways = await startGateways(
    (sandbox) => speechAndChat(sandbox, { app: SECRET, admin: ADMIN_SECRET }),
    {
      count: 2,
      postgres: { url, restart },
      ...(bouncer === null ? {} : { databaseUrl: async () => bouncer.url, storage: { listen_url: url } }),
    },
  );
  gateways.sandbox.addFault({ fault: { kind: "delay", ms: CALL_MS } });
  const submitting = submitAll(gateways, options);
  await wait(BEFORE_MS);
  await postgres.killPrimary();
  await wait(DEAD_MS);
  proxy.switchTo(postgres.standbyPort);
  await wait(READ_ONLY_MS);
  await postgres.promote();
  const backMs = performance.now();
  const usable = usableMs(gateways, backMs, `failover-${seed}-${run}-probe`);
  const ended = await submitting;
  const secrets = { app: SECRET, admin: ADMIN_SECRET };
  await usable;
  // Otherwise the jobs of the failover would precede those that are timed.
  await untilJobsEnd(gateways.database);
  const notified = await measureNotified(gateways, secrets, `failover-${seed}-${run}-notified`);
  const jobs = await untilJobsEnd(gateways.database);
  const { calls } = gateways.sandbox;
  return judgeFailover({ ended, backMs, usableMs: await usable, notified, jobs, calls, judgesTimes });
}

/** Spread over the whole failover, in an order determined by the seed. */
async function submitAll({ origins }: Gateways, { run, seed, count }: Run): Promise<readonly Ended[]> {
  const random = seeded(seed + run);
  const spanMs = BEFORE_MS + DEAD_MS + READ_ONLY_MS + AFTER_MS;
  const one = async (index: number): Promise<Ended> => {
    const submission: Submission = {
      kind: KINDS[index % KINDS.length] ?? "transcription",
      name: `failover-${seed}-${run}-${index}-end`,
      isImpatient: random() < IMPATIENT_SHARE,
    };
    await wait(random() * spanMs);
    return submit(origins, SECRET, submission, index);
  };
  return Promise.all(Array.from({ length: count }, (_, index) => one(index)));
}

/** Time from the promotion until each gateway serves a new request that needs the database. */
function usableMs({ origins }: Gateways, backMs: number, name: string): Promise<readonly number[]> {
  const first = async (origin: string, index: number): Promise<number> => {
    for (let tries = 0; performance.now() - backMs < USABLE_MS; tries += 1) {
      const { status } = await askHttp(origin, false, {
        method: "POST",
        path: "/v1/chat",
        headers: {
          authorization: `Bearer ${SECRET}`,
          "content-type": "application/json",
          "idempotency-key": `${name}-${index}-${tries}`,
        },
        body: Buffer.from(JSON.stringify({ messages: [{ role: "user", content: "Hello" }] })),
      });
      if (status === 200) break;
      await wait(POLL_MS);
    }
    return performance.now() - backMs;
  };
  return Promise.all(origins.map(first));
}

export interface JobState {
  readonly id: string;
  readonly status: string;
  readonly error: unknown;
}

async function untilJobsEnd({ db }: OpenDatabase): Promise<readonly JobState[]> {
  const lastMs = performance.now() + JOBS_END_MS;
  for (;;) {
    const jobs = await db.selectFrom("jobs").select(["id", "status", "error"]).execute();
    const isOpen = jobs.some(({ status }) => status === "queued" || status === "processing");
    if (!isOpen || performance.now() > lastMs) return jobs;
    await wait(POLL_MS);
  }
}
