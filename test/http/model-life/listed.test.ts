// What is shown of a model's life, what a new route may have, and the ends that a provider's own list announces.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test, type TestContext } from "node:test";
import { connectionTest } from "../../../src/contract/admin/connection-test.ts";
import { assignableModels } from "../../../src/contract/admin/workspace-models.ts";
import type { ModelLifeView } from "../../../src/contract/model-life.ts";
import { detailsOf } from "../../harness/client.ts";
import type { TestGateway } from "../../harness/gateway.ts";
import { shiftClock } from "../../harness/postgres/database.ts";
import { httpServer } from "../../outbound/loopback.ts";
import { call, etagOf, refuses, startAdminGateway, viewOf } from "../admin/admin.ts";
import { ACME, connect, keyOn, PLATFORM, publish, routeOf, served, targets } from "../admin/set-up.ts";

let nowIso = "2026-11-26T12:00:00Z";
const modelClock = () => new Date(nowIso);
let here: TestGateway;
let there: TestGateway;
before(async () => {
  here = await startAdminGateway({ modelClock });
  there = await startAdminGateway({ existing: here, modelClock });
});
after(async () => {
  await there.close();
  await here.close();
});
beforeEach(() => {
  nowIso = "2026-11-26T12:00:00Z";
});
afterEach(() => here.database.db.deleteFrom("model_lists").execute());

async function lifeOf(base: string, connection: string | null, model: string): Promise<ModelLifeView | null> {
  const { data } = viewOf(assignableModels, await call(here, "GET", `${base}/models`));
  const found = data.filter((each) => each.connection === connection && each.model === model);
  assert.equal(found.length, 1, model);
  return found[0]?.life ?? null;
}

test("providers.model-list-life: each listed model has its status with evidence, end and successors, by the clock", async () => {
  const life = await lifeOf(ACME, "oa", "whisper-1");
  assert.deepEqual(
    [life?.status, life?.days_left, life?.verified_on, life?.deprecated_on],
    ["ending", 92, "2026-11-13", "2026-08-26"],
  );
  assert.deepEqual([life?.ends_on?.date, life?.ends_on?.evidence], ["2027-02-26", "vendor"]);
  assert.match(life?.ends_on?.source ?? "", /openai/u);
  assert.deepEqual(life?.replaced_by, [
    { model: "gpt-transcribe", lacks: ["timestamps.word", "timestamps.segment", "translation"] },
  ]);
  const current = await lifeOf(PLATFORM, "oa", "gpt-transcribe");
  assert.deepEqual(
    [current?.status, current?.days_left, current?.ends_on, current?.replaced_by],
    ["current", null, null, []],
  );
  // Without a connection, declared, and answered by another model.
  assert.equal((await lifeOf(ACME, null, "scribe_v1"))?.status, "retired");
  assert.equal(await lifeOf(ACME, "local", "whisper"), null);
  const both = await lifeOf(ACME, null, "gemini-2.5-flash");
  assert.deepEqual([both?.status, both?.redirect?.model], ["deprecated", "gemini-3.5-flash-lite"]);
  nowIso = "2027-02-26T00:00:00Z";
  assert.equal((await lifeOf(ACME, "oa", "whisper-1"))?.status, "retired");
});

const ENDING = { id: "ending", targets: targets(["dg", "nova-3"], ["oa", "whisper-1"]) };

test("routing.ending-confirmed: a new route with a model that ends in fewer than 30 days is refused with target, day, source and replacements, unless confirmed", async () => {
  nowIso = "2027-01-27T23:59:59Z";
  const far = await call(here, "POST", `${PLATFORM}/routes`, { body: { ...ENDING, id: "far" } });
  assert.equal(far.status, 201, "30 days are enough");
  for (const time of ["2027-01-28T00:00:00Z", "2027-03-01T00:00:00Z"]) {
    nowIso = time;
    const answer = await refuses(here, [409, "CONFLICT"], () =>
      call(here, "POST", `${PLATFORM}/routes`, { body: ENDING }),
    );
    const { reason, targets: found } = detailsOf(answer) as { reason: string; targets: Record<string, unknown>[] };
    assert.equal(reason, "model_ending");
    assert.equal(found.length, 1);
    const { source, ...rest } = found[0] ?? {};
    assert.deepEqual(rest, {
      position: 2,
      connection: "oa",
      model: "whisper-1",
      ends_on: "2027-02-26",
      replaced_by: [{ model: "gpt-transcribe", lacks: ["timestamps.word", "timestamps.segment", "translation"] }],
    });
    assert.match(String(source), /openai/u);
    assert.match(answer.text, /`oa\/whisper-1` end(s|ed) on 2027-02-26.*confirm_ending: true/u);
  }
  const confirmed = routeOf(
    await call(here, "POST", `${PLATFORM}/routes`, { body: { ...ENDING, confirm_ending: true } }),
  );
  assert.doesNotMatch(JSON.stringify(confirmed), /confirm/u, "the confirmation is not part of the route");
});

