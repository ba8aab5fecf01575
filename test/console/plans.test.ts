// The console's plans and credits [console.credits]: the operator creates and grants them, administrators read them.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { creditsView, planView } from "../../src/contract/admin/plans.ts";
import { viewOf } from "../http/admin/admin.ts";
import {
  assertAccessible,
  assertNarrow,
  type ConsoleWorld,
  drawn,
  goTo,
  press,
  screenText,
  startConsoleWorld,
} from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld({
    change: (usual) => ({
      ...usual,
      plans: [{ id: "free", monthly_chat_tokens: 1_000, credits_usd: "5" }],
      workspaces: (usual.workspaces ?? []).map((workspace) => ({ ...workspace, plan: "free" })),
    }),
  });
});
after(() => world.close());

test("console.workspaces, console.field-errors: a plan is created, changed once confirmed, and removed; what the API refuses is shown at its field", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  await page.getByLabel("Name", { exact: true }).fill("No Name");
  await page.getByLabel("Credits in US dollars").fill("10");
  await press(page, "Create plan");
  await page.locator("[aria-invalid]").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("team");
  await press(page, "Create plan");
  await page.locator("tbody a", { hasText: "team" }).click();
  await page.locator("h1", { hasText: "Plans · team" }).waitFor();
  await drawn(page);
  await page.getByLabel("Chat tokens per month").fill("500");
  await press(page, "Save");
  assert.match(await page.locator("dialog").innerText(), /every workspace on team/u);
  await page.click("dialog .danger");
  await page.locator("#status", { hasText: "was changed" }).waitFor();
  await drawn(page);
  const plan = viewOf(planView, await world.ask("GET", "/plans/team"));
  assert.deepEqual([plan.monthly_chat_tokens, plan.credits_usd], [500, "10.00"]);
  await assertAccessible(page);
  await assertNarrow(page);
  await page.click("text=Remove plan");
  await page.click("dialog .danger");
  await page.locator("h1", { hasText: /^Plans$/u }).waitFor();
  assert.equal((await world.ask("GET", "/plans/team")).code, "NOT_FOUND");
});

test("console.concurrent-change, console.confirms: a plan with a concurrent change is not overwritten; one in use is not removed", async (t) => {
  assert.equal((await world.ask("POST", "/plans", { id: "busy", credits_usd: "1" })).status, 201);
  assert.equal((await world.ask("POST", "/workspaces", { slug: "on-it", plan: "busy" })).status, 201);
  const page = await world.operator(t, "#/plans/busy");
  if (page === null) return;
  assert.match(await screenText(page), /Credits of on-it/u);
  assert.equal((await world.ask("PUT", "/plans/busy", { credits_usd: "2" }, { "if-match": "*" })).status, 200);
  await page.getByLabel("Credits in US dollars").fill("3");
  await press(page, "Save");
  await page.click("dialog .danger");
  await page.locator(".failure", { hasText: "Conflict: changed by another user" }).waitFor();
  await page.getByRole("button", { name: "Reload" }).click();
  await page.locator(".failure").waitFor({ state: "detached" });
  assert.equal(await page.getByLabel("Credits in US dollars").inputValue(), "2.00");
  await page.click("text=Remove plan");
  await page.click("dialog .danger");
  await page.locator(".failure", { hasText: "CONFLICT" }).waitFor();
  await goTo(page, "#/plans/free");
  assert.match(await screenText(page), /from file/u);
  assert.equal(await page.locator("#screen form, #screen button").count(), 0);
});

test("console.credits: credits are granted with a note, taken back once confirmed, and the balance is shown", async (t) => {
  const page = await world.operator(t, "#/w/acme/credits");
  if (page === null) return;
  const credits = async () => viewOf(creditsView, await world.ask("GET", "/workspaces/acme/credits"));
  await page.getByLabel("US dollars").fill("7.5");
  await press(page, "Save");
  await page.locator("[aria-invalid]").waitFor();
  await page.getByLabel("Reason").fill("goodwill");
  await press(page, "Save");
  await page.locator("#status", { hasText: "$12.50 remaining" }).waitFor();
  await drawn(page);
  assert.deepEqual((await credits()).granted_usd, "7.50");
  await page.getByLabel("US dollars").fill("-20");
  await page.getByLabel("Reason").fill("a mistake");
  await press(page, "Save");
  await page.click("dialog .danger");
  await page.locator("#screen .mark.bad").waitFor();
  assert.match(await screenText(page), /✕ −\$7\.50 Requests that need credits are rejected/u);
  assert.equal((await credits()).balance_usd, "-7.50");
  await assertAccessible(page);
  await assertNarrow(page);
});

test("console.credits: a grant repeated after a lost answer is booked once; with another amount the page reports that the first arrived", async (t) => {
  const page = await world.operator(t, "#/w/acme/credits");
  if (page === null) return;
  const granted = async () => viewOf(creditsView, await world.ask("GET", "/workspaces/acme/credits")).granted_usd;
  const before = Number(await granted());
  const loseAnswer = () =>
    page.route(
      "**/credits",
      async (route) => {
        await route.fetch();
        await route.abort("connectionreset");
      },
      { times: 1 },
    );
  const book = async (amount: string) => {
    await page.getByLabel("US dollars").fill(amount);
    await page.getByLabel("Reason").fill("goodwill");
    await press(page, "Save");
  };
  await loseAnswer();
  await book("3");
  await page.locator("#screen .failure").waitFor();
  assert.equal(Number(await granted()), before + 3);
  await press(page, "Save");
  await page.locator("#status", { hasText: "Booked." }).waitFor();
  assert.equal(Number(await granted()), before + 3);
  await drawn(page);
  await loseAnswer();
  await book("4");
  await page.locator("#screen .failure").waitFor();
  await book("5");
  await page.locator("#screen .failure", { hasText: "The first attempt succeeded" }).waitFor();
  assert.equal(Number(await granted()), before + 7);
  await press(page, "Reload");
  await page.locator("#screen .failure").waitFor({ state: "detached" });
  await drawn(page);
  // The status of the booking before is still shown.
  await page.evaluate('document.querySelector("#status").textContent = ""');
  await book("5");
  await page.locator("#status", { hasText: "Booked." }).waitFor();
  assert.equal(Number(await granted()), before + 12);
});

test("console.credits: a workspace's administrators read their credits and grant none; without a plan nothing is counted", async (t) => {
  const page = await world.admin(t, "#/credits");
  if (page === null) return;
  assert.match(await screenText(page), /Included in the plan\s+\$5\.00 \(free\)[^]*1,000/u);
  assert.equal(await page.locator("#screen form").count(), 0);
  assert.equal(await page.locator("nav a", { hasText: "Plans" }).count(), 0);
  await world.ask("POST", "/workspaces", { slug: "planless" });
  const own = await world.operator(t, "#/w/planless/credits", { colorScheme: "dark" });
  assert(own !== null);
  assert.match(await screenText(own), /has no plan, so credits are not checked/u);
  await assertAccessible(own);
});
