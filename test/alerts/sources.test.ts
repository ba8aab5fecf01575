// What raises an alert: each source on its own clock and rows.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { alertBody } from "../../src/alerts/alert-body.ts";
import { createBudgetSource } from "../../src/alerts/sources/budgets.ts";
import { createCircuitSource } from "../../src/alerts/sources/circuits.ts";
import { readGivenUpDeliveries } from "../../src/alerts/sources/deliveries.ts";
import { readLowDisks } from "../../src/alerts/sources/disk.ts";
import { judgeFailureRates, readFailingJobs } from "../../src/alerts/sources/jobs.ts";
import { createSubstitutionSource } from "../../src/alerts/sources/substitutions.ts";
import { readWorkspaces } from "../../src/alerts/store/workspaces.ts";
import { brand, newId } from "../../src/contract/ids.ts";
import { changeWindows } from "../../src/metering/store/budget-windows.ts";
import { lockBudgets } from "../../src/metering/store/budgets.ts";
import { createCircuits } from "../../src/providers/health.ts";
import { assertShownJson, shownOutputs } from "../docs/shown-blocks.ts";
import { makeTenant, openTestDatabase, setClock, type TestDatabase } from "../harness/postgres/database.ts";
import { makeTemporary } from "../harness/postgres/embedded-data.ts";

const NOW = Date.parse("2026-11-10T12:00:00Z");
const MINUTE_MS = 60_000;
let database: TestDatabase;
let tenant: Awaited<ReturnType<typeof makeTenant>>;

before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());
beforeEach(async () => {
  await setClock(database, new Date(NOW).toISOString());
  await sql`truncate budgets, budget_windows, webhook_deliveries cascade`.execute(database.db);
  tenant = await makeTenant(database);
});

test("alerts.circuit-open: a circuit is reported once no call has succeeded for the configured minutes, and not after one did", async () => {
  let nowMs = NOW;
  const circuits = createCircuits(() => nowMs);
  const read = createCircuitSource({
    circuits,
    openMinutes: 5,
    nowMs: () => nowMs,
    workspacesOf: (ids) => readWorkspaces(database.db, ids),
  });
  const fail = (key: string, times: number) => {
    for (let made = 0; made < times; made += 1) circuits.begin(key)("server_error");
  };
  const own = `${tenant.workspaceId}/byok/m`;
  // Of a test key: its failures are simulated.
  const simulated = "test/platform/dg/nova-3";
  fail("platform/dg/nova-3", 5);
  fail(own, 5);
  fail(simulated, 5);
  assert.deepEqual(await read(), [], "it has just opened");
  nowMs += 5 * MINUTE_MS;
  assert.deepEqual(await read(), [], "half-open: there were no calls");
  fail("platform/dg/nova-3", 1);
  fail(own, 1);
  fail(simulated, 1);
  const alerts = await read();
  assert.deepEqual(
    alerts.map(({ event, cause, workspace, summary }) => [event, cause, workspace?.slug ?? null, summary]),
    [
      [
        "circuit_open",
        "circuit_open/platform/dg/nova-3",
        null,
        "The circuit of dg/nova-3 has been open for 5 min: no call has succeeded since.",
      ],
      [
        "circuit_open",
        `circuit_open/${own}`,
        tenant.workspaceId,
        `The circuit of byok/m of workspace ${tenant.workspaceId} has been open for 5 min: no call has succeeded since.`,
      ],
    ],
  );
  nowMs += 10 * MINUTE_MS;
  circuits.begin("platform/dg/nova-3")(null);
  assert.deepEqual(await read(), []);
  fail("platform/dg/nova-3", 5);
  assert.deepEqual(await read(), [], "open again, from now on");
});

interface Budget {
  readonly limit: bigint;
  readonly softLimit?: string | null;
  readonly spent: bigint;
  /** Limit and spend in nano-dollars, instead of tokens. */
  readonly usd?: bigint;
}

