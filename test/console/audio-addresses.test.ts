// The allowlist for `audio.url` in the console, in a real browser [console.audio-addresses].
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { audioUrlDomains } from "../../src/contract/admin/audio-url-domains.ts";
import { get, send } from "../harness/client.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import {
  ADMIN,
  assertAccessible,
  assertNarrow,
  type ConsoleWorld,
  drawn,
  goTo,
  press,
  screenText,
  section,
  startConsoleWorld,
} from "./world.ts";

const internet = pretendInternet();
let world: ConsoleWorld;
before(async () => {
  internet.name("media.acme.example", ["93.184.216.34"]);
  internet.name("inside.acme.example", ["10.0.0.7"]);
  world = await startConsoleWorld({ network: internet });
});
after(() => world.close());

async function allowed(): Promise<readonly string[]> {
  const { json } = await get(world.gateway.origin, "/workspace/acme/audio-url-domains", ADMIN);
  return audioUrlDomains.parse(json).domains;
}

test("console.audio-addresses, console.field-errors: the list is edited a line a host, all faults are reported at once by what was typed, and nothing is changed", async (t) => {
  const page = await world.admin(t, "#/audio-addresses");
  if (page === null) return;
  const list = page.getByLabel("One host per line");
  await list.fill("media.acme.example\n\nhttps://cdn.example/\nlocalhost");
  await page.getByRole("button", { name: "Save" }).click();
  const fault = page.locator("#screen .field .bad:not(:empty)");
  assert.match(await fault.innerText(), /^“https:\/\/cdn\.example\/” must be a host name[^]*“localhost” must be/u);
  assert.equal(await list.getAttribute("aria-invalid"), "true");
  assert.deepEqual(await allowed(), []);
  await assertAccessible(page);
  await list.fill("Media.acme.example\n\n*.cdn.acme.example");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("#status", { hasText: "2 hosts are allowed." }).waitFor();
  await drawn(page);
  assert.deepEqual(await allowed(), ["media.acme.example", "*.cdn.acme.example"]);
  assert.equal(await list.inputValue(), "media.acme.example\n*.cdn.acme.example");
});

test("console.concurrent-change: a concurrent change by another administrator is reported, not overwritten, and can be reloaded", async (t) => {
  const page = await world.admin(t, "#/audio-addresses");
  if (page === null) return;
  const before = await allowed();
  const theirs = ["theirs.acme.example", ...before];
  const { status } = await send(`${world.gateway.origin}/workspace/acme/audio-url-domains`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
    body: JSON.stringify({ domains: theirs }),
  });
  assert.equal(status, 200);
  await page.getByLabel("One host per line").fill([...before, "mine.acme.example"].join("\n"));
  await press(page, "Save");
  await page.locator("#screen .failure", { hasText: "Conflict: changed by another user" }).waitFor();
  assert.deepEqual(await allowed(), theirs);
  await press(page, "Reload");
  await drawn(page);
  const list = page.getByLabel("One host per line");
  assert.equal(await list.inputValue(), theirs.join("\n"));
  await list.fill(before.join("\n"));
  await press(page, "Save");
  await press(page, "Remove");
  await page.locator("#status", { hasText: "2 hosts are allowed." }).waitFor();
});

test("console.confirms: a host is removed from the list only after a confirmation", async (t) => {
  const page = await world.admin(t, "#/audio-addresses", { colorScheme: "dark" });
  if (page === null) return;
  const save = page.getByRole("button", { name: "Save" });
  await page.getByLabel("One host per line").fill("");
  await save.click();
  assert.match(await page.locator("dialog").innerText(), /media\.acme\.example, \*\.cdn\.acme\.example: requests and/u);
  await assertAccessible(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await allowed()).length, 2);
  await save.click();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.locator("#status", { hasText: "0 hosts are allowed." }).waitFor();
  assert.deepEqual(await allowed(), []);
  await assertAccessible(page);
  await assertNarrow(page);
});

test("console.audio-addresses: a URL is checked rule by rule, each result is a shape and a word, and nothing is fetched", async (t) => {
  const page = await world.admin(t, "#/audio-addresses");
  if (page === null) return;
  await page.getByLabel("One host per line").fill("media.acme.example\ninside.acme.example");
  await press(page, "Save");
  await page.locator("#status", { hasText: "2 hosts are allowed." }).waitFor();
  await drawn(page);
  const check = section(page, "Check a URL");
  const statusFor = async (url: string) => {
    await check.getByLabel("Audio URL").fill(url);
    await press(page, "Check");
    await check.locator("li").first().waitFor();
    return check.locator("[role=status]").innerText();
  };
  await press(page, "Check");
  await check.locator("[aria-invalid]").waitFor();
  const good = await statusFor("https://media.acme.example/call.wav?signature=secret");
  assert.match(good, /^● It would be fetched/u);
  assert.equal(good.match(/● holds: /gu)?.length, 7);
  assert.match(good, /As media\.acme\.example, of this workspace\./u);
  const inside = await statusFor("https://inside.acme.example/");
  assert.match(inside, /^✕ A request with this URL is rejected\.[^]*✕ broken: Its host has public addresses only\./u);
  assert.ok(!inside.includes("10.0.0.7"));
  const many = await statusFor("http://8.8.8.8/");
  assert.match(
    many,
    /✕ broken: It starts with https[^]*✕ broken: Its host is a name[^]*○ not checked: Its host has public/u,
  );
  await assertAccessible(page);
  await assertNarrow(page);
  assert.deepEqual(internet.dialled, []);
});

test("console.audio-addresses: the screen is on the public listener, where its endpoint is", async (t) => {
  const page = await world.operator(t, "#/w/acme/jobs");
  if (page === null) return;
  assert.ok(!(await page.locator("#nav").innerText()).includes("Audio URLs"));
  await goTo(page, "#/w/acme/audio-addresses");
  assert.match(await screenText(page), /Unknown screen/u);
});