test("routing.ending-confirmed: a new version is refused in the same way, an unchanged one is not, and another workspace's administrator is asked, too", async () => {
  await call(here, "POST", `${ACME}/routes`, { body: { ...ENDING, id: "revised" } });
  nowIso = "2027-02-20T00:00:00Z";
  const path = `${ACME}/routes/revised`;
  const put = async (body: object) => {
    const etag = etagOf(await call(here, "GET", path));
    return call(here, "PUT", path, { body, headers: { "if-match": etag } });
  };
  assert.equal((await put({ targets: ENDING.targets })).status, 200, "nothing changes");
  const answer = await refuses(here, [409, "CONFLICT"], () => put({ targets: ENDING.targets, may_pay_twice: true }));
  assert.equal(detailsOf(answer)["reason"], "model_ending");
  const saved = routeOf(await put({ targets: ENDING.targets, may_pay_twice: true, confirm_ending: true }));
  assert.equal(saved.draft?.version, 2);
  await refuses(here, [400, "INVALID_REQUEST"], () => put({ targets: ENDING.targets, confirm_ending: "yes" }));
});

test("routing.ending-confirmed: publishing and rolling back to a version with a model that ends is refused, unless confirmed, and changes nothing", async () => {
  const path = `${ACME}/routes/switched`;
  const step = (name: "publish" | "roll-back", body: object) => call(here, "POST", `${path}/${name}`, { body });
  await publish(here, ACME, { ...ENDING, id: "switched" });
  const etag = etagOf(await call(here, "GET", path));
  const current = targets(["dg", "nova-3"]);
  await call(here, "PUT", path, { body: { targets: current }, headers: { "if-match": etag } });
  nowIso = "2027-01-27T23:59:59Z";
  assert.equal((await step("publish", {})).status, 200);
  assert.equal((await step("roll-back", {})).status, 200, "30 days are enough");
  assert.equal(routeOf(await step("publish", { version: 2 })).version, 2);

  nowIso = "2027-01-28T00:00:00Z";
  for (const [name, body] of [
    ["publish", { version: 1 }],
    ["roll-back", {}],
    ["roll-back", { version: 1, confirm_ending: false }],
  ] as const) {
    const answer = await refuses(here, [409, "CONFLICT"], () => step(name, body));
    const { reason, targets: found } = detailsOf(answer) as { reason: string; targets: Record<string, unknown>[] };
    assert.equal(reason, "model_ending");
    assert.deepEqual(
      [found[0]?.["position"], found[0]?.["model"], found[0]?.["ends_on"]],
      [2, "whisper-1", "2027-02-26"],
    );
    assert.equal(routeOf(await call(here, "GET", path)).version, 2);
  }
  const back = routeOf(await step("roll-back", { confirm_ending: true }));
  assert.deepEqual([back.version, back.previous_version], [1, 2]);
  assert.doesNotMatch(JSON.stringify(back), /confirm/u, "the confirmation is not part of the route");
  assert.equal(routeOf(await step("publish", { version: 1 })).version, 1, "it is live already, so nothing changes");
  assert.equal(
    (await call(here, "PUT", `${path}/purposes/notes`, { body: { purpose: "notes", route: "switched" } })).status,
    200,
  );
  assert.equal(routeOf(await step("roll-back", { version: 2 })).version, 2, "away from the ending model");
  assert.equal(routeOf(await step("publish", { version: 1, confirm_ending: true })).version, 1);
  await refuses(here, [400, "INVALID_REQUEST"], () => step("roll-back", { confirm_ending: "yes" }));
});

