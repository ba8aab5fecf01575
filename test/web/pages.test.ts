// The pages of web/ in a real browser: the documentation, its search and its themes, and the page GET /.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { WEB_MODULES } from "../../src/http/pages/web-files.ts";
import { borrowBrowser, type BorrowedBrowser } from "../harness/browser.ts";
import { get } from "../harness/client.ts";
import { configurationWith } from "../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { pageModules } from "../http/page-modules.ts";
import { judgePage } from "../playground/judge-page.ts";

let gateway: TestGateway;
let browser: BorrowedBrowser;
before(async () => {
  [browser, gateway] = await Promise.all([
    borrowBrowser(),
    startGateway({
      file: (sandbox) =>
        configurationWith(sandbox, {
          connections: { sandbox: "sandbox" },
          routes: { speech: ["sandbox/simulated-speech"] },
          apps: { notes: { key: KEY, scopes: ["transcribe"] } },
        }),
    }),
  ]);
});
after(async () => {
  await browser.close();
  await gateway.close();
});

const open = (t: TestContext, path: string, options: BrowserContextOptions = {}): Promise<Page | null> =>
  browser.open(t, gateway.origin + path, options);

test("console.files: the files of web/ are what its pages import, and no path leads out of them", async () => {
  const loaded = [await pageModules(gateway.origin, "/docs"), await pageModules(gateway.origin, "/")];
  const names = new Set(loaded.flatMap((modules) => [...modules.keys()]).map((path) => path.replace(/\.[jt]s$/u, "")));
  assert.deepEqual([...names].toSorted(), WEB_MODULES.map((name) => `/web/${name}`).toSorted());
  for (const path of ["/web/ui/unknown.ts", "/web/ui/..%2fpackage.json", "/web/vendor/README.md"])
    assert.equal((await get(gateway.origin, path, null)).status, 404, path);
});

test("console.size: a page of the documentation loads few scripts first, and those of the search later", async () => {
  const first = ["preact", "preact-hooks", "preact-signals", "preact-signals-core", "htm"];
  for (const [libraries, isFirst, most] of [
    [first, true, 45_000],
    [[...first, "minisearch", "stemmer"], false, 130_000],
  ] as const) {
    const modules = await pageModules(gateway.origin, "/docs", { isFirst });
    let bytes = [...modules.values()].reduce((sum, text) => sum + text.length, 0);
    for (const name of libraries) bytes += (await get(gateway.origin, `/web/vendor/${name}.js`, null)).text.length;
    assert.ok(bytes < most, `${libraries.at(-1)}: ${bytes}`);
  }
});

test("console.size: a page of the documentation loads the search when its field gets the focus", async (t) => {
  const page = await open(t, "/docs");
  if (page === null) return;
  await page.locator("#search-field").waitFor();
  const loaded = (): Promise<readonly string[]> =>
    page.evaluate(`performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)`);
  const later = ["/web/vendor/minisearch.js", "/web/vendor/stemmer.js", "/docs/search.json"];
  assert.deepEqual(
    (await loaded()).filter((path) => later.includes(path)),
    [],
  );
  await page.keyboard.press("/");
  await page.keyboard.type("rotations");
  await page.locator(".results li").first().waitFor();
  assert.deepEqual((await loaded()).filter((path) => later.includes(path)).toSorted(), later.toSorted());
});

