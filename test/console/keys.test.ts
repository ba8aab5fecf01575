// Apps and keys in the console [console.apps-keys]: created, shown once, rotated and revoked, each time with the same result in the API.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import type { AppView } from "../../src/contract/admin/apps.ts";
import type { KeyView } from "../../src/contract/admin/keys.ts";
import { type Answer, get } from "../harness/client.ts";
import { call } from "../http/admin/admin.ts";
import {
  ADMIN,
  assertAccessible,
  assertNarrow,
  confirm,
  type ConsoleWorld,
  drawn,
  follow,
  goTo,
  press,
  screenText,
  startConsoleWorld,
} from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld();
});
after(() => world.close());

const DAY_MS = 86_400_000;

/** Of the workspace, as its administrators have it. */
async function api(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await call(world.gateway, method, `/workspace/acme${path}`, {
    key: ADMIN,
    headers: method === "PUT" ? { "if-match": "*" } : {},
    ...(body === undefined ? {} : { body }),
  });
  assert.ok(answer.status < 300, answer.text);
  return answer;
}

const make = async <T>(path: string, body: object): Promise<T> => (await api("POST", path, body)).json as T;
const appNow = async (app: string): Promise<AppView> => (await api("GET", `/apps/${app}`)).json as AppView;
const keyNow = async (key: string): Promise<KeyView> => (await api("GET", `/keys/${key}`)).json as KeyView;
const statusOf = async (secret: string): Promise<number> => (await get(world.gateway.origin, "/v1/me", secret)).status;

const label = (page: Page, text: string) =>
  page.locator("#screen form :is(input, select, textarea)").and(page.getByLabel(text)).first();

/** The error at a field. */
async function faultAt(page: Page, text: string): Promise<string> {
  const id = (await label(page, text).getAttribute("id")) ?? "";
  const fault = page.locator(`#${id}-fault`);
  await fault.filter({ hasText: /./u }).waitFor();
  assert.equal(await page.evaluate("document.activeElement?.id"), id);
  assert.equal(await label(page, text).getAttribute("aria-invalid"), "true");
  return fault.innerText();
}

async function shownSecret(page: Page): Promise<string> {
  const secret = await page.locator("dialog .secret").innerText();
  assert.match(secret, /^svc_(live|test|admin)_[0-9A-Za-z]{38}$/u);
  return secret;
}

/** Nothing of the page has it any more: address, history, storage, what is drawn, what is filled in. */
async function assertForgotten(page: Page, secret: string): Promise<void> {
  assert.equal(await page.locator("dialog").count(), 0);
  const kept = await page.evaluate(`JSON.stringify([
    location.href, history.state, { ...sessionStorage }, { ...localStorage }, document.cookie, window.name,
    document.documentElement.outerHTML, [...document.querySelectorAll("input, textarea")].map(({ value }) => value),
  ])`);
  assert.ok(typeof kept === "string" && kept.includes("Keys"));
  assert.ok(!kept.includes(secret));
}

