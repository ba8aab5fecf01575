// The embedded database is killed under a running gateway: it is started again, and requests, jobs, notifications and the lock continue to work.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { announceChange } from "../../../src/storage/connection/announce.ts";
import { listenForChanges } from "../../../src/storage/connection/changes.ts";
import { InstallationInUse, lockInstallation } from "../../../src/storage/embedded/installation-lock.ts";
import { readPlacement } from "../../../src/storage/embedded/placement.ts";
import { envelopeOf, get, postForm } from "../../harness/client.ts";
import type { TestGateway } from "../../harness/gateway.ts";
import { ended, submit } from "../../http/jobs/jobs.ts";
import { assertEvents, jobsFile } from "../../jobs/setting.ts";
import { type Installation, makeInstallation } from "../../operations/installation.ts";
import { postmasterOf, until } from "./processes.ts";

let installation: Installation;
let gateway: TestGateway;
before(async () => {
  installation = await makeInstallation();
  gateway = await installation.start({ file: jobsFile });
});
after(async () => {
  await gateway.close();
  await installation.close();
});

async function killDatabase(): Promise<void> {
  const { data } = await readPlacement(installation.dataDir);
  process.kill(postmasterOf(data), "SIGKILL");
}

const isReady = async () => (await fetch(`${gateway.origin}/readyz`)).status === 200;
const pings = () =>
  gateway.database.ping().then(
    () => true,
    () => false,
  );

test("storage.embedded-restart: while the database is down requests are 503 OVERLOADED, and an accepted job and an answer survive it", async () => {
  const headers = { "idempotency-key": "answered-before-the-crash" };
  const answered = envelopeOf(await postForm(gateway.origin, { headers })).id;
  const { job_id: job } = await submit(gateway.origin);
  await killDatabase();
  const seen = new Set<number>();
  await until(async () => {
    const { status, code } = await postForm(gateway.origin);
    seen.add(status);
    if (status !== 200) assert.deepEqual([status, code], [503, "OVERLOADED"]);
    return status === 200;
  });
  await until(isReady);
  assert.ok((await ended(gateway.origin, job)).finished_at !== null);
  const replay = await postForm(gateway.origin, { headers });
  assert.deepEqual([envelopeOf(replay).id, replay.headers.get("x-svc-idempotent-replay")], [answered, "true"]);
  assert.equal((await get(gateway.origin, "/v1/me")).status, 200);
  await assertEvents(gateway.database);
});

test("storage.embedded-restart: a listener continues after the restart, and is notified that it may have missed something", async () => {
  const changes = await listenForChanges(gateway.database, { onError: () => undefined, keyIds: [] });
  try {
    const heard: (string | null)[] = [];
    changes.onChange("leases", (detail) => heard.push(detail));
    await gateway.database.transaction((tx) => announceChange(tx, "leases", "one"));
    await until(() => heard.length === 1);
    await killDatabase();
    await until(() => heard.length === 2);
    await until(pings);
    await gateway.database.transaction((tx) => announceChange(tx, "leases", "two"));
    await until(() => heard.length === 3);
    assert.deepEqual(heard, ["one", null, "two"]);
  } finally {
    await changes.close();
  }
});

test("storage.one-owner: the installation stays locked while its database is down", async () => {
  await killDatabase();
  await assert.rejects(lockInstallation(installation.dataDir), InstallationInUse);
  await until(pings);
  await assert.rejects(lockInstallation(installation.dataDir), InstallationInUse);
});

test("storage.embedded-environment: what is configured for other servers in the environment does not reach the embedded one", async () => {
  const elsewhere = { PGSSLMODE: "require", PGHOST: "db.example", PGPORT: "1", PGUSER: "nobody", PGDATABASE: "none" };
  const kept = { ...process.env };
  Object.assign(process.env, elsewhere);
  try {
    const { exitCode, stdout, stderr } = await installation.patchbay("audit", "verify");
    assert.deepEqual([exitCode, stdout], [0, ""], stderr);
  } finally {
    for (const name of Object.keys(elsewhere)) delete process.env[name];
    Object.assign(process.env, kept);
  }
});
