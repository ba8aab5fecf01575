// The console in a real browser: who may sign in, the request log, and why a request went where it went.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { KEY } from "../harness/gateway.ts";
import {
  ADMIN,
  assertAccessible,
  assertNarrow,
  type ConsoleWorld,
  drawn,
  goTo,
  OPERATOR,
  screenText,
  startConsoleWorld,
} from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld();
  assert.equal(await world.transcribe(), 200);
  assert.equal(await world.transcribe({ purpose: "unheard-of" }), 200);
  assert.equal(await world.transcribe({ purpose: "unheard-of", purpose_policy: "strict" }), 503);
});
after(() => world.close());

test("console.sign-in: a key that administers nothing gets a message with where to go; an invalid key shows the gateway's own refusal", async (t) => {
  const page = await world.page(t, `${world.gateway.origin}/console`);
  if (page === null) return;
  const enter = async (key: string): Promise<string> => {
    await page.fill("#key", key);
    await page.keyboard.press("Enter");
    await page.locator("#sign-in-refusal:not(:empty)").waitFor();
    return page.locator("#sign-in-refusal").innerText();
  };
  assert.match(await enter(KEY), /belongs to an app \(notes\).*playground/u);
  assert.match(await enter("no-such-key-of-anybody"), /UNAUTHENTICATED · 401/u);
  assert.equal(await page.locator("#shell").isVisible(), false);
  await assertAccessible(page);
  await page.fill("#key", ADMIN);
  await page.keyboard.press("Enter");
  await page.locator("#shell").waitFor();
  await drawn(page);
  await page.reload();
  await page.locator("#shell").waitFor();
  await page.click("#sign-out");
  assert.equal(await page.locator("#sign-in").isVisible(), true);
  assert.equal(await page.evaluate("sessionStorage.length"), 0);
});

test("console.sign-in-link: a link signs in, and its key leaves the address at once", async (t) => {
  const page = await world.operator(t, "#/requests");
  if (page === null) return;
  assert.ok(!page.url().includes(OPERATOR));
  await page.goBack();
  assert.ok(!page.url().includes(OPERATOR));
});

test("console.sign-in-link: no link leads anyone into another workspace: the public console accepts no key from one", async (t) => {
  const page = await world.page(t, `${world.gateway.origin}/console#key=${ADMIN}`);
  if (page === null) return;
  await page.locator("#sign-in").waitFor();
  assert.ok(!page.url().includes(ADMIN));
  assert.equal(await page.evaluate("sessionStorage.length"), 0);
});

test("console.fallbacks, console.addresses: a fallback is visible in the list, each call by a word and a shape; a filter is in the address", async (t) => {
  const page = await world.operator(t, "#/requests");
  if (page === null) return;
  const rows = page.locator("#screen tbody tr");
  assert.equal(await rows.count(), 3);
  assert.match(await rows.last().innerText(), /simulated[^]*✕ gone: whisper\s+● sandbox: simulated-speech/u);
  assert.match(await rows.nth(1).innerText(), /unheard-of → –/u);
  await assertAccessible(page);
  await page.focus("#filter-outcome");
  await page.selectOption("#filter-outcome", "failed");
  await page.waitForURL(/#\/requests\?outcome=failed$/u);
  await drawn(page);
  assert.equal(await rows.count(), 1);
  assert.equal(await page.evaluate("document.activeElement?.id"), "filter-outcome");
  await page.reload();
  await drawn(page);
  assert.equal(await page.locator("#filter-outcome").inputValue(), "failed");
  await assertNarrow(page);
});

test("console.fallbacks: a request that a provider served is not marked as simulated for a call that failed before", async (t) => {
  const page = await world.operator(t, "#/overview");
  if (page === null) return;
  await page.route("**/admin/v1/requests?**", async (route) => {
    const response = await route.fetch();
    const list = (await response.json()) as { data: { attempts: { billing_class: string }[] }[] };
    for (const { attempts } of list.data)
      for (const [place, attempt] of attempts.entries())
        attempt.billing_class = place === attempts.length - 1 ? "provider_billed" : "simulated";
    await route.fulfill({ response, json: list });
  });
  await goTo(page, "#/requests");
  assert.doesNotMatch(await page.locator("#screen tbody").innerText(), /simulated$/mu);
});

test("console.requests: a request leads to its workspace, app and key; the operator's list shows the owner of each", async (t) => {
  const page = await world.operator(t, "#/requests");
  if (page === null) return;
  assert.match(await page.locator("#screen tbody tr").last().innerText(), /\bacme\b/u);
  await page.selectOption("#filter-workspace", { label: "acme" });
  await page.waitForURL(/#\/requests\?workspace=ws_/u);
  await drawn(page);
  await page.locator("#screen tbody a").last().click();
  await page.locator("#trace-title").waitFor();
  const facts = page.locator("#screen section[aria-label='Request']");
  assert.match(await facts.locator("a").nth(2).getAttribute("href").then(String), /^#\/w\/ws_\w+\/keys\/key_/u);
  await facts.getByRole("link", { name: "notes" }).click();
  await page.getByRole("heading", { name: "App notes" }).waitFor();
  assert.equal(await page.locator("#workspace").inputValue(), "acme");
});

test("console.requests: a request's screen shows why it went where it went, to administrators and to the operator", async (t) => {
  const page = await world.admin(t, "#/requests");
  if (page === null) return;
  await page.locator("#screen tbody a").last().click();
  await page.locator("#trace-title").waitFor();
  assert.match(new URL(page.url()).hash, /^#\/w\/acme\/requests\/req_[0-9a-z]{26}$|^#\/requests\/req_/u);
  const text = await screenText(page);
  assert.match(text, /1\. gone: openai-compatible whisper\s+failed/u);
  assert.match(text, /2\. sandbox: sandbox simulated-speech\s+served/u);
  assert.match(text, /1\. gone: openai-compatible whisper\s+connection failed/u);
  await assertAccessible(page);
  await assertNarrow(page);
  await goTo(page, "#/requests/req_00000000000000000000000000");
  assert.match(await screenText(page), /NOT_FOUND · 404/u);
});

test("console.accessible: both themes have sufficient contrast, and a screen that does not exist is reported", async (t) => {
  const page = await world.operator(t, "#/requests", { colorScheme: "dark" });
  if (page === null) return;
  await assertAccessible(page);
  await goTo(page, "#/nonsense");
  assert.match(await screenText(page), /Unknown screen “nonsense”/u);
});
