// Accounts and models that are paused by hand, and resumed: in force in every process, for every kind of work, until the pause ends.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { keyView } from "../../../src/contract/admin/keys.ts";
import { PAUSE_SECONDS, pauseList, pauseView, resumption } from "../../../src/contract/admin/pauses.ts";
import { providerHealth } from "../../../src/contract/admin/provider-health.ts";
import { requestRecord } from "../../../src/contract/requests.ts";
import { routingDecision } from "../../../src/contract/transcription/transcription-envelope.ts";
import { detailsOf, get, postForm } from "../../harness/client.ts";
import { KEY, OTHER_KEY, type TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { sweepPauses } from "../../../src/directory/store/connection-pauses.ts";
import { shiftClock } from "../../harness/postgres/database.ts";
import { ADMIN_KEY, auditRows, call, OTHER_ADMIN_KEY, refuses, startAdminGateway, viewOf } from "./admin.ts";
import { ACME, ACME_BY_OPERATOR, connect, PLATFORM } from "./set-up.ts";

const REASON = "their status page says so";
/** By how much the clocks of both processes are ahead. */
let aheadMs = 0;
const now = () => new Date(Date.now() + aheadMs);
let here: TestGateway;
let there: TestGateway;
before(async () => {
  here = await startAdminGateway({ now });
  there = await startAdminGateway({ existing: here, now });
});
after(async () => {
  await there.close();
  await here.close();
});
afterEach(async () => {
  aheadMs = 0;
  await here.database.db.deleteFrom("connection_pauses").execute();
  await Promise.all([here.app.refreshDirectory(), there.app.refreshDirectory()]);
  here.sandbox.clearFaults();
  here.sandbox.clearCalls();
});

const DG = `${PLATFORM}/connections/dg`;
const pause = async (path: string, body: object = {}, key?: string) =>
  viewOf(pauseView, await call(here, "POST", `${path}/pause`, { body, ...(key === undefined ? {} : { key }) }));
const resume = async (path: string, body: object = {}) =>
  viewOf(resumption, await call(here, "POST", `${path}/resume`, { body }));
const listed = async (base: string, key?: string) =>
  viewOf(pauseList, await call(here, "GET", `${base}/pauses`, key === undefined ? {} : { key })).data;
const wires = () => here.sandbox.calls.map(({ wire }) => wire);
/** Who serves a transcription on this process. */
const server = async (gateway: TestGateway, key = KEY) => {
  here.sandbox.clearCalls();
  const { status, text } = await postForm(gateway.origin, { key });
  assert.equal(status, 200, text);
  return wires().join();
};
const heard = (is: string) => until(async () => (await server(there)) === is);
const attempts = () => here.database.db.selectFrom("attempts").selectAll().execute();

test("admin.pause, routing.pause-skips, routing.pause-reason-hidden: what is paused on one process is called by none, the next target serves, and the record has the pause without its reason", async () => {
  assert.equal(await server(there), "deepgram");
  const paused = await pause(DG, { model: "nova-3", reason: REASON });
  assert.deepEqual(
    [paused.workspace_id, paused.connection, paused.model, paused.reason],
    [null, "dg", "nova-3", REASON],
  );
  const lasts = Date.parse(paused.until) - Date.parse(paused.created_at);
  assert.equal(lasts, PAUSE_SECONDS.usual * 1000);
  assert.equal(await server(here), "openai");
  await heard("openai");

  const answer = await postForm(there.origin);
  await there.app.requestLog.flush();
  const { text, json } = await get(there.origin, `/v1/requests/${answer.headers.get("x-request-id")}`);
  const record = requestRecord.parse(json);
  assert.deepEqual(
    record.candidates.map(({ health, paused_until: end, outcome }) => [health, end, outcome]),
    [
      ["resting", paused.until, "left"],
      ["healthy", undefined, "served"],
    ],
  );
  assert.match(record.summary, new RegExp(`paused manually until ${paused.until}, without a provider failure`, "u"));
  const dryRun = await postForm(there.origin, { fields: { dry_run: "true" } });
  const { candidates } = routingDecision.parse(dryRun.json);
  assert.deepEqual([candidates[0]?.health, candidates[0]?.paused_until], ["resting", paused.until]);
  assert.doesNotMatch(text + dryRun.text, new RegExp(REASON, "u"));
  const health = viewOf(providerHealth, await call(there, "GET", `${PLATFORM}/health/providers`));
  assert.deepEqual(health.pauses, [paused]);
});

test("routing.pause-refusal: where no other target is eligible the request is refused as with open circuits, with the end of the pause, and nothing is called or charged", async () => {
  const before = (await attempts()).length;
  const longer = await pause(`${PLATFORM}/connections/oa`, { duration_seconds: 7_200, reason: REASON });
  const paused = await pause(DG, { reason: REASON });
  const refused = await postForm(here.origin);
  assert.deepEqual([refused.status, refused.code], [503, "NO_HEALTHY_PROVIDER"]);
  assert.deepEqual(detailsOf(refused), { reason: "unhealthy", paused_until: paused.until });
  assert.deepEqual([refused.headers.get("x-should-retry"), refused.headers.get("retry-after")], ["true", "60"]);
  assert.match(refused.text, new RegExp(`paused manually until ${paused.until} or until it is resumed earlier`, "u"));
  assert.doesNotMatch(refused.text, new RegExp(`${REASON}|${longer.until}`, "u"));
  // The end is near, and the clock of this process decides.
  aheadMs = PAUSE_SECONDS.usual * 1000 - 7_500;
  const later = await postForm(here.origin);
  assert.ok(Number(later.headers.get("retry-after")) <= 8, later.headers.get("retry-after") ?? "");
  const streamed = await postForm(here.origin, { fields: { stream: "true" } });
  assert.deepEqual([streamed.status, streamed.code], [503, "NO_HEALTHY_PROVIDER"]);
  assert.deepEqual(wires(), []);
  assert.equal((await attempts()).length, before);
});

test("routing.pause-refusal: with an open circuit next to a pause the retry comes soon, and both reasons are returned", async () => {
  here.sandbox.addFault({ wire: "openai", fault: { kind: "status", status: 503 } });
  const { until: end } = await pause(DG);
  for (let calls = 0; calls < 5; calls += 1) await postForm(here.origin);
  const refused = await postForm(here.origin);
  assert.deepEqual(detailsOf(refused), { reason: "unhealthy", paused_until: end });
  assert.equal(refused.headers.get("retry-after"), "10");
  assert.match(refused.text, /after repeated failures, or paused manually/u);
  await resume(`${PLATFORM}/connections/oa`);
});

test("admin.pause-duration: a pause ends by itself at its time, by a process's own clock, and a sweep removes its row", async () => {
  await pause(DG, { duration_seconds: PAUSE_SECONDS.least });
  await heard("openai");
  aheadMs = (PAUSE_SECONDS.least + 1) * 1000;
  assert.deepEqual([await server(here), await server(there)], ["deepgram", "deepgram"]);
  const rows = () => here.database.db.selectFrom("connection_pauses").selectAll().execute();
  await sweepPauses(here.database);
  assert.equal((await rows()).length, 1, "its time has not come in the database");
  await shiftClock(here.database, PAUSE_SECONDS.least + 1);
  try {
    assert.deepEqual(await listed(PLATFORM), []);
    await sweepPauses(here.database);
    assert.deepEqual(await rows(), []);
    const version = () => here.database.db.selectFrom("directory_state").select("version").executeTakeFirst();
    const known = await version();
    await sweepPauses(here.database);
    assert.deepEqual(await version(), known, "a sweep that found nothing made every process reload");
  } finally {
    await shiftClock(here.database, 0);
  }
});

test("admin.pause: a process that starts later knows of the pause", async () => {
  await pause(DG);
  const late = await startAdminGateway({ existing: here });
  try {
    assert.equal(await server(late), "openai");
  } finally {
    await late.close();
  }
});

test("admin.pause-resume: resumed early, a connection serves again everywhere; a model resumed alone stays paused with its connection", async () => {
  await pause(DG, { model: "nova-3" });
  await pause(DG, { reason: REASON });
  const alone = await resume(DG, { model: "nova-3" });
  assert.deepEqual(
    [alone.ended.map(({ model }) => model), alone.still_paused.map(({ model, reason }) => [model, reason])],
    [["nova-3"], [[null, REASON]]],
  );
  assert.equal(await server(here), "openai");
  await pause(DG, { model: "nova-3" });
  const all = await resume(DG);
  assert.deepEqual([all.ended.map(({ model }) => model), all.still_paused], [[null, "nova-3"], []]);
  assert.equal(await server(here), "deepgram");
  await heard("deepgram");
  assert.deepEqual((await resume(DG)).ended, []);
});

test("admin.pause-resume, routing.circuit-reset: an open circuit is closed by hand on every process, and new failures open it as before", async () => {
  const restsAt = async (gateway: TestGateway) => {
    const { circuits } = viewOf(providerHealth, await call(gateway, "GET", `${PLATFORM}/health/providers`));
    return circuits.find(({ connection }) => connection === "dg")?.state;
  };
  const fell = async () => {
    here.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 503 } });
    // The word of a resumption before may come between two of these failures, and closes what they opened.
    await until(async () => {
      await postForm(there.origin);
      return (await restsAt(there)) === "open";
    });
    here.sandbox.clearFaults();
  };
  await fell();
  await resume(DG, { model: "nova-2" });
  await resume(`${PLATFORM}/connections/oa`);
  assert.equal(await server(there), "openai");
  await resume(DG, { model: "nova-3" });
  await until(async () => (await restsAt(there)) === "closed");
  assert.equal(await server(there), "deepgram");
  await fell();
  await resume(DG);
  await until(async () => (await restsAt(there)) === "closed");
});

