// Workspaces in the operator's console (contract 2, 10): made, put on another plan, removed when they are empty.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { WorkspaceView } from "../../src/contract/workspaces.ts";
import { get, send } from "../harness/client.ts";
import {
  assertAccessible,
  assertNarrow,
  type ConsoleWorld,
  drawn,
  goTo,
  OPERATOR,
  startConsoleWorld,
} from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld();
  await post("/plans", { id: "team", monthly_chat_tokens: 1_000, credits_usd: "5.00" });
});
after(() => world.close());

async function post(path: string, body: object, method = "POST"): Promise<void> {
  const headers = { authorization: `Bearer ${OPERATOR}`, "content-type": "application/json" };
  const answer = await send(`${world.gateway.adminOrigin}/admin/v1${path}`, {
    method,
    headers: method === "PUT" ? { ...headers, "if-match": "*" } : headers,
    body: JSON.stringify(body),
  });
  assert.ok(answer.status < 300, answer.text);
}

async function now(slug: string): Promise<Partial<WorkspaceView>> {
  return (await get(world.gateway.adminOrigin, `/admin/v1/workspaces/${slug}`, OPERATOR))
    .json as Partial<WorkspaceView>;
}

test("experience 23: a workspace is made, can be gone to at once, is put on a plan, and is not removed while it has apps", async (t) => {
  const page = await world.operator(t, "#/workspaces");
  if (page === null) return;
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  await assertAccessible(page);
  await assertNarrow(page);
  await page.getByRole("link", { name: "Make a workspace" }).click();
  await page.getByLabel("Slug").fill("acme");
  await press("Make the workspace");
  await page.getByText("The name is taken by another workspace.").waitFor();
  await page.getByLabel("Slug").fill("north wind");
  await press("Make the workspace");
  await page.locator("[aria-invalid]").waitFor();
  assert.match(await page.locator("#screen").innerText(), /must be an id: letters, digits/u);
  await assertAccessible(page);
  await page.getByLabel("Slug").fill("north-wind");
  await press("Make the workspace");
  await page.waitForURL(/#\/workspaces\/north-wind$/u);
  assert.equal((await now("north-wind")).plan, null);
  assert.ok((await page.locator("#workspace option").allInnerTexts()).includes("north-wind"));

  await page.locator("#screen select").selectOption("team");
  await press("Change the plan");
  await page.getByText("north-wind is on the plan team. It holds at once.").waitFor();
  assert.equal((await now("north-wind")).plan, "team");
  await assertAccessible(page);
  await assertNarrow(page);
  await post("/workspaces/north-wind", { plan: null }, "PUT");
  await press("Change the plan");
  await page.getByText("Somebody else changed it meanwhile").waitFor();
  await press("Read it anew");
  await page.locator(".failure").waitFor({ state: "detached" });
  assert.equal(await page.locator("#screen select").inputValue(), "");

  await post("/workspaces/north-wind/apps", { slug: "last", route: "talk" });
  const remove = async (): Promise<void> => {
    await press("Remove the workspace");
    await page.locator("dialog").getByText("It cannot be undone.").waitFor();
    await page.locator("dialog").getByRole("button", { name: "Remove the workspace" }).click();
  };
  await remove();
  await page.getByText("The workspace still has apps. Remove them first.").waitFor();
  await page.getByRole("link", { name: /^The apps of north-wind/u }).click();
  await page.waitForURL(/#\/w\/north-wind\/apps$/u);
  await drawn(page);
  await page.getByRole("link", { name: "last" }).click();
  await press("Remove the app");
  await page.locator("dialog").getByRole("button", { name: "Remove the app" }).click();
  await page.getByText("No apps yet.").waitFor();
  await goTo(page, "#/workspaces/north-wind");
  await remove();
  await page.getByText("The workspace north-wind is removed.").waitFor();
  await drawn(page);
  assert.equal((await get(world.gateway.adminOrigin, "/admin/v1/workspaces/north-wind", OPERATOR)).code, "NOT_FOUND");
  assert.ok(!(await page.locator("#workspace option").allInnerTexts()).includes("north-wind"));
});

test("contract 10: a workspace of the configuration file is marked and offers no change; each leads to its own overview", async (t) => {
  const page = await world.operator(t, "#/workspaces");
  if (page === null) return;
  const row = page.locator("#screen tr", { has: page.getByRole("link", { name: "acme", exact: true }) });
  assert.match(await row.innerText(), /from file/u);
  assert.equal(await row.getByRole("link", { name: "Overview of acme" }).getAttribute("href"), "#/w/acme/overview");
  await row.getByRole("link", { name: "acme", exact: true }).click();
  await page.getByText("The configuration file owns this workspace").waitFor();
  assert.equal(await page.locator("#screen button, #screen form").count(), 0);
});
