// Lists of more than a page, names behind a hundred newer ones, and names of the greatest length [console.long-lists].
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  assertAccessible,
  assertNarrow,
  type ConsoleWorld,
  drawn,
  goTo,
  screenText,
  startConsoleWorld,
} from "./world.ts";

/** With those of the configuration file more than a hundred of each. */
const MANY = 101;
let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld();
  assert.equal(await world.transcribe(), 200);
  for (let at = 0; at < MANY; at += 1) {
    const name = at === 0 ? "W".repeat(64) : `مفتاح ${at} (iOS)`;
    await world.api("POST", "/workspaces/acme/keys", { app: "notes", name, scopes: ["transcribe"] });
    await world.api("POST", "/workspaces/acme/apps", { slug: at === 0 ? "w".repeat(63) : `app-${at}`, route: "talk" });
  }
});
after(() => world.close());

test("console.long-lists: a list continues page by page, each row once, with their number; long names stay within the page", async (t) => {
  const page = await world.admin(t, "#/keys?role=member");
  if (page === null) return;
  const rows = page.locator("#screen tbody tr");
  assert.equal(await rows.count(), 50);
  const more = page.getByRole("button", { name: "Show more" });
  await more.click();
  await page.locator("#status", { hasText: "50 more." }).waitFor();
  await more.click();
  await page.locator("#status", { hasText: "2 more." }).waitFor();
  assert.equal(await more.count(), 0);
  const links = await page.evaluate<readonly string[]>(
    "[...document.querySelectorAll('#screen tbody td:first-child a')].map(({ href }) => href)",
  );
  assert.deepEqual([links.length, new Set(links).size], [MANY + 1, MANY + 1]);
  await assertAccessible(page);
  const long = page.locator("tbody a", { hasText: /^W+$/u });
  assert.ok(((await long.boundingBox())?.width ?? Infinity) < 400);
  await assertNarrow(page);
});

test("console.long-lists: usage shows the name of a key behind a hundred newer ones", async (t) => {
  const page = await world.admin(t, "#/usage?by=key");
  if (page === null) return;
  assert.match(await page.locator("section[aria-label='Simulated'] tbody").innerText(), /notes\s+key\s/u);
});

test("console.long-lists: behind a hundred apps a budget's app is typed; an app leads to its own budgets alone", async (t) => {
  const page = await world.admin(t, "#/budgets");
  if (page === null) return;
  assert.match(await screenText(page), /No budget, of the newest hundred apps: app-1, /u);
  await page.getByLabel("App", { exact: true }).fill("notes");
  await page.getByLabel("Period").selectOption("day");
  await page.click("text=Continue");
  await page.locator("h1", { hasText: "notes · day" }).waitFor();
  await drawn(page);
  await goTo(page, "#/apps/app-7");
  await page.locator("#screen").getByRole("link", { name: "Budgets", exact: true }).click();
  await page.locator("text=Budgets of all apps").waitFor();
  assert.match(await screenText(page), /No budget: app-7\. Their spending/u);
  await assertNarrow(page);
  await goTo(page, "#/apps/notes");
  await page.locator("#screen").getByRole("link", { name: "Budgets", exact: true }).click();
  await page.locator("tbody a", { hasText: "each month" }).waitFor();
});
