// The console's budgets [console.budgets]: shown with their forecast, set, changed from the state that was read, removed.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { budgetView } from "../../src/contract/admin/budgets.ts";
import { setClock, shiftClock } from "../harness/postgres/database.ts";
import { viewOf } from "../http/admin/admin.ts";
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
before(async () => {
  world = await startConsoleWorld();
  assert.equal(await world.transcribe(), 200);
});
after(() => world.close());

const ask = (method: string, period: string, body?: object, headers: Readonly<Record<string, string>> = {}) =>
  world.ask(method, `/workspaces/acme/apps/notes/budgets/${period}`, body, headers);

test("console.managed: a budget of the file is shown with its soft limit and state, and cannot be changed here", async (t) => {
  const page = await world.admin(t, "#/budgets");
  if (page === null) return;
  assert.match(
    await screenText(page),
    /notes, each month\s+● within limits\s+\$0\.00 of \$50\.00, 0\s%[^]*soft limit at 80\s%/u,
  );
  await assertAccessible(page);
  await assertNarrow(page);
  await page.click("text=notes, each month");
  await page.locator(".tag", { hasText: "from file" }).waitFor();
  assert.equal(await page.locator("#screen form, #screen button").count(), 0);
  await goTo(page, "#/budgets/nowhere/month");
  assert.match(await screenText(page), /NOT_FOUND · 404/u);
});

test("console.budgets: a budget set in the page refuses the app's next request, and the page shows until when", async (t) => {
  const page = await world.admin(t, "#/budgets");
  if (page === null) return;
  await page.getByLabel("Period").selectOption("day");
  await page.click("text=Continue");
  await page.locator("h1", { hasText: "notes · day" }).waitFor();
  await drawn(page);
  await page.getByRole("button", { name: "Set budget", exact: true }).click();
  await page.locator("[aria-invalid]").waitFor();
  assert.match(await page.locator("p.bad:not(:empty)").innerText(), /at least one of/u);
  await page.getByLabel("Seconds of audio").fill("20");
  await page.getByLabel("Soft limit").fill("0.5");
  await page.getByRole("button", { name: "Set budget", exact: true }).click();
  await page.locator("section[aria-label='Status']").waitFor();
  assert.match(await page.locator("#status").innerText(), /applies from its next request on/u);
  const set = viewOf(budgetView, await ask("GET", "day"));
  assert.deepEqual([set.limit_audio_seconds, set.soft_limit, set.limit_usd], [20, 0.5, null]);
  assert.deepEqual([await world.transcribe(), await world.transcribe()], [200, 402]);
  await goTo(page, "#/budgets");
  assert.match(
    await screenText(page),
    /notes, each day[^]*14\.4 s of 20 s of audio, 72\s%[^]*5\.6 s left; soft limit at 50\s%/u,
  );
  assert.match(await screenText(page), /notes, each day\s+▲ soft limit reached/u);
  await setClock(world.gateway.database, `${new Date().toISOString().slice(0, 10)}T12:00:00Z`);
  await goTo(page, "#/budgets");
  assert.match(await screenText(page), /At this rate it will be exhausted on /u);
  await shiftClock(world.gateway.database, 0);
  await goTo(page, "#/budgets/notes/day");
  await assertAccessible(page);
  await assertNarrow(page);
});

test("console.budgets: a used-up budget shows until when it refuses", async (t) => {
  const etag = (await ask("GET", "day")).headers.get("etag") ?? "";
  assert.equal((await ask("PUT", "day", { limit_audio_seconds: 10 }, { "if-match": etag })).status, 200);
  const page = await world.operator(t, "#/w/acme/budgets/notes/day");
  if (page === null) return;
  assert.match(await screenText(page), /14\.4 s of 10 s of audio, 100\s%[^]*✕ exhausted[^]*is rejected until /u);
});

test("console.concurrent-change: a budget with a concurrent change is not overwritten, and can be reloaded", async (t) => {
  const page = await world.admin(t, "#/budgets/notes/day");
  if (page === null) return;
  const etag = (await ask("GET", "day")).headers.get("etag") ?? "";
  assert.equal((await ask("PUT", "day", { limit_audio_seconds: 600 }, { "if-match": etag })).status, 200);
  await page.getByLabel("Seconds of audio").fill("700");
  await page.click("text=Save limits");
  await page.locator(".failure", { hasText: "Conflict: changed by another user" }).waitFor();
  assert.equal(viewOf(budgetView, await ask("GET", "day")).limit_audio_seconds, 600);
  await assertAccessible(page);
  await page.getByRole("button", { name: "Reload" }).click();
  await page.locator(".failure").waitFor({ state: "detached" });
  assert.equal(await page.getByLabel("Seconds of audio").inputValue(), "600");
  await page.getByLabel("Seconds of audio").fill("700");
  await page.click("text=Save limits");
  await page.locator("#status:not(:empty)").waitFor();
  await drawn(page);
  assert.equal(viewOf(budgetView, await ask("GET", "day")).limit_audio_seconds, 700);
  assert.match(await screenText(page), /14\.4 s of 11 min 40 s of audio, 2\s%/u);
});

test("console.confirms: a budget is removed after a confirmation, and not before", async (t) => {
  const page = await world.admin(t, "#/budgets/notes/day");
  if (page === null) return;
  await page.click("text=Remove budget");
  assert.match(await page.locator("dialog").innerText(), /Spending of notes each day will not be limited/u);
  await page.keyboard.press("Escape");
  assert.equal((await ask("GET", "day")).status, 200);
  await page.click("text=Remove budget");
  await page.click("dialog .danger");
  await page.locator("h1", { hasText: /^Budgets$/u }).waitFor();
  assert.equal((await ask("GET", "day")).code, "NOT_FOUND");
  await drawn(page);
  assert.doesNotMatch(await screenText(page), /notes, each day/u);
});
