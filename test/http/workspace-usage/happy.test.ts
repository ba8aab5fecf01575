// GET /workspace/{tenant_id}/usage: what all apps of a workspace used, grouped as asked.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type WorkspaceUsage, workspaceUsage } from "../../../src/contract/usage.ts";
import { fixture } from "../../audio/build-audio.ts";
import { postForm } from "../../harness/client.ts";
import { KEY, OTHER_KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ADMIN, ask, OPERATOR, OTHER_ADMIN, SECOND_KEY, workspaces } from "../../usage/workspace.ts";

/** One second exactly. */
const AUDIO = fixture("speech-44k-stereo.wav");
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: workspaces });
  for (const key of [KEY, KEY, SECOND_KEY, OTHER_KEY])
    assert.equal((await postForm(gateway.origin, { file: AUDIO, key })).status, 200);
});
after(() => gateway.close());

async function usage(query = "", key = ADMIN, tenant = "acme"): Promise<WorkspaceUsage> {
  const answer = await ask(gateway, `/workspace/${tenant}/usage${query}`, key);
  assert.equal(answer.status, 200, answer.text);
  return workspaceUsage.parse(answer.json);
}

test("usage.groups, usage.tenancy: all apps of the workspace and no others, by app, key and hour", async () => {
  const byApp = await usage("?group_by=app,key");
  assert.deepEqual(byApp.group_by, ["app", "key"]);
  assert.deepEqual(
    byApp.data.map(({ attempts }) => attempts).toSorted((a, b) => a - b),
    [1, 2],
  );
  assert(byApp.data.every((row) => row.app !== undefined && row.key !== undefined && row.day === undefined));
  const [total] = byApp.totals;
  assert.deepEqual([total?.attempts, total?.audio_seconds, total?.charge_usd], [3, 3, "0.003"]);
  const [hour] = (await usage("?group_by=hour,provider,model,capability")).data;
  assert.match(hour?.hour ?? "", /^20\d\d-\d\d-\d\dT\d\d:00:00\.000Z$/u);
  assert.deepEqual([hour?.provider, hour?.model, hour?.capability], ["deepgram", "nova-3", "audio_input"]);
  assert.deepEqual((await usage("", OPERATOR)).totals, byApp.totals);
  assert.equal((await usage("", OPERATOR, "other")).totals[0]?.attempts, 1);
});

test("usage.filter: usage of one app, and of one key", async () => {
  const [busy, quiet] = (await usage("?group_by=app,key")).data.toSorted((a, b) => b.attempts - a.attempts);
  assert.equal((await usage(`?app=${busy?.app}`)).totals[0]?.attempts, 2);
  assert.equal((await usage(`?key=${quiet?.key}`)).totals[0]?.attempts, 1);
  assert.deepEqual((await usage(`?app=${busy?.app}&key=${quiet?.key}`)).totals, []);
});

test("usage.exact: rolled up or not, the answer is the same", async () => {
  const before = await usage("?group_by=hour,app,key,model");
  await gateway.app.usage.roll();
  assert.deepEqual(await usage("?group_by=hour,app,key,model"), before);
});

test("usage.budgets, usage.filter: the budgets of the workspace's apps are in the answer, and no others; of one app where one is selected", async () => {
  assert.deepEqual((await usage()).budgets, []);
  for (const [tenant, app, key] of [
    ["acme", "notes", ADMIN],
    ["acme", "second", ADMIN],
    ["other", "theirs", OTHER_ADMIN],
  ] as const) {
    const response = await fetch(`${gateway.origin}/workspace/${tenant}/apps/${app}/budgets/total`, {
      method: "PUT",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ limit_audio_seconds: 10, soft_limit: 0.1 }),
    });
    assert.equal(response.status, 201);
  }
  assert.equal((await postForm(gateway.origin, { file: AUDIO, key: SECOND_KEY })).status, 200);
  const { budgets = [] } = await usage("?group_by=app,key");
  assert.deepEqual(
    budgets
      .toSorted((a, b) => a.spent_audio_seconds - b.spent_audio_seconds)
      .map((budget) => [budget.spent_audio_seconds, budget.soft_limit_reached, budget.forecast]),
    [
      [0, false, null],
      [1, true, null],
    ],
  );
  const spent = budgets.find((budget) => budget.soft_limit_reached);
  assert.deepEqual((await usage(`?app=${spent?.app}`)).budgets, [spent]);
  assert.equal((await usage("", OPERATOR, "other")).budgets?.length, 1);
});

test("usage.csv: usage as CSV for a spreadsheet has the rows of the data", async () => {
  const query = "?group_by=app,model";
  const { data } = await usage(query);
  const answer = await ask(gateway, `/workspace/acme/usage${query}`, ADMIN, "text/csv");
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/csv; charset=utf-8; header=present$/u);
  assert.match(answer.headers.get("content-disposition") ?? "", /^attachment; filename="usage-[\d-]+\.csv"$/u);
  const [head, ...lines] = answer.text.trimEnd().split("\r\n");
  assert.match(head ?? "", /^app,model,billing_class,attempts,failed,audio_seconds,/u);
  assert.deepEqual(
    lines.map((line) => line.split(",").slice(0, 4)),
    data.map((row) => [row.app, row.model, row.billing_class, String(row.attempts)]),
  );
});
