// The console's provider connections in a real browser: created, tested, given models, changed and removed.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { connectionView } from "../../src/contract/admin/connections.ts";
import { etagOf, viewOf } from "../http/admin/admin.ts";
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
});
after(() => world.close());

const stored = async (id: string) => viewOf(connectionView, await world.ask("GET", `/connections/${id}`));
/** Each answer of a test is reported in the page's own status region. */
const tested = (page: Page, words: RegExp) => page.locator("#screen [role=status] .mark", { hasText: words }).waitFor();

test("console.connections: a connection is created, its wrong credential is reported at once and replaced, and its models are declared", async (t) => {
  const page = await world.operator(t, "#/connections");
  if (page === null) return;
  await page.getByRole("link", { name: "Add a connection" }).click();
  await page.getByRole("link", { name: "OpenAI-compatible server" }).click();
  await page.getByLabel("Address").waitFor();
  await assertAccessible(page);
  await page.getByLabel("Name").fill("groq");
  await press(page, "Connect and test");
  assert.match(await screenText(page), /Required/u);
  await page.getByLabel("Address").fill("groq.example");
  await press(page, "Connect and test");
  await page.locator(".field .bad", { hasText: "must be an http" }).waitFor();
  await page.getByLabel("Address").fill(world.gateway.sandbox.compatibleUrl("groq"));
  await page.getByLabel("API key").fill("invalid");
  await press(page, "Connect and test");
  await tested(page, /credential rejected/u);
  assert.equal(new URL(page.url()).hash, "#/connections/groq");
  assert.deepEqual([(await stored("groq")).kind, (await stored("groq")).has_credential], ["openai-compatible", true]);
  await page.locator("[role=status]").getByRole("button", { name: "Replace credential" }).click();
  assert.equal(await page.evaluate("document.activeElement?.type"), "password");
  await page.keyboard.type("a-right-key-of-groq-0001");
  await page.keyboard.press("Enter");
  await tested(page, /credential accepted/u);
  assert.equal((await stored("groq")).credential_last4, "0001");
  assert.ok(!(await page.content()).includes("a-right-key"));
  assert.match(await screenText(page), /Next: declare a model/u);
  await assertAccessible(page);

  await page.getByRole("link", { name: "whisper-large-v3", exact: true }).click();
  await page.getByLabel("Audio", { exact: true }).check();
  await page.getByLabel("Word timestamps").check();
  await page.getByLabel("Languages and limits").fill('{ "limits": { "max_bytes": "many" } }');
  await press(page, "Declare model");
  await page.locator(".field .bad", { hasText: "max_bytes" }).waitFor();
  await assertAccessible(page);
  await page.getByLabel("Languages and limits").fill('{ "limits": { "max_bytes": 26214400 } }');
  await press(page, "Declare model");
  await page.locator(".matrix", { hasText: "whisper-large-v3" }).waitFor();
  await press(page, "Test");
  await page.getByRole("link", { name: "add it to a route" }).waitFor();
  assert.partialDeepStrictEqual((await stored("groq")).models["whisper-large-v3"], {
    capabilities: ["audio_input"],
    features: { timestamps: ["word"], diarization: null },
    limits: { max_bytes: 26_214_400 },
  });
  assert.match(await page.locator(".matrix").innerText(), /timestamps\.\u200Bword[^]*✓/u);
  await assertNarrow(page);
});

