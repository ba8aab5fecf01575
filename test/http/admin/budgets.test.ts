// …/apps/{app_id}/budgets, /admin/v1/plans and credits: set, read, and obeyed by the running process.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { limitsReport } from "../../../src/contract/account.ts";
import { budgetView } from "../../../src/contract/admin/budgets.ts";
import { creditsView, planView } from "../../../src/contract/admin/plans.ts";
import { appView } from "../../../src/contract/admin/apps.ts";
import { usageReport } from "../../../src/contract/usage.ts";
import { workspaceView } from "../../../src/contract/admin/workspaces.ts";
import { type Answer, detailsOf, get, postForm } from "../../harness/client.ts";
import { applyConfiguration } from "../../../src/directory/apply-configuration.ts";
import { setClock, shiftClock } from "../../harness/postgres/database.ts";
import { createSeal } from "../../../src/storage/secrets/seal.ts";
import { ENCRYPTION_KEY, KEY, PEPPER, type TestGateway } from "../../harness/gateway.ts";
import { auditRows, call, etagOf, refuses, startAdminGateway, viewOf } from "./admin.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startAdminGateway();
});
after(() => gateway.close());

const BUDGETS = "/workspace/acme/apps/notes/budgets";

test("budgets.change, admin.etag-stable, admin.own-below-file: a budget of the file's app is created, applies to the next request, is raised from the state that was read, and removed", async () => {
  const before = (await auditRows(gateway)).length;
  const put = await call(gateway, "PUT", `${BUDGETS}/day`, { body: { limit_audio_seconds: 10 } });
  assert.equal(put.status, 201);
  const ask = async () => (await postForm(gateway.origin, { key: KEY })).status;
  assert.deepEqual([await ask(), await ask()], [200, 402]);
  const used = viewOf(budgetView, await call(gateway, "GET", `${BUDGETS}/day`));
  assert(used.usage.spent_audio_seconds > 5 && used.usage.reserved_audio_seconds === 0);
  // What is spent is no change of the budget.
  const raise = { body: { limit_audio_seconds: 1_000, limit_usd: "2.5" }, headers: { "if-match": etagOf(put) } };
  const raised = await call(gateway, "PUT", `${BUDGETS}/day`, raise);
  assert.deepEqual([raised.status, viewOf(budgetView, raised).limit_usd], [200, "2.50"]);
  assert.equal(viewOf(budgetView, raised).usage.spent_audio_seconds, used.usage.spent_audio_seconds);
  assert.equal(await ask(), 200);
  await refuses(gateway, [412, "PRECONDITION_FAILED"], () => call(gateway, "PUT", `${BUDGETS}/day`, raise));
  await refuses(gateway, [428, "PRECONDITION_REQUIRED"], () =>
    call(gateway, "PUT", `${BUDGETS}/day`, { body: { limit_tokens: 1 } }),
  );
  await refuses(gateway, [412, "PRECONDITION_FAILED"], () =>
    call(gateway, "PUT", `${BUDGETS}/month`, { body: { limit_tokens: 1 }, headers: { "if-match": "*" } }),
  );
  const list = (await call(gateway, "GET", BUDGETS)).json as { data: readonly object[] };
  assert.equal(list.data.length, 1);
  assert.equal((await call(gateway, "DELETE", `${BUDGETS}/day`)).status, 200);
  assert.equal((await call(gateway, "GET", `${BUDGETS}/day`)).code, "NOT_FOUND");
  assert.deepEqual(
    (await auditRows(gateway)).slice(before).map(({ action }) => action),
    ["budget.created", "budget.changed", "budget.deleted"],
  );
});

test("budgets.soft-limit: from its soft limit on each report of a budget says so, and nothing is refused for it", async () => {
  const body = { limit_audio_seconds: 20, soft_limit: 0.5 };
  assert.equal((await call(gateway, "PUT", `${BUDGETS}/day`, { body })).status, 201);
  const reports = async () => {
    const { usage } = viewOf(budgetView, await call(gateway, "GET", `${BUDGETS}/day`));
    const limits = limitsReport.parse((await get(gateway.origin, "/v1/melimits", KEY)).json);
    const report = usageReport.parse((await get(gateway.origin, "/v1/usage", KEY)).json);
    return [usage, limits.budgets[0], report.budgets[0]].map((each) => each?.soft_limit_reached);
  };
  const ask = async () => (await postForm(gateway.origin, { key: KEY })).status;
  assert.equal(await ask(), 200);
  assert.deepEqual(await reports(), [false, false, false]);
  assert.equal(await ask(), 200);
  assert.deepEqual(await reports(), [true, true, true]);
  assert.equal((await call(gateway, "DELETE", `${BUDGETS}/day`)).status, 200);
});