async function budget({ limit, softLimit = null, spent, usd }: Budget): Promise<string> {
  const id = `${tenant.appId}/month`;
  await database.db
    .insertInto("budgets")
    .values({
      id,
      workspace_id: tenant.workspaceId,
      app_id: tenant.appId,
      period: "month",
      ...(usd === undefined ? { limit_tokens: limit } : { limit_nano_usd: usd }),
      soft_limit: softLimit,
      managed_by: "test",
    })
    .execute();
  const spend = { spentNanoUsd: 0n, reservedNanoUsd: 0n, spentAudioMs: 0n, reservedAudioMs: 0n, reservedTokens: 0n };
  await database.transaction(async (tx) => {
    await lockBudgets(tx, [id]);
    await changeWindows(tx, [
      {
        budgetId: id,
        windowStart: new Date("2026-11-01T00:00:00Z"),
        ...spend,
        spentTokens: spent,
        ...(usd === undefined ? {} : { spentNanoUsd: usd }),
      },
    ]);
  });
  return id;
}

test("alerts.budget-soft-limit, alerts.budget-exhausted: budgets at their soft limit and spent ones are reported, with what is spent, under a cause per window and limit", async () => {
  const id = await budget({ limit: 10n, softLimit: "0.8", spent: 8n });
  const { read } = createBudgetSource();
  const [soft] = await read(database.db);
  assert.deepEqual(soft, {
    event: "budget_soft_limit",
    cause: `budget_soft_limit/${tenant.workspaceId}/app/month/2026-11-01T00:00:00.000Z/tokens=10`,
    workspace: { id: tenant.workspaceId, slug: tenant.workspaceId },
    summary: `The budget of app ${tenant.workspaceId}/app (per month) reached its soft limit of 80 %: 8 tokens of 10 tokens.`,
    details: {
      app: "app",
      period: "month",
      soft_limit: 0.8,
      spent: "8 tokens",
      limit: "10 tokens",
      resets_at: "2026-12-01T00:00:00.000Z",
    },
    occurredAt: new Date(NOW),
  });
  await sql`update budget_windows set spent_tokens = 10`.execute(database.db);
  const spent = await read(database.db);
  assert.deepEqual(
    spent.map(({ event, summary }) => [event, summary]),
    [
      [
        "budget_exhausted",
        `The budget of app ${tenant.workspaceId}/app (per month) is spent: 10 tokens of 10 tokens. Requests of the app are rejected.`,
      ],
    ],
  );
  await sql`update budgets set limit_tokens = 12 where id = ${id}`.execute(database.db);
  const raised = await read(database.db);
  assert.notEqual(raised[0]?.cause, soft?.cause);
  await setClock(database, "2026-12-01T00:00:00Z");
  assert.deepEqual(await read(database.db), []);
});

test("alerts.body, guides.outputs: the alert of a spent budget is as the page shows it", async () => {
  await budget({ limit: 0n, spent: 0n, softLimit: "0.8", usd: 50_000_000_000n });
  const [spent] = await createBudgetSource().read(database.db);
  assert.ok(spent !== undefined);
  const body = alertBody(newId("alert"), { ...spent, workspace: "acme" });
  const [shown = ""] = shownOutputs("docs/reference/alerts.md", "What is sent");
  const named = JSON.stringify(body)
    .replaceAll(`${tenant.workspaceId}/app`, "acme/notes")
    .replace('"app":"app"', '"app":"notes"');
  assertShownJson(shown, named);
});

test("alerts.budget-exhausted: a budget that could not cover a request is reported, although it is not spent", async () => {
  await budget({ limit: 10n, spent: 7n });
  const { read, recorded } = createBudgetSource();
  assert.deepEqual(await read(database.db), []);
  recorded({ code: "RATE_LIMITED", appId: brand("app", tenant.appId) });
  assert.deepEqual(await read(database.db), []);
  recorded({ code: "BUDGET_EXCEEDED", appId: brand("app", tenant.appId) });
  const alerts = await read(database.db);
  assert.deepEqual(
    alerts.map(({ event, summary }) => [event, summary]),
    [
      [
        "budget_exhausted",
        `The budget of app ${tenant.workspaceId}/app (per month) could not cover a request, which was rejected: 7 tokens of 10 tokens.`,
      ],
    ],
  );
  assert.deepEqual(await read(database.db), [], "no request was refused since");
});