test("console.keeps-settings, console.concurrent-change: settings that the form does not offer stay through a change, and no one's change is overwritten", async (t) => {
  const models = { "house-model": { capabilities: ["chat"], features: { tools: true } } };
  await world.ask("POST", "/connections", {
    id: "own",
    kind: "openai-compatible",
    base_url: world.gateway.sandbox.compatibleUrl("openai"),
    models,
  });
  const page = await world.operator(t, "#/connections/own");
  if (page === null) return;
  await page.getByLabel("Timeout").fill("60");
  await press(page, "Save and test");
  await tested(page, /responds without a credential/u);
  const changed = await stored("own");
  assert.equal(changed.timeout_seconds, 60);
  assert.partialDeepStrictEqual(changed.models, models);

  const read = await world.ask("GET", "/connections/own");
  const rest = { kind: changed.kind, base_url: changed.base_url, models: changed.models };
  await world.ask("PUT", "/connections/own", { ...rest, timeout_seconds: 61 }, { "if-match": etagOf(read) });
  await page.getByLabel("Timeout").fill("62");
  await press(page, "Save and test");
  await page.getByText("Conflict: changed by another user").waitFor();
  await assertAccessible(page);
  await press(page, "Reload");
  await page.locator(".failure").waitFor({ state: "detached" });
  await drawn(page);
  assert.equal(await page.getByLabel("Timeout").inputValue(), "61");
  assert.equal((await stored("own")).timeout_seconds, 61);
});

test("console.connections, console.confirms: a connection that a published route names is not removed, and the route is named; another one is, once confirmed", async (t) => {
  const made = {
    id: "leaving",
    kind: "openai",
    api_key: "a-key-of-openai-0001",
    base_url: world.gateway.sandbox.openaiUrl,
  };
  await world.ask("POST", "/connections", made);
  await world.ask("POST", "/routes", { id: "through", targets: [{ connection: "leaving", model: "whisper-1" }] });
  await world.ask("POST", "/routes/through/publish", {});
  const page = await world.operator(t, "#/connections/leaving");
  if (page === null) return;
  assert.match(await screenText(page), /Used by\s+route through/u);
  await press(page, "Remove connection");
  await confirm(page, "Remove connection");
  await page.locator(".failure", { hasText: "route `through` names it" }).waitFor();
  await assertAccessible(page);
  await world.ask("DELETE", "/routes/through");
  await press(page, "Remove connection");
  await press(page, "Cancel");
  assert.equal((await stored("leaving")).id, "leaving");
  await press(page, "Remove connection");
  await confirm(page, "Remove connection");
  await page.waitForURL(/#\/connections$/u);
  await drawn(page);
  assert.equal((await world.ask("GET", "/connections/leaving")).status, 404);
  assert.doesNotMatch(await page.locator("#screen tbody").innerText(), /leaving/u);
});

test("console.managed: a connection of the configuration file is tested and paused like any other, and offers no change", async (t) => {
  const page = await world.operator(t, "#/connections", { colorScheme: "dark" });
  if (page === null) return;
  await assertAccessible(page);
  const row = page.locator("#screen tbody tr", { hasText: "sandbox" });
  assert.match(await row.innerText(), /from file/u);
  await row.getByRole("link").click();
  await page.getByText("Managed by the configuration file: this connection").waitFor();
  await page.locator("#test-connection").click();
  await tested(page, /responds without a credential/u);
  assert.match(await page.locator(".matrix").first().innerText(), /simulated-speech/u);
  assert.deepEqual(await page.locator("#screen form button").allInnerTexts(), ["Pause"]);
  assert.equal(await page.locator("#screen .danger").count(), 0);
  await assertAccessible(page);
  await assertNarrow(page);
});

test("console.connections, console.field-errors: a workspace's administrators create their own connection, and an internal address is refused at its field", async (t) => {
  const page = await world.admin(t, "#/connections/add/deepgram");
  if (page === null) return;
  await page.getByLabel("Name").fill("mine");
  await page.getByLabel("API key").fill("a-key-of-deepgram-0002");
  await page.getByLabel("Address").fill("https://localhost");
  await press(page, "Connect and test");
  await page.locator(".field .bad:not(:empty)").waitFor();
  assert.equal(await page.getByLabel("Address").getAttribute("aria-invalid"), "true");
  await page.getByLabel("Address").fill("");
  await press(page, "Connect and test");
  await tested(page, /no answer/u);
  assert.match(await page.locator(".matrix").innerText(), /nova-3/u);
  await goTo(page, "#/w/acme/connections");
  assert.match(await page.locator("#screen tbody").innerText(), /mine\s+Deepgram\s+ends in 0002/u);
  await assertAccessible(page);
  await assertNarrow(page);
});
