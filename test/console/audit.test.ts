// The audit log in a real browser [console.audit]: who changed what, from what to what, and whether the log was changed since.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { assertAccessible, assertNarrow, type ConsoleWorld, goTo, startConsoleWorld } from "./world.ts";

const BUDGET = "/workspaces/acme/apps/notes/budgets/day";
let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld();
  await world.api("PUT", BUDGET, { limit_usd: "5.00", soft_limit: 0.5 });
});
after(() => world.close());

test("console.audit: a change made through the API is shown with its key and opens field by field, and each word of it is a filter", async (t) => {
  const page = await world.operator(t, "#/audit");
  if (page === null) return;
  const first = page.locator("#screen tbody tr").first();
  assert.match(await first.innerText(), /key_[0-9a-z]{26}\s+budget\.\w+\s+\S+\s+acme\s+made/u);
  // What was changed is in sight where there is a desk's room.
  await page.setViewportSize({ width: 1280, height: 800 });
  const isWhole =
    "[...document.querySelectorAll('#screen .scroll')].every((each) => each.scrollWidth <= each.clientWidth)";
  assert.equal(await page.evaluate(isWhole), true);
  await first.locator("summary").click();
  assert.match(await first.locator("table").innerText(), /limit_usd\s+5\.00/u);
  assert.match(await page.locator("#screen tbody").first().innerText(), /configuration file\s+route\.applied/u);
  await assertAccessible(page);
  await world.api("PUT", BUDGET, { limit_usd: "7.00", soft_limit: 0.5 }, { "if-match": "*" });
  await goTo(page, "#/audit");
  await first.locator("summary", { hasText: /^limit_usd$/u }).click();
  assert.match(await first.locator("table").innerText(), /From\s+To\s+limit_usd\s+5\.00\s+7\.00$/u);
  await first.locator("a").nth(1).click();
  await page.waitForURL(/#\/audit\?action=budget\.\w+$/u);
  const rows = page.locator("#screen tbody tr:has(details)");
  await rows.nth(1).waitFor({ state: "detached" });
  assert.equal(await rows.count(), 1);
  await assertNarrow(page);
});

test("console.addresses: days are in the reader's time zone and in the address, and a value that fits no filter is reported", async (t) => {
  const page = await world.operator(t, "#/audit?workspace=platform", { timezoneId: "Asia/Kathmandu" });
  if (page === null) return;
  assert.ok((await page.locator("#screen tbody tr:has(details)").count()) > 0);
  const asked = page.waitForRequest(/\/audit\?/u);
  await page.fill("#filter-from", "2020-01-01");
  await page.fill("#filter-to", "2020-01-31");
  await page.keyboard.press("Enter");
  const { searchParams } = new URL((await asked).url());
  assert.equal(searchParams.get("from"), "2019-12-31T18:15:00.000Z");
  assert.equal(searchParams.get("to"), "2020-01-31T18:15:00.000Z");
  await page.getByText("No entries match these filters.").waitFor();
  assert.match(page.url(), /from=2020-01-01&to=2020-01-31$/u);
});

test("console.audit: the chains are verified on demand, and a change outside of the gateway is named", async (t) => {
  const page = await world.operator(t, "#/audit");
  if (page === null) return;
  const part = page.locator('section[aria-label="Integrity"]');
  const verify = async (): Promise<string> => {
    await part.getByRole("button").press("Enter");
    await part.locator(".mark").waitFor();
    assert.equal(await page.evaluate("document.activeElement?.textContent"), "Verify integrity", "its focus");
    return part.innerText();
  };
  assert.match(await verify(), /● \d+ entries in \d+ chains: verified\.[^]*No signed checkpoint yet/u);
  const { db } = world.gateway.database;
  await sql`alter table audit_log disable trigger user`.execute(db);
  await sql`update audit_log set after = '{"limit_usd": "5000"}' where actor_key_id is not null`.execute(db);
  await sql`alter table audit_log enable trigger user`.execute(db);
  await goTo(page, "#/audit");
  assert.match(
    await verify(),
    /ws_\w+: entry \d+ has content that does not match its hash[^]*✕ \d+ entries in \d+ chains: \d+ findings?\./u,
  );
  await assertAccessible(page);
});

test("console.audit, console.workspace-bounds: a workspace's administrators see their own changes, and no chains of others", async (t) => {
  const page = await world.admin(t, "#/audit");
  if (page === null) return;
  assert.match(await page.locator("#screen tbody").first().innerText(), /budget\./u);
  assert.doesNotMatch(await page.locator("#screen tbody").first().innerText(), /route\.applied/u);
  assert.equal(await page.getByRole("button", { name: "Verify integrity" }).count(), 0);
  assert.equal(await page.locator("#filter-workspace").count(), 0);
  await assertAccessible(page);
});
