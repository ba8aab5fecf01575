// The console's search by keyboard [console.search]: what is typed finds screens, workspaces, and what an id names.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible, assertNarrow, type ConsoleWorld, drawn, OPERATOR, startConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld({
    change: (usual) => ({ ...usual, workspaces: [...(usual.workspaces ?? []), { id: "north-wind" }] }),
  });
});
after(() => world.close());

const fieldOf = (page: Page) =>
  page.getByRole("combobox", { name: "A screen, a workspace, or the id of a request or a job" });
const optionsOf = (page: Page) => page.getByRole("listbox", { name: "Go to" }).getByRole("option");

async function found(page: Page, typed: string): Promise<readonly string[]> {
  await fieldOf(page).fill(typed);
  return optionsOf(page).allInnerTexts();
}

/** Ends when the screen is drawn that Enter leads to. */
async function enter(page: Page, typed: string, expected: RegExp): Promise<void> {
  await fieldOf(page).fill(typed);
  await page.keyboard.press("Enter");
  await page.waitForURL(expected);
  await drawn(page);
}

const ID = "01jd0000000000000000000000";

test("console.search: Ctrl+K leads to another screen, to a request by its id, or nowhere, without a mouse", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  await page.keyboard.press("Control+k");
  await fieldOf(page).waitFor();
  assert.deepEqual((await found(page, "keys")).slice(0, 2), ["Keys acme", "Keys north-wind"]);
  assert.deepEqual(await found(page, "wind ke"), ["Keys north-wind"]);
  assert.equal((await found(page, "north-w"))[0], "Overview north-wind");
  assert.deepEqual((await found(page, "req"))[0], "Requests all workspaces");
  assert.deepEqual(await found(page, "audio"), [], "its endpoints are the administrators' alone");
  await page.getByText("No matches.").waitFor();
  await page.keyboard.press("Enter");
  await assertAccessible(page);
  await enter(page, "ac ke", /#\/w\/acme\/keys$/u);
  assert.equal(await page.evaluate("document.activeElement.id"), "title", "the focus is at the new screen's head");

  assert.equal(await world.transcribe(), 200);
  const { data } = await world.api<{ readonly data: readonly { readonly id: string }[] }>("GET", "/requests");
  await page.keyboard.press("Control+k");
  assert.equal((await found(page, "req"))[0], "Requests acme", "where one is comes first");
  await enter(page, ` ${data[0]?.id.toUpperCase()} `, /#\/w\/acme\/requests\/req_/u);
  await page.locator("#trace-title").waitFor();

  await page.locator("#go-to").click();
  await fieldOf(page).waitFor();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const chosen = await optionsOf(page).and(page.locator("[aria-selected=true]")).getAttribute("id");
  assert.equal(await fieldOf(page).getAttribute("aria-activedescendant"), chosen);
  assert.equal(chosen, "go-to-1");
  await page.keyboard.press("Escape");
  await fieldOf(page).waitFor({ state: "detached" });
  assert.match(page.url(), /#\/w\/acme\/requests\/req_/u);
  await assertNarrow(page);
});

test("console.search: an administrator is led to their own workspace only; a job's id leads to it, half an id nowhere", async (t) => {
  const page = await world.admin(t, "#/w/acme/keys");
  if (page === null) return;
  await page.keyboard.press("Control+k");
  assert.ok((await found(page, "")).every((each) => each.endsWith(" acme")));
  assert.deepEqual(await found(page, "audio"), ["Audio URLs acme"]);
  for (const nothing of ["plans", "north", `req_${ID.slice(1)}`, `con_${ID}`])
    assert.deepEqual(await found(page, nothing), [], nothing);
  assert.deepEqual(await found(page, `req_${ID}`), [`Request req_${ID} acme`]);
  await enter(page, `job_${ID}`, new RegExp(`#/w/acme/jobs\\?job=job_${ID}$`, "u"));
});

test("console.search: an id leads the operator to another workspace's request, too", async (t) => {
  const page = await world.operator(t, "#/w/north-wind/keys");
  if (page === null) return;
  assert.equal(await world.transcribe(), 200);
  const { data } = await world.api<{ readonly data: readonly { readonly id: string }[] }>("GET", "/requests");
  const id = data[0]?.id ?? "";
  await page.keyboard.press("Control+k");
  assert.deepEqual(await found(page, id), [`Request ${id} north-wind`, `Request ${id} all workspaces`]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator("#trace-title").waitFor();
  assert.match(page.url(), /#\/requests\/req_/u);
});

test("console.search: keys pressed while an input method composes choose nothing in the list", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  await page.keyboard.press("Control+k");
  await fieldOf(page).waitFor();
  const press = (key: string, isComposing: boolean) =>
    fieldOf(page).dispatchEvent("keydown", { key, isComposing, bubbles: true, cancelable: true });
  await press("ArrowDown", true);
  await press("Enter", true);
  assert.equal(await fieldOf(page).getAttribute("aria-activedescendant"), "go-to-0");
  await press("Enter", false);
  await page.waitForURL(/#\/overview$/u);
});

test("console.search: with more workspaces than were loaded, none is reported as missing", async (t) => {
  const page = await world.page(t, `${world.gateway.adminOrigin}/console`);
  if (page === null) return;
  await page.route(/\/admin\/v1\/workspaces\?/u, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), next_cursor: "more" } });
  });
  await page.fill("#key", OPERATOR);
  await page.keyboard.press("Enter");
  await page.locator("#shell").waitFor();
  await drawn(page);
  await page.keyboard.press("Control+k");
  await found(page, "south");
  await page.getByText(/among the first \d+ workspaces\. See the screen Workspaces/u).waitFor();
});

test("console.revoked-key: a key that ends closes the search; a search whose script does not load is reported", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  await page.route(/go-to/u, (route) => route.abort());
  await page.keyboard.press("Control+k");
  await page.locator("#status", { hasText: "could not be loaded" }).waitFor();
  const other = await world.operator(t, "#/plans");
  if (other === null) return;
  await other.keyboard.press("Control+k");
  await fieldOf(other).waitFor();
  await other.route(/\/admin\/v1\//u, (route) =>
    route.fulfill({
      status: 401,
      json: { error: { code: "UNAUTHENTICATED", message: "No.", param: null, retryable: false, details: null } },
    }),
  );
  await other.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))");
  await other.locator("#sign-in-refusal", { hasText: "no longer works" }).waitFor();
  await fieldOf(other).waitFor({ state: "detached" });
});
