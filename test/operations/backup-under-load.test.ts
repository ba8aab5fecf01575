// A backup while the gateway answers requests and works on jobs: of one moment, whole, and a restored installation continues from there.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import type { Sandbox } from "../../sandbox/server.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import { collectBackup } from "../../src/operations/backup/collect-backup.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { listNeededObjects } from "../../src/jobs/store/job-sweep.ts";
import { run } from "../cli/fake-gateway.ts";
import { openEmbedded } from "../harness/postgres/embedded-data.ts";
import { envelopeOf, postForm } from "../harness/client.ts";
import { startGateway } from "../harness/gateway.ts";
import { ended, submit } from "../http/jobs/jobs.ts";
import { assertEvents, jobsFile, pass } from "../jobs/setting.ts";
import { bareConfiguration, type Installation, makeInstallation } from "./installation.ts";
import { type OpenDatabase, withSystemAccess } from "../harness/postgres/database.ts";

let installation: Installation;
before(async () => {
  installation = await makeInstallation();
});
after(() => installation.close());

/** Each result is an object, and all of app `notes` is charged to one budget. */
function file(sandbox: Sandbox): ConfigurationFile {
  const usual = jobsFile(sandbox, { stt_job_inline_result_bytes: 64 });
  const workspaces = usual.workspaces?.map((workspace) => ({
    ...workspace,
    apps: workspace.apps?.map((app) =>
      app.id === "notes" ? { ...app, budgets: [{ period: "total" as const, limit_usd: "1000" }] } : app,
    ),
  }));
  return { ...usual, ...(workspaces === undefined ? {} : { workspaces }) };
}

/** As an operator's command reads it. */
async function configurationOf(dataDir: string): Promise<Configuration> {
  const config = await bareConfiguration(dataDir);
  const loaded = loadConfiguration({ file: config, env: {}, cwd: dataDir });
  assert.ok(loaded.ok);
  return loaded.configuration;
}

const keyed = (name: string) => ({ headers: { "idempotency-key": name } });

test("storage.backup-consistent: a backup under load is of one moment: rows, money and objects fit, what was answered replays, every job ends", async () => {
  const gateway = await installation.start({ file });
  const answered = new Map<string, string>();
  for (const name of ["one", "two", "three"])
    answered.set(name, envelopeOf(await postForm(gateway.origin, keyed(name))).id);
  await ended(gateway.origin, (await submit(gateway.origin)).job_id);
  const backedUp = new AbortController();
  const load = Array.from({ length: 3 }, async (_, client) => {
    for (let n = 0; !backedUp.signal.aborted; n += 1) {
      envelopeOf(await postForm(gateway.origin, keyed(`load-${client}-${n}`)));
      await submit(gateway.origin);
    }
  });
  const archive = join(installation.dataDir, "..", "under-load.tar");
  const made = await installation.patchbay("backup", archive).finally(() => backedUp.abort());
  await Promise.all(load);
  assert.equal(made.exitCode, 0, made.stderr);
  await gateway.close();

  const dataDir = join(installation.dataDir, "..", "restored");
  mkdirSync(dataDir, { mode: 0o700 });
  // Compares every table's rows with those of the backup's moment.
  const restored = await run(["restore", archive, "--config", await bareConfiguration(dataDir)]);
  assert.equal(restored.exitCode, 0, restored.stderr);
  const database = await openEmbedded(dataDir);
  try {
    await assertFitting(database, dataDir);
    const existing = { dataDir, sandbox: installation.sandbox, database };
    const again = await startGateway({ file, existing });
    try {
      for (const [name, id] of answered) {
        const replay = await postForm(again.origin, keyed(name));
        assert.deepEqual([envelopeOf(replay).id, replay.headers.get("x-svc-idempotent-replay")], [id, "true"]);
      }
      await pass(again, 31);
      const jobs = await database.db.selectFrom("jobs").select("id").execute();
      assert.ok(jobs.length > 0);
      for (const { id } of jobs) await ended(again.origin, id);
      await assertEvents(database);
    } finally {
      await again.close();
    }
  } finally {
    await database.close();
  }
});

async function assertFitting(database: OpenDatabase, dataDir: string): Promise<void> {
  const { rows } = await sql<{ spent: string; reserved: string; charged: string; open: string }>`
    select sum(spent_nano_usd)::text as spent, sum(reserved_nano_usd)::text as reserved,
      (select coalesce(sum(charge_nano_usd), 0)::text from attempts where state = 'settled' and windows <> '[]') as charged,
      (select coalesce(sum(reserved_nano_usd), 0)::text from attempts where state = 'open' and windows <> '[]') as open
    from budget_windows`.execute(database.db);
  const [money] = rows;
  assert.ok(money !== undefined && money.spent !== "0");
  assert.deepEqual([money.spent, money.reserved], [money.charged, money.open]);
  const objects = await listNeededObjects(database.db);
  assert.ok(objects.length > 0);
  assert.deepEqual(
    objects.filter((key) => !existsSync(join(dataDir, "objects", key))),
    [],
  );
  await assertEvents(database);
}

test("storage.backup-consistent: where an object was removed before it was linked, another snapshot is taken that does not need it", async () => {
  const dataDir = join(installation.dataDir, "..", "restored");
  const database = await openEmbedded(dataDir);
  const { db } = database;
  try {
    await sql`alter table jobs disable trigger user`.execute(db);
    const job = await db
      .selectFrom("jobs")
      .select(["id", "result_key"])
      .where("result_key", "is not", null)
      .executeTakeFirstOrThrow();
    rmSync(join(dataDir, "objects", job.result_key ?? ""));
    let snapshots = 0;
    const observed = withSystemAccess(database, {
      transaction: async (work) => {
        const result = await database.transaction(work);
        snapshots += 1;
        // As a purge does it, after the first snapshot.
        if (snapshots === 1)
          await sql`update jobs set expires_at = patchbay_now() - interval '1 second' where id = ${job.id}`.execute(db);
        return result;
      },
    });
    const { storage } = await configurationOf(dataDir);
    await collectBackup(observed, { storage }, join(dataDir, ".collected"), false);
    assert.equal(snapshots, 2);
  } finally {
    await database.close();
  }
});
