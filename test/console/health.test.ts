// Provider health and simulated faults in a real browser [console.providers].
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { keyView } from "../../src/contract/admin/keys.ts";
import { providerHealth } from "../../src/contract/admin/provider-health.ts";
import { sandboxFaults } from "../../src/contract/admin/sandbox-faults.ts";
import { postForm } from "../harness/client.ts";
import { viewOf } from "../http/admin/admin.ts";
import { connect, PLATFORM, targets } from "../http/admin/set-up.ts";
import {
  assertAccessible,
  assertNarrow,
  confirm,
  type ConsoleWorld,
  drawn,
  follow,
  goTo,
  OPERATOR,
  press,
  screenText,
  section,
  startConsoleWorld,
} from "./world.ts";

let world: ConsoleWorld;
/** Of a route whose first target the levers can fell. */
let fallingBack: string;
before(async () => {
  world = await startConsoleWorld();
  await connect(world.gateway, PLATFORM, { id: "spare", kind: "sandbox" }, OPERATOR);
  const simulated = [["sandbox", "simulated-speech"] as const, ["spare", "simulated-speech"] as const];
  await world.ask("POST", "/routes", { id: "two", targets: targets(...simulated) });
  await world.ask("POST", "/routes/two/publish", {});
  await world.ask("POST", "/workspaces/acme/apps", { slug: "falls-back", route: "two" });
  const key = await world.ask("POST", "/workspaces/acme/keys", { app: "falls-back", scopes: ["transcribe"] });
  fallingBack = viewOf(keyView, key).secret ?? "";
});
after(() => world.close());

const faults = async () => viewOf(sandboxFaults, await world.ask("GET", "/sandbox/faults")).faults;

test("console.providers: without calls the page says what will be there", async (t) => {
  const page = await world.operator(t, "#/health");
  if (page === null) return;
  assert.match(await screenText(page), /No provider calls in this period/u);
});

test("console.providers: a fault set in the page makes a request fall back, and provider health shows it", async (t) => {
  const page = await world.operator(t, "#/sandbox");
  if (page === null) return;
  assert.match(await screenText(page), /Faults affect only simulated providers/u);
  await page.getByLabel("Status").fill("200");
  await press(page, "Inject fault");
  await page
    .locator(".field .bad, .failure", { hasText: /status|400/u })
    .first()
    .waitFor();
  assert.deepEqual(await faults(), []);
  await page.getByLabel("Status").fill("429");
  await page.getByLabel("Retry-After").fill("3");
  await page.getByLabel("Simulated provider").selectOption("deepgram");
  await press(page, "Inject fault");
  await page.locator("#screen tbody tr").waitFor();
  const rate = { kind: "status", status: 429, retry_after_seconds: 3 };
  assert.deepEqual(await faults(), [{ provider: "deepgram", times: 1, failure: rate }]);
  assert.match(await page.locator("#screen tbody").innerText(), /HTTP 429, Retry-After 3 s\s+Deepgram\s+all\s+1 more/u);
  await assertAccessible(page);
  await assertNarrow(page);

  assert.equal((await postForm(world.gateway.origin, { key: fallingBack })).status, 200);
  await world.gateway.app.requestLog.flush();
  assert.deepEqual(await faults(), []);
  await goTo(page, "#/health");
  const rows = page.locator("section[aria-label=Models] tbody tr");
  assert.match(
    await rows.first().innerText(),
    /sandbox: simulated-speech\s+● healthy\s+1\s+0\.0 %\s+–\s+–\s+rate limited: 1/u,
  );
  assert.match(await rows.nth(1).innerText(), /spare: simulated-speech\s+● healthy\s+1\s+100\.0 %\s+\d/u);
  await assertAccessible(page);
  await assertNarrow(page);
  await page.locator("section[aria-label='Last errors']").getByRole("link", { name: /^req_/u }).click();
  await page.locator("#trace-title").waitFor();
  const trace = await screenText(page);
  assert.match(
    trace,
    /1\. sandbox: sandbox simulated-speech\s+failed[^]*2\. spare: sandbox simulated-speech\s+served/u,
  );
});

