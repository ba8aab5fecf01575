// One request in the console [console.requests]: its owner, what was asked and the outcome, and the way to its job and back; found by
// the id that callers have. Counts and times in every locale.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { brand } from "../../src/contract/ids.ts";
import { KEY } from "../harness/gateway.ts";
import { ended, JOBS, list } from "../http/jobs/jobs.ts";
import {
  assertAccessible,
  assertNarrow,
  type ConsoleWorld,
  drawn,
  goTo,
  screenText,
  startConsoleWorld,
} from "./world.ts";

let world: ConsoleWorld;
let job = "";
before(async () => {
  world = await startConsoleWorld();
  assert.equal(await world.transcribe({ diarization: "true" }), 200);
  assert.equal(await world.transcribe({}, JOBS), 202);
  const [submitted] = (await list(world.gateway.origin)).data;
  job = submitted?.job_id ?? "";
  await ended(world.gateway.origin, job);
  await fetch(`${world.gateway.origin}/v1/me`, { headers: { authorization: `Bearer ${KEY}` } });
  await world.gateway.app.requestLog.flush();
});
after(() => world.close());

const requestOf = async (endpoint: string): Promise<string> => {
  const { db } = world.gateway.database;
  const row = db.selectFrom("requests").select("id").where("endpoint", "like", `%${endpoint}`);
  return (await row.executeTakeFirstOrThrow()).id;
};

test("console.requests: a request names its app and key and leads to them; it shows what was asked, and the outcome of each call", async (t) => {
  const page = await world.admin(t, `#/requests/${await requestOf("/transcription")}`);
  if (page === null) return;
  const text = await screenText(page);
  assert.match(text, /App\nnotes\nKey\nkey\n/u);
  assert.match(text, /Requested\naudio_input, diarization\n/u);
  assert.match(text, /Route\nspeech, version 1\n/u);
  assert.match(text, /2\. sandbox[^]*● diarization: /u);
  await assertAccessible(page);
  await assertNarrow(page);
  await page.locator("dd a", { hasText: "notes" }).click();
  await page.locator("section[aria-label='App notes']").waitFor();
});

test("console.requests, requests.provider-error, requests.answered-model: a request shows the provider's own reason, and the model that answered", async (t) => {
  const id = await requestOf("/transcription");
  const { db } = world.gateway.database;
  const receipts = [{ feature: "model", grade: "echoed", delivered: false, isTolerated: true, answered: "other-2" }];
  const failure = { status: 429, code: "slow_down", requestId: "r-7", message: "Wait a minute." };
  await db
    .updateTable("attempts")
    .set({ receipts: JSON.stringify(receipts), provider_failure: JSON.stringify(failure) })
    .where("request_id", "=", id)
    .execute();
  const page = await world.operator(t, `#/requests/${id}`);
  if (page === null) return;
  const text = await screenText(page);
  assert.match(text, /✕ model: answered by other-2/u);
  assert.match(text, /HTTP 429, slow_down, request r-7\s+Wait a minute\./u);
  await assertAccessible(page);
});

