// R19: a gateway as users start it, on a PostgreSQL server or with embedded storage, under mixed requests at 100 per second for an hour. Its memory stays flat,
// files, sockets and disk stay within their bounds, no request is answered with an internal error, and every accepted job ends.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type FaultRule, type Sandbox, startSandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { DATA_FOLDER } from "../../../src/storage/embedded/placement.ts";
import { startFlags } from "../../harness/node-flags.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { seeded } from "../seeded.ts";
import { startSoakLoad } from "./load.ts";
import { APPS, type AppName, KEYS } from "./requests.ts";
import { judgeSamples, type Sample, sampleTable, takeSample, type Watched } from "./samples.ts";
import { type OpenDatabase } from "../../harness/postgres/database.ts";

const MINUTES = { long: 60, short: 2 };
const SAMPLE_MS = 10_000;
const JOBS_END_MS = 120_000;
const POLL_MS = 250;
/** Idle connections of callers, and to providers and the database, are closed within a minute. */
const DRAIN_MS = 90_000;
const IDLE_SOCKETS = 60;

/** In turn, each for the duration of a sample. */
const FAULTS: readonly FaultRule["fault"][] = [
  { kind: "status", status: 500 },
  { kind: "reset_after_body" },
  { kind: "garbage" },
  { kind: "cut_reply" },
  { kind: "status", status: 429, retryAfterSeconds: 1 },
  { kind: "delay", ms: 2_000 },
];
const SLOW: readonly FaultRule[] = [{ fault: { kind: "delay", ms: 500 } }, { fault: { kind: "pace", ms: 100 } }];

/** `n`: requests per second. */
export async function runSoak({ n, seed, isShort, minutes, out, embedded, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  await using opened = new AsyncDisposableStack();
  const sandboxes = { slow: await startSandbox(), failing: await startSandbox() };
  for (const sandbox of Object.values(sandboxes)) opened.defer(() => sandbox.close());
  sandboxes.slow.replaceFaults(SLOW);
  const gateways = opened.use(
    await startGateways((fast) => configuration({ fast, ...sandboxes }), {
      count: 1,
      isEmbedded: embedded,
      flags: startFlags(),
      // All calls of an hour would exhaust this process's own memory.
      keepCalls: 1_000,
    }),
  );
  const [gateway] = gateways.processes;
  const [origin] = gateways.origins;
  if (gateway?.pid == null || origin === undefined) throw new Error("there is no gateway");
  const watched: Watched = {
    pid: gateway.pid,
    database: gateways.database,
    folder: gateways.dataDir,
    embedded: embedded ? join(gateways.dataDir, DATA_FOLDER) : null,
  };
  const load = startSoakLoad({ origin, perSecond: n, random: seeded(seed), seed });
  const samples: Sample[] = [];
  const violations: string[] = [];
  const startedMs = performance.now();
  const lastMs = startedMs + (minutes ?? (isShort ? MINUTES.short : MINUTES.long)) * 60_000;
  const look = async (): Promise<void> => {
    const facts = { seconds: (performance.now() - startedMs) / 1_000, sent: load.sent(), inFlight: load.inFlight() };
    samples.push(await takeSample(watched, facts));
  };
  for (let turn = 0; performance.now() < lastMs && gateway.isRunning; turn += 1) {
    const fault = FAULTS[turn % FAULTS.length];
    if (fault !== undefined) sandboxes.failing.replaceFaults([{ fault }]);
    await wait(Math.min(SAMPLE_MS, Math.max(0, lastMs - performance.now())));
    if (gateway.isRunning) await look();
    say(
      `${((performance.now() - startedMs) / 60_000).toFixed(1)} min, ${load.sent()} requests, ${load.faults.size} faults`,
    );
  }
  if (!gateway.isRunning) violations.push("the gateway died");
  await load.end();
  const jobs = await untilJobsEnd(gateways.database, load.acceptedJobs);
  const idle = gateway.isRunning ? await untilIdle(watched, load.sent()) : null;
  if (idle !== null && idle.sockets > IDLE_SOCKETS)
    violations.push(
      `${idle.sockets} sockets are open ${DRAIN_MS / 1_000} s after the last request, at most ${IDLE_SOCKETS}`,
    );
  const { violations: exceeded, figures } = judgeSamples(samples);
  violations.push(...exceeded, ...jobs.violations, ...[...load.faults].map(([fault, times]) => `${times} × ${fault}`));
  await keep(samples, out, say);
  return {
    engine: embedded ? "embedded" : "postgres",
    n: load.sent(),
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      requests: `${load.sent()} in ${((lastMs - startedMs) / 60_000).toFixed(1)} minutes, ${load.skipped()} not sent because 400 were in flight`,
      answers: [...load.answers]
        .map(([outcome, times]) => `${outcome} × ${times}`)
        .toSorted((left, right) => left.localeCompare(right))
        .join(", "),
      ...figures,
      "after the last request": idle === null ? "no gateway" : `${idle.sockets} sockets, ${idle.files} files`,
      jobs: jobs.figure,
    },
  };
}

