// R20: a gateway with embedded storage, its PostgreSQL server, both, or the server's guard is killed with -9, under load, during a start and during a stop.
// Every next start works without manual steps, no accepted job is lost, nothing is billed twice, and no process remains [storage.embedded-stops].
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startSandbox } from "../../../sandbox/server.ts";
import { embeddedUrl } from "../../../src/storage/embedded/server.ts";
import { askHttp } from "../ask-http.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { seeded, shuffled } from "../seeded.ts";
import { judgeEmbeddedKills, type Round } from "./judge-embedded-kills.ts";
import { startKeyedLoad } from "./keyed-load.ts";
import { killHard, serverProcesses, untilServerGone } from "./server-processes.ts";
import { type OwnGateway, prepareOwnGateway } from "./own-gateway.ts";
import { speechAndChat } from "../speech-and-chat.ts";
import { openSystemDatabase } from "../../harness/postgres/database.ts";

export const VICTIMS = [
  "gateway",
  "server",
  "both",
  "guard",
  "gateway in a start",
  "server in a start",
  "gateway in a stop",
  "server in a stop",
] as const;
export type Victim = (typeof VICTIMS)[number];

const SECRET = "faults-key-of-the-embedded-kills-1";
/** So that kills hit running calls. */
const CALL_MS = 250;
const LONGEST_LOAD_MS = 2_000;
/** From a first check of the lock to listening, on a busy machine. */
const LONGEST_START_MS = 3_000;
/** A drain takes 5 s, followed by the stop of the server. */
const LONGEST_STOP_MS = 8_000;
const EXIT_MS = 60_000;
const USABLE_MS = 60_000;
const POLL_MS = 50;
/** The guard's fast shutdown may take 10 s. */
const ENDS_BY_ITSELF_MS = 20_000;
const JOBS_END_MS = 180_000;