test("alerts.webhook-given-up: deliveries that were given up are reported by workspace; tests, pending and disabled ones are not", async () => {
  const insert = async ({
    isTest = false,
    endedBy = "attempts",
    minutesAgo = 1,
  }: {
    readonly isTest?: boolean;
    /** Null: it is pending. */
    readonly endedBy?: string | null;
    readonly minutesAgo?: number;
  }) => {
    const at = new Date(NOW - minutesAgo * MINUTE_MS);
    const [state, finishedAt, nextAt] = endedBy === null ? ["pending", null, at] : ["failed", at, null];
    await sql`insert into webhook_deliveries (id, workspace_id, event_id, is_test, job_id, job_status, occurred_at, state, ended_by, finished_at, next_attempt_at)
      values (${newId("delivery")}, ${tenant.workspaceId}, ${newId("event")}, ${isTest}, ${newId("job")}, 'succeeded', ${at}, ${state}, ${endedBy}, ${finishedAt}, ${nextAt})`.execute(
      database.db,
    );
  };
  await insert({ isTest: true });
  await insert({ endedBy: "disabled" });
  await insert({ minutesAgo: 25 * 60 });
  await insert({ endedBy: null });
  assert.deepEqual(await readGivenUpDeliveries(database.db), []);
  await insert({});
  await insert({ endedBy: "gone", minutesAgo: 2 });
  const [alert, ...others] = await readGivenUpDeliveries(database.db);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [alert?.cause, alert?.summary, alert?.details["deliveries"], alert?.occurredAt],
    [
      `webhook_given_up/${tenant.workspaceId}`,
      `2 webhook deliveries of workspace ${tenant.workspaceId} were given up in the last 24 h.`,
      2,
      new Date(NOW - MINUTE_MS),
    ],
  );
});

const THRESHOLDS = { share: 0.5, minJobs: 3, windowMinutes: 15 };
const rate = (workspace: string, failed: number, ended: number) => ({
  workspace_id: `ws_${workspace}`,
  workspace,
  failed,
  ended,
  latest_failure_at: new Date(NOW),
});

test("alerts.jobs-failing: share and number of failed jobs decide, for each workspace, else for the installation", () => {
  const causes = (...rates: readonly ReturnType<typeof rate>[]) =>
    judgeFailureRates(rates, THRESHOLDS).map(({ cause, workspace }) => [cause, workspace?.slug ?? null]);
  assert.deepEqual(causes(), []);
  assert.deepEqual(causes(rate("a", 2, 2)), [], "too few");
  assert.deepEqual(causes(rate("a", 3, 7)), [], "too small a share");
  assert.deepEqual(causes(rate("a", 3, 6), rate("b", 1, 1)), [["jobs_failing/a", "a"]]);
  assert.deepEqual(causes(rate("a", 2, 2), rate("b", 1, 2)), [["jobs_failing", null]]);
  const [alert] = judgeFailureRates([rate("a", 3, 6)], THRESHOLDS);
  assert.deepEqual(
    [alert?.summary, alert?.details],
    ["3 of 6 jobs of workspace a failed in the last 15 min.", { failed: 3, ended: 6, share: 0.5, window_minutes: 15 }],
  );
});

