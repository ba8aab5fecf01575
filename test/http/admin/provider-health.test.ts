// GET /admin/v1/health/providers: what all processes saw of providers, and the circuits of the one that answers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { keyView } from "../../../src/contract/admin/keys.ts";
import { HEALTH_LIMITS, type ProviderHealth, providerHealth } from "../../../src/contract/admin/provider-health.ts";
import { requestRecord } from "../../../src/contract/requests.ts";
import { postForm } from "../../harness/client.ts";
import { KEY, OTHER_KEY, type TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { ADMIN_KEY, call, startAdminGateway, viewOf } from "./admin.ts";
import { connect, keyOn, PLATFORM, publish, targets } from "./set-up.ts";

const PATH = `${PLATFORM}/health/providers`;
let here: TestGateway;
let there: TestGateway;
before(async () => {
  here = await startAdminGateway();
  there = await startAdminGateway({ existing: here });
});
after(async () => {
  await there.close();
  await here.close();
});

const healthAt = async (gateway: TestGateway, query = ""): Promise<ProviderHealth> =>
  viewOf(providerHealth, await call(gateway, "GET", `${PATH}${query}`));
const of = ({ models }: ProviderHealth, connection: string) => models.find((each) => each.connection === connection);
/** A record is there within 5 s of the answer. */
async function recordOf(id: string) {
  for (;;) {
    await here.app.requestLog.flush();
    const answer = await call(there, "GET", `${PLATFORM}/requests/${id}`);
    if (answer.status === 200) return viewOf(requestRecord, answer);
  }
}

test("admin.health: one process reports what another one called: successes, durations, failures by kind, and the requests behind them", async () => {
  await postForm(here.origin);
  here.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 503 } });
  const first = await postForm(here.origin);
  here.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 401 } });
  const second = await postForm(here.origin, { key: OTHER_KEY });
  const ids = [second, first].map(({ headers }) => headers.get("x-request-id") ?? "");

  const health = await healthAt(there);
  assert.deepEqual([health.circuits, health.sampled], [[], false]);
  assert.ok(Date.parse(health.checked_at) - Date.parse(health.since) > 14 * 60_000);
  const dg = of(health, "dg");
  assert.deepEqual(
    [dg?.workspace_id, dg?.provider, dg?.model, dg?.calls, dg?.succeeded, dg?.failed],
    [null, "deepgram", "nova-3", 3, 1, 2],
  );
  assert.deepEqual(
    dg?.outcomes.toSorted((a, b) => (a.outcome < b.outcome ? -1 : 1)),
    [
      { outcome: "failed:server_error", calls: 1 },
      { outcome: "failed:unauthorized", calls: 1 },
      { outcome: "succeeded", calls: 1 },
    ],
  );
  assert.ok(dg?.duration_p50_ms !== null && dg?.duration_p50_ms === dg?.duration_p95_ms);
  assert.deepEqual(
    dg?.last_errors.map(({ request_id: id, outcome }) => [id, outcome]),
    [
      [ids[0], "failed:unauthorized"],
      [ids[1], "failed:server_error"],
    ],
  );
  // What it names, the request's record explains.
  const [error] = dg?.last_errors ?? [];
  const record = await recordOf(error?.request_id ?? "");
  assert.equal(record.attempts.find(({ id }) => id === error?.attempt_id)?.outcome, error?.outcome);
  assert.deepEqual([of(health, "oa")?.succeeded, of(health, "oa")?.last_errors], [2, []]);
  assert.deepEqual(
    health.models.map(({ connection }) => connection),
    ["dg", "oa"],
  );
  assert.ok((await healthAt(here)).circuits.some(({ connection }) => connection === "dg"));
});