test("budgets.forecast: app and administrators read the same forecast, and none at the start of a window", async () => {
  await setClock(gateway.database, "2026-11-11T00:30:00Z");
  const body = { limit_audio_seconds: 30, limit_usd: "1" };
  assert.equal((await call(gateway, "PUT", `${BUDGETS}/day`, { body })).status, 201);
  assert.equal((await postForm(gateway.origin, { key: KEY })).status, 200);
  const reports = async () => {
    const read = await call(gateway, "GET", `${BUDGETS}/day`);
    const report = usageReport.parse((await get(gateway.origin, "/v1/usage", KEY)).json);
    return { tag: etagOf(read), forecasts: [viewOf(budgetView, read).usage.forecast, report.budgets[0]?.forecast] };
  };
  const early = await reports();
  assert.deepEqual(early.forecasts, [null, null]);
  await setClock(gateway.database, "2026-11-11T03:00:00Z");
  const later = await reports();
  // 7.378 s in three hours are 59.024 s in a day; 30 s of them in 12 h 11 min 54.340 s.
  const forecast = {
    spent_usd: "0.00",
    spent_audio_seconds: 59.024,
    spent_tokens: 0,
    limit_reached_at: "2026-11-11T12:11:54.340Z",
  };
  assert.deepEqual(later.forecasts, [forecast, forecast]);
  assert.equal(later.tag, early.tag, "time changes no budget");
  assert.equal((await call(gateway, "DELETE", `${BUDGETS}/day`)).status, 200);
  await shiftClock(gateway.database, 0);
});

test("budgets.create-race: of two first budgets of one period at once one is created, the other gets 428", async () => {
  const put = () => call(gateway, "PUT", `${BUDGETS}/total`, { body: { limit_tokens: 5 } });
  const answers = await Promise.all([put(), put()]);
  const [made, other] = answers.toSorted((one, two) => one.status - two.status);
  assert.deepEqual([made?.status, other?.code], [201, "PRECONDITION_REQUIRED"]);
  assert.equal((await call(gateway, "DELETE", `${BUDGETS}/total`)).status, 200);
});

test("budgets.validation: a budget without a limit, of another period, or with an uncountable figure is refused", async () => {
  for (const body of [
    {},
    { limit_usd: null, soft_limit: 0.5 },
    { limit_usd: 5 },
    { limit_usd: "-1" },
    { limit_usd: "0.0000000001" },
    { limit_tokens: 0 },
    { limit_tokens: 1.5 },
    { limit_tokens: 1, soft_limit: 1 },
    { limit_tokens: 1, period: "day" },
  ])
    await refuses(gateway, [400, "INVALID_REQUEST"], () => call(gateway, "PUT", `${BUDGETS}/day`, { body }));
  await refuses(gateway, [404, "NOT_FOUND"], () =>
    call(gateway, "PUT", `${BUDGETS}/week`, { body: { limit_tokens: 1 } }),
  );
  await refuses(gateway, [404, "NOT_FOUND"], () =>
    call(gateway, "PUT", "/workspace/acme/apps/nowhere/budgets/day", { body: { limit_tokens: 1 } }),
  );
});

test("budgets.plan-change, budgets.plan-in-use: a plan is created, changed for every workspace on it, and not removed while one is", async () => {
  const made = await call(gateway, "POST", "/admin/v1/plans", { body: { id: "team", credits_usd: "10" } });
  assert.deepEqual(viewOf(planView, made).credits_usd, "10.00");
  await call(gateway, "POST", "/admin/v1/workspaces", { body: { slug: "planned", plan: "team" } });
  const credits = async () => viewOf(creditsView, await call(gateway, "GET", "/admin/v1/workspaces/planned/credits"));
  assert.deepEqual([(await credits()).balance_usd, (await credits()).allowance?.monthly_chat_tokens], ["10.00", 0]);
  const change = { body: { credits_usd: "12", monthly_chat_tokens: 500 }, headers: { "if-match": etagOf(made) } };
  assert.equal((await call(gateway, "PUT", "/admin/v1/plans/team", change)).status, 200);
  assert.deepEqual([(await credits()).balance_usd, (await credits()).allowance?.monthly_chat_tokens], ["12.00", 500]);
  const removal = await refuses(gateway, [409, "CONFLICT"], () => call(gateway, "DELETE", "/admin/v1/plans/team"));
  assert.deepEqual(detailsOf(removal), { reason: "in_use" });
  await refuses(gateway, [409, "MANAGED_BY_FILE"], () => call(gateway, "DELETE", "/admin/v1/plans/free"));
  await refuses(gateway, [409, "CONFLICT"], () => call(gateway, "POST", "/admin/v1/plans", { body: { id: "team" } }));
});

