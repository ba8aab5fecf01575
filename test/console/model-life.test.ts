// The life of models in the console, in a real browser: their status, the page of one, and the confirmation of one that ends.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { RouteView } from "../../src/contract/admin/routes.ts";
import { assertAccessible, type ConsoleWorld, press, screenText, startConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld({
    modelClock: () => new Date("2027-02-06T12:00:00Z"),
    change: (usual) => ({
      ...usual,
      connections: [
        ...(usual.connections ?? []),
        { id: "oa", kind: "openai", api_key: "oa-secret-0001" },
        { id: "gem", kind: "gemini", api_key: "gem-secret-001" },
      ],
    }),
  });
});
after(() => world.close());

test("console.model-life: a connection lists the status of its models with the evidence as a tooltip, and a model's page its end and successors", async (t) => {
  const page = await world.operator(t, "#/connections/oa");
  if (page === null) return;
  const row = page.locator("tr", { hasText: "whisper-1" });
  await row.waitFor();
  assert.match(await row.innerText(), /ends in 20 days/u);
  assert.match((await row.locator(".mark").first().getAttribute("title")) ?? "", /verified 2026-11-13, .*openai/u);
  await assertAccessible(page);
  await world.api("POST", "/connections", {
    id: "own",
    kind: "openai",
    api_key: "own-secret-0001",
    models: { "whisper-1": { capabilities: ["audio_input"] } },
  });
  const own = await world.operator(t, "#/connections/own/models/whisper-1");
  await own?.getByRole("heading", { name: "Life" }).waitFor();
  assert.match(await screenText(own ?? page), /2027-02-26, .*openai[^]*gpt-transcribe, without timestamps\.word/u);
});

test("providers.not-offered, console.model-life: a connection shows which of its models is not offered, with the reason as a tooltip", async (t) => {
  const page = await world.operator(t, "#/connections/gem");
  if (page === null) return;
  const row = page.locator("tr", { hasText: "gemini-3.5-transcribe-live" });
  await row.waitFor();
  assert.match(await row.innerText(), /not offered here/u);
  assert.match(
    (await row.locator(".mark").first().getAttribute("title")) ?? "",
    /^since 2026-11-27: there is no adapter for Google's Live API.*; verified 2026-11-12, https:\/\/ai\.google\.dev/u,
  );
});

test("console.confirms-ending: a route with a model that ends is saved after a confirmation that names the day and the replacement", async (t) => {
  await world.api("POST", "/routes", { id: "edited", targets: [{ connection: "sandbox", model: "simulated-speech" }] });
  const page = await world.operator(t, "#/routes/edited/edit");
  if (page === null) return;
  const first = page.getByLabel("Connection").first();
  await first.selectOption("oa");
  await page.getByLabel("Model").first().selectOption("whisper-1");
  await press(page, "Save draft");
  await page.locator("dialog").waitFor();
  assert.match(await page.locator("dialog").innerText(), /oa\/whisper-1[^]*2027-02-26[^]*gpt-transcribe/u);
  await page.locator("dialog").getByRole("button", { name: "Save anyway" }).click();
  await page.getByText("was saved as a draft").waitFor();
  assert.equal((await world.api<RouteView>("GET", "/routes/edited")).draft?.version, 2);
});

test("console.confirms-ending: a version with a model that ends is published and rolled back after a second confirmation", async (t) => {
  const send = (step: string, body: object) => world.api<RouteView>("POST", `/routes/switched${step}`, body);
  await world.api("POST", "/routes", {
    id: "switched",
    targets: [{ connection: "oa", model: "whisper-1" }],
    confirm_ending: true,
  });
  const page = await world.operator(t, "#/routes/switched");
  if (page === null) return;
  const dialog = page.locator("dialog");
  await press(page, "Publish version 1");
  await dialog.getByRole("button", { name: "Publish version 1" }).click();
  await dialog.getByText("oa/whisper-1").waitFor();
  assert.match(await dialog.innerText(), /oa\/whisper-1[^]*2027-02-26[^]*gpt-transcribe/u);
  await dialog.getByRole("button", { name: "Publish anyway" }).click();
  await page.getByText("Version 1 of switched is live.").waitFor();

  await world.api(
    "PUT",
    "/routes/switched",
    { targets: [{ connection: "sandbox", model: "simulated-speech" }] },
    { "if-match": "*" },
  );
  await send("/publish", {});
  const later = await world.operator(t, "#/routes/switched");
  if (later === null) return;
  await press(later, "Roll back to version 1");
  await later.locator("dialog").getByRole("button", { name: "Roll back to version 1" }).click();
  await later.locator("dialog").getByRole("button", { name: "Roll back anyway" }).click();
  await later.getByText("Version 1 of switched is live again.").waitFor();
  assert.equal((await world.api<RouteView>("GET", "/routes/switched")).version, 1);
});