export async function runEmbeddedKills({ n, seed, isShort, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  await using opened = new AsyncDisposableStack();
  const sandbox = await startSandbox({ keepCalls: 1_000_000 });
  opened.defer(() => sandbox.close());
  sandbox.addFault({ fault: { kind: "delay", ms: CALL_MS } });
  const gateway = await prepareOwnGateway(speechAndChat(sandbox, { app: SECRET }), opened);
  const random = seeded(seed);
  const rounds: Round[] = [];
  await gateway.process.start();
  await usable(gateway, "first");
  const load = startKeyedLoad({ origins: gateway.origins, secret: SECRET, random, seed });
  const trial: Trial = { gateway, random };
  let order: readonly Victim[] = [];
  for (let index = 0; index < n; index += 1) {
    if (index % VICTIMS.length === 0) order = shuffled(VICTIMS, random);
    const victim = order[index % VICTIMS.length] ?? "gateway";
    await wait(random() * LONGEST_LOAD_MS);
    rounds.push(await killOnce(victim, trial, `kills-${seed}-${index}`));
    say(`${index + 1}/${n} ${victim}`);
  }
  const ended = await load.end();
  const jobs = await untilJobsEnd(gateway.dataDir);
  await gateway.process.terminate();
  const goneMs = await untilServerGone(gateway.dataDir, ENDS_BY_ITSELF_MS);
  const log = await readFile(join(gateway.folder, "gateway.log"), "utf8");
  return {
    engine: "embedded",
    n: rounds.length,
    ...judgeEmbeddedKills({ rounds, ended, jobs, calls: sandbox.calls, goneMs, log, judgesTimes: !isShort }),
    seconds: (performance.now() - started) / 1000,
  };
}

interface Trial {
  readonly gateway: OwnGateway;
  readonly random: () => number;
}

async function killOnce(victim: Victim, trial: Trial, name: string): Promise<Round> {
  const { gateway, random } = trial;
  let goneMs: number | null = null;
  const server = async (): Promise<void> => killHard((await serverProcesses(gateway.dataDir)).postmasters);
  switch (victim) {
    case "gateway":
      await gateway.process.kill();
      // In one half of the trials the server of a gateway that is not restarted must exit by itself. In the other half the next start finds it running.
      if (random() < 0.5) goneMs = (await untilServerGone(gateway.dataDir, ENDS_BY_ITSELF_MS)) ?? Infinity;
      break;
    case "server":
      await server();
      break;
    case "both":
      await Promise.all([gateway.process.kill(), server()]);
      break;
    case "guard": {
      const { guards } = await serverProcesses(gateway.dataDir);
      killHard(guards.slice(0, 1 + Math.floor(random() * guards.length)));
      break;
    }
    case "gateway in a start":
      await gateway.process.kill();
      await Promise.all([
        ignoreEnd(gateway.process.start()),
        after(random() * LONGEST_START_MS, () => gateway.process.kill()),
      ]);
      break;
    case "server in a start":
      await gateway.process.kill();
      await Promise.all([ignoreEnd(gateway.process.start()), after(random() * LONGEST_START_MS, server)]);
      break;
    case "gateway in a stop":
      await Promise.all([stopWithin(gateway), after(random() * LONGEST_STOP_MS, () => gateway.process.kill())]);
      break;
    case "server in a stop":
      await Promise.all([stopWithin(gateway), after(random() * LONGEST_STOP_MS, server)]);
      break;
  }
  const startedMs = performance.now();
  let complaint: string | null = null;
  const isNewStart = !gateway.process.isRunning;
  if (isNewStart) complaint = await gateway.process.start().then(() => null, messageOf);
  if (complaint === null && !(await usable(gateway, name))) complaint = `it served nothing for ${USABLE_MS / 1000} s`;
  const usableMs = performance.now() - startedMs;
  const { postmasters } = await serverProcesses(gateway.dataDir);
  // The trial continues, so that one failure is counted once.
  if (complaint !== null && !gateway.process.isRunning) await gateway.process.start().catch(() => undefined);
  gateway.noteOrigin();
  return { victim, usableMs, complaint, servers: postmasters.length, goneMs, isNewStart };
}

async function stopWithin(gateway: OwnGateway): Promise<void> {
  const stuck = new AbortController();
  const late = wait(EXIT_MS, undefined, { signal: stuck.signal }).then(
    () => gateway.process.kill(),
    () => undefined,
  );
  await gateway.process.terminate();
  stuck.abort();
  await late;
}

async function after(ms: number, act: () => Promise<void>): Promise<void> {
  await wait(ms);
  await act();
}

async function ignoreEnd(starting: Promise<void>): Promise<void> {
  await starting.catch(() => undefined);
}

/** Waits until a request that needs the database is served. */
async function usable(gateway: OwnGateway, name: string): Promise<boolean> {
  gateway.noteOrigin();
  const lastMs = performance.now() + USABLE_MS;
  for (let tries = 0; performance.now() < lastMs && gateway.process.isRunning; tries += 1) {
    const { status } = await askHttp(gateway.process.origin ?? "", false, {
      method: "POST",
      path: "/v1/chat",
      headers: {
        authorization: `Bearer ${SECRET}`,
        "content-type": "application/json",
        "idempotency-key": `${name}-${tries}`,
      },
      body: Buffer.from(JSON.stringify({ messages: [{ role: "user", content: "Hello" }] })),
      timeoutMs: 5_000,
    });
    if (status === 200) return true;
    await wait(POLL_MS);
  }
  return false;
}

export interface JobState {
  readonly id: string;
  readonly status: string;
  readonly error: unknown;
}

async function untilJobsEnd(dataDir: string): Promise<readonly JobState[]> {
  const database = await openSystemDatabase({ databaseUrl: (await embeddedUrl(dataDir)) ?? "", poolSize: 2 });
  const lastMs = performance.now() + JOBS_END_MS;
  try {
    for (;;) {
      const jobs = await database.db.selectFrom("jobs").select(["id", "status", "error"]).execute();
      const isOpen = jobs.some(({ status }) => status === "queued" || status === "processing");
      if (!isOpen || performance.now() > lastMs) return jobs;
      await wait(POLL_MS);
    }
  } finally {
    await database.close();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
