// The console's session when things go wrong: keys that end, answers that are late, foreign or missing, and double clicks.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page, Route } from "playwright-core";
import type { KeyView } from "../../src/contract/admin/keys.ts";
import {
  ADMIN,
  assertAccessible,
  type ConsoleWorld,
  drawn,
  goTo,
  OPERATOR,
  press,
  startConsoleWorld,
} from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld();
});
after(() => world.close());

const kept = (page: Page) => page.evaluate("JSON.stringify({ ...sessionStorage })");
const focused = (page: Page) => page.evaluate("document.activeElement?.id || document.activeElement?.textContent");

/** Answers of this path wait until they are let go. */
async function hold(page: Page, path: RegExp, method = "GET"): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(path, async (route: Route) => {
    if (route.request().method() === method) await promise;
    await route.continue();
  });
  return resolve;
}

const PROXY = { status: 503, contentType: "text/html", body: "<h1>503</h1>" } as const;

test("console.sign-in-link, console.key-storage: a link signs in also where the console is already open, and its key is stored nowhere else", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  await page.evaluate(`location.hash = "#key=${OPERATOR}x"`);
  await page.locator("#sign-in-refusal .failure").waitFor();
  assert.equal(page.url(), `${world.gateway.adminOrigin}/console`);
  assert.equal(await kept(page), "{}", "who meant another key does not go on with the one before");
  await page.evaluate(`location.hash = "#key=${OPERATOR}"`);
  await page.locator("#shell").waitFor();
  await drawn(page);
  assert.equal(page.url(), `${world.gateway.adminOrigin}/console`);
  const html = await page.content();
  assert.ok(!html.includes(OPERATOR));
  assert.ok(!(await page.evaluate("JSON.stringify(history.state)"))?.toString().includes(OPERATOR));
});

test("console.sign-in-link: a link with a key signs no administrator in, and is still removed from the address", async (t) => {
  const page = await world.admin(t, "#/w/acme/keys");
  if (page === null) return;
  await page.evaluate(`location.hash = "#key=somebody-elses-key"`);
  await page.waitForURL(/console$/u);
  await page.locator("#shell").waitFor();
  assert.match((await kept(page)) as string, new RegExp(ADMIN, "u"));
});

test("console.unavailable: a gateway that does not answer while the page is reloaded ends no session", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  const path = /\/admin\/v1\/workspaces/u;
  for (const answer of ["unreachable", "a proxy's", "busy"]) {
    await page.route(path, (route) =>
      answer === "unreachable"
        ? route.abort()
        : route.fulfill(
            answer === "busy"
              ? {
                  status: 503,
                  json: { error: { code: "BUSY", message: "Busy.", param: null, retryable: true, details: null } },
                }
              : PROXY,
          ),
    );
    await page.reload();
    await page.locator("#sign-in-refusal .failure").waitFor();
    await assertAccessible(page);
    await page.unroute(path);
    if (answer === "busy") await page.reload();
    else await press(page, "Sign in");
    await page.locator("#shell").waitFor();
    await drawn(page);
    assert.match(page.url(), /#\/plans$/u, answer);
  }
});