async function keep(samples: readonly Sample[], out: string | null, say: FaultOptions["say"]): Promise<void> {
  if (out !== null) await writeFile(out, `${JSON.stringify({ samples }, null, 1)}\n`);
  else {
    say("");
    console.error(sampleTable(samples));
  }
}

async function untilIdle(watched: Watched, sent: number): Promise<Sample> {
  const lastMs = performance.now() + DRAIN_MS;
  for (;;) {
    const sample = await takeSample(watched, { seconds: 0, sent, inFlight: 0 });
    if (sample.sockets <= IDLE_SOCKETS || performance.now() > lastMs) return sample;
    await wait(POLL_MS);
  }
}

async function untilJobsEnd({ db }: OpenDatabase, accepted: ReadonlySet<string>) {
  const lastMs = performance.now() + JOBS_END_MS;
  const read = () => db.selectFrom("jobs").select(["id", "status"]).execute();
  const isOpen = ({ status }: { readonly status: string }) => status === "queued" || status === "processing";
  let jobs = await read();
  while (jobs.some(isOpen) && performance.now() < lastMs) {
    await wait(POLL_MS);
    jobs = await read();
  }
  const known = new Set<string>(jobs.map(({ id }) => id));
  const counts = new Map<string, number>();
  for (const { status } of jobs) counts.set(status, (counts.get(status) ?? 0) + 1);
  return {
    violations: [
      ...jobs
        .filter(isOpen)
        .map(({ id, status }) => `job ${id} is ${status} ${JOBS_END_MS / 1_000} s after the last request`),
      ...[...accepted].filter((id) => !known.has(id)).map((id) => `the accepted job ${id} is lost`),
    ],
    figure: `${accepted.size} accepted: ${[...counts].map(([status, times]) => `${status} × ${times}`).join(", ")}`,
  };
}

function configuration(sandboxes: Readonly<Record<AppName, Sandbox>>): ConfigurationFile {
  return {
    limits: { sync_timeout_seconds: 20 },
    connections: APPS.flatMap((app) => [
      { id: `dg-${app}`, kind: "deepgram" as const, api_key: "secret", base_url: sandboxes[app].deepgramUrl },
      { id: `oa-${app}`, kind: "openai" as const, api_key: "secret", base_url: sandboxes[app].openaiUrl },
    ]),
    routes: APPS.flatMap((app) => [
      {
        id: `speech-${app}`,
        targets: [
          { connection: `dg-${app}`, model: "nova-3" },
          { connection: `oa-${app}`, model: "gpt-4o-transcribe" },
        ],
      },
      { id: `chat-${app}`, targets: [{ connection: `oa-${app}`, model: "gpt-4o" }] },
    ]),
    workspaces: [
      {
        id: "acme",
        apps: APPS.map((app) => ({
          id: app,
          route: `chat-${app}`,
          audio_input_override: `speech-${app}`,
          keys: [
            { id: `key-${app}`, secret: KEYS[app], scopes: ["transcribe" as const, "jobs" as const, "chat" as const] },
          ],
        })),
      },
    ],
  };
}
