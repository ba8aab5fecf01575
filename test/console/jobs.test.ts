// The jobs of the console in a real browser [console.live-lists]: running ones, followed without a reload, and how each ended.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { call } from "../http/admin/admin.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { ended, JOBS } from "../http/jobs/jobs.ts";
import {
  assertAccessible,
  assertNarrow,
  consoleFile,
  type ConsoleWorld,
  drawn,
  goTo,
  OPERATOR,
  startConsoleWorld,
} from "./world.ts";

/** Jobs wait here until another process takes them up. */
let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld({ works: false });
});
after(() => world.close());

const MOVING_MS = 5_000;
const RESTING_MS = 30_000;

const submit = async (): Promise<void> => assert.equal(await world.transcribe({}, JOBS), 202);

/** The process that does the work, for as long as `use` runs. */
async function withWorker(use: (worker: TestGateway) => Promise<void>): Promise<void> {
  const worker = await startGateway({ file: consoleFile, existing: world.gateway });
  try {
    await use(worker);
  } finally {
    await worker.close();
  }
}

/** The page's timers are stopped until the test advances them. */
async function atJobs(page: Page, hash: string): Promise<void> {
  await page.clock.install();
  await goTo(page, hash);
}

const jobId = (page: Page): Promise<string> => page.locator("#screen tbody tr summary").first().innerText();

test("console.live-lists: a job appears, is processed and ends in its row without a reload; open rows and the focus stay", async (t) => {
  const page = await world.operator(t, "#/requests");
  if (page === null) return;
  await atJobs(page, "#/jobs");
  assert.match(await page.locator("#screen .empty").innerText(), /No jobs yet/u);
  await submit();
  await page.clock.fastForward(RESTING_MS);
  const row = page.locator("#screen tbody tr");
  await row.filter({ hasText: "queued" }).waitFor();
  assert.doesNotMatch(await row.innerText(), /simulated/u, "its first target is none of the sandbox's");
  const said = page.locator("#screen [role=status]");
  assert.equal(await said.innerText(), "1 new job.");
  await row.locator("summary").click();
  await page.evaluate("window.held = document.activeElement");
  await withWorker(async () =>
    assert.equal((await ended(world.gateway.origin, await jobId(page))).status, "succeeded"),
  );
  await page.clock.fastForward(MOVING_MS);
  await row.filter({ hasText: "● succeeded" }).waitFor();
  assert.match(
    await row.locator("td").first().innerText(),
    /succeeded\s+simulated$/u,
    "the request fell back to the sandbox",
  );
  assert.match(await row.innerText(), /14\.4 s\s+for (3 d|2 d 23 h)\s+Trace/u);
  assert.equal(await said.innerText(), "1 succeeded.");
  assert.equal(await page.evaluate("window.held === document.activeElement && held.tagName"), "SUMMARY");
  assert.match(
    await row.locator("details[open]").innerText(),
    /Served by\s+sandbox \(simulated\)[^]*Attempts\s+1\s+Billable\s+nothing/u,
  );
});

/** What the page asked for before it was asked for by then, and what it had of an answer it has used. */
const otherRequest = (page: Page): Promise<unknown> => page.evaluate(`fetch("/healthz").then((reply) => reply.text())`);