test("console.providers, console.addresses: an open circuit shows until when, the range is in the address, and a refresh keeps its place", async (t) => {
  const page = await world.operator(t, "#/health?minutes=60", { colorScheme: "dark" });
  if (page === null) return;
  assert.equal(await page.locator("#filter-minutes").inputValue(), "60");
  for (let count = 0; count < 5; count += 1) assert.equal(await world.transcribe(), 200);
  const health = viewOf(providerHealth, await world.ask("GET", "/health/providers"));
  assert.equal(health.circuits.find(({ connection }) => connection === "gone")?.state, "open");
  await page.locator("#refresh").click();
  await page.locator(".mark.bad", { hasText: "unavailable until" }).waitFor();
  await drawn(page);
  assert.equal(await page.evaluate("document.activeElement?.id"), "refresh");
  await page.selectOption("#filter-minutes", "1440");
  await page.waitForURL(/#\/health\?minutes=1440$/u);
  await drawn(page);
  await assertAccessible(page);
  await goTo(page, "#/health?minutes=0");
  assert.match(await screenText(page), /INVALID_REQUEST · 400/u);
});

test("console.providers: a model is paused from the page with a duration and a reason; pauses and open circuits are ended there", async (t) => {
  const page = await world.operator(t, "#/health?minutes=60");
  if (page === null) return;
  await follow(page, "Pause simulated-speech on spare");
  await page.waitForURL(/#\/connections\/spare\?model=simulated-speech$/u);
  await drawn(page);
  assert.equal(await page.getByLabel("Model", { exact: true }).inputValue(), "simulated-speech");
  await page.getByLabel("Duration", { exact: true }).selectOption("15 minutes");
  await page.getByLabel("Reason").fill("announced outage");
  await press(page, "Pause");
  assert.match(await page.locator("dialog").innerText(), /For 15 minutes no process sends new requests to it/u);
  await confirm(page, "Pause");
  await section(page, "Pause").locator("tbody tr").waitFor();
  await drawn(page);
  await assertAccessible(page);
  await assertNarrow(page);
  const paused = async () => viewOf(providerHealth, await world.ask("GET", "/health/providers")).pauses;
  const [pause] = await paused();
  assert.deepEqual([pause?.connection, pause?.model, pause?.reason], ["spare", "simulated-speech", "announced outage"]);
  assert.equal(Date.parse(pause?.until ?? "") - Date.parse(pause?.created_at ?? ""), 900_000);

  await goTo(page, "#/health?minutes=60");
  assert.match(
    await section(page, "Paused manually").innerText(),
    /: simulated-speech\s+\S.*announced outage\s+\S.* key_/u,
  );
  await page.locator("section[aria-label=Models] .mark.warn", { hasText: "paused until" }).waitFor();
  await assertAccessible(page);
  await assertNarrow(page);
  await press(page, "Resume simulated-speech on spare");
  await confirm(page, "Resume");
  await page.locator("#status", { hasText: "resumed" }).waitFor();
  await drawn(page);
  assert.equal(await section(page, "Paused manually").count(), 0);
  assert.deepEqual(await paused(), []);

  // Its circuit is open since an earlier test.
  await press(page, "Resume whisper on gone");
  await confirm(page, "Resume");
  await page.locator("#screen .mark.bad", { hasText: "unavailable until" }).waitFor({ state: "detached" });
  const { circuits } = viewOf(providerHealth, await world.ask("GET", "/health/providers"));
  assert.equal(circuits.find((circuit) => circuit.connection === "gone")?.state, "closed");
});

test("console.providers: simulated faults are removed one by one or all together, and each kind of fault has its own fields", async (t) => {
  const page = await world.operator(t, "#/sandbox");
  if (page === null) return;
  const set = async (kind: string, more?: () => Promise<unknown>) => {
    await page.selectOption("#fault-kind", kind);
    await page.waitForURL(new RegExp(`fault=${kind}$`, "u"));
    await drawn(page);
    await more?.();
    const count = await page.locator("#screen tbody tr").count();
    await press(page, "Inject fault");
    await page.locator("#screen tbody tr").nth(count).waitFor();
  };
  await set("stall");
  await set("delay", () => page.getByLabel("Delay in milliseconds").fill("250"));
  await set("drop", () => page.getByLabel("Missing feature").selectOption("timestamps.word"));
  assert.deepEqual(
    (await faults()).map(({ failure }) => failure),
    [{ kind: "stall" }, { kind: "delay", ms: 250 }, { kind: "drop", feature: "timestamps.word" }],
  );
  await page.getByRole("button", { name: "Remove: No answer" }).click();
  await page.locator("#status", { hasText: "removed" }).waitFor();
  await drawn(page);
  assert.equal((await faults()).length, 2);
  await page.getByRole("button", { name: "Remove all" }).click();
  await page.locator("section[aria-label='Active faults']", { hasText: "None." }).waitFor();
  assert.deepEqual(await faults(), []);
});

test("console.providers: an account of a workspace is shown with the workspace's name", async (t) => {
  const own = "/workspaces/acme/connections";
  assert.equal((await world.ask("POST", own, { id: "own", kind: "sandbox" })).status, 201);
  assert.equal((await world.ask("POST", `${own}/own/pause`, { duration_seconds: 600 })).status, 200);
  const page = await world.operator(t, "#/health");
  if (page === null) return;
  assert.match(
    await page.locator("section[aria-label='Paused manually'] tbody").innerText(),
    /own: all models\s*of acme/u,
  );
  await goTo(page, "#/overview");
  assert.match(await section(page, "Unavailable providers").locator("tbody").innerText(), /own: all models\s+acme\s/u);
  assert.equal((await world.ask("POST", `${own}/own/resume`, {})).status, 200);
});
