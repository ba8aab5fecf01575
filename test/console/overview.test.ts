// The overview in a real browser [console.overview]: next steps, problems, usage, and the configuration file applied again.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import {
  assertAccessible,
  assertNarrow,
  type ConsoleWorld,
  goTo,
  OPERATOR,
  section,
  startConsoleWorld,
} from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld();
});
after(() => world.close());

test("console.overview: a fresh gateway lists the next steps with links; a completed one has no link", async (t) => {
  const page = await world.operator(t, "#/overview");
  if (page === null) return;
  const steps = section(page, "Getting started").locator("li");
  assert.match(await steps.nth(0).innerText(), /done A provider is connected: gone\./u);
  assert.match(await steps.nth(1).innerText(), /done A published route uses it: speech\./u);
  assert.match(await steps.nth(2).innerText(), /to do Send a request with an app key/u);
  assert.equal(await steps.locator("a").getAttribute("href"), "#/workspaces");
  assert.match(await section(page, "No problems").innerText(), /No failed requests[^]*All providers are available/u);
  assert.match(await section(page, "Usage").innerText(), /No provider or sandbox calls in the last 30 days/u);
  await assertAccessible(page);
  await assertNarrow(page);
});

test("console.overview: no step mentions the sandbox where no route leads there; an unknown price is not shown as zero", async (t) => {
  const page = await world.operator(t, "#/requests");
  if (page === null) return;
  const nothing = { json: { object: "list", data: [], next_cursor: null } };
  await page.route("**/admin/v1/connections?**", (route) => route.fulfill(nothing));
  await page.route("**/admin/v1/routes?**", (route) => route.fulfill(nothing));
  await page.route("**/admin/v1/usage?**", async (route) => {
    const usage = (await (await route.fetch()).json()) as { totals: unknown[] };
    await route.fulfill({ json: { ...usage, totals: [UNPRICED] } });
  });
  await goTo(page, "#/overview");
  assert.match(await section(page, "Getting started").locator("li").first().innerText(), /to do Connect a provider/u);
  assert.equal(await page.locator("#screen .notice").count(), 0);
  assert.match(
    await section(page, "Usage").innerText(),
    /Provider-billed\s+1\s+1\s+–\s+–\s+\$0\.00\s+at least \$0\.00/u,
  );
});

test("console.overview: with traffic it shows failures, the open circuit, and usage by billing class", async (t) => {
  await world.api("PUT", "/workspaces/acme/apps/notes/budgets/day", { limit_audio_seconds: 10_000, soft_limit: 0.001 });
  assert.equal(await world.transcribe({ purpose: "unheard-of", purpose_policy: "strict" }), 503);
  for (let call = 0; call < 5; call += 1) assert.equal(await world.transcribe(), 200);
  const page = await world.operator(t, "#/overview");
  if (page === null) return;
  assert.match(await section(page, "Failed requests").innerText(), /✕ audio_purpose_unavailable/u);
  const resting = await section(page, "Unavailable providers").innerText();
  assert.match(resting, /gone: whisper\s+shared\s+✕ unavailable\s+\S/u);
  assert.match(await section(page, "Usage").innerText(), /Today\s+Simulated\s+5\s+0\s+1 min [0-9]+ s/u);
  assert.match(await section(page, "Usage").innerText(), /30 days\s+Provider-billed\s+5\s+5\s+–/u);
  await assertAccessible(page);
  await section(page, "Failed requests").locator("tbody a").click();
  await page.locator("#trace-title").waitFor();
});

test("console.overview, console.workspace-bounds: a workspace's administrators see their own figures, with budgets near their end", async (t) => {
  const page = await world.admin(t, "#/overview", { colorScheme: "dark" });
  if (page === null) return;
  const near = await section(page, "Budgets near their limit").innerText();
  assert.match(near, /notes, each day\s+1 min \d+ s of 2 h 47 min of audio\s+▲ soft limit reached/u);
  assert.doesNotMatch(near, /month/u);
  assert.match(await section(page, "Failed requests").innerText(), /audio_purpose_unavailable/u);
  assert.equal(await section(page, "Getting started").count(), 0);
  assert.equal(await section(page, "Configuration file").count(), 0);
  await assertAccessible(page);
  await assertNarrow(page);
});