test("admin.pause-audit, admin.pause-duration: each change has its audit entry; a second pause replaces the first", async () => {
  const before = (await auditRows(here)).length;
  const first = await pause(DG, { model: "nova-3", reason: REASON });
  const second = await pause(DG, { model: "nova-3", duration_seconds: 120 });
  assert.deepEqual(await listed(PLATFORM), [second]);
  await resume(DG);
  const facts = ({ model, until: end, reason }: typeof first) => ({ model, until: end, reason });
  const rows = (await auditRows(here)).slice(before);
  assert.deepEqual(
    rows.map((row) => [row.action, row.object, row.workspace_id, row.actor_key_id, row.before, row.after]),
    [
      ["connection.paused", "dg", null, first.created_by, null, facts(first)],
      ["connection.paused", "dg", null, first.created_by, facts(first), facts(second)],
      ["connection.resumed", "dg", null, first.created_by, { model: null, pauses: [facts(second)] }, { model: null }],
    ],
  );
});

test("admin.pause-audit: an impossible pause is refused by field name, and changes nothing", async () => {
  const invalid = [400, "INVALID_REQUEST"] as const;
  const of = (body: object, path = DG) => refuses(here, invalid, () => call(here, "POST", `${path}/pause`, { body }));
  assert.match((await of({ model: "nova3" })).text, /no such model\. Did you mean nova-3\?/u);
  assert.match((await of({ model: "gpt-4o-transcribe" })).text, /Omit it for the whole connection/u);
  for (const seconds of [PAUSE_SECONDS.least - 1, PAUSE_SECONDS.most + 1, 90.5, "60"])
    assert.match((await of({ duration_seconds: seconds })).text, /duration_seconds/u);
  assert.match((await of({ reason: " " })).text, /reason/u);
  assert.match((await of({ until: "tomorrow" })).text, /until/u);
  await refuses(here, invalid, () => call(here, "POST", `${DG}/resume`, { body: { model: "nova3" } }));
  for (const verb of ["pause", "resume"])
    await refuses(here, [404, "NOT_FOUND"], () =>
      call(here, "POST", `${PLATFORM}/connections/nowhere/${verb}`, { body: {} }),
    );
  assert.deepEqual(await listed(PLATFORM), []);
});