test("alerts.jobs-failing: jobs that ended in the window are counted, cancelled ones and those of test keys are not", async () => {
  const end = async (status: string, minutesAgo: number, testMode = false) => {
    const finished = new Date(NOW - minutesAgo * MINUTE_MS);
    const requestId = newId("request");
    await sql`insert into requests (id, endpoint, at, status, test_mode, key_use, duration_ms)
      values (${requestId}, 'POST /v1/transcription/jobs', ${finished}, 202, ${testMode}, 'not_sent', 1)`.execute(
      database.db,
    );
    await sql`insert into jobs (id, workspace_id, app_id, request_id, task, status, request, purpose, metadata, deadline_at, started_at, finished_at, expires_at, error)
      values (${newId("job")}, ${tenant.workspaceId}, ${tenant.appId}, ${requestId}, 'transcribe', ${status}, ''::bytea, '{}', '{}', ${finished}, ${finished}, ${finished}, ${finished},
        ${status === "failed" ? '{"code":"INTERNAL"}' : null}::jsonb)`.execute(database.db);
  };
  await sql`alter table jobs disable trigger user`.execute(database.db);
  try {
    for (const status of ["failed", "failed", "succeeded", "cancelled", "cancelled"]) await end(status, 1);
    await end("failed", 16);
    await end("failed", 1, true);
    assert.deepEqual(await readFailingJobs(database.db, THRESHOLDS), []);
    await end("failed", 14);
    const alerts = await readFailingJobs(database.db, THRESHOLDS);
    assert.deepEqual(
      alerts.map(({ details }) => [details["failed"], details["ended"]]),
      [[3, 4]],
    );
  } finally {
    await sql`alter table jobs enable trigger user`.execute(database.db);
  }
});

test("alerts.disk-low: a disk below the limit is reported by machine and directory, directories on one disk once, a missing one never", async () => {
  const folder = await makeTemporary("patchbay-disk-");
  const read = (bytes: number) =>
    readLowDisks({
      directories: { data_dir: folder, spool: folder, missing: `${folder}/none` },
      minFreeBytes: 2 ** 30,
      host: "gateway-1",
      nowMs: () => NOW,
      free: async () => bytes,
    });
  assert.deepEqual(await read(2 ** 30), []);
  assert.deepEqual(await read(2 ** 29), [
    {
      event: "disk_low",
      cause: "disk_low/gateway-1/data_dir",
      workspace: null,
      summary: "0.5 GiB are free on the disk of data_dir on gateway-1; the limit is 1.0 GiB.",
      details: { host: "gateway-1", directory: "data_dir", free_bytes: 2 ** 29, limit_bytes: 2 ** 30 },
      occurredAt: new Date(NOW),
    },
  ]);
});

test("alerts.model-substitution: substitutions are reported by account and asked model with their calls, once each; test keys are not", async () => {
  const source = createSubstitutionSource(() => NOW);
  const other = await makeTenant(database);
  const seen = {
    workspaceId: brand("workspace", tenant.workspaceId),
    connection: "gm",
    isWorkspaceOwned: false,
    asked: "gemini-2",
    answered: "gemini-3",
    isRefused: false,
    testMode: false,
  };
  source.observe(seen);
  source.observe({ ...seen, workspaceId: brand("workspace", other.workspaceId) });
  source.observe({ ...seen, asked: "gemini-1", isRefused: true });
  source.observe({ ...seen, isWorkspaceOwned: true });
  source.observe({ ...seen, asked: "gemini-0", testMode: true });
  const read = () => source.read((ids) => readWorkspaces(database.db, ids));
  const alerts = await read();
  assert.deepEqual(
    alerts.map(({ cause, workspace, summary, details }) => [cause, workspace?.slug ?? null, summary, details["calls"]]),
    [
      ["model_substitution/gm/gemini-2", tenant.workspaceId, "gm answered gemini-2 with gemini-3.", 2],
      [
        "model_substitution/gm/gemini-1",
        tenant.workspaceId,
        "gm answered gemini-1 with gemini-3. The answer was withheld.",
        1,
      ],
      [
        `model_substitution/${tenant.workspaceId}/gm/gemini-2`,
        tenant.workspaceId,
        "gm answered gemini-2 with gemini-3.",
        1,
      ],
    ],
  );
  assert.deepEqual(await read(), []);
  for (let call = 0; call < 1_010; call += 1) source.observe({ ...seen, answered: `m${call}` });
  const [one, ...more] = await read();
  assert.deepEqual(
    [one?.summary, one?.details["calls"], more],
    ["gm answered gemini-2 with m0 and other models.", 1_010, []],
    "a provider that answers by ever new names is one alert",
  );
  for (let model = 0; model < 1_010; model += 1) source.observe({ ...seen, asked: `m${model}` });
  assert.equal((await read()).length, 1_000);
});
