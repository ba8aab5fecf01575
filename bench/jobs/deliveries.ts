// Measures deliveries of webhooks on a server, by a receiver on loopback that answers at once: statements, CPU time and delay of each. Bursts of jobs without and
// with a webhook show what deliveries add to jobs, and backlogs of deliveries show them alone.
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { brand, newId } from "../../src/contract/ids.ts";
import { createQueue, type Queue } from "../../src/queue/queue.ts";
import { sealSecret } from "../../src/storage/secrets/data-keys.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { webhookSecretPlace } from "../../src/storage/secrets/secret-places.ts";
import { deliverOnTerminal } from "../../src/webhooks/on-terminal.ts";
import { webhookQueues } from "../../src/webhooks/queues.ts";
import { makeSecret } from "../../src/webhooks/sign.ts";
import { makeTenant, type OpenDatabase, openSystemDatabase } from "../../test/harness/postgres/database.ts";
import { type PostgresServer, startPostgresServer } from "../../test/harness/postgres/postgres-server.ts";
import type { Running } from "../measure/child-process.ts";
import { cpuMsOf } from "../cost.ts";
import { startPatchbay, startReceiver, startStandIn } from "../measure/processes.ts";
import { quantile, type Report, round } from "../measure/report.ts";
import { burst, type JobsBench } from "./jobs.ts";

const BACKLOG_RECEIVERS = [1, 50];
const WARM_UP = 100;
const LONGEST_MS = 300_000;
const POLL_MS = 100;

interface Setting {
  readonly gateway: Running;
  readonly receiver: Running;
  readonly postgres: PostgresServer;
  readonly database: OpenDatabase;
  readonly queue: Queue;
}

interface Tenant {
  readonly workspaceId: string;
  readonly appId: string;
}

interface Cost {
  readonly statements: number;
  readonly gatewayMs: number;
  readonly postgresMs: number;
}

interface Figures extends Cost {
  readonly load: string;
  readonly n: number;
  readonly perSecond: number;
  readonly delayP50Ms: number | null;
  readonly delayP95Ms: number | null;
}

export async function benchDeliveries(options: JobsBench): Promise<Report> {
  const encryptionKey = randomBytes(32);
  await using resources = new AsyncDisposableStack();
  const postgres = await startPostgresServer({
    commits: "kept",
    settings: ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=10000"],
  });
  resources.defer(() => postgres.stop());
  const standIn = resources.use(await startStandIn());
  const receiver = resources.use(await startReceiver());
  const gateway = resources.use(
    await startPatchbay({ providerUrl: standIn.origin, databaseUrl: postgres.url, encryptionKey }),
  );
  const database = await openSystemDatabase({ databaseUrl: postgres.url, poolSize: 2 });
  resources.defer(() => database.close());
  const queue = createQueue({ database, queues: webhookQueues(15_000), onError: () => undefined });
  await queue.start();
  resources.defer(() => queue.stop());
  await sql`create extension pg_stat_statements`.execute(database.db);
  const setting: Setting = { gateway, receiver, postgres, database, queue };

  await burst(gateway, WARM_UP, options.connections);
  const jobs = await measure(setting, "jobs without a webhook", options.jobs, () =>
    burst(gateway, options.jobs, options.connections),
  );
  await addWebhook(setting, await ownerOfJobs(database), encryptionKey);
  await burst(gateway, WARM_UP, options.connections);
  await untilDelivered(setting);
  const delivered = await measure(setting, "jobs with a webhook", options.jobs, () =>
    burst(gateway, options.jobs, options.connections),
  );
  const figures = [jobs, delivered];
  for (const receivers of BACKLOG_RECEIVERS) {
    const tenants: Tenant[] = [];
    for (let index = 0; index < receivers; index += 1) tenants.push(await makeTenant(database));
    for (const tenant of tenants) await addWebhook(setting, tenant, encryptionKey);
    await endJobs(setting, tenants, WARM_UP);
    await untilDelivered(setting);
    const load = `backlog of deliveries, ${receivers} ${receivers === 1 ? "receiver" : "receivers"}`;
    figures.push(await measure(setting, load, options.jobs, () => endJobs(setting, tenants, options.jobs)));
  }
  return {
    name: "jobs --webhook",
    rows: figures.map((each) => ({
      load: each.load,
      n: each.n,
      "per second": round(each.perSecond, 1),
      statements: round(each.statements, 2),
      "gateway CPU ms": round(each.gatewayMs, 2),
      "PostgreSQL CPU ms": round(each.postgresMs, 2),
      "end to arrival p50 ms": each.delayP50Ms ?? "–",
      "p95 ms": each.delayP95Ms ?? "–",
    })),
    notes: [
      `statements and CPU time of each job or delivery, with polls and sweeps; n = ${options.jobs}, ${options.connections} connections`,
      `what a delivery adds to a job of a burst: ${describe(difference(delivered, jobs))}`,
      "a backlog: deliveries of jobs that end in one transaction, at most four at once to one receiver",
    ],
    data: { ...options, measured: figures },
  };
}