test("metrics.health-durations: no more errors of one model are listed than the limit, the latest of all kinds", async () => {
  await connect(here, PLATFORM, { id: "dg3", kind: "deepgram", api_key: "s", base_url: here.sandbox.deepgramUrl });
  await publish(here, PLATFORM, { id: "failing", targets: targets(["dg3", "nova-3"]) });
  const key = await keyOn(here, "failing");
  // 400 says nothing of the model, so its circuit never opens.
  here.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 400 } });
  const ids: string[] = [];
  for (let calls = 0; calls < HEALTH_LIMITS.errors + 2; calls += 1)
    ids.push((await postForm(here.origin, { key })).headers.get("x-request-id") ?? "");
  here.sandbox.clearFaults();
  const dg3 = of(await healthAt(there), "dg3");
  assert.deepEqual([dg3?.calls, dg3?.failed, dg3?.duration_p50_ms], [ids.length, ids.length, null]);
  assert.deepEqual(
    dg3?.last_errors.map(({ request_id: id }) => id),
    ids.toReversed().slice(0, HEALTH_LIMITS.errors),
  );
});

test("metrics.health-durations: a job is counted, and its wait is in no duration", async () => {
  await connect(here, PLATFORM, { id: "dg4", kind: "deepgram", api_key: "s", base_url: here.sandbox.deepgramUrl });
  await publish(here, PLATFORM, { id: "in-its-turn", targets: targets(["dg4", "nova-3"]) });
  const key = await keyOn(here, "in-its-turn");
  assert.equal((await postForm(here.origin, { path: "/v1/transcription/jobs", key })).status, 202);
  await until(async () => of(await healthAt(there), "dg4") !== undefined);
  const dg4 = of(await healthAt(there), "dg4");
  assert.deepEqual([dg4?.succeeded, dg4?.duration_p50_ms, dg4?.duration_p95_ms], [1, null, null]);
});

test("metrics.health-counted: test keys leave no trace in health; a connection of kind sandbox does", async () => {
  const made = await call(here, "POST", "/workspace/acme/keys", { body: { app: "notes", mode: "test" } });
  const testKey = viewOf(keyView, made).secret ?? "";
  const before = of(await healthAt(there), "oa")?.calls;
  assert.equal((await postForm(here.origin, { key: testKey })).status, 200);
  assert.equal(of(await healthAt(there), "oa")?.calls, before);
  await connect(here, PLATFORM, { id: "sim", kind: "sandbox" });
  await publish(here, PLATFORM, { id: "simulated", targets: targets(["sim", "simulated-speech"]) });
  const key = await keyOn(here, "simulated");
  assert.equal((await postForm(here.origin, { key })).status, 200);
  const health = await healthAt(here);
  assert.deepEqual([of(health, "sim")?.calls, of(health, "sim")?.provider], [1, "sandbox"]);
  assert.ok(health.circuits.some(({ connection }) => connection === "sim"));
});

test("admin.health: the window is what was asked for, between a minute and a day; anything else is refused by name", async () => {
  const minutes = async (query: string) => {
    const { checked_at: at, since } = await healthAt(here, query);
    return Math.round((Date.parse(at) - Date.parse(since)) / 60_000);
  };
  assert.deepEqual([await minutes(""), await minutes("?minutes=1"), await minutes("?minutes=1440")], [15, 1, 1_440]);
  for (const query of [
    "minutes=0",
    "minutes=1441",
    "minutes=-5",
    "minutes=1.5",
    "minutes=1e1",
    "minutes=x",
    "minutes=",
    "hours=1",
  ]) {
    const answer = await call(here, "GET", `${PATH}?${query}`);
    assert.deepEqual([answer.status, answer.code], [400, "INVALID_REQUEST"], query);
    assert.match(answer.text, query.startsWith("minutes") ? /minutes/u : /hours/u);
  }
});

test("admin.health: only the operator reads provider health", async () => {
  for (const [key, status] of [
    [null, 401],
    [KEY, 403],
    [ADMIN_KEY, 403],
  ] as const)
    assert.equal((await call(here, "GET", PATH, { key })).status, status);
});
