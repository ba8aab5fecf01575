// The webhook of the console in a real browser [console.webhook]: its settings for administrators, its log for them and the operator.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { deliveryList, type DeliveryView, webhookView } from "../../src/contract/webhook.ts";
import { verifyWebhook } from "../../src/webhooks/verify.ts";
import { get, send } from "../harness/client.ts";
import { until } from "../harness/until.ts";
import { JOBS } from "../http/jobs/jobs.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import {
  ADMIN,
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

const URL = "https://receiver.example/hooks";
const ADDRESS = "93.184.216.34";
const internet = pretendInternet();
let world: ConsoleWorld;
before(async () => {
  internet.name("receiver.example", [ADDRESS]);
  world = await startConsoleWorld({ network: internet });
});
after(() => world.close());

interface Received {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** What comes to the receiver from now on, until the test ends; it answers with `status.code`. */
async function receiving(
  t: TestContext,
): Promise<{ readonly received: Received[]; readonly status: { code: number } }> {
  const received: Received[] = [];
  const status = { code: 204 };
  const server = await httpServer(t, async (request, response) => {
    received.push({ headers: request.headers, body: await readAll(request) });
    response.writeHead(status.code).end(status.code === 204 ? "" : "no room for it");
  });
  internet.server(ADDRESS, server);
  return { received, status };
}

async function deliveries(): Promise<readonly DeliveryView[]> {
  const { json } = await get(world.gateway.origin, "/workspace/acme/stt-webhook/deliveries", ADMIN);
  return deliveryList.parse(json).data;
}

async function settings() {
  const { status, json } = await get(world.gateway.origin, "/workspace/acme/stt-webhook", ADMIN);
  return status === 404 ? null : webhookView.parse(json);
}

const secretOf = (page: Page): Promise<string> => page.locator("dialog .secret").innerText();

test("console.webhook, console.field-errors: a refusal is shown at its field, the secret is shown once and signs the test delivery in the log", async (t) => {
  const { received } = await receiving(t);
  const page = await world.admin(t, "#/webhook");
  if (page === null) return;
  const address = page.getByLabel("Receiver URL");
  await address.fill("http://receiver.example/hooks");
  await page.keyboard.press("Enter");
  await page.locator("#screen .field .bad:not(:empty)").waitFor();
  assert.equal(await address.getAttribute("aria-invalid"), "true");
  assert.equal(await settings(), null);
  await assertAccessible(page);
  await address.fill(URL);
  await page.keyboard.press("Enter");
  const secret = await secretOf(page);
  await assertAccessible(page);
  await press(page, "I have saved it");
  await page.locator("#webhook-test").waitFor();
  assert.ok(!(await page.content()).includes(secret));
  assert.equal((await settings())?.secret_last4, secret.slice(-4));
  await page.click("#webhook-test");
  await page.locator("#status", { hasText: "The test delivery arrived: answered 204." }).waitFor();
  await page.locator("#screen tbody tr").filter({ hasText: "a test" }).waitFor();
  const [test] = received;
  assert.ok(test !== undefined && verifyWebhook({ ...test, secret }).ok);
  await assertAccessible(page);
  await assertNarrow(page);
});

test("console.webhook: a refused delivery shows the receiver's answer and is redelivered from its row, which follows it", async (t) => {
  const { received, status } = await receiving(t);
  status.code = 500;
  const page = await world.admin(t, "#/requests", { colorScheme: "dark" });
  if (page === null) return;
  await page.clock.install();
  assert.equal(await world.transcribe({}, JOBS), 202);
  await until(async () => (await deliveries()).some(({ test: isTest, attempts }) => !isTest && attempts.length === 1));
  await goTo(page, "#/webhook");
  assert.match(await screenText(page), /▲ enabled, but the latest attempts failed/u);
  const row = page.locator("#screen tbody tr").first();
  assert.match(await row.innerText(), /◐ pending\s+job succeeded\s+job_[0-9a-z]{26}/u);
  await row.locator("summary").click();
  assert.match(await row.locator("details").innerText(), /✕ answered 500 after [^]*no room for it/u);
  await assertAccessible(page);
  await assertNarrow(page);
  status.code = 204;
  await row.getByRole("button", { name: "Deliver now" }).click();
  await page.locator("#status", { hasText: "redelivered" }).waitFor();
  await until(async () => (await deliveries())[0]?.status === "delivered");
  await page.clock.fastForward(30_000);
  await row.filter({ hasText: "● delivered" }).waitFor();
  assert.match(await row.locator("details[open]").innerText(), /● answered 204/u);
  assert.equal(new Set(received.map(({ headers }) => headers["x-svc-webhook-id"])).size, 1);
});

test("console.webhook: a new secret signs next to the old one, which is ended at once if it leaked", async (t) => {
  const page = await world.admin(t, "#/webhook");
  if (page === null) return;
  await press(page, "Rotate secret");
  await press(page, "Create secret");
  const second = await secretOf(page);
  await press(page, "I have saved it");
  await page.locator("#webhook-previous").waitFor();
  const held = await settings();
  assert.equal(held?.secret_last4, second.slice(-4));
  assert.notEqual(held.previous_secret_until, null);
  await page.click("#webhook-previous");
  await press(page, "Cancel");
  await page.click("#webhook-previous");
  await press(page, "Revoke");
  await page.locator("#status", { hasText: "The previous secret was revoked." }).waitFor();
  assert.equal((await settings())?.previous_secret_until, null);
  await press(page, "Rotate secret");
  await page.getByLabel("The old secret leaked").check();
  await press(page, "Create secret");
  assert.notEqual(await secretOf(page), second);
  await press(page, "I have saved it");
  await drawn(page);
  assert.equal((await settings())?.previous_secret_until, null);
});

test("console.concurrent-change: a webhook that another administrator moved concurrently is neither moved, stopped, rotated nor removed", async (t) => {
  const page = await world.admin(t, "#/webhook");
  if (page === null) return;
  const { status } = await send(`${world.gateway.origin}/workspace/acme/stt-webhook`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
    body: JSON.stringify({ url: `${URL}/theirs` }),
  });
  assert.equal(status, 200);
  const theirs = await settings();
  const overtaken = page.locator(".failure", { hasText: "Conflict: changed by another user" });
  await page.click("#webhook-switch");
  await confirm(page, "Disable deliveries");
  await overtaken.waitFor();
  await page.click("#webhook-remove");
  await confirm(page, "Remove");
  await overtaken.waitFor();
  await page.locator("summary", { hasText: "Change URL" }).click();
  await page.getByLabel("Receiver URL").fill(`${URL}/mine`);
  await press(page, "Save");
  await page.locator("details .failure", { hasText: "Conflict: changed by another user" }).waitFor();
  await press(page, "Rotate secret");
  await press(page, "Create secret");
  await page.locator("dialog .failure", { hasText: "Conflict: changed by another user" }).waitFor();
  assert.deepEqual(await settings(), theirs);
  await page.locator("dialog").getByRole("button", { name: "Reload" }).click();
  await page.locator("#screen", { hasText: `${URL}/theirs` }).waitFor();
  assert.equal(await page.locator("dialog[open]").count(), 0);
});