test("api.docs: the search finds a section and leads there; / focuses it, Escape ends it", async (t) => {
  const page = await open(t, "/docs");
  if (page === null) return;
  await page.locator("#search-field").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("idempotency replay");
  const first = page.locator(".results li a").first();
  await first.waitFor();
  const target = await first.getAttribute("href");
  assert.match(target ?? "", /^\/docs\/.*#/u);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".results").count(), 0);
  await page.keyboard.type("webhook secret rotate");
  await page.locator(".results li a").first().click();
  await page.waitForURL(/\/docs\/.+#.+/u);
});

test("api.docs: code can be copied, and the theme is kept from page to page", async (t) => {
  const page = await open(t, "/docs/api", { permissions: ["clipboard-read", "clipboard-write"] });
  if (page === null) return;
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.match(String(await page.evaluate("navigator.clipboard.readText()")), /^curl -s "\$PATCHBAY_URL/u);
  await page.getByRole("button", { name: "Dark" }).click();
  await page.goto(`${gateway.origin}/docs/glossary`);
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
});

test("api.docs: the same in two languages is shown as tabs, a command and its output stay below each other", async (t) => {
  const page = await open(t, "/docs/guides/move-from-openai");
  if (page === null) return;
  const tabs = page.getByRole("group", { name: "Language" });
  await tabs.getByRole("button", { name: "Python" }).click();
  assert.match(await page.locator(".code-tabs pre").innerText(), /^from openai import OpenAI/u);
  assert.equal(await tabs.count(), 1);
  await page.goto(`${gateway.origin}/docs/guides/first-transcript`);
  await page.locator(".code .copy").first().waitFor();
  assert.equal(await page.locator(".code .copy").count(), await page.locator("main pre").count());
  assert.equal(await tabs.count(), 0);
});

test("api.docs: at 390 px the navigation is closed, and the descriptions of fields and rules need no sideways scrolling", async (t) => {
  const page = await open(t, "/docs/guides/first-transcript", { viewport: { width: 390, height: 844 } });
  if (page === null) return;
  await page.locator(".navigation:not([open])").waitFor();
  for (const path of ["/docs/api/transcription", "/docs/reference/idempotency"]) {
    await page.goto(gateway.origin + path);
    const hidden: readonly number[] = await page
      .locator(".table")
      .evaluateAll((tables) => tables.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    assert.ok(hidden.length > 0);
    assert.equal(Math.max(...hidden), 0, path);
  }
});

test("api.docs: a page is served without the note for those who edit its file", async () => {
  for (const path of ["/docs/configuration", "/docs/errors"]) {
    const { text } = await get(gateway.origin, path, null);
    assert.match(text, /<h1/u);
    assert.doesNotMatch(text, /do not edit/u);
  }
});

test("api.docs: without scripts a page is complete", async (t) => {
  const page = await open(t, "/docs/reference/idempotency", { javaScriptEnabled: false });
  if (page === null) return;
  assert.match(await page.locator("main").innerText(), /The work is executed\s+at most once/u);
  assert.ok(await page.getByRole("link", { name: "Glossary" }).isVisible());
});

for (const width of [390, 1280])
  test(`errors.doc-url: doc_url opens at its code, below the header and without sideways scrolling, at ${width} px`, async (t) => {
    const page = await open(t, "/docs/errors#AUDIO_URL_REJECTED", { viewport: { width, height: 844 } });
    if (page === null) return;
    await page.locator("#search-field").waitFor();
    const heading = await page.locator("#AUDIO_URL_REJECTED").boundingBox();
    const header = await page.locator("header.site").boundingBox();
    assert.ok(heading !== null && header !== null);
    assert.ok(heading.y >= header.height && heading.y < header.height + 80, `${heading.y} below ${header.height}`);
    const [pageWidth, wideBlocks] = await page.evaluate<[number, number]>(`[
      document.documentElement.scrollWidth,
      [...document.querySelectorAll("pre")].filter((block) => block.scrollWidth > block.clientWidth).length,
    ]`);
    assert.ok(pageWidth <= width, String(pageWidth));
    assert.ok(wideBlocks > 0, "no block scrolls by itself");
  });

for (const colorScheme of ["light", "dark"] as const)
  test(`console.accessible: home and documentation at 360 px, ${colorScheme}`, async (t) => {
    const page = await open(t, "/", { colorScheme, viewport: { width: 360, height: 740 } });
    if (page === null) return;
    for (const path of [
      "/",
      "/docs",
      "/docs/reference/jobs",
      "/docs/api/transcription",
      "/docs/api/webhook",
      "/docs/admin-api/connections",
      "/docs/errors",
    ]) {
      await page.goto(gateway.origin + path);
      await page.locator("#search-field").waitFor();
      await judgePage(page, colorScheme, path);
    }
  });

test("api.home: / is a page for browsers and JSON for programs, and says that transcripts are simulated", async (t) => {
  const { json, headers } = await get(gateway.origin, "/", null);
  assert.match(headers.get("content-type") ?? "", /^application\/json/u);
  assert.deepEqual(
    [(json as { recognition: string }).recognition, (json as { docs: string }).docs],
    ["simulated", "/docs"],
  );
  const page = await open(t, "/");
  if (page === null) return;
  assert.match(await page.locator(".state").innerText(), /Transcripts are simulated/u);
  for (const door of ["Playground", "Documentation", "Console"])
    assert.equal(await page.locator(".doors").getByRole("link", { name: door }).count(), 1);
});
