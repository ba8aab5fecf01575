// The retirements of the overview in a real browser [retirement.console].
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible, assertNarrow, type ConsoleWorld, goTo, section, startConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
let day = "2027-01-01";
before(async () => {
  world = await startConsoleWorld({
    modelClock: () => new Date(day),
    change: (usual, sandbox) => ({
      ...usual,
      connections: [
        ...(usual.connections ?? []),
        { id: "oa", kind: "openai", api_key: "oa-secret", base_url: sandbox.openaiUrl },
      ],
      routes: [...(usual.routes ?? []), { id: "calls", targets: [{ connection: "oa", model: "gpt-4o-transcribe" }] }],
    }),
  });
});
after(() => world.close());

test("retirement.console: the overview lists the next losses with a replacement, and says when there is none", async (t) => {
  const page = await world.operator(t, "#/overview");
  if (page === null) return;
  const losses = section(page, "Model retirements");
  assert.match(
    await losses.innerText(),
    /▲ 2027-02-26\s+calls\s+On 2027-02-26 route calls can no longer transcribe: [^]*oa: gpt-transcribe/u,
  );
  assert.match((await losses.locator("tbody a").first().getAttribute("href")) ?? "", /routes\/calls/u);
  await assertAccessible(page);
  await assertNarrow(page);
  day = "2027-02-20";
  await goTo(page, "#/overview");
  assert.match(await losses.innerText(), /✕ 2027-02-26/u);
  day = "2026-11-01";
  await goTo(page, "#/overview");
  assert.match(await section(page, "No problems").innerText(), /No route loses a feature within 90 days/u);
});

test("retirement.console: a workspace sees no losses of routes that its apps do not use", async (t) => {
  day = "2027-02-20";
  const page = await world.admin(t, "#/overview");
  if (page === null) return;
  assert.match(await section(page, "No problems").innerText(), /No route loses a feature within 90 days/u);
});
