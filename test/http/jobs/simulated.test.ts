// Which jobs report that the sandbox serves them [jobs.simulated-mark], before they run, while they do and afterwards.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import { generateKey } from "../../../src/auth/key-format.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { listedJob } from "../../../src/contract/admin/job-list.ts";
import { postJson } from "../../harness/client.ts";
import { byId, configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { pretendInternet } from "../../outbound/pretend-internet.ts";
import { ended, JOBS, list, poll, submit, submittedOf } from "./jobs.ts";

const OPERATOR = "test-key-of-the-operator-0000001";
const TEST_KEY = generateKey("test");
const internet = pretendInternet();

function fileOf(sandbox: Sandbox): ConfigurationFile {
  const routes = {
    real: "dg/nova-3",
    simulated: "sim/simulated-speech",
    "real-first": ["dg/nova-3", "sim/simulated-speech"],
    "simulated-first": ["sim/simulated-speech", "dg/nova-3"],
  };
  return configurationWith(sandbox, {
    scopes: ["jobs"],
    operator: OPERATOR,
    routes,
    workspaces: {
      acme: {
        audio_url_domains: ["media.example"],
        apps: {
          notes: { purposes: byId(Object.keys(routes), (purpose) => purpose), keys: { live: KEY, test: TEST_KEY } },
        },
      },
    },
  });
}

/** Nothing is worked on here. */
let gateway: TestGateway;
before(async () => {
  internet.name("media.example", ["93.184.216.34"]);
  gateway = await startGateway({ file: fileOf, works: false, network: internet });
});
after(() => gateway.close());

/** As the job says it, as the app's list does, and as the operator's does. */
async function saidOf(id: string): Promise<boolean> {
  const { origin, adminOrigin } = gateway;
  const response = await fetch(`${adminOrigin}/admin/v1/jobs?job=${id}`, {
    headers: { authorization: `Bearer ${OPERATOR}` },
  });
  const [listed] = listOf(listedJob).parse(await response.json()).data;
  const own = (await list(origin)).data.find(({ job_id: each }) => each === id);
  const { simulated } = await poll(origin, id);
  assert.deepEqual([own?.simulated, listed?.simulated], [simulated, simulated]);
  return simulated;
}

const upload = async (purpose: string, key = KEY) =>
  (await submit(gateway.origin, { key, fields: { purpose } })).job_id;
const byUrl = async (purpose: string, key = KEY) =>
  submittedOf(
    await postJson(gateway.origin, { purpose, audio: { url: "https://media.example/a.wav" } }, { path: JOBS, key }),
  ).job_id;

/** The first: those that wait below would be worked on before. */
test("jobs.simulated-mark: a job that ended reports who served it, whichever target was to", async () => {
  const worker = await startGateway({ file: fileOf, existing: gateway, network: internet });
  try {
    const run = async (purpose: string) => {
      const { job_id: id } = await submit(worker.origin, { fields: { purpose } });
      return { id, done: await ended(worker.origin, id) };
    };
    worker.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 400 } });
    const fellBack = await run("real-first");
    assert.deepEqual([fellBack.done.status, await saidOf(fellBack.id)], ["succeeded", true]);
    assert.ok(fellBack.done.result?.warnings.some(({ code }) => code === "SIMULATED_PROVIDER"));
    // The call that failed as the latest: who served counts.
    await worker.database.db
      .updateTable("attempts")
      .set({ created_at: new Date(Date.now() + 60_000) })
      .where("outcome", "like", "failed%")
      .execute();
    assert.equal(await saidOf(fellBack.id), true);
    const served = await run("real-first");
    assert.deepEqual([served.done.status, await saidOf(served.id)], ["succeeded", false]);
    worker.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 400 } });
    const failed = await run("real");
    assert.deepEqual([failed.done.status, await saidOf(failed.id)], ["failed", false]);
  } finally {
    await worker.close();
  }
});

test("jobs.simulated-mark: a waiting job reports whether the sandbox is to serve it: by its key, else by its first target", async () => {
  for (const [purpose, key, isSimulated] of [
    ["real", KEY, false],
    ["real", TEST_KEY, true],
    ["simulated", KEY, true],
    ["real-first", KEY, false],
    ["simulated-first", KEY, true],
  ] as const)
    for (const make of [upload, byUrl])
      assert.equal(await saidOf(await make(purpose, key)), isSimulated, `${make.name} ${purpose}`);
});

test("jobs.simulated-mark: a job of an older version, without a record of it, is not reported as simulated", async () => {
  const id = await byUrl("simulated");
  await gateway.database.db.updateTable("jobs").set({ begins_simulated: null }).where("id", "=", id).execute();
  assert.equal(await saidOf(id), false);
  const uploaded = await upload("simulated");
  await gateway.database.db.updateTable("jobs").set({ begins_simulated: null }).where("id", "=", uploaded).execute();
  assert.equal(await saidOf(uploaded), true, "its reservation says it");
});
