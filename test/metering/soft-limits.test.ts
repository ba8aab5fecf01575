// The log line of a soft limit: once for each window, in whichever process, and again when the limit was raised and is reached again.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { createLogger } from "../../src/lib/logger.ts";
import { reportSoftLimits } from "../../src/metering/report-soft-limits.ts";
import { changeWindows } from "../../src/metering/store/budget-windows.ts";
import { lockBudgets } from "../../src/metering/store/budgets.ts";
import { assertShownJson, shownOutputs } from "../docs/shown-blocks.ts";
import { budgetsByState, findReachedSoftLimits, markSoftLimit } from "../../src/metering/store/soft-limits.ts";
import {
  makeTenant,
  type OpenDatabase,
  openTestDatabase,
  setClock,
  type TestDatabase,
  withPlugin,
} from "../harness/postgres/database.ts";

const USD = 1_000_000_000n;
const NOTHING = {
  spentNanoUsd: 0n,
  reservedNanoUsd: 0n,
  spentAudioMs: 0n,
  reservedAudioMs: 0n,
  spentTokens: 0n,
  reservedTokens: 0n,
};
const NOVEMBER = new Date("2026-11-01T00:00:00Z");
const DECEMBER = new Date("2026-12-01T00:00:00Z");

let database: TestDatabase;
let second: OpenDatabase;
let tenant: Awaited<ReturnType<typeof makeTenant>>;
let lines: Record<string, unknown>[] = [];
const logger = createLogger(
  { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  { isStrict: true },
);

before(async () => {
  database = await openTestDatabase();
  second = await database.openSecond();
});
after(async () => {
  await second.close();
  await database.close();
});
beforeEach(async () => {
  await setClock(database, "2026-11-10T12:00:00Z");
  await database.db.deleteFrom("budgets").execute();
  tenant = await makeTenant(database);
  lines = [];
});

interface Limits {
  readonly period?: "day" | "month" | "total";
  readonly usd?: bigint;
  readonly audioSeconds?: string;
  readonly tokens?: bigint;
  readonly softLimit?: string | null;
}

async function budget({ period = "month", usd, audioSeconds, tokens, softLimit = "0.8" }: Limits): Promise<string> {
  const id = `${tenant.appId}/${period}`;
  await database.db
    .insertInto("budgets")
    .values({
      id,
      workspace_id: tenant.workspaceId,
      app_id: tenant.appId,
      period,
      limit_nano_usd: usd ?? null,
      limit_audio_seconds: audioSeconds ?? null,
      limit_tokens: tokens ?? null,
      soft_limit: softLimit,
      managed_by: "test",
    })
    .execute();
  return id;
}

function spend(budgetId: string, more: Partial<typeof NOTHING>, windowStart = NOVEMBER): Promise<void> {
  return database.transaction(async (tx) => {
    await lockBudgets(tx, [budgetId]);
    await changeWindows(tx, [{ budgetId, windowStart, ...NOTHING, ...more }]);
  });
}

const look = (on: OpenDatabase = database) => reportSoftLimits(on, logger);

test("budgets.soft-limit-log: when spend reaches the soft limit one line names the budget, its owner, spend and limit", async () => {
  const id = await budget({ usd: 50n * USD, audioSeconds: "100", tokens: 1_000n });
  await spend(id, { spentNanoUsd: 40n * USD - 1n, spentAudioMs: 80_000n - 1n, reservedNanoUsd: 5n * USD });
  await look();
  assert.equal(lines.length, 0, "what is only held does not count");
  await spend(id, { spentNanoUsd: 1_200_000_001n, spentAudioMs: 1n });
  await look();
  assert.deepEqual(
    lines.map(({ time: _time, ...line }) => line),
    [
      {
        level: 40,
        event: "budget.soft_limit_reached",
        budget_id: id,
        workspace: tenant.workspaceId,
        app: "app",
        period: "month",
        soft_limit: 0.8,
        spent: "41.20 USD, 80 s of audio",
        limit: "50.00 USD, 100 s of audio",
        msg: "a budget reached its soft limit; at its limit, requests of its app are rejected",
      },
    ],
  );
});

test("budgets.soft-limit-log, guides.outputs: the line is as the page shows it", async () => {
  const id = await budget({ usd: 50n * USD });
  await spend(id, { spentNanoUsd: (412n * USD) / 10n });
  await look();
  const [shown = ""] = shownOutputs("docs/operations.md", "Budgets that run out");
  assertShownJson(shown, JSON.stringify({ ...lines[0], workspace: "acme", app: "notes" }));
});

test("budgets.soft-limit-log: the line is written once in a window, by no later look and no other process, and again in the next window", async () => {
  const id = await budget({ tokens: 10n });
  await spend(id, { spentTokens: 8n });
  await look();
  await look();
  await spend(id, { spentTokens: 2n });
  await look(second);
  assert.equal(lines.length, 1);
  await setClock(database, "2026-12-01T00:00:00Z");
  await look();
  assert.equal(lines.length, 1, "nothing is spent in December yet");
  await spend(id, { spentTokens: 9n }, DECEMBER);
  await look(second);
  await look();
  assert.deepEqual(
    lines.map(({ spent }) => spent),
    ["8 tokens", "9 tokens"],
  );
});

test("budgets.soft-limit-log: processes that look at the same moment write one line for each budget", async () => {
  const ids: string[] = [];
  for (let made = 0; made < 5; made += 1) {
    tenant = await makeTenant(database);
    const id = await budget({ tokens: 10n, period: "total" });
    await spend(id, { spentTokens: 8n }, new Date(0));
    ids.push(id);
  }
  await Promise.all([look(), look(second), look(), look(second)]);
  assert.deepEqual(lines.map((line) => String(line["budget_id"])).toSorted(), ids.toSorted());
});

test("budgets.soft-limit-log: of two processes that both saw a budget reach its soft limit one writes the line", async () => {
  const id = await budget({ tokens: 10n });
  await spend(id, { spentTokens: 8n });
  assert.deepEqual([await findReachedSoftLimits(database.db), await findReachedSoftLimits(second.db)], [[id], [id]]);
  const mark = (on: OpenDatabase) => on.transaction((tx) => markSoftLimit(tx, id));
  const marked = await Promise.all([mark(database), mark(second)]);
  assert.deepEqual(
    marked.flatMap((reached) => reached?.id ?? []),
    [id],
  );
});

test("budgets.soft-limit-raised: after a limit was raised the line comes again when its soft limit is reached", async () => {
  const id = await budget({ tokens: 10n });
  const setLimit = (limit_tokens: bigint) =>
    database.db.updateTable("budgets").set({ limit_tokens }).where("id", "=", id).execute();
  await spend(id, { spentTokens: 8n });
  await look();
  await setLimit(100n);
  await look();
  assert.equal(lines.length, 1);
  await spend(id, { spentTokens: 72n });
  await look();
  assert.deepEqual(
    lines.map(({ spent, limit }) => [spent, limit]),
    [
      ["8 tokens", "10 tokens"],
      ["80 tokens", "100 tokens"],
    ],
  );
});

test("budgets.soft-limit-none: without a soft limit, or with a limit of 0, there is no line", async () => {
  const id = await budget({ tokens: 10n, softLimit: null });
  await spend(id, { spentTokens: 10n });
  tenant = await makeTenant(database);
  await spend(await budget({ usd: 0n }), { spentAudioMs: 1_000n });
  await look();
  assert.deepEqual(lines, []);
});

test("budgets.metric: budgets are counted by spend in their current windows, unused ones among them", async () => {
  const counts = async () => Object.fromEntries((await budgetsByState(database.db)).map((s) => [s.labels[0], s.value]));
  assert.deepEqual(await counts(), { below_soft_limit: 0, soft_limit_reached: 0, exhausted: 0 });
  const id = await budget({ tokens: 10n });
  assert.deepEqual(await counts(), { below_soft_limit: 1, soft_limit_reached: 0, exhausted: 0 });
  await spend(id, { spentTokens: 8n });
  const unsoft = await budget({ usd: 10n, audioSeconds: "1", period: "total", softLimit: null });
  await spend(unsoft, { spentNanoUsd: 9n, reservedNanoUsd: 1n }, new Date(0));
  assert.deepEqual(await counts(), { below_soft_limit: 1, soft_limit_reached: 1, exhausted: 0 });
  await spend(id, { spentTokens: 2n });
  await spend(unsoft, { spentAudioMs: 1_000n }, new Date(0));
  assert.deepEqual(await counts(), { below_soft_limit: 0, soft_limit_reached: 0, exhausted: 2 });
  await setClock(database, "2026-12-01T00:00:00Z");
  assert.deepEqual(await counts(), { below_soft_limit: 1, soft_limit_reached: 0, exhausted: 1 });
});

test("budgets.soft-limit-cost: however long the past, a look reads the current windows alone, by their key", async () => {
  const { workspaceId } = tenant;
  const { db } = database;
  await sql`insert into apps (id, workspace_id, slug, name, managed_by)
    select ${`${workspaceId}-`} || each, ${workspaceId}, each, 'App', 'test' from generate_series(1, 500) as each`.execute(
    db,
  );
  await sql`insert into budgets (id, workspace_id, app_id, period, limit_tokens, soft_limit, managed_by)
    select id || '/day', workspace_id, id, 'day', 10, 0.8, 'test' from apps where workspace_id = ${workspaceId}`.execute(
    db,
  );
  await sql`insert into budget_windows (budget_id, window_start)
    select id, date_trunc('day', patchbay_now(), 'UTC') - days * interval '1 day' from budgets, generate_series(0, 29) as days`.execute(
    db,
  );
  await sql`analyze budgets, budget_windows`.execute(db);
  const plans: string[] = [];
  const explained = withPlugin(database, {
    transformQuery: ({ node }) => {
      assert.ok(node.kind === "RawNode");
      return { ...node, sqlFragments: [`explain ${node.sqlFragments[0]}`, ...node.sqlFragments.slice(1)] };
    },
    transformResult: async ({ result }) => {
      plans.push(result.rows.map((row) => String(row["QUERY PLAN"])).join("\n"));
      return { ...result, rows: [] };
    },
  });
  await findReachedSoftLimits(explained);
  await budgetsByState(explained);
  assert.equal(plans.length, 2);
  for (const plan of plans) {
    const scans = plan.match(/Scan[^\n]* on budget_windows[^\n]*/gu) ?? [];
    assert.equal(scans.length, 1, plan);
    assert.match(scans[0], /^Scan using budget_windows_pkey/u, plan);
  }
});
