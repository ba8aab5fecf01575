// The console's usage [console.usage]: figures are the API's, billing classes are never added together, and the file adds up to the same.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { workspaceUsage, type WorkspaceUsage } from "../../src/contract/usage.ts";
import { viewOf } from "../http/admin/admin.ts";
import {
  assertAccessible,
  assertNarrow,
  type ConsoleWorld,
  goTo,
  screenText,
  section,
  startConsoleWorld,
} from "./world.ts";

/** What a tenant may call a model on a server of its own. */
const FORMULA = '=HYPERLINK("https://evil.example","total")';

let world: ConsoleWorld;
before(async () => {
  world = await startConsoleWorld({
    change: (usual, sandbox) => ({
      ...usual,
      prices: [
        { provider: "deepgram", model: "nova-3", usd_per_audio_hour: "0.37", source: "test", as_of: "2026-11-01" },
      ],
      connections: [
        ...(usual.connections ?? []),
        { id: "dg", kind: "deepgram", api_key: "dg-secret", base_url: sandbox.deepgramUrl },
      ],
      routes: [
        { id: "speech", targets: [{ connection: "dg", model: "nova-3" }] },
        { id: "talk", targets: [{ connection: "sandbox", model: "simulated-chat" }] },
      ],
    }),
  });
  for (let count = 0; count < 3; count += 1) assert.equal(await world.transcribe(), 200);
  const { db } = world.gateway.database;
  const [first, second] = await db.selectFrom("attempts").select("id").orderBy("id").execute();
  const change = (id: string, to: object) => db.updateTable("attempts").set(to).where("id", "=", id).execute();
  await change(first?.id ?? "", { billing_class: "provider_billed", charge_nano_usd: 0n, model: FORMULA });
  await change(second?.id ?? "", { billing_class: "simulated", charge_nano_usd: 0n, estimate_nano_usd: 0n });
});
after(() => world.close());

async function usageOf(query: string, path = "/workspaces/acme"): Promise<WorkspaceUsage> {
  return viewOf(workspaceUsage, await world.ask("GET", `${path}/usage?${query}`));
}

const today = (): string => new Date().toISOString().slice(0, 10);

test("console.usage: each billing class has its own figures, the API's to the last digit; uncharged usage has no charge", async (t) => {
  const page = await world.operator(t, "#/w/acme/usage?by=model");
  if (page === null) return;
  const { totals } = await usageOf(`from=${today()}&to=${today()}&group_by=model`);
  assert.deepEqual(
    totals.map(({ billing_class: billing }) => billing),
    ["metered", "provider_billed", "simulated"],
  );
  const all = await section(page, "Total").locator("tbody tr").allInnerTexts();
  for (const [at, total] of totals.entries()) assert.ok(all[at]?.includes(`$${total.list_usd}`), all[at]);
  assert.ok(all[0]?.includes(`$${totals[0]?.charge_usd}`));
  assert.match(await section(page, "Metered").innerText(), /deepgram\s+nova-3/u);
  assert.match(await section(page, "Provider-billed").innerText(), /an estimate[^]*At list prices[^]*=HYPERLINK/u);
  assert.doesNotMatch(await section(page, "Simulated").innerText(), /\$/u);
  assert.equal(await section(page, "Metered").locator(".track .bar").count(), 1);
  await assertAccessible(page);
});

test("console.addresses: days and groups are in the address; refused days are reported at their field", async (t) => {
  const page = await world.admin(t, "#/usage");
  if (page === null) return;
  assert.match(await section(page, "Metered").innerText(), /App[^]*notes/u);
  await page.selectOption("#filter-by", "day");
  await section(page, "Metered").locator("th", { hasText: "Day" }).waitFor();
  await page.selectOption("#filter-range", "days");
  await page.locator("#filter-from").waitFor();
  assert.match(page.url(), /range=days/u);
  assert.equal(await page.locator("#filter-to").inputValue(), today());
  await page.fill("#filter-from", "2026-02-02");
  await page.fill("#filter-to", "2026-02-01");
  await page.keyboard.press("Enter");
  await page.locator("#screen .failure").waitFor();
  assert.match(await screenText(page), /`from` is after `to`/u);
  await page.fill("#filter-to", "2026-02-03");
  await page.keyboard.press("Enter");
  await page.locator("#screen .empty").waitFor();
  assert.match(await screenText(page), /No usage from 2026-02-02 to 2026-02-03/u);
  await page.reload();
  await page.locator("#screen .empty").waitFor();
  await goTo(page, "#/usage?by=day&then=key");
  await section(page, "Metered").locator("tbody a", { hasText: "key" }).click();
  await section(page, "Metered").locator("th", { hasText: "Key" }).waitFor({ state: "detached" });
  assert.match(page.url(), /by=day&key=key_/u);
  await assertNarrow(page);
  await assertAccessible(page);
});

test("console.usage: the exported file has the rows that are shown: it adds up to the API's totals, and no cell is a formula", async (t) => {
  const page = await world.operator(t, "#/w/acme/usage?by=app&then=model");
  if (page === null) return;
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Download CSV")]);
  assert.match(file.suggestedFilename(), /^usage-acme-\d{4}-\d\d-01-\d{4}-\d\d-\d\d\.csv$/u);
  const [head, ...rows] = parsed(await readFile(await file.path(), "utf8"));
  assert(head !== undefined);
  const days = `from=${today().slice(0, 8)}01&to=${today()}`;
  const { data, totals } = await usageOf(`${days}&group_by=app,provider,model`);
  assert.deepEqual(head, [...Object.keys(data[0] ?? {}), "app_name"]);
  assert.equal(rows.length, data.length);
  const cell = (row: readonly string[], name: string): string => row[head.indexOf(name)] ?? "";
  for (const { billing_class: billing, ...total } of totals) {
    const own = rows.filter((row) => cell(row, "billing_class") === billing);
    for (const [name, figure] of Object.entries(total)) {
      const sum = own.reduce((sum, row) => sum + nano(cell(row, name)), 0n);
      assert.equal(sum, nano(String(figure)), name);
    }
  }
  assert.deepEqual(
    rows.map((row) => cell(row, "model")).filter((model) => model !== "nova-3"),
    [`'${FORMULA}`],
  );
  assert.deepEqual([...new Set(rows.map((row) => cell(row, "app_name")))], ["notes"]);
});

test("console.workspace-bounds: the operator sees all workspaces, and opens one of them", async (t) => {
  const page = await world.operator(t, "#/usage", { colorScheme: "dark" });
  if (page === null) return;
  await assertAccessible(page);
  await assertNarrow(page);
  await section(page, "Metered").locator("tbody a", { hasText: "acme" }).click();
  await section(page, "Metered").locator("tbody a", { hasText: "notes" }).waitFor();
  assert.match(page.url(), /#\/w\/acme\/usage\?range=this-month$/u);
});

/** RFC 4180. */
function parsed(text: string): readonly (readonly string[])[] {
  assert.ok(text.endsWith("\r\n"));
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gu)];
  const lines: string[][] = [[]];
  for (const [, quoted, plain, end] of cells) {
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end === "\r\n") lines.push([]);
  }
  return lines.slice(0, -1);
}

/** Exact: no sum of money is one of floats. */
function nano(figure: string): bigint {
  const [whole = "", fraction = ""] = figure.split(".");
  return BigInt(`${whole}${fraction.padEnd(9, "0")}`);
}