test("console.webhook: the operator reads both logs, and is shown where the settings are", async (t) => {
  const page = await world.operator(t, "#/w/acme/webhook");
  if (page === null) return;
  assert.match(await screenText(page), /on the gateway's public address/u);
  assert.equal(await page.locator("#screen tbody tr").count(), 2);
  assert.equal(await page.locator("#screen button", { hasText: "Deliver" }).count(), 0);
  await assertAccessible(page);
  await goTo(page, "#/deliveries?workspace=acme");
  assert.equal(await page.locator("#screen tbody tr").count(), 2);
  await page.locator("#screen tbody summary").first().click();
  const text = await page.locator("#screen tbody").innerText();
  assert.match(text, /job_[0-9a-z]{26}\s+acme/u);
  assert.ok(!text.includes("no room for it"), "what a receiver answered with is its workspace's");
  await assertAccessible(page);
  await assertNarrow(page);
});

test("console.webhook, console.confirms: the webhook is stopped, started, moved and removed, each after a confirmation", async (t) => {
  await receiving(t);
  const page = await world.admin(t, "#/webhook");
  if (page === null) return;
  await page.click("#webhook-switch");
  await confirm(page, "Disable deliveries");
  await page.locator("#screen", { hasText: "disabled by an administrator" }).waitFor();
  assert.equal((await settings())?.enabled, false);
  assert.equal(await page.locator("#screen button", { hasText: "Redeliver" }).count(), 0);
  await press(page, "Enable deliveries");
  await page.locator("#screen", { hasText: "● delivers" }).waitFor();
  await page.locator("summary", { hasText: "Change URL" }).click();
  await page.getByLabel("Receiver URL").fill(`${URL}/elsewhere`);
  await press(page, "Save");
  await page.locator("#status", { hasText: "The URL was changed." }).waitFor();
  assert.equal((await settings())?.url, `${URL}/elsewhere`);
  await press(page, "Remove");
  await confirm(page, "Remove");
  await page.getByRole("button", { name: "Set up", exact: true }).waitFor();
  assert.equal(await settings(), null);
  assert.equal(await page.locator("#screen tbody tr").count(), 2, "the log stays");
});