test("routing.ending-confirmed: a connection that this process has not loaded yet is no way around the confirmation", async () => {
  nowIso = "2027-02-20T00:00:00Z";
  const { db } = here.database;
  const row = await db.selectFrom("connections").selectAll().where("id", "=", "oa").executeTakeFirstOrThrow();
  await db
    .insertInto("connections")
    .values({ ...row, id: "unannounced", settings: JSON.stringify(row.settings) })
    .execute();
  const body = { id: "around", targets: targets(["unannounced", "whisper-1"]) };
  await refuses(here, [409, "CONFLICT"], () => call(here, "POST", `${PLATFORM}/routes`, { body }));
  await db.deleteFrom("connections").where("id", "=", "unannounced").execute();
});

/** An OpenAI that lists these models with these days. */
async function listing(t: TestContext, models: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const server = await httpServer(t, async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const data = Object.entries(models).map(([id, date]) => ({
      id,
      object: "model",
      created: 1,
      owned_by: "system",
      shutdown_date: date,
    }));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "list", data }));
  });
  return { asked, url: `${server.origin}/v1` };
}

test("providers.listed-ends: a test stores the days of the provider's own list, which win over the catalogue in every process; a model that it no longer lists keeps its day", async (t) => {
  const models: Record<string, unknown> = { "whisper-1": "2026-12-10", "gpt-transcribe": null, "gpt-4o-transcribe": 7 };
  const { url } = await listing(t, models);
  await connect(here, PLATFORM, { id: "listing", kind: "openai", base_url: url, api_key: "sk-listing-0001" });
  await publish(here, PLATFORM, { id: "listed", targets: targets(["listing", "whisper-1"], ["dg", "nova-3"]) });
  const tested = viewOf(connectionTest, await call(here, "POST", `${PLATFORM}/connections/listing/test`));
  const found = (model: string) => tested.models.find((each) => each.model === model)?.life;
  assert.deepEqual([found("whisper-1")?.status, found("whisper-1")?.days_left], ["ending", 14]);
  assert.deepEqual(found("whisper-1")?.ends_on?.evidence, "vendor");
  assert.match(found("whisper-1")?.ends_on?.source ?? "", /^the provider's list of models, read on \d{4}-/u);
  assert.equal(found("gpt-4o-transcribe")?.ends_on?.date, "2027-02-26", "not a day: the catalogue's");
  // Of this connection alone.
  assert.equal((await lifeOf(PLATFORM, "oa", "whisper-1"))?.days_left, 92);
  await refuses(here, [409, "CONFLICT"], () =>
    call(here, "POST", `${PLATFORM}/routes`, { body: { id: "late", targets: targets(["listing", "whisper-1"]) } }),
  );

  nowIso = "2026-12-10T00:00:00Z";
  const key = await keyOn(here, "listed");
  assert.equal((await served(here, key)).model, "nova-3");
  await there.app.refreshDirectory();
  assert.equal((await served(there, key)).model, "nova-3");
  delete models["whisper-1"];
  await call(here, "POST", `${PLATFORM}/connections/listing/test`);
  assert.equal((await served(here, key)).model, "nova-3");
  // Taken back: the day of the catalogue counts again.
  models["whisper-1"] = null;
  await call(here, "POST", `${PLATFORM}/connections/listing/test`);
  assert.equal((await lifeOf(PLATFORM, "listing", "whisper-1"))?.ends_on?.date, "2027-02-26");
});

test("providers.daily-question: two processes ask each account of a provider with such a list once a day, and no other", async (t) => {
  const { asked, url } = await listing(t, { "whisper-1": "2026-12-10" });
  await connect(here, PLATFORM, { id: "daily", kind: "openai", base_url: url, api_key: "sk-daily-00001" });
  here.sandbox.clearCalls();
  const ask = async () => {
    const counts = await Promise.all([here, there].map(({ app }) => app.askProviders()));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  await Promise.all([here.app.refreshDirectory(), there.app.refreshDirectory()]);
  const first = await ask();
  assert.ok(first >= 2, "`oa` and `daily`");
  assert.equal(await ask(), 0);
  assert.deepEqual(asked, ["GET /v1/models"]);
  assert.deepEqual(new Set(here.sandbox.calls.map(({ wire }) => wire)), new Set(["openai"]), "the account `oa`");
  // The other process may have asked, whose change this one is notified of later.
  await here.app.refreshDirectory();
  assert.equal((await lifeOf(PLATFORM, "daily", "whisper-1"))?.ends_on?.date, "2026-12-10");
  await shiftClock(here.database, 86_400);
  t.after(() => shiftClock(here.database, 0));
  assert.equal(await ask(), first);
  assert.equal(asked.length, 2);
});