async function measure(setting: Setting, load: string, n: number, work: () => Promise<unknown>): Promise<Figures> {
  const { gateway, receiver, postgres, database } = setting;
  await arrivals(receiver);
  await sql`select pg_stat_statements_reset()`.execute(database.db);
  const before = { gatewayMs: cpuMsOf(gateway.pid), postgresMs: cpuMsOf(postgres.pid), atMs: performance.now() };
  await work();
  const polls = await untilDelivered(setting);
  const seconds = (performance.now() - before.atMs) / 1000;
  const gatewayMs = (cpuMsOf(gateway.pid) - before.gatewayMs) / n;
  const postgresMs = (cpuMsOf(postgres.pid) - before.postgresMs) / n;
  // Without checks of foreign keys, which PostgreSQL makes itself.
  const { rows } = await sql<{
    calls: number;
  }>`select sum(calls)::float8 as calls from pg_stat_statements where query not like 'SELECT % FROM ONLY %'`.execute(
    database.db,
  );
  const delays = await arrivals(receiver);
  if (delays.length > 0 && delays.length !== n) throw new Error(`${delays.length} of ${n} deliveries arrived`);
  return {
    load,
    n,
    perSecond: n / seconds,
    statements: ((rows[0]?.calls ?? 0) - polls) / n,
    gatewayMs,
    postgresMs,
    delayP50Ms: delays.length === 0 ? null : quantile(delays, 0.5),
    delayP95Ms: delays.length === 0 ? null : quantile(delays, 0.95),
  };
}

/** Returns how often it asked. */
async function untilDelivered({ database }: Setting): Promise<number> {
  const lastMs = performance.now() + LONGEST_MS;
  for (let polls = 1; ; polls += 1) {
    const { rows } = await sql<{ waiting: boolean }>`select
      exists (select from webhook_deliveries where state = 'pending')
        or exists (select from pgboss.job where state < 'completed' and name like 'webhook-%') as waiting`.execute(
      database.db,
    );
    if (rows[0]?.waiting === false) return polls;
    if (performance.now() > lastMs) throw new Error("the deliveries did not end in time");
    await wait(POLL_MS);
  }
}

async function arrivals(receiver: Running): Promise<readonly number[]> {
  return (await (await fetch(receiver.origin)).json()) as readonly number[];
}

async function addWebhook(
  { database, receiver }: Setting,
  { workspaceId }: Pick<Tenant, "workspaceId">,
  encryptionKey: Buffer,
): Promise<void> {
  const seal = createSeal({ keys: [encryptionKey] });
  const secret = makeSecret();
  await database.transaction(async (tx) => {
    const sealed = (column: "secret" | "sealed_url", text: string) =>
      sealSecret(tx, seal, webhookSecretPlace(workspaceId, column), text);
    await tx
      .insertInto("webhooks")
      .values({
        workspace_id: workspaceId,
        sealed_url: await sealed("sealed_url", `${receiver.origin}/hooks`),
        enabled: true,
        secret: await sealed("secret", secret),
        secret_last4: secret.slice(-4),
      })
      .execute();
  });
}

async function ownerOfJobs({ db }: OpenDatabase): Promise<Pick<Tenant, "workspaceId">> {
  const row = await db.selectFrom("jobs").select("workspace_id").limit(1).executeTakeFirstOrThrow();
  return { workspaceId: row.workspace_id };
}

/** The events of jobs that do not exist. */
async function endJobs({ database, queue }: Setting, tenants: readonly Tenant[], count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => {
    const tenant = tenants[index % tenants.length];
    if (tenant === undefined) throw new Error("there is no workspace");
    return {
      id: newId("event"),
      workspaceId: brand("workspace", tenant.workspaceId),
      appId: brand("app", tenant.appId),
      jobId: newId("job"),
      type: "transcription.job.succeeded",
      status: "succeeded",
      occurredAt: new Date(),
    } as const;
  });
  await database.transaction((tx) => deliverOnTerminal({ queue }, tx, events));
}

function difference(left: Cost, right: Cost): Cost {
  return {
    statements: left.statements - right.statements,
    gatewayMs: left.gatewayMs - right.gatewayMs,
    postgresMs: left.postgresMs - right.postgresMs,
  };
}

function describe({ statements, gatewayMs, postgresMs }: Cost): string {
  return `${round(statements, 1)} statements, ${round(gatewayMs, 2)} ms of the gateway's CPU, ${round(postgresMs, 2)} ms of PostgreSQL's`;
}