test("console.apps-keys, console.secret-once: an app, a key that works at once and is shown once, a rotation with overlap, a revocation", async (t) => {
  const page = await world.admin(t, "#/w/acme/apps/new");
  if (page === null) return;
  await label(page, "Slug").fill("two words");
  await label(page, "Route").fill("nowhere");
  await press(page, "Create app");
  assert.match(await faultAt(page, "Slug"), /must be an id/u);
  await label(page, "Slug").fill("mobile");
  await press(page, "Create app");
  assert.match(await faultAt(page, "Route"), /unknown route `nowhere`/u);
  await assertAccessible(page);
  await label(page, "Route").fill("talk");
  await press(page, "Create app");
  await page.waitForURL(/#\/w\/acme\/apps\/mobile$/u);
  assert.equal((await appNow("mobile")).route, "talk");

  await follow(page, "Create a key");
  await page.waitForURL(/keys\/new\?app=mobile$/u);
  await label(page, "App").waitFor();
  assert.equal(await label(page, "App").inputValue(), "mobile");
  await label(page, "Name").fill("ios");
  await label(page, "Expires").fill("2020-01-31T00:00");
  await press(page, "Create key");
  assert.match(await faultAt(page, "Expires"), /has passed already/u);
  await label(page, "Expires").fill("");
  await label(page, "chat").uncheck();
  await assertAccessible(page);
  await press(page, "Create key");
  const first = await shownSecret(page);
  assert.equal(await statusOf(first), 200);
  assert.ok((await page.locator("dialog pre").last().innerText()).includes(`${world.gateway.origin}/v1/me`));
  await press(page, "Send a test request");
  await page.getByText("Authenticated as ios, of the app mobile in acme.").waitFor();
  await assertAccessible(page);
  await assertNarrow(page);
  await press(page, "I have saved it");
  await page.waitForURL(/keys\/key_[0-9a-z]{26}$/u);
  await drawn(page);
  await assertForgotten(page, first);
  const [, id = ""] = /(key_\w+)$/u.exec(page.url()) ?? [];
  assert.deepEqual((await keyNow(id)).scopes, ["transcribe", "jobs"]);
  await page.goBack();
  await assertForgotten(page, first);
  await goTo(page, `#/w/acme/keys/${id}`);

  await label(page, "Overlap").selectOption("86400");
  await press(page, "Rotate key");
  await page.locator("dialog").waitFor();
  const second = await shownSecret(page);
  assert.match(await page.locator("dialog").innerText(), /The old key \(svc_live_….{4}\) works until /u);
  assert.deepEqual([await statusOf(first), await statusOf(second)], [200, 200]);
  await press(page, "I have saved it");
  await page.waitForURL((url) => !url.hash.endsWith(id));
  await drawn(page);
  await assertForgotten(page, second);
  assert.match(await screenText(page), new RegExp(`Replaces\\s+${id}`, "u"));

  await goTo(page, "#/w/acme/keys?app=mobile");
  const rows = page.locator("#screen tbody tr");
  assert.deepEqual(
    [await rows.count(), /● active/u.test(await rows.first().innerText())],
    [2, true],
    await screenText(page),
  );
  assert.match(await rows.last().innerText(), /▲ replaced, still valid\s+until /u);
  await assertAccessible(page);
  await assertNarrow(page);
  await goTo(page, `#/w/acme/keys/${id}`);
  await assertAccessible(page);
  await press(page, "Revoke key");
  await page.locator("dialog").getByText("its streams and live sessions end").waitFor();
  await press(page, "Cancel");
  await press(page, "Revoke key");
  await page.goBack();
  await page.locator("dialog").waitFor({ state: "detached" });
  await goTo(page, `#/w/acme/keys/${id}`);
  assert.equal(await statusOf(first), 200, "neither who cancels nor who goes elsewhere has said yes");
  await press(page, "Revoke key");
  await confirm(page, "Revoke key");
  await page.getByText("The key ios was revoked.").waitFor();
  assert.deepEqual([await statusOf(first), await statusOf(second)], [401, 200]);
  await assertNarrow(page);
  await goTo(page, "#/w/acme/keys?app=mobile&state=revoked");
  assert.deepEqual([await rows.count(), await page.locator("#filter-state").inputValue()], [1, "revoked"]);
});

test("console.keeps-settings, console.concurrent-change: settings that an app's form does not offer stay; a concurrent change is reported and can be reloaded", async (t) => {
  await make("/apps", {
    slug: "calls",
    name: "Calls",
    route: "talk",
    audio_input_override: "speech",
    default_purpose: "support",
    audio_purpose_policy: "strict",
    quota: { requests_per_minute: 600, concurrent: 4 },
    purposes: [
      { purpose: "support", description: "On the telephone", route: "speech", defaults: { diarization: true } },
    ],
  });
  const before = await appNow("calls");
  const page = await world.admin(t, "#/w/acme/apps/calls/change");
  if (page === null) return;
  await label(page, "Name").fill("Telephone");
  await label(page, "Concurrent requests").fill("");
  await press(page, "Save");
  await page.waitForURL(/apps\/calls$/u);
  const renamed = { ...before, name: "Telephone", quota: { ...before.quota, concurrent: null } };
  assert.deepEqual(await appNow("calls"), renamed);
  await drawn(page);
  assert.equal(
    await page.locator("#status").innerText(),
    "The app calls was saved. It takes effect on all processes within seconds.",
  );
  await assertAccessible(page);
  await assertNarrow(page);

  await goTo(page, "#/w/acme/apps/calls/change");
  assert.equal(await page.locator("#status").innerText(), "");
  await api("PUT", "/apps/calls", { name: "Calls again", route: "speech" });
  await label(page, "Name").fill("Telephones");
  await press(page, "Save");
  await page.getByText("Conflict: changed by another user").waitFor();
  assert.equal((await appNow("calls")).name, "Calls again");
  await press(page, "Reload");
  await page.locator(".failure").waitFor({ state: "detached" });
  await drawn(page);
  assert.equal(await label(page, "Name").inputValue(), "Calls again");
  await press(page, "Save");
  await page.waitForURL(/apps\/calls$/u);
});

test("console.apps-keys: a purpose is bound to an app, refused at its own field, changed and removed", async (t) => {
  await make("/apps", { slug: "desk", route: "talk", purposes: [{ purpose: "memos", route: "speech" }] });
  const page = await world.admin(t, "#/w/acme/apps/desk");
  if (page === null) return;
  await follow(page, "Add a purpose");
  await label(page, "Label").fill("meetings");
  await label(page, "Route").fill("nowhere");
  await label(page, "Defaults").fill('{"diarization": "perhaps"}');
  await press(page, "Save the purpose");
  assert.match(await faultAt(page, "Defaults"), /diarization/u);
  await label(page, "Defaults").fill('{"diarization": true}');
  await press(page, "Save the purpose");
  assert.match(await faultAt(page, "Route"), /unknown route `nowhere`/u);
  await assertAccessible(page);
  await assertNarrow(page);
  await label(page, "Route").fill("speech");
  await press(page, "Save the purpose");
  await page.waitForURL(/apps\/desk$/u);
  const [memos, meetings] = (await appNow("desk")).purposes;
  assert.deepEqual(
    [memos?.purpose, meetings?.purpose, meetings?.defaults],
    ["memos", "meetings", { diarization: true }],
  );
  await follow(page, "memos");
  await press(page, "Remove the purpose");
  await confirm(page, "Remove the purpose");
  await page.waitForURL(/apps\/desk$/u);
  await page.getByText("The purpose memos was removed.").waitFor();
  assert.deepEqual((await appNow("desk")).purposes, [meetings]);
});

test("console.workspaces, console.confirms: an app with a valid key is not removed, and its screen says what to do first", async (t) => {
  const app = await make<AppView>("/apps", { slug: "old", route: "talk" });
  const key = await make<KeyView>("/keys", { app: "old" });
  const page = await world.admin(t, "#/w/acme/apps/old");
  if (page === null) return;
  const remove = async (): Promise<void> => {
    await press(page, "Remove app");
    await confirm(page, "Remove app");
  };
  await remove();
  await page.getByText("The app has keys that still work. Revoke them first.").waitFor();
  await follow(page, "Revoke its active keys first");
  await page.waitForURL(/keys\?app=old&state=active$/u);
  await api("DELETE", `/keys/${key.id}`);
  await goTo(page, "#/w/acme/apps/old");
  await remove();
  await page.getByText("The app old was removed.").waitFor();
  await drawn(page);
  assert.ok(!(await screenText(page)).includes("old"));
  assert.equal((await get(world.gateway.origin, `/workspace/acme/apps/${app.id}`, ADMIN)).code, "NOT_FOUND");
});

test("console.apps-keys, console.keeps-settings: a key is replaced and keeps what its form does not offer, its expiry to the millisecond", async (t) => {
  const end = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS + 30 * DAY_MS + 1_234).toISOString();
  await make("/apps", { slug: "kiosk", route: "talk" });
  const made = await make<KeyView>("/keys", {
    app: "kiosk",
    name: "front",
    mode: "test",
    expires_at: end,
    route: "speech",
    purposes: [{ purpose: "memos", route: "speech", defaults: { language: "de" } }],
    quota: { tokens_per_minute: 500 },
  });
  const { secret: _shownOnce, ...before } = made;
  const page = await world.operator(t, `#/w/acme/keys/${made.id}`);
  if (page === null) return;
  assert.match(await screenText(page), /test: the sandbox answers/u);
  await follow(page, "Edit");
  await label(page, "Name").fill("front desk");
  assert.equal(await label(page, "Route").inputValue(), "speech");
  await assertAccessible(page);
  await press(page, "Save");
  await page.waitForURL(new RegExp(`keys/${made.id}$`, "u"));
  assert.deepEqual(await keyNow(made.id), { ...before, name: "front desk" });
  await label(page, "Overlap").waitFor();
  await label(page, "Overlap").selectOption("0");
  await press(page, "Rotate key");
  await press(page, "Cancel");
  assert.equal((await keyNow(made.id)).state, "active");
  await press(page, "Rotate key");
  await press(page, "Rotate and stop the old key");
  await page.locator("dialog .secret").waitFor();
  assert.match(await page.locator("dialog").innerText(), /no longer works/u);
  assert.equal(await page.getByRole("button", { name: "Send a test request" }).count(), 0);
  assert.deepEqual([await statusOf(made.secret ?? ""), await statusOf(await shownSecret(page))], [401, 200]);
});

