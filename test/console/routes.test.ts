// Routes in the console, in a real browser [console.routes]: written, compared, published, reverted, and who may not.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { samplePath } from "../../src/cli/package-root.ts";
import type { KeyView } from "../../src/contract/admin/keys.ts";
import type { RequestRecordView } from "../../src/contract/requests.ts";
import type { RouteView } from "../../src/contract/admin/routes.ts";
import { asDefinition } from "../../src/console/route-shape.ts";
import {
  assertAccessible,
  assertNarrow,
  confirm,
  type ConsoleWorld,
  drawn,
  goTo,
  press,
  screenText,
  section,
  startConsoleWorld,
} from "./world.ts";

const TARGETS = [
  { connection: "gone", model: "whisper" },
  { connection: "sandbox", model: "simulated-speech" },
];

let world: ConsoleWorld;
let key = "";
before(async () => {
  world = await startConsoleWorld();
  await makeRoute("calls");
  await world.api("POST", "/workspaces/acme/apps", { slug: "mobile", route: "calls" });
  const made = await world.api<KeyView & { readonly secret: string }>("POST", "/workspaces/acme/keys", {
    app: "mobile",
    name: "ios",
    scopes: ["transcribe"],
  });
  key = made.secret;
});
after(() => world.close());

async function makeRoute(id: string, more: object = {}): Promise<void> {
  await world.api("POST", "/routes", { id, targets: TARGETS, ...more });
  await world.api("POST", `/routes/${id}/publish`, {});
}

const routeOf = (id: string, base = ""): Promise<RouteView> => world.api("GET", `${base}/routes/${id}`);
const modelsOf = ({ definition }: RouteView) => asDefinition(definition ?? {}).targets.map(({ model }) => model);
const target = (page: Page, number: number) => page.getByRole("group", { name: `Target ${number}`, exact: true });