test("console.overview: a part that cannot be read is reported in its place, and the rest is shown; an abandoned delivery shows why", async (t) => {
  const page = await world.operator(t, "#/requests");
  if (page === null) return;
  await page.route("**/admin/v1/health/providers**", (route) => route.abort());
  await page.route("**/admin/v1/deliveries**", (route) =>
    route.fulfill({ json: { data: [GIVEN_UP], next_cursor: null } }),
  );
  await goTo(page, "#/overview");
  assert.match(await section(page, "Provider health").innerText(), /could not be read: The gateway did not respond/u);
  const given = await section(page, "Failed webhook deliveries").innerText();
  assert.match(given, /job_01\s+✕ answered 500\s+all attempts failed/u);
  assert.match(await section(page, "Failed requests").innerText(), /audio_purpose_unavailable/u);
  await assertAccessible(page);
});

test("console.sign-in-link: a link may percent-encode the key that the operator chose", async (t) => {
  const spelt = OPERATOR.replaceAll(/./gu, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const page = await world.page(t, `${world.gateway.adminOrigin}/console#key=${spelt}`);
  if (page === null) return;
  await section(page, "Usage").waitFor();
});

test("console.apply: the file is compared first, then, confirmed, applied; its faults change nothing", async (t) => {
  const page = await world.operator(t, "#/overview");
  if (page === null) return;
  const part = section(page, "Configuration file");
  await page.click("#compare-file");
  await part.getByText("Unchanged").waitFor();
  await change((file) => ({
    ...file,
    routes: file.routes?.map((route) => (route.id === "speech" ? { ...route, targets: [SANDBOX] } : route)),
    workspaces: [...(file.workspaces ?? []), { id: "beta" }],
  }));
  await page.click("#compare-file");
  assert.match(await part.locator("tbody").innerText(), /route\s+platform\/speech\s+▲ changed/u);
  assert.equal((await definition()).targets.length, 2);
  await assertAccessible(page);
  await part.getByRole("button", { name: "Apply" }).click();
  await page.locator("dialog .danger").click();
  await page.getByText(/\d changes applied\./u).waitFor();
  assert.match(await page.locator("#workspace").innerText(), /acme\s+beta/u);
  assert.deepEqual(
    (await definition()).targets.map(({ connection }) => connection),
    ["sandbox"],
  );
  assert.match(
    await page.locator("#screen .notice").innerText(),
    /Requests use the sandbox.*No provider is connected\./u,
  );
  await change((file) => ({ ...file, routes: [] }));
  await page.click("#compare-file");
  await part.locator(".failure").waitFor();
  assert.match(await part.innerText(), /INVALID_REQUEST · 400[^]*Nothing was changed/u);
});

test("console.revoked-key: a key that is revoked during the session ends it once, not for each part of the screen", async (t) => {
  const page = await world.admin(t, "#/audit");
  if (page === null) return;
  await page.route("**/workspace/acme/**", (route) =>
    route.continue({ headers: { authorization: "Bearer no-such-key-of-anybody" } }),
  );
  await page.evaluate('location.hash = "#/overview"');
  await page.locator("#sign-in").waitFor();
});

const SANDBOX = { connection: "sandbox", model: "simulated-speech" };
const UNPRICED = {
  billing_class: "provider_billed",
  attempts: 1,
  failed: 1,
  audio_seconds: 0,
  input_tokens: 0,
  output_tokens: 0,
  charge_usd: "0.00",
  list_usd: "0.00",
  unpriced: 1,
};
const GIVEN_UP = {
  id: "del_01",
  created_at: "2026-11-22T10:00:00.000Z",
  event: { job_id: "job_01" },
  ended_by: "attempts",
  attempts: [{ outcome: "http_status", status_code: 500 }],
};

async function definition(): Promise<{ readonly targets: readonly { readonly connection: string }[] }> {
  const { definition: found } = await world.api<{ definition: Awaited<ReturnType<typeof definition>> }>(
    "GET",
    "/routes/speech",
  );
  return found;
}

/** Of the file that the gateway was started with. */
async function change(how: (file: ConfigurationFile) => ConfigurationFile): Promise<void> {
  const path = join(world.gateway.dataDir, "patchbay.yaml");
  await writeFile(path, JSON.stringify(how(JSON.parse(await readFile(path, "utf8")) as ConfigurationFile)));
}