test("console.live-lists: refreshing stops by a switch, in a hidden tab, and with its screen", async (t) => {
  const page = await world.operator(t, "#/requests");
  if (page === null) return;
  await atJobs(page, "#/jobs");
  const ends: Promise<unknown>[] = [];
  page.on("request", (request) => {
    if (/\/jobs\?/u.test(request.url())) ends.push(request.response().then((response) => response?.finished()));
  });
  /** How often the list is read for what `act` does, when those reads are over. */
  const readsAfter = async (act: () => Promise<unknown>): Promise<number> => {
    ends.length = 0;
    await act();
    await otherRequest(page);
    await Promise.all(ends);
    await otherRequest(page);
    return ends.length;
  };
  const see = (isHidden: boolean): Promise<unknown> =>
    page.evaluate(`{
      Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }`);
  const refresh = page.getByLabel("Auto-refresh");
  assert.equal(await readsAfter(() => page.clock.fastForward(RESTING_MS)), 1);
  await refresh.uncheck();
  assert.equal(await readsAfter(() => page.clock.fastForward(RESTING_MS)), 0);
  await goTo(page, "#/jobs?status=failed");
  assert.equal(await refresh.isChecked(), false, "it stays as it was put");
  assert.equal(await readsAfter(() => refresh.check()), 1);
  await see(true);
  assert.equal(await readsAfter(() => page.clock.fastForward(RESTING_MS)), 0);
  assert.equal(await readsAfter(() => see(false)), 1);
  await goTo(page, "#/requests");
  assert.equal(await readsAfter(() => page.clock.fastForward(RESTING_MS)), 0);
});

test("console.requests, console.addresses: a failed job shows its error, the error's page and the trace of its request; filters are in the address", async (t) => {
  await submit();
  await withWorker(async (worker) => {
    const faults = [{ failure: { kind: "status", status: 400 } }];
    const put = await call(worker, "PUT", "/admin/v1/sandbox/faults", { key: OPERATOR, body: { faults } });
    assert.equal(put.status, 200, put.text);
    const { json } = await world.ask("GET", "/jobs?limit=1");
    const [{ job_id: id }] = (json as { readonly data: readonly [{ readonly job_id: string }] }).data;
    assert.equal((await ended(world.gateway.origin, id)).status, "failed");
  });
  const page = await world.admin(t, "#/jobs");
  if (page === null) return;
  const rows = page.locator("#screen tbody tr");
  assert.equal(await rows.count(), 2);
  await page.selectOption("#filter-status", "failed");
  await page.waitForURL(/status=failed$/u);
  await drawn(page);
  assert.equal(await rows.count(), 1);
  assert.match(await rows.innerText(), /✕ failed simulated\s+NO_HEALTHY_PROVIDER[^]*notes/u);
  await rows.locator("summary").click();
  assert.match(await rows.locator("details").innerText(), /Submit it again to retry/u);
  await assertAccessible(page);
  await assertNarrow(page);
  assert.equal(await rows.locator("a").first().getAttribute("href"), "/docs/errors#NO_HEALTHY_PROVIDER");
  await page.getByRole("link", { name: "Trace" }).click();
  await page.locator("#trace-title").waitFor();
});

test("console.live-lists: loaded pages stay when the list is refreshed, with new entries above them", async (t) => {
  await Promise.all(Array.from({ length: 55 }, submit));
  const page = await world.operator(t, "#/requests", { colorScheme: "dark" });
  if (page === null) return;
  await atJobs(page, "#/jobs?workspace=acme");
  const rows = page.locator("#screen tbody tr");
  assert.equal(await rows.count(), 50);
  await page.getByRole("button", { name: "Show more" }).click();
  await rows.nth(56).waitFor();
  await page.locator("#screen tbody tr:last-child summary").focus();
  await page.evaluate("window.held = document.activeElement");
  await withWorker(() => until(async () => (await underWay()) === 0));
  await page.clock.fastForward(MOVING_MS);
  // The second page's too.
  const left = rows.filter({ hasText: /queued|processing/u });
  await left.first().waitFor({ state: "detached" });
  await submit();
  await page.clock.fastForward(RESTING_MS);
  await rows.nth(57).waitFor();
  assert.match(await rows.first().innerText(), /queued/u);
  assert.equal(await page.locator("#screen [role=status]").innerText(), "1 new job.");
  assert.equal(await page.evaluate("window.held === document.activeElement"), true);
  await assertAccessible(page);
});

async function underWay(): Promise<number> {
  const of = async (status: string): Promise<number> => {
    const { json } = await world.ask("GET", `/jobs?status=${status}`);
    return (json as { readonly data: readonly unknown[] }).data.length;
  };
  return (await of("queued")) + (await of("processing"));
}