test("console.requests: the operator sees the owner in each row, and is led into that workspace", async (t) => {
  const page = await world.operator(t, "#/requests?workspace=acme");
  if (page === null) return;
  assert.match(await page.locator("#screen tbody tr").first().innerText(), /acme/u);
  await page.locator("#screen tbody a").last().click();
  await page.locator("dd a", { hasText: "notes" }).waitFor();
  assert.match(await screenText(page), /Workspace\nacme\nApp\nnotes\n/u);
  await page.locator("dd a", { hasText: "notes" }).click();
  await page.locator("section[aria-label='App notes']").waitFor();
  assert.match(page.url(), /#\/w\/ws_[0-9a-z]+\/apps\/app_/u);
});

test("console.requests: a job links to its request and back; either is found by its id", async (t) => {
  const page = await world.admin(t, `#/jobs?job=${job}`);
  if (page === null) return;
  assert.equal(await page.locator("#screen tbody tr").count(), 1);
  await page.click("text=Trace");
  const own = page.locator("section[aria-label='Job']");
  assert.match(await own.innerText(), /● succeeded/u);
  assert.match(await page.locator("section", { hasText: "Targets, in" }).first().innerText(), /2\. sandbox[^]*served/u);
  await own.locator("a", { hasText: job }).click();
  await page.locator("summary", { hasText: job }).waitFor();
  await goTo(page, "#/jobs?job=job_00000000000000000000000000");
  assert.match(await screenText(page), /No jobs match these filters/u);
  await goTo(page, "#/requests");
  await page.fill("#filter-id", await requestOf("/jobs"));
  await page.keyboard.press("Enter");
  await own.waitFor();
  await page.reload();
  await own.waitFor();
});

test("console.overview: a job that failed is on the overview, though its submission succeeded", async (t) => {
  await world.api("PUT", "/sandbox/faults", { faults: [{ failure: { kind: "status", status: 400 } }] });
  assert.equal(await world.transcribe({}, JOBS), 202);
  const [submitted] = (await list(world.gateway.origin)).data;
  await ended(world.gateway.origin, submitted?.job_id ?? "");
  await world.api("PUT", "/sandbox/faults", { faults: [] });
  const page = await world.admin(t, "#/overview");
  if (page === null) return;
  const failed = page.locator("section[aria-label='Failed jobs']");
  assert.match(await failed.innerText(), new RegExp(`${submitted?.job_id}\\s+✕ [A-Z_]+\\s+Trace`, "u"));
  await failed.locator("a", { hasText: "All failed jobs" }).click();
  await page.locator("h1", { hasText: /^Jobs$/u }).waitFor();
  await drawn(page);
  assert.equal(await page.locator("#screen tbody tr").count(), 1);
});

test("console.formats: counts and money have one format in every locale, and times name their zone", async (t) => {
  const { db } = world.gateway.database;
  await db
    .updateTable("attempts")
    .set({ input_tokens: 1_000_000_000_000n })
    .where("outcome", "=", "succeeded")
    .execute();
  const options = { locale: "de-DE", timezoneId: "Pacific/Kiritimati" };
  const page = await world.admin(t, "#/usage", options);
  if (page === null) return;
  assert.match(await screenText(page), /2,000,000,000,000/u);
  assert.equal(await page.locator("#zone").innerText(), "Times in Pacific/Kiritimati (UTC+14) unless marked UTC.");
  await goTo(page, "#/overview");
  assert.match(await screenText(page), /2,000,000,000,000/u);
  await goTo(page, "#/usage?app=app_gone");
  assert.equal(await page.locator("#filter-app").inputValue(), "app_gone", "the page shows the filter");
  const asked = page.waitForRequest(/\/requests\?/u);
  await goTo(page, "#/requests?from=2020-01-01&to=2020-01-01");
  const { searchParams } = new URL((await asked).url());
  assert.deepEqual(
    [searchParams.get("from"), searchParams.get("to")],
    ["2019-12-31T10:00:00.000Z", "2020-01-01T10:00:00.000Z"],
  );
});

test("console.overview: pending provider deletions are on the overview and on a list of their own", async (t) => {
  const page = await world.admin(t, "#/overview");
  if (page === null) return;
  assert.match(await screenText(page), /No failed provider deletions/u);
  await goTo(page, "#/deletions");
  assert.match(await screenText(page), /No deletions yet/u);
  await giveUp();
  await goTo(page, "#/deletions?status=failed");
  const row = page.locator("#screen tbody tr");
  assert.match(
    await row.innerText(),
    /failed: the provider still has the data[^]*assemblyai: gone[^]*run-of-it[^]*no account/u,
  );
  await assertAccessible(page);
  await assertNarrow(page);
  await row.locator("a", { hasText: job }).click();
  await page.locator("summary", { hasText: job }).waitFor();
  await goTo(page, "#/overview");
  await page.click("text=All failed deletions");
  await page.locator("h1", { hasText: /^Provider deletions$/u }).waitFor();
  assert.equal(await row.count(), 1);
});

/** The recording of the job, at a provider that is gone. */
async function giveUp(): Promise<void> {
  const { app, database } = world.gateway;
  const { workspace_id: workspace, app_id: ofApp } = await database.db
    .selectFrom("jobs")
    .select(["workspace_id", "app_id"])
    .where("id", "=", job)
    .executeTakeFirstOrThrow();
  await app.gateway.deletions.owe({
    workspaceId: brand("workspace", workspace),
    appId: brand("app", ofApp),
    subject: job,
    account: "platform/gone",
    provider: "assemblyai",
    testMode: false,
    run: { id: "run-of-it", details: {} },
    dueInSeconds: 0,
  });
  await database.db
    .updateTable("provider_deletions")
    .set({ state: "failed", last_failure: "no_account", finished_at: sql`now()` })
    .execute();
}
