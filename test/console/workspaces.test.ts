// Workspaces in the operator's console [console.workspaces]: created, put on another plan, removed when they are empty.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { WorkspaceView } from "../../src/contract/admin/workspaces.ts";
import {
  assertAccessible,
  assertNarrow,
  confirm,
  type ConsoleWorld,
  drawn,
  goTo,
  press,
  screenText,
  startConsoleWorld,
} from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld();
  await world.api("POST", "/plans", { id: "team", monthly_chat_tokens: 1_000, credits_usd: "5.00" });
});
after(() => world.close());

const now = (slug: string): Promise<WorkspaceView> => world.api("GET", `/workspaces/${slug}`);

test("console.workspaces: a workspace is created, can be opened at once, is put on a plan, and is not removed while it has apps", async (t) => {
  const page = await world.operator(t, "#/workspaces");
  if (page === null) return;
  await assertAccessible(page);
  await assertNarrow(page);
  await page.getByRole("link", { name: "Create a workspace" }).click();
  await page.getByLabel("Slug").fill("acme");
  await press(page, "Create workspace");
  await page.getByText("The name is already used by another workspace.").waitFor();
  await page.getByLabel("Slug").fill("north wind");
  await press(page, "Create workspace");
  await page.locator("[aria-invalid]").waitFor();
  assert.match(await screenText(page), /must be an id: letters, digits/u);
  await assertAccessible(page);
  await page.getByLabel("Slug").fill("north-wind");
  await press(page, "Create workspace");
  await page.waitForURL(/#\/workspaces\/north-wind$/u);
  assert.equal((await now("north-wind")).plan, null);
  assert.ok((await page.locator("#workspace option").allInnerTexts()).includes("north-wind"));

  await page.locator("#screen select").selectOption("team");
  await press(page, "Change plan");
  await page.getByText("north-wind is on the plan team. It applies immediately.").waitFor();
  assert.equal((await now("north-wind")).plan, "team");
  await assertAccessible(page);
  await assertNarrow(page);
  await world.api("PUT", "/workspaces/north-wind", { plan: null }, { "if-match": "*" });
  await press(page, "Change plan");
  await page.getByText("Conflict: changed by another user").waitFor();
  await press(page, "Reload");
  await page.locator(".failure").waitFor({ state: "detached" });
  assert.equal(await page.locator("#screen select").inputValue(), "");

  await world.api("POST", "/workspaces/north-wind/apps", { slug: "last", route: "talk" });
  const remove = async (): Promise<void> => {
    await press(page, "Remove workspace");
    await page.locator("dialog").getByText("This cannot be undone.").waitFor();
    await confirm(page, "Remove workspace");
  };
  await remove();
  await page.getByText("The workspace still has apps. Remove them first.").waitFor();
  await page.getByRole("link", { name: /^The apps of north-wind/u }).click();
  await page.waitForURL(/#\/w\/north-wind\/apps$/u);
  await drawn(page);
  await page.getByRole("link", { name: "last" }).click();
  await press(page, "Remove app");
  await confirm(page, "Remove app");
  await page.getByText("No apps yet.").waitFor();
  await goTo(page, "#/workspaces/north-wind");
  await remove();
  await page.getByText("The workspace north-wind was removed.").waitFor();
  await drawn(page);
  assert.equal((await world.ask("GET", "/workspaces/north-wind")).code, "NOT_FOUND");
  assert.ok(!(await page.locator("#workspace option").allInnerTexts()).includes("north-wind"));
});

test("console.managed: a workspace of the configuration file is marked and offers no change; each leads to its own overview", async (t) => {
  const page = await world.operator(t, "#/workspaces");
  if (page === null) return;
  const row = page.locator("#screen tr", { has: page.getByRole("link", { name: "acme", exact: true }) });
  assert.match(await row.innerText(), /from file/u);
  assert.equal(await row.getByRole("link", { name: "Overview of acme" }).getAttribute("href"), "#/w/acme/overview");
  await row.getByRole("link", { name: "acme", exact: true }).click();
  await page.getByText("Managed by the configuration file: this workspace").waitFor();
  assert.equal(await page.locator("#screen button, #screen form").count(), 0);
});