test("admin.pause-scope, tenancy.accounts: administrators pause their workspace's own accounts only, and no other workspace is affected", async () => {
  const own = { kind: "deepgram", api_key: "s" };
  await connect(here, ACME, { id: "dg", ...own });
  await connect(here, "/workspace/other", { id: "dg", ...own }, OTHER_ADMIN_KEY);
  const paused = await pause(`${ACME}/connections/dg`, { reason: REASON }, ADMIN_KEY);
  assert.equal(
    paused.workspace_id,
    (await here.database.db.selectFrom("workspaces").select("id").where("slug", "=", "acme").executeTakeFirst())?.id,
  );
  assert.deepEqual([await listed(ACME), await listed(ACME_BY_OPERATOR)], [[paused], [paused]]);
  assert.deepEqual([await listed(PLATFORM), await listed("/workspace/other", OTHER_ADMIN_KEY)], [[], []]);
  const health = viewOf(providerHealth, await call(here, "GET", `${PLATFORM}/health/providers`));
  assert.deepEqual(health.pauses, [paused]);
  const decided = async (key: string) =>
    routingDecision.parse((await postForm(here.origin, { key, fields: { dry_run: "true" } })).json).candidates[0];
  assert.deepEqual([(await decided(KEY))?.paused_until, (await decided(OTHER_KEY))?.health], [paused.until, "healthy"]);

  // Shared objects are not theirs, nor are another workspace's.
  await refuses(here, [404, "NOT_FOUND"], () => call(here, "POST", `${ACME}/connections/oa/pause`, { body: {} }));
  for (const [key, path, status] of [
    [ADMIN_KEY, `/workspace/other/connections/dg/pause`, 404],
    [KEY, `${ACME}/connections/dg/pause`, 403],
    [KEY, `${ACME}/connections/dg/resume`, 403],
    [ADMIN_KEY, `${DG}/pause`, 403],
  ] as const)
    assert.equal((await call(here, "POST", path, { key, body: {} })).status, status, path);
  assert.deepEqual((await resume(`${ACME_BY_OPERATOR}/connections/dg`)).ended, [paused]);

  // What is paused of a connection goes with it.
  await pause(`${ACME}/connections/dg`);
  await call(here, "DELETE", `${ACME}/connections/dg`);
  await connect(here, ACME, { id: "dg", ...own });
  assert.deepEqual(await listed(ACME), []);
  for (const [base, key] of [
    [ACME, ADMIN_KEY],
    ["/workspace/other", OTHER_ADMIN_KEY],
  ] as const)
    await call(here, "DELETE", `${base}/connections/dg`, { key });
});

test("routing.pause-test-keys, keys.test-mode: test keys are served by the sandbox whatever is paused", async () => {
  const made = await call(here, "POST", `${ACME}/keys`, { body: { app: "notes", mode: "test" } });
  const testKey = viewOf(keyView, made).secret ?? "";
  await pause(DG);
  await pause(`${PLATFORM}/connections/oa`);
  const { status, headers } = await postForm(here.origin, { key: testKey });
  assert.deepEqual([status, headers.get("x-svc-simulated")], [200, "true"]);
});