test("console.revoked-key: a key that is revoked during the session ends it at the next read; a change reports it and keeps what was typed", async (t) => {
  const made = (): Promise<KeyView> => world.api("POST", "/workspaces/acme/keys", { name: "leaving", role: "admin" });
  const [first, second] = [await made(), await made()];
  const page = await world.page(t, `${world.gateway.origin}/console#/w/acme/apps/new`);
  if (page === null) return;
  const signIn = async ({ secret = "" }: KeyView): Promise<void> => {
    await page.fill("#key", secret);
    await page.press("#key", "Enter");
    await page.locator("#shell").waitFor();
    await drawn(page);
  };
  await signIn(first);
  await page.getByLabel("Slug").fill("typed");
  await world.api("DELETE", `/workspaces/acme/keys/${first.id}`);
  await page.getByLabel("Route").first().fill("talk");
  await press(page, "Create app");
  await page.locator("#screen .failure").filter({ hasText: "401" }).waitFor();
  assert.equal(await page.getByLabel("Slug").inputValue(), "typed");
  await page.evaluate(`location.hash = "#/w/acme/keys"`);
  await page.getByText("Your key no longer works.").waitFor();
  assert.equal(await kept(page), "{}");
  assert.equal(await page.title(), "Console · Patchbay");
  assert.ok(!(await page.content()).includes("acme"), "nothing of the workspace is left in the page");
  await signIn(second);
  assert.match(page.url(), /#\/w\/acme\/keys$/u);
});

test("console.unavailable: while an answer is late the page says so, the previous screen accepts no clicks, and a failed read is retried", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  const release = await hold(page, /\/admin\/v1\/audit/u);
  await page.evaluate(`location.hash = "#/audit"`);
  await page.getByText("Waiting for the gateway").waitFor();
  assert.equal(await page.evaluate("document.querySelector('#screen').inert"), true);
  await assertAccessible(page);
  release();
  await drawn(page);
  assert.equal(await page.locator("#waiting").innerText(), "");
  assert.equal(await page.evaluate("document.querySelector('#screen').inert"), false);

  await page.route(/\/admin\/v1\/plans/u, (route) => route.fulfill(PROXY));
  await goTo(page, "#/plans");
  await page.getByText("Unexpected response").waitFor();
  await page.unroute(/\/admin\/v1\/plans/u);
  await press(page, "Try again");
  await page.getByText("No plans yet.").waitFor();
  assert.equal(await focused(page), "title");

  await page.route(/health-screen/u, (route) => route.abort());
  await goTo(page, "#/health");
  await page.getByText("No answer from the gateway").waitFor();
  await page.unroute(/health-screen/u);
});

test("console.sent-once: a form submitted twice is sent once; a late answer neither navigates nor overwrites what is typed", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  const posts: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") posts.push(request.url());
  });
  const slow = await hold(page, /\/admin\/v1\/plans/u);
  await page.getByLabel("Name", { exact: true }).fill("team");
  await page.getByLabel("Name", { exact: true }).press("Enter");
  await page.locator("#status").filter({ hasText: "The plan team was created." }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("other");
  await page.getByLabel("Name", { exact: true }).press("Enter");
  slow();
  await drawn(page);
  assert.equal(posts.length, 1, "the screen had not been redrawn yet");

  await goTo(page, "#/workspaces/new");
  const release = await hold(page, /\/admin\/v1\/workspaces$/u, "POST");
  await page.getByLabel("Slug").fill("later");
  await press(page, "Create workspace");
  await goTo(page, "#/plans");
  await page.getByLabel("Name", { exact: true }).fill("half ty");
  release();
  await page.locator("#status").filter({ hasText: "later" }).waitFor();
  assert.match(page.url(), /#\/plans$/u);
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "half ty");
});

test("console.sign-out: a sign-out ends what is in progress: no late answer restores the session", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  await goTo(page, "#/workspaces/new");
  await page.getByLabel("Slug").fill("parting");
  const places = /\/admin\/v1\/workspaces\?limit=100/u;
  const release = await hold(page, places);
  const [asked] = await Promise.all([page.waitForRequest(places), press(page, "Create workspace")]);
  await press(page, "Sign out");
  release();
  await (await asked.response())?.finished();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  // What is asked after a screen would have been drawn ends after it.
  await page.evaluate(`new Promise((resolve) => {
    addEventListener("hashchange", () => setTimeout(() => resolve(fetch("/docs/errors", { method: "HEAD" }))), { once: true });
    location.hash = "#/plans";
  }).then(() => null)`);
  assert.deepEqual(requests, ["/docs/errors"], "nothing is read after the sign-out");
  assert.equal(await kept(page), "{}");
});

test("console.secret-once: a secret stays until it is confirmed as saved, and can be copied without https", async (t) => {
  const page = await world.operator(t, "#/w/acme/keys/new/administrator");
  if (page === null) return;
  await page.evaluate(`{
    Object.defineProperty(window, "isSecureContext", { value: false });
    document.addEventListener("copy", () => { document.body.dataset.copied = document.activeElement?.value ?? ""; });
  }`);
  await page.getByLabel("Name").fill("boss");
  await press(page, "Create key");
  const secret = await page.locator("dialog .secret").innerText();
  await page.locator("dialog p").first().click();
  for (const _ of [1, 2, 3]) await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog .secret").innerText(), secret);
  await press(page, "Copy");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate("document.body.dataset.copied"), secret);
  await press(page, "I have saved it");
  await page.waitForURL(/keys\/key_/u);
});

