// What the tests of durable work share: a gateway with a provider that answers in one go and one that is polled, priced, so that
// every charge shows; and looks into the tables.
import assert from "node:assert/strict";
import { sql } from "kysely";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { offerLapsed, purgeJobs, purgeObjects, sweepJobs } from "../../src/jobs/sweep.ts";
import { configurationWith } from "../harness/configuration.ts";
import type { TestDatabase } from "../harness/postgres/database.ts";
import { shiftClock } from "../harness/postgres/database.ts";
import { KEY, OTHER_KEY, type TestGateway } from "../harness/gateway.ts";

/** Of the same app as `KEY`, on the route of the polled provider. */
export const REMOTE_KEY = "test-key-of-the-remote-app-0001";
export const SECOND_APP_KEY = "test-key-of-the-second-app-0001";

export function jobsFile(sandbox: Sandbox, limits: ConfigurationFile["limits"] = {}): ConfigurationFile {
  return configurationWith(sandbox, {
    limits,
    scopes: ["transcribe", "jobs"],
    prices: { "deepgram/nova-3": "3.60", "assemblyai/universal-2": "3.60" },
    // For targets that a test adds.
    connections: { oa: "openai" },
    routes: { speech: "dg/nova-3", remote: "aa/universal-2" },
    apps: {
      notes: { route: "speech", key: KEY },
      remote: { route: "remote", key: REMOTE_KEY },
      second: { route: "speech", key: SECOND_APP_KEY },
    },
    workspaces: { other: { apps: { app: { route: "speech", keys: { "other-key": OTHER_KEY } } } } },
  });
}

/** The provider was asked for this work so often: polls, uploads and deletions are free. */
export function paidCalls(sandbox: Sandbox): number {
  return sandbox.calls.filter(({ method, path }) => method === "POST" && !path.endsWith("/upload")).length;
}

export async function attemptsOf({ db }: Pick<TestDatabase, "db">, jobId: string) {
  const { rows } = await sql<{ state: string; outcome: string | null; charge: string | null }>`
    select state, outcome, charge_nano_usd::text as charge from attempts
    where request_id = (select request_id from jobs where id = ${jobId}) order by id`.execute(db);
  return rows;
}

/** Every job that has ended has its one event, of its status; no other job has any. */
export async function assertEvents({ db }: Pick<TestDatabase, "db">): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select jobs.id from jobs left join webhook_events as event on event.job_id = jobs.id
    where (jobs.finished_at is not null) <> (event.id is not null) or event.status <> jobs.status
      or event.occurred_at <> date_trunc('milliseconds', jobs.finished_at)`.execute(db);
  assert.deepEqual(rows, []);
}

/** Time passes in the database, and the sweeps see to it. */
export async function pass(gateway: TestGateway, seconds: number): Promise<void> {
  await shiftClock(gateway.database, seconds);
  await offerLapsed(gateway.app.jobs);
  await sweepJobs(gateway.app.jobs);
  await purgeObjects(gateway.app.jobs);
  await purgeJobs(gateway.app.jobs);
}

/** Every row of every table, the queue's included, as text. */
export async function dumpTables({ db }: Pick<TestDatabase, "db">): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'pgboss')`.execute(
    db,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`select row_to_json(t)::text as text from ${sql.raw(name)} t`.execute(
      db,
    );
    texts.push(...rows.map((row) => row.text));
  }
  return texts.join("\n");
}