/** What a reservation is judged by. */
async function creditLimit(workspaceId: string): Promise<bigint | null | undefined> {
  const budgets = gateway.database.db.selectFrom("budgets").select("limit_nano_usd");
  return (await budgets.where("id", "=", `${workspaceId}/credits`).executeTakeFirst())?.limit_nano_usd;
}

test("budgets.plan-change: a plan that changes while a workspace on it is granted credits keeps every grant", async () => {
  const made = await call(gateway, "POST", "/admin/v1/plans", { body: { id: "busy", credits_usd: "1" } });
  const { id } = viewOf(
    workspaceView,
    await call(gateway, "POST", "/admin/v1/workspaces", { body: { slug: "busy", plan: "busy" } }),
  );
  const grant = () =>
    call(gateway, "POST", "/admin/v1/workspaces/busy/credits", { body: { amount_usd: "1", note: "goodwill" } });
  let plan = made;
  for (let round = 1; round <= 10; round += 1) {
    const change = { body: { credits_usd: `${round * 10}` }, headers: { "if-match": etagOf(plan) } };
    const [changed, ...granted] = await Promise.all([
      call(gateway, "PUT", "/admin/v1/plans/busy", change),
      grant(),
      grant(),
    ]);
    assert.deepEqual(
      [changed, ...granted].map(({ status }) => status),
      [200, 201, 201],
    );
    plan = changed;
    assert.equal(await creditLimit(id), BigInt(round * 10 + round * 2) * 1_000_000_000n);
  }
});

test("budgets.plan-of-file: a plan of the file that comes with other figures holds for every workspace on it, and is not removed while one is", async () => {
  const { id } = viewOf(
    workspaceView,
    await call(gateway, "POST", "/admin/v1/workspaces", { body: { slug: "filed", plan: "free" } }),
  );
  const services = { database: gateway.database, seal: createSeal({ keys: [ENCRYPTION_KEY] }), pepper: PEPPER };
  const { configuration } = gateway;
  const apply = (plans: typeof configuration.plans) =>
    applyConfiguration(services, { ...configuration, plans }, { isFile: true });
  const managers = async () => {
    const { data } = (await call(gateway, "GET", "/admin/v1/plans")).json as {
      data: { id: string; managed_by: string }[];
    };
    return Object.fromEntries(data.map((plan) => [plan.id, plan.managed_by]));
  };
  await apply(configuration.plans.map((plan) => ({ ...plan, creditsUsd: "8" })));
  assert.equal(await creditLimit(id), 8_000_000_000n);
  await apply([{ id: "unused", monthlyChatTokens: 0, creditsUsd: "1" }]);
  const left = await managers();
  assert.deepEqual([left["free"], left["unused"]], ["api", "file"]);
  await apply(configuration.plans);
  const back = await managers();
  assert.deepEqual([back["free"], back["unused"]], ["file", undefined]);
  assert.equal(await creditLimit(id), 5_000_000_000n);
});

