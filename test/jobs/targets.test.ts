// Which targets a job calls, and what each costs: the next after a definite failure [jobs.fallback], none after an unknown one
// [jobs.unknown-outcome]; purpose and route as they were at submission, health as it is now; a budget that is exact in the end.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { applyConfiguration } from "../../src/directory/apply-configuration.ts";
import { deleteConnection } from "../../src/directory/store/connections.ts";
import { configurationOf, KEY, PEPPER } from "../harness/gateway.ts";
import { cancel, ended, submit } from "../http/jobs/jobs.ts";
import { startIdleGateway } from "./idle-gateway.ts";
import { attemptsOf, jobsFile, paidCalls, REMOTE_KEY, SECOND_APP_KEY } from "./setting.ts";

const { gateway, startWorker, leftWhilePolled } = await startIdleGateway(twoTargets);
afterEach(async () => {
  const windows = await gateway.database.db.selectFrom("budget_windows").selectAll().execute();
  assert.ok(windows.every((window) => window.reserved_nano_usd === 0n && window.reserved_audio_ms === 0n));
});

test("jobs.fallback: after a definite failure the next target serves, and only it is charged", async () => {
  const { origin, database, sandbox } = gateway;
  sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 500 } });
  await startWorker();
  const { job_id: id } = await submit(origin);
  const done = await ended(origin, id);
  assert.equal(done.status, "succeeded", JSON.stringify(done.error));
  const attempts = await attemptsOf(database, id);
  assert.deepEqual(
    attempts.map(({ outcome }) => outcome),
    ["failed:server_error", "succeeded"],
  );
  assert.equal(attempts[0]?.charge, "0");
});

test("jobs.unknown-outcome: after an unknown outcome no other target is called, and nothing is charged", async () => {
  const { origin, database, sandbox } = gateway;
  sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "reset_after_body" } });
  await startWorker();
  const { job_id: id } = await submit(origin);
  const done = await ended(origin, id);
  assert.deepEqual([done.status, done.error?.code], ["failed", "PROVIDER_RESULT_UNKNOWN"]);
  assert.equal(paidCalls(sandbox), 1);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "unknown", charge: "0" }]);
});

test("jobs.fallback: when every target fails definitely the job's error lists each attempt", async () => {
  const { origin, database, sandbox } = gateway;
  sandbox.addFault({ times: 2, fault: { kind: "status", status: 400 } });
  await startWorker();
  const { job_id: id } = await submit(origin);
  const done = await ended(origin, id);
  assert.equal(done.error?.code, "PROVIDER_REJECTED");
  assert.deepEqual(
    (await attemptsOf(database, id)).map(({ charge }) => charge),
    ["0", "0"],
  );
});

test("jobs.fixed-at-submission: the route is the one of the submission, also when the operator has changed it since", async () => {
  const { origin, sandbox, database, app } = gateway;
  const { job_id: id } = await submit(origin);
  const changed = twoTargets(sandbox);
  const file = {
    ...changed,
    routes: (changed.routes ?? []).map((route) =>
      route.id === "speech" ? { ...route, targets: [{ connection: "oa", model: "whisper-1" }] } : route,
    ),
  };
  const { seal } = app.jobs;
  const configuration = await configurationOf(file, gateway.dataDir);
  await applyConfiguration({ database, seal, pepper: PEPPER }, configuration, { isFile: true });
  await startWorker({ file: () => file });
  assert.equal((await ended(origin, id, KEY)).status, "succeeded");
  assert.deepEqual(
    sandbox.calls.map(({ wire }) => wire),
    ["deepgram"],
  );
});

test("jobs.account-gone: a target whose account is gone is not eligible: what the others refuse is refused by all", async () => {
  const { origin, sandbox, database } = gateway;
  sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 400 } });
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  await database.transaction((tx) => deleteConnection(tx, { scope: "platform", id: "aa" }));
  await startWorker({ file: withoutRemote });
  assert.equal((await ended(origin, id, REMOTE_KEY)).error?.code, "PROVIDER_REJECTED");
});

test("jobs.account-gone: a run whose account is gone when its successor comes has an unknown outcome, and no other target is called after it", async () => {
  const { origin, sandbox, database } = gateway;
  const id = await leftWhilePolled();
  await database.transaction((tx) => deleteConnection(tx, { scope: "platform", id: "aa" }));
  await startWorker({ file: withoutRemote });
  const done = await ended(origin, id, REMOTE_KEY);
  assert.deepEqual([done.status, done.error?.code], ["failed", "PROVIDER_RESULT_UNKNOWN"], JSON.stringify(done.error));
  assert.equal(paidCalls(sandbox), 1);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "unknown", charge: "0" }]);
});

test("jobs.account-gone: so has one whose connection is another provider's by then, and that provider is not asked for it", async () => {
  const { origin, sandbox, database } = gateway;
  const id = await leftWhilePolled();
  const calls = sandbox.calls.length;
  await startWorker({ file: withRemoteElsewhere });
  const done = await ended(origin, id, REMOTE_KEY);
  assert.deepEqual([done.status, done.error?.code], ["failed", "PROVIDER_RESULT_UNKNOWN"], JSON.stringify(done.error));
  assert.equal(sandbox.calls.length, calls);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "unknown", charge: "0" }]);
});

