// A worker whose connections to the database are half-open [jobs.database-outage]: it believes that it holds its jobs, nothing it writes
// arrives, others take over. When the network is back, what it wrote changes nothing and it works on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { openSystemDatabase, shiftClock } from "../harness/postgres/database.ts";
import { startGateway } from "../harness/gateway.ts";
import { startFaultProxy } from "../harness/fault-proxy.ts";
import { HELD, releaseHeld } from "../harness/held.ts";
import { ended, submit } from "../http/jobs/jobs.ts";
import { assertEvents, attemptsOf, jobsFile, paidCalls, pass, REMOTE_KEY } from "./setting.ts";

test("jobs.database-outage: half-open connections to the database lose no job, pay nothing twice and change no job that another worker ended", async (t) => {
  const gateway = await startGateway({ file: jobsFile, works: false });
  t.after(() => gateway.close());
  const { origin, sandbox, database } = gateway;
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database.db);
  const direct = new URL(process.env["DATABASE_URL"] ?? "");
  direct.pathname = `/${rows[0]?.name}`;
  const proxy = await startFaultProxy(direct.href);
  t.after(() => proxy.close());
  const behind = await openSystemDatabase({ databaseUrl: proxy.url });
  const cutOff = await startGateway({ file: jobsFile, existing: { ...gateway, database: behind } });

  // One call in flight, and one run that is polled.
  sandbox.addFault({ wire: "deepgram", times: 1, fault: HELD });
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 1 } });
  const { job_id: called } = await submit(origin);
  const { job_id: polled } = await submit(origin, { key: REMOTE_KEY });
  await sandbox.waitForCall(({ wire }) => wire === "deepgram");
  await sandbox.waitForCall(({ method, path }) => method === "GET" && path.includes("/transcript/"));
  proxy.set({ kind: "half-open" });
  await releaseHeld(sandbox);

  const other = await startGateway({ file: jobsFile, existing: gateway });
  await pass(other, 31);
  const ends = [await ended(origin, called), await ended(origin, polled, REMOTE_KEY)];
  assert.deepEqual(
    ends.map(({ status, error, attempts }) => [status, error?.code ?? null, attempts]),
    [
      ["failed", "PROVIDER_RESULT_UNKNOWN", 2],
      ["succeeded", null, 2],
    ],
  );
  assert.equal(paidCalls(sandbox), 2);
  const rowsOf = () =>
    database.db.selectFrom("jobs").selectAll().where("id", "in", [called, polled]).orderBy("id").execute();
  // What follows a job's end, the removal of its audio, is done then too.
  await other.close();
  const before = await rowsOf();

  proxy.clear();
  const { job_id: next } = await submit(origin);
  assert.equal((await ended(origin, next)).status, "succeeded", "the worker that was cut off works on");
  await cutOff.close();
  await behind.close();
  assert.deepEqual(await rowsOf(), before);
  assert.equal(paidCalls(sandbox), 3);
  assert.deepEqual(
    (await attemptsOf(database, called)).map(({ outcome, charge }) => [outcome, charge]),
    [["unknown", "0"]],
  );
  await shiftClock(database, 0);
  await assertEvents(database);
});
