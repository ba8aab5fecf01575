// R7: senders that are killed at random deliver events to receivers that fail at random [webhooks.at-least-once]. Each event reaches its receiver at least
// once, with one id and one signed body; never more than four at once to one receiver.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { brand, newId } from "../../../src/contract/ids.ts";
import { createQueue, type Queue } from "../../../src/queue/queue.ts";
import { createSeal } from "../../../src/storage/secrets/seal.ts";
import { deliverOnTerminal } from "../../../src/webhooks/on-terminal.ts";
import { PER_RECEIVER, webhookQueues } from "../../../src/webhooks/queues.ts";
import { makeSecret } from "../../../src/webhooks/sign.ts";
import { sealSecret } from "../../../src/storage/secrets/data-keys.ts";
import { webhookSecretPlace } from "../../../src/storage/secrets/secret-places.ts";
import { makeTenant, type OpenDatabase, openSystemDatabase } from "../../harness/postgres/database.ts";
import { ENCRYPTION_KEY } from "../../harness/gateway.ts";
import { startPostgresServer } from "../../harness/postgres/postgres-server.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { seeded } from "../seeded.ts";
import { type FlakyReceiver, startFlakyReceiver } from "./flaky-receiver.ts";
import type { SenderSetup } from "./sender-setup.ts";

const RECEIVERS = 50;
const TIMEOUT_MS = 2_000;
const KILLS = { short: 6, full: 100 };
/** By then a dead sender's claims and messages are available again, several times over. */
const QUIET_MS = 180_000;
/** Spread over the run, so that kills find work. */
const BATCH = 25;

export async function runWebhooks({ n, workers, seed, isShort, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  const random = seeded(seed);
  await using resources = new AsyncDisposableStack();
  const postgres = await startPostgresServer();
  resources.defer(() => postgres.stop());
  const database = await openSystemDatabase({ databaseUrl: postgres.url, poolSize: 4 });
  resources.defer(() => database.close());
  const queue = createQueue({ database, queues: webhookQueues(TIMEOUT_MS), onError: () => undefined });
  await queue.start();
  resources.defer(() => queue.stop());
  const secret = makeSecret();
  const receiver = await startFlakyReceiver(random, secret);
  resources.defer(() => receiver.close());
  const workspaces = await makeWebhooks(database, secret);
  const setup = { databaseUrl: postgres.url, receiverPort: receiver.port, timeoutMs: TIMEOUT_MS };
  const senders = await Promise.all(Array.from({ length: workers }, () => startSender(setup)));
  for (const sender of senders) resources.defer(() => sender.kill());

  const kills = isShort ? KILLS.short : KILLS.full;
  const killing = killAtRandom(senders, kills, seeded(seed + 1), (done) => say(`${done} of ${kills} kills`));
  const events = await endJobs(database, queue, workspaces, n, () => killing.isOver());
  await killing.done;
  receiver.recover();
  const pending = await untilQuiet(database, say);
  return {
    engine: "postgres",
    n,
    violations: await judge({ database, receiver, events, pending }),
    seconds: (performance.now() - started) / 1000,
    figures: await figuresOf(database, receiver, kills),
  };
}

interface Workspace {
  readonly workspaceId: string;
  readonly appId: string;
}

async function makeWebhooks(database: OpenDatabase, secret: string): Promise<readonly Workspace[]> {
  const seal = createSeal({ keys: [ENCRYPTION_KEY] });
  const tenants: Workspace[] = [];
  for (let index = 0; index < RECEIVERS; index += 1) {
    const tenant = await makeTenant(database);
    const place = webhookSecretPlace(tenant.workspaceId, "secret");
    const sealed = await database.transaction((tx) => sealSecret(tx, seal, place, secret));
    await database.db
      .insertInto("webhooks")
      .values({
        workspace_id: tenant.workspaceId,
        url: `https://receiver.example/${index}`,
        enabled: true,
        secret: sealed,
        secret_last4: secret.slice(-4),
      })
      .execute();
    tenants.push(tenant);
  }
  return tenants;
}

/** Ends the wanted number of jobs, spread over the time of the kills. */
async function endJobs(
  database: OpenDatabase,
  queue: Queue,
  workspaces: readonly Workspace[],
  n: number,
  isOver: () => boolean,
): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < n) {
    const batch = Array.from({ length: Math.min(BATCH, n - ids.length) }, () => newId("event"));
    await database.transaction(async (tx) => {
      for (const [index, id] of batch.entries()) {
        const workspace = workspaces[(ids.length + index) % workspaces.length];
        if (workspace === undefined) throw new Error("there is no workspace");
        await deliverOnTerminal({ queue }, tx, [
          {
            id,
            workspaceId: brand("workspace", workspace.workspaceId),
            appId: brand("app", workspace.appId),
            jobId: newId("job"),
            type: "transcription.job.succeeded",
            status: "succeeded",
            occurredAt: new Date(),
          },
        ]);
      }
    });
    ids.push(...batch);
    if (!isOver()) await wait(PACE_MS);
  }
  return ids;
}