test("console.apps-keys: administrators create administrators' keys; revoking the key of the session ends it", async (t) => {
  const own = await make<KeyView>("/keys", { name: "leaving", role: "admin" });
  const page = await world.page(t, `${world.gateway.origin}/console`);
  if (page === null) return;
  await page.fill("#key", own.secret ?? "");
  await page.press("#key", "Enter");
  await page.locator("#shell").waitFor();
  await goTo(page, "#/keys/new/administrator");
  await label(page, "Name").fill("successor");
  await assertNarrow(page);
  await press(page, "Create key");
  await page.locator("dialog .secret").waitFor();
  const successor = await shownSecret(page);
  assert.match(successor, /^svc_admin_/u);
  for (let times = 0; times < 2; times += 1) await page.keyboard.press("Escape");
  assert.equal(await shownSecret(page), successor);
  await press(page, "I have saved it");
  await page.waitForURL(/keys\/key_[0-9a-z]{26}$/u);
  await goTo(page, `#/w/acme/keys/${own.id}`);
  assert.match(await screenText(page), /your key/u);
  await press(page, "Revoke key");
  await page.locator("dialog").getByText("You are signed in with this key").waitFor();
  await confirm(page, "Revoke key");
  await page.getByText("Your key no longer works. Sign in with another one.").waitFor();
  assert.equal(await page.evaluate("sessionStorage.length"), 0);
  assert.equal(await statusOf(successor), 200);
});

test("console.managed: objects of the configuration file are marked, and offer no change that would be refused", async (t) => {
  const page = await world.admin(t, "#/w/acme/apps");
  if (page === null) return;
  await assertAccessible(page);
  await assertNarrow(page);
  const buttons = () => page.locator("#screen button, #screen form, #screen a.button").allInnerTexts();
  await page.locator("#screen tr", { hasText: "from file" }).getByRole("link", { name: "notes" }).click();
  await page.getByText("Managed by the configuration file: this app").waitFor();
  assert.deepEqual(await buttons(), ["Create a key"]);
  await goTo(page, "#/w/acme/keys?app=notes");
  await page.locator("#screen tr", { hasText: "from file" }).getByRole("link").click();
  await page.getByText("Managed by the configuration file: this key").waitFor();
  assert.deepEqual(await buttons(), []);
});