/** The record of a transcription by the app whose route is `calls`. */
async function traceOf(): Promise<RequestRecordView> {
  const body = new FormData();
  body.append("file", new Blob([await readFile(samplePath())]), "dialogue.mp3");
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${world.gateway.origin}/v1/transcription`, { method: "POST", headers, body });
  await response.arrayBuffer();
  assert.equal(response.status, 200);
  await world.gateway.app.requestLog.flush();
  return world.api("GET", `/requests/${response.headers.get("x-request-id") ?? ""}`);
}

test("console.routes, console.accessible: a version written by keyboard differs by exactly that, serves once it is published, and one click reverts it", async (t) => {
  const page = await world.operator(t, "#/routes/calls");
  if (page === null) return;
  assert.deepEqual(
    (await traceOf()).attempts.map(({ connection }) => connection),
    ["gone", "sandbox"],
  );
  await page.getByRole("link", { name: "Edit" }).press("Enter");
  await target(page, 2).getByRole("button", { name: "Move up" }).press("Enter");
  // The focus moves with the target, so that the user can continue there.
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Move down");
  assert.match(await page.locator("#status").innerText(), /^sandbox: simulated-speech is target 1 of 2 now\.$/u);
  assert.equal(await target(page, 1).getByLabel("Model").inputValue(), "simulated-speech");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Save draft" }).press("Enter");
  await page.getByRole("heading", { name: "From version 1 to version 2" }).waitFor();
  assert.deepEqual(await page.locator(".changes li").allInnerTexts(), [
    "▲ moved target sandbox: simulated-speech from position 2 to position 1",
  ]);
  assert.equal((await routeOf("calls")).version, 1);
  await assertAccessible(page);
  await press(page, "Publish version 2");
  assert.match(await page.locator("dialog").innerText(), /next request on[^]*Accepted jobs keep[^]*moved/u);
  await assertAccessible(page);
  await confirm(page, "Publish version 2");
  await page.getByText("Version 2 of calls is live.").waitFor();
  const published = await routeOf("calls");
  assert.deepEqual([published.version, modelsOf(published)], [2, ["simulated-speech", "whisper"]]);
  const trace = await traceOf();
  assert.deepEqual(
    [trace.candidates.map(({ connection }) => connection), trace.attempts.length],
    [["sandbox", "gone"], 1],
  );
  await page.getByRole("heading", { name: "Versions" }).waitFor();
  await press(page, "Roll back to version 1");
  await confirm(page, "Roll back to version 1");
  await page.getByText("Version 1 of calls is live again.").waitFor();
  assert.equal((await routeOf("calls")).version, 1);
});

test("console.try, console.addresses: before it is published a draft is tried on a request that is not sent, and the address shares it", async (t) => {
  await makeRoute("tried");
  await world.api("POST", "/workspaces/acme/apps", { slug: "tried", route: "tried" });
  await world.api("PUT", "/routes/tried", { targets: [...TARGETS].toReversed() }, { "if-match": "*" });
  const page = await world.operator(t, "#/routes/tried");
  if (page === null) return;
  await press(page, "Publish version 2");
  await page
    .locator("dialog")
    .getByRole("link", { name: /^Dry-run a request on it first/u })
    .click();
  const differs = section(page, "Differences");
  await differs.waitFor();
  assert.equal(await page.locator("dialog").count(), 0);
  assert.equal(await page.getByLabel("App", { exact: true }).inputValue(), "acme/tried");
  assert.match(
    await differs.innerText(),
    /The draft sends this to sandbox: simulated-speech instead of gone: whisper\./u,
  );
  const rows = async (name: string) => {
    const texts = await section(page, name).locator("tbody tr").allInnerTexts();
    return texts.map((row) =>
      row
        .split("\t")
        .slice(1)
        .map((cell) => cell.trim()),
    );
  };
  assert.deepEqual(await rows("The draft, version 2"), [
    ["● chosen", "first eligible target"],
    ["○ eligible", "fallback"],
  ]);
  await page.getByLabel("Speaker diarization").check();
  await differs.getByText("Both send it to sandbox: simulated-speech").waitFor();
  assert.deepEqual(await rows("Live version"), [
    ["○ skipped", "lacks diarization"],
    ["● chosen", "first eligible target"],
  ]);
  await page.getByLabel("Length in minutes").fill("40");
  await page.getByLabel("Length in minutes").press("Enter");
  await section(page, "Live version").getByText("Cost at list prices: $0.00.").waitFor();
  await assertAccessible(page);
  const shared = await world.operator(t, new URL(page.url()).hash);
  assert.equal(await shared?.getByLabel("Speaker diarization").isChecked(), true);
  assert.equal(await shared?.getByLabel("Length in minutes").inputValue(), "40");
  await page.getByLabel("Length in minutes").fill("long");
  await page.getByLabel("Length in minutes").press("Enter");
  await page.getByRole("alert").getByText("recording.duration_seconds", { exact: true }).waitFor();
  await page.getByLabel("Task").selectOption("chat");
  await differs.getByText(/^Both reject it: the route has no suitable model/u).waitFor();
  await assertNarrow(page);
  assert.equal((await routeOf("tried")).version, 1);
});

test("console.field-errors: what the gateway refuses is shown at the control it is about, and nothing was written", async (t) => {
  await makeRoute("judged");
  const page = await world.operator(t, "#/routes/judged/edit");
  if (page === null) return;
  const second = target(page, 2);
  await second.getByText("Settings and timeout").click();
  await second.getByLabel("Provider settings").fill("{");
  await press(page, "Save draft");
  assert.match(
    await page.getByRole("alert").filter({ hasText: "not valid JSON" }).innerText(),
    /^The settings are not valid JSON/u,
  );
  await second.getByLabel("Provider settings").fill("");
  const limit = second.getByLabel("timeout for the first content");
  await limit.fill("0");
  await second.getByText("Settings and timeout").click();
  await press(page, "Save draft");
  await second.locator("[aria-invalid]").waitFor();
  assert.equal(await limit.getAttribute("aria-invalid"), "true");
  assert.ok(await limit.isVisible());
  const alert = page.getByRole("alert").filter({ hasText: "targets[1]" });
  assert.match(await alert.innerText(), /^targets\[1\]\.first_content_timeout_seconds/u);
  await assertAccessible(page);
  assert.equal((await routeOf("judged")).draft, null);
});

test("console.concurrent-change: the slower of two changes is reported, loses no input unasked, and can be reloaded", async (t) => {
  await makeRoute("raced");
  const page = await world.operator(t, "#/routes/raced/edit");
  if (page === null) return;
  await target(page, 2).getByRole("button", { name: "Remove" }).click();
  const theirs = { targets: [...TARGETS].toReversed() };
  await world.api("PUT", "/routes/raced", theirs, { "if-match": "*" });
  await press(page, "Save draft");
  await page.getByText("Conflict: changed by another user").waitFor();
  assert.equal(await target(page, 2).count(), 0);
  assert.deepEqual((await routeOf("raced")).draft?.version, 2);
  await press(page, "Reload");
  await target(page, 2).waitFor();
  assert.equal(await target(page, 1).getByLabel("Model").inputValue(), "simulated-speech");
  assert.match(await screenText(page), /Based on version 2, a draft/u);
});

test("console.keeps-settings: a form keeps what it does not offer, and converts to JSON and back with all that was written", async (t) => {
  await makeRoute("kept", {
    purposes: [{ purpose: "meetings", route: "kept" }],
    targets: [{ ...TARGETS[1], profiles: ["fast"] }],
  });
  const page = await world.operator(t, "#/routes/kept/edit");
  if (page === null) return;
  await page.getByLabel("may be charged twice").check();
  await press(page, "Edit as JSON");
  const text = page.getByLabel("Route", { exact: true });
  const written = JSON.parse(await text.inputValue()) as Record<string, unknown>;
  assert.equal(written["may_pay_twice"], true);
  assert.equal((written["purposes"] as readonly unknown[]).length, 1);
  // As short as the file takes it.
  const targets = [{ ...TARGETS[1], profiles: ["fast"] }, TARGETS[0]];
  await text.fill(JSON.stringify({ ...written, targets, split_long_audio: true }));
  await assertAccessible(page);
  await press(page, "Edit as form");
  assert.ok(await page.getByLabel("Split audio that is too long").isChecked());
  await press(page, "Save draft");
  await page.getByRole("heading", { name: "From version 1 to version 2" }).waitFor();
  assert.deepEqual(await page.locator(".changes li").allInnerTexts(), [
    "● added target gone: whisper at position 2",
    "▲ changed may_pay_twice: no → yes",
    "▲ changed split_long_audio: no → yes",
  ]);
});

test("console.managed: a route of the file is shown, and says why it cannot be changed here", async (t) => {
  const page = await world.operator(t, "#/routes");
  if (page === null) return;
  assert.match(
    await page.getByRole("row", { name: "from file" }).first().innerText(),
    /from file[^]*version 1[^]*gone: whisper/u,
  );
  await assertAccessible(page);
  await page.getByRole("link", { name: "speech" }).click();
  await page.getByText("Managed by the configuration file: this route").waitFor();
  assert.equal(await page.getByRole("link", { name: "Edit" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: /Publish|Roll back|Remove/u }).count(), 0);
  // What changes nothing can be done here too.
  assert.equal(await page.getByRole("link", { name: "Start dry run" }).count(), 1);
  await goTo(page, "#/routes/speech/edit");
  assert.equal(await page.locator("#screen form").count(), 0);
});

test("console.routes, console.apps-keys: an administrator creates the workspace's route, publishes it, and offers and removes a purpose", async (t) => {
  const page = await world.admin(t, "#/routes");
  if (page === null) return;
  await page.getByText("This workspace has no routes of its own").waitFor();
  await page.getByRole("link", { name: "Create a route" }).click();
  await page.getByLabel("Name", { exact: true }).fill("calls");
  await press(page, "Save draft");
  await page.getByText("A route needs at least one target.").waitFor();
  await press(page, "Add a target");
  await target(page, 1).getByLabel("Connection").selectOption("sandbox");
  await target(page, 1).getByLabel("Model").selectOption("simulated-speech");
  await press(page, "Save draft");
  await page.getByText("`calls` is already the id of a shared route").waitFor();
  assert.equal(await page.getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true");
  await page.getByLabel("Name", { exact: true }).fill("own");
  await press(page, "Save draft");
  await press(page, "Publish version 1");
  await confirm(page, "Publish version 1");
  await page.getByText("Version 1 of own is live.").waitFor();
  await page.getByRole("link", { name: "Add a purpose" }).click();
  await page.getByLabel("Label").fill("meetings");
  await page.getByLabel("Defaults").fill('{"diarisation": true}');
  await press(page, "Save and publish");
  await page.getByText("did you mean `diarization`").waitFor();
  await assertAccessible(page);
  await page.getByLabel("Defaults").fill('{"diarization": true}');
  await press(page, "Save and publish");
  await page.getByText("The purpose was saved: version 2 of own is live.").waitFor();
  const purposes = async () => asDefinition((await routeOf("own", "/workspaces/acme")).definition ?? {}).purposes;
  assert.equal((await purposes()).length, 1);
  await page.getByRole("link", { name: "meetings" }).click();
  await press(page, "Remove purpose");
  await confirm(page, "Remove purpose");
  await page.getByText("own no longer publishes meetings.").waitFor();
  assert.deepEqual(await purposes(), []);
  await drawn(page);
  await assertAccessible(page);
});

test("console.try, console.workspace-bounds: an administrator tries their own drafts, with their own apps", async (t) => {
  const at = "/workspaces/acme";
  await world.api("POST", `${at}/routes`, { id: "theirs", targets: TARGETS });
  await world.api("POST", `${at}/routes/theirs/publish`, {});
  await world.api("PUT", `${at}/routes/theirs`, { targets: TARGETS.slice(1) }, { "if-match": "*" });
  await world.api("POST", `${at}/apps`, { slug: "theirs", route: "theirs" });
  const page = await world.admin(t, "#/w/acme/routes/theirs/compare");
  if (page === null) return;
  await page.getByRole("link", { name: /^Dry-run a request to see the effect/u }).click();
  await section(page, "Differences").waitFor();
  assert.equal(await page.getByLabel("App", { exact: true }).inputValue(), "theirs");
  assert.match(await screenText(page), /The draft sends this to sandbox: simulated-speech instead of gone: whisper\./u);
});

test("console.first-needs: what cannot be filled in yet says what comes first: a model before a route, a route before an app", async (t) => {
  const page = await world.operator(t, "#/routes");
  if (page === null) return;
  const nothing = { json: { object: "list", data: [], next_cursor: null } };
  await page.route("**/admin/v1/models", (route) => route.fulfill(nothing));
  await page.getByRole("link", { name: "Create a route" }).click();
  await page.getByText("no connection offers one yet").waitFor();
  assert.equal(await page.locator("#screen form").count(), 0);
  assert.equal(await page.locator("#screen .empty a").getAttribute("href"), "#/connections");
  await page.route("**/routes?**", (route) => route.fulfill(nothing));
  await goTo(page, "#/w/acme/apps/new");
  assert.match(await page.locator("#screen .empty").innerText(), /An app needs a route, and none exists yet/u);
  assert.equal(await page.locator("#screen .empty a").getAttribute("href"), "#/routes");
  await assertAccessible(page);
});

test("console.confirms: a route in use is not removed, and what uses it is named; an unused one is", async (t) => {
  await makeRoute("spare");
  const page = await world.operator(t, "#/routes/calls");
  if (page === null) return;
  const remove = async () => {
    await press(page, "Remove route");
    await confirm(page, "Remove route");
  };
  await remove();
  await page.getByText("in use: app `mobile` (acme) would have no target").waitFor();
  await goTo(page, "#/routes/spare");
  await remove();
  await page.getByText("The route spare was removed.").waitFor();
  assert.equal(await page.getByRole("link", { name: "spare" }).count(), 0);
});

test("console.accessible: at 360 px and in the dark nothing scrolls sideways and every contrast is sufficient", async (t) => {
  const page = await world.operator(t, "#/routes", { colorScheme: "dark" });
  if (page === null) return;
  for (const hash of ["#/routes", "#/routes/calls", "#/routes/calls/edit", "#/routes/calls/compare?from=1&to=2"]) {
    await goTo(page, hash);
    await assertNarrow(page);
    await assertAccessible(page);
  }
});