const PACE_MS = 1_000;

interface Sender {
  kill(): Promise<void>;
  start(): Promise<void>;
}

async function startSender(setup: SenderSetup): Promise<Sender> {
  let child: ChildProcess | null = null;
  const sender: Sender = {
    kill: async () => {
      if (child === null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
      child = null;
    },
    start: async () => {
      child = fork(join(import.meta.dirname, "sender-child.ts"), [JSON.stringify(setup)], {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      await once(child, "message");
    },
  };
  await sender.start();
  return sender;
}

function killAtRandom(
  senders: readonly Sender[],
  kills: number,
  random: () => number,
  onKill: (done: number) => void,
): { readonly done: Promise<void>; isOver(): boolean } {
  let over = false;
  const run = async (): Promise<void> => {
    for (let done = 1; done <= kills; done += 1) {
      await wait(200 + random() * 2_000);
      const sender = senders[Math.floor(random() * senders.length)];
      await sender?.kill();
      await sender?.start();
      onKill(done);
    }
    over = true;
  };
  return { done: run(), isOver: () => over };
}

async function untilQuiet({ db }: OpenDatabase, say: (text: string) => void): Promise<number> {
  const lastMs = performance.now() + QUIET_MS;
  for (;;) {
    const { count } = await db
      .selectFrom("webhook_deliveries")
      .select((column) => column.fn.countAll<bigint>().as("count"))
      .where("state", "=", "pending")
      .executeTakeFirstOrThrow();
    say(`${count} still to deliver`);
    if (count === 0n || performance.now() > lastMs) return Number(count);
    await wait(1_000);
  }
}

async function judge(run: {
  readonly database: OpenDatabase;
  readonly receiver: FlakyReceiver;
  readonly events: readonly string[];
  readonly pending: number;
}): Promise<readonly string[]> {
  const { database, receiver, events, pending } = run;
  const rows = await database.db
    .selectFrom("webhook_deliveries")
    .select(["event_id", "state", "attempts_total"])
    .execute();
  const violations = [...receiver.faults];
  if (pending > 0) violations.push(`${pending} deliveries were still waiting ${QUIET_MS / 1000} s after the last kill`);
  if (rows.length !== events.length) violations.push(`${events.length} events have ${rows.length} deliveries`);
  for (const id of events) {
    const row = rows.find((candidate) => candidate.event_id === id);
    const accepted = receiver.events.get(id)?.accepted ?? 0;
    if (row?.state === "delivered" && accepted === 0) violations.push(`${id} counts as delivered and never was`);
    if (row?.state === "failed" && row.attempts_total < 8) violations.push(`${id} was given up too early`);
    if (row?.state !== "failed" && accepted === 0) violations.push(`${id} was lost`);
  }
  for (const id of receiver.events.keys()) if (!events.includes(id)) violations.push(`${id} is no event`);
  if (receiver.mostAtOnce() > PER_RECEIVER)
    violations.push(`${receiver.mostAtOnce()} deliveries at once to one receiver`);
  return violations;
}

async function figuresOf(database: OpenDatabase, receiver: FlakyReceiver, kills: number) {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*)::int as count from webhook_deliveries group by state`.execute(database.db);
  const records = [...receiver.events.values()];
  return {
    kills,
    requests: records.reduce((sum, { requests }) => sum + requests, 0),
    "accepted twice or more (same id)": records.filter(({ accepted }) => accepted > 1).length,
    "most at once to one receiver": receiver.mostAtOnce(),
    ...Object.fromEntries(rows.map(({ state, count }) => [state, count])),
  };
}