test("jobs.unknown-outcome: on a route that may pay twice, a dead worker's call without a target after it still has an unknown outcome", async () => {
  const { origin, sandbox, database } = gateway;
  sandbox.addFault({ wire: "deepgram", fault: { kind: "stall" } });
  const first = await startWorker();
  const { job_id: id } = await submit(origin, { key: SECOND_APP_KEY });
  await sandbox.waitForCall(({ wire }) => wire === "deepgram");
  await first.close();
  await startWorker();
  const done = await ended(origin, id, SECOND_APP_KEY);
  assert.deepEqual([done.status, done.error?.code], ["failed", "PROVIDER_RESULT_UNKNOWN"], JSON.stringify(done.error));
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "unknown", charge: "0" }]);
});

test("jobs.charge: what jobs spent is in the budget to the nano-dollar, and nothing stays reserved", async () => {
  const { origin, database } = gateway;
  const before = await spent();
  await startWorker();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push((await submit(origin)).job_id);
  for (const id of ids) await ended(origin, id);
  let charged = 0n;
  for (const id of ids) for (const { charge } of await attemptsOf(database, id)) charged += BigInt(charge ?? 0);
  assert.ok(charged > 0n);
  assert.equal((await spent()) - before, charged);
});

test("jobs.charge, jobs.fixed-at-submission: a price that is raised while a job waits is not this job's: it succeeds, and is charged what was reserved", async () => {
  const { origin, sandbox, database } = gateway;
  const { job_id: id } = await submit(origin);
  const reserved = await reservedFor(id);
  assert.ok(reserved > 0n);
  await startWorker({ file: () => raised(sandbox, "7.20") });
  const done = await ended(origin, id);
  assert.equal(done.status, "succeeded", JSON.stringify(done.error));
  assert.deepEqual(await attemptsOf(database, id), [
    { state: "settled", outcome: "succeeded", charge: String(reserved) },
  ]);
});

test("jobs.charge, jobs.cancel-charge: cancelled after its price was raised, a run at a provider is charged what was reserved", async () => {
  const { origin, sandbox, database } = gateway;
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 50 } });
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  const reserved = await reservedFor(id);
  await startWorker({ file: () => raised(sandbox, "14.40") });
  await sandbox.waitForCall(({ method, path }) => method === "GET" && path.includes("/transcript/"));
  await cancel(origin, id, REMOTE_KEY);
  assert.equal((await ended(origin, id, REMOTE_KEY)).status, "cancelled");
  assert.deepEqual(await attemptsOf(database, id), [
    { state: "settled", outcome: "aborted", charge: String(reserved) },
  ]);
});

function raised(sandbox: Sandbox, rate: string): ConfigurationFile {
  const file = twoTargets(sandbox);
  return { ...file, prices: (file.prices ?? []).map((price) => ({ ...price, usd_per_audio_hour: rate })) };
}

async function reservedFor(id: string): Promise<bigint> {
  const { request_id: requestId } = await gateway.database.db
    .selectFrom("jobs")
    .select("request_id")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const attempts = await gateway.database.db
    .selectFrom("attempts")
    .select("reserved_nano_usd")
    .where("request_id", "=", requestId)
    .execute();
  return attempts.reduce((sum, attempt) => sum + attempt.reserved_nano_usd, 0n);
}

async function spent(): Promise<bigint> {
  const windows = await gateway.database.db.selectFrom("budget_windows").select("spent_nano_usd").execute();
  return windows.reduce((sum, window) => sum + window.spent_nano_usd, 0n);
}

function twoTargets(sandbox: Sandbox): ConfigurationFile {
  const file = jobsFile(sandbox);
  const [acme, ...others] = file.workspaces ?? [];
  if (acme === undefined) throw new Error("the file has no workspace");
  const apps = (acme.apps ?? []).map((app) =>
    app.id === "notes"
      ? { ...app, budgets: [{ period: "month" as const, limit_usd: "1.00" }] }
      : { ...app, route: app.id === "second" ? "twice" : app.route },
  );
  return {
    ...file,
    routes: [
      {
        id: "speech",
        targets: [
          { connection: "dg", model: "nova-3" },
          { connection: "oa", model: "whisper-1" },
        ],
      },
      { id: "twice", targets: [{ connection: "dg", model: "nova-3" }], may_pay_twice: true },
      {
        id: "remote",
        targets: [
          { connection: "aa", model: "universal-2" },
          { connection: "dg", model: "nova-3" },
        ],
      },
    ],
    workspaces: [{ ...acme, apps }, ...others],
  };
}

function withRemoteElsewhere(sandbox: Sandbox): ConfigurationFile {
  const { connections = [], routes = [], ...file } = twoTargets(sandbox);
  return {
    ...file,
    connections: connections.map((connection) =>
      connection.id === "aa"
        ? { id: "aa", kind: "deepgram", api_key: "dg-secret", base_url: sandbox.deepgramUrl }
        : connection,
    ),
    routes: routes.map((route) => ({
      ...route,
      targets: route.targets.map((target) => (target.connection === "aa" ? { ...target, model: "nova-3" } : target)),
    })),
  };
}

function withoutRemote(sandbox: Sandbox): ConfigurationFile {
  const { connections = [], routes = [], ...file } = twoTargets(sandbox);
  return {
    ...file,
    connections: connections.filter((connection) => connection.id !== "aa"),
    routes: routes.map((route) => ({
      ...route,
      targets: route.targets.filter(({ connection }) => connection !== "aa"),
    })),
  };
}