test("console.accessible: WCAG 2.1.1: by keyboard every workspace can be chosen, and pressing a button does not lose the place in the screen", async (t) => {
  for (const slug of ["beta", "gamma"]) await world.api("POST", "/workspaces", { slug });
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  await page.locator("#workspace").focus();
  for (const slug of ["acme", "beta", "gamma"]) {
    await page.keyboard.press("ArrowDown");
    await page.waitForURL(new RegExp(`#/w/${slug}/overview$`, "u"));
    await drawn(page);
    assert.equal(await focused(page), "workspace");
  }
  await goTo(page, "#/health");
  await page.locator("#nav a").first().focus();
  await page.evaluate(`dispatchEvent(new HashChangeEvent("hashchange"))`);
  await drawn(page);
  assert.equal(await focused(page), "Overview", "a screen that is redrawn leaves the focus in the navigation");
});

test("console.accessible: WCAG 2.4.3: when the last page of a list is loaded the focus is in the list, although its button is gone", async (t) => {
  const page = await world.operator(t, "#/workspaces");
  if (page === null) return;
  const plan = (id: string) => ({ id, credits_usd: "0", monthly_chat_tokens: 0, managed_by: "api" });
  await page.route(/\/admin\/v1\/plans\?/u, (route) => {
    const isLast = route.request().url().includes("cursor");
    return route.fulfill({ json: { data: [plan(isLast ? "second" : "first")], next_cursor: isLast ? null : "on" } });
  });
  await goTo(page, "#/plans");
  await page.getByRole("button", { name: "Show more" }).press("Enter");
  await page.getByText("second").waitFor();
  assert.equal(await page.getByRole("button", { name: "Show more" }).count(), 0);
  assert.equal(await page.evaluate("document.activeElement.getAttribute('role')"), "region");
});

test("console.unavailable: a proxy's error in the gateway's shape is shown as the proxy's", async (t) => {
  const page = await world.operator(t, "#/workspaces");
  if (page === null) return;
  await page.route(/\/admin\/v1\/plans/u, (route) =>
    route.fulfill({ status: 502, json: { error: { code: "upstream", message: "No upstream." } } }),
  );
  await goTo(page, "#/plans");
  await page.getByText("Unexpected response").waitFor();
  assert.doesNotMatch(await page.locator("#screen").innerText(), /undefined/u);
});

test("console.addresses: half a date is refused, not read as none", async (t) => {
  const page = await world.operator(t, "#/w/acme/keys/new/administrator");
  if (page === null) return;
  await page.getByLabel("Name").fill("for a day");
  await page.getByLabel("Expires").focus();
  await page.keyboard.type("01312030");
  await press(page, "Create key");
  await page.getByText("Enter both a date and a time").waitFor();
  await assertAccessible(page);
});

test("console.workspace-bounds: no address leads a workspace's screen out of its workspace", async (t) => {
  const page = await world.operator(t, "#/plans");
  if (page === null) return;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  for (const hash of ["#/w/../connections", "#/w/%2e%2e/connections", "#/w/./routes", "#/w/acme/apps/%2E%2E"])
    await goTo(page, hash);
  assert.deepEqual(
    asked.filter((path) => /^\/admin\/v1\/(connections|routes|workspaces\/(acme\/?|routes|connections))$/u.test(path)),
    [],
  );
});

test("console.text-only: data and refusals are shown as text", async (t) => {
  const hostile = `<img src=x onerror=alert(1)>"'\u202e`;
  await world.api("POST", "/workspaces/acme/apps", { slug: "hostile", name: hostile, route: "talk" });
  const page = await world.operator(t, "#/w/acme/apps");
  if (page === null) return;
  await page.getByText("onerror").first().waitFor();
  await goTo(page, "#/w/acme/audit");
  await page.route(/\/admin\/v1\/plans/u, (route) =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": "7" },
      json: {
        error: {
          code: `x"><img>javascript:`,
          message: hostile,
          param: hostile,
          retryable: true,
          details: { [hostile]: 1 },
        },
      },
    }),
  );
  await goTo(page, "#/plans");
  await page.getByText("may succeed in 7 s").waitFor();
  assert.match((await page.locator(".failure a").getAttribute("href")) ?? "", /^\/docs\/errors#/u);
  await goTo(page, `#/${encodeURIComponent(hostile)}/${encodeURIComponent(hostile)}?x=${encodeURIComponent(hostile)}`);
  assert.equal(await page.locator("img").count(), 0);
});