test("budgets.credits-grant: credits are added to the plan's, taken back, kept when the plan or the file is applied again, and judged by reservations", async () => {
  const { id } = viewOf(
    workspaceView,
    await call(gateway, "POST", "/admin/v1/workspaces", { body: { slug: "granted", plan: "free" } }),
  );
  const path = "/admin/v1/workspaces/granted/credits";
  const grant = async (amount_usd: string) =>
    viewOf(creditsView, await call(gateway, "POST", path, { body: { amount_usd, note: "goodwill" } }));
  const limit = () => creditLimit(id);
  const granted = await grant("2.5");
  assert.deepEqual([granted.plan_credits_usd, granted.granted_usd, granted.balance_usd], ["5.00", "2.50", "7.50"]);
  assert.equal(await limit(), 7_500_000_000n);
  const services = { database: gateway.database, seal: createSeal({ keys: [ENCRYPTION_KEY] }), pepper: PEPPER };
  await applyConfiguration(services, gateway.configuration, { isFile: true });
  assert.equal(await limit(), 7_500_000_000n);
  assert.equal((await grant("-10")).balance_usd, "-2.50");
  assert.equal(await limit(), 0n);
  const [row] = (await auditRows(gateway)).slice(-1);
  assert.deepEqual(
    [row?.workspace_id, row?.action, row?.before, row?.after],
    [id, "credits.granted", { granted_usd: "2.50" }, { granted_usd: "-7.50", note: "goodwill" }],
  );
  for (const amount_usd of ["0", "0.00", "-0", "1e3", "five", 5, "0.0000000001"])
    await refuses(gateway, [400, "INVALID_REQUEST"], () =>
      call(gateway, "POST", path, { body: { amount_usd, note: "x" } }),
    );
  await refuses(gateway, [400, "INVALID_REQUEST"], () => call(gateway, "POST", path, { body: { amount_usd: "1" } }));
});

test("budgets.credits-idempotent: credits requested again under their Idempotency-Key are granted once, also by concurrent requests", async () => {
  for (const slug of ["keyed", "keyed-too"])
    assert.equal((await call(gateway, "POST", "/admin/v1/workspaces", { body: { slug, plan: "free" } })).status, 201);
  const grant = (
    amount_usd: string,
    more: { readonly note?: string; readonly slug?: string; readonly key?: string } = {},
  ) =>
    call(gateway, "POST", `/admin/v1/workspaces/${more.slug ?? "keyed"}/credits`, {
      body: { amount_usd, note: more.note ?? "goodwill" },
      headers: { "idempotency-key": more.key ?? "one" },
    });
  const replayed = ({ headers }: Answer) => headers.get("x-svc-idempotent-replay");
  await refuses(gateway, [400, "INVALID_REQUEST"], () => grant("0"));
  const audited = (await auditRows(gateway)).length;
  const twins = await Promise.all([grant("2.5"), grant("2.50"), grant("2.5")]);
  assert.deepEqual(twins.map(replayed).filter((value) => value === null).length, 1);
  for (const twin of twins) assert.equal(viewOf(creditsView, twin).granted_usd, "2.50");
  assert.equal((await auditRows(gateway)).length, audited + 1);
  assert.equal(viewOf(creditsView, await grant("1", { key: "two" })).granted_usd, "3.50");
  const again = await grant("2.5");
  assert.deepEqual([again.status, replayed(again), viewOf(creditsView, again).granted_usd], [201, "true", "3.50"]);
  for (const other of [() => grant("2.6"), () => grant("-2.5"), () => grant("2.5", { note: "Goodwill" })])
    await refuses(gateway, [409, "IDEMPOTENCY_KEY_REUSED"], other);
  await refuses(gateway, [400, "INVALID_REQUEST"], () => grant("2.5", { key: "x".repeat(256) }));
  const elsewhere = await grant("7", { slug: "keyed-too" });
  assert.deepEqual([replayed(elsewhere), viewOf(creditsView, elsewhere).granted_usd], [null, "7.00"]);
  const unkeyed = () =>
    call(gateway, "POST", "/admin/v1/workspaces/keyed/credits", { body: { amount_usd: "1", note: "goodwill" } });
  await unkeyed();
  assert.equal(viewOf(creditsView, await unkeyed()).granted_usd, "5.50");
});

test("budgets.administrators, budgets.credits-operator: administrators set the budgets of an app in a new workspace, credits are the operator's alone", async () => {
  const app = viewOf(
    appView,
    await call(gateway, "POST", "/admin/v1/workspaces/granted/apps", { body: { slug: "a", route: "speech" } }),
  );
  const put = await call(gateway, "PUT", `/admin/v1/workspaces/granted/apps/${app.id}/budgets/month`, {
    body: { limit_usd: "1" },
  });
  assert.equal(put.status, 201);
  assert.equal(viewOf(creditsView, await call(gateway, "GET", "/workspace/acme/credits")).plan, null);
  const response = await fetch(`${gateway.origin}/workspace/acme/credits`, { method: "POST" });
  assert.equal(response.status, 405);
});
