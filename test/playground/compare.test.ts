// One recording on two purposes, side by side in a real browser: what it would cost before anything runs, which words differ, and that
// one side's failure loses nothing of the other.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, test, type TestContext } from "node:test";
import type { BrowserContextOptions, Download, Page } from "playwright-core";
import { generateKey } from "../../src/auth/key-format.ts";
import { SIMULATED } from "../../src/playground/exports.ts";
import { type BorrowedBrowser, borrowBrowser } from "../harness/browser.ts";
import { configurationWith } from "../harness/configuration.ts";
import { KEY, neverResting, startGateway, type TestGateway } from "../harness/gateway.ts";
import { judgePage } from "./judge-page.ts";

/** What each model of the ear hears, a word in each half second. */
const HEARD: Readonly<Record<string, string>> = {
  one: "Good morning, the recipe is ready.",
  two: "Good mourning the receipt is all ready",
};

let ear: Server;
let earFails = 0;
/** What the second model's answers wait for. */
let held: Promise<unknown> = Promise.resolve();
/** Of the same app, with which nothing real is called. */
const TEST_KEY = generateKey("test");
/** Models as they were called. */
let called: string[] = [];
beforeEach(() => {
  called = [];
  earFails = 0;
});
let gateway: TestGateway;
let browser: BorrowedBrowser;
before(async () => {
  ear = createServer((request, response) => void hear(request, response)).listen(0, "127.0.0.1");
  await once(ear, "listening");
  const model = {
    capabilities: ["audio_input" as const],
    features: { timestamps: ["word" as const, "segment" as const] },
  };
  [browser, gateway] = await Promise.all([
    borrowBrowser(),
    startGateway({
      wrapGateway: neverResting,
      file: (sandbox) =>
        configurationWith(sandbox, {
          connections: {
            ear: {
              kind: "openai-compatible",
              base_url: `http://127.0.0.1:${(ear.address() as AddressInfo).port}/v1`,
              models: { one: model, two: model },
            },
          },
          prices: { "openai-compatible/one": "3.60" },
          routes: {
            speech: {
              targets: "ear/one",
              purposes: {
                second: { description: "Another ear", route: "second" },
                simulated: { description: "No ear", route: "simulated" },
              },
            },
            second: "ear/two",
            simulated: "sim/simulated-speech",
          },
          apps: {
            notes: {
              scopes: ["transcribe"],
              keys: { key: { secret: KEY, scopes: ["transcribe", "routing:read"] }, test: TEST_KEY },
            },
          },
        }),
    }),
  ]);
});
after(async () => {
  await browser.close();
  await gateway.close();
  ear.close();
});

/** As a server of OpenAI's audio protocol. */
async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = await text(request);
  const model = /name="model"\r\n\r\n(\w+)/u.exec(form)?.[1] ?? "";
  called.push(model);
  if (model === "two" && earFails > 0) {
    earFails -= 1;
    response.writeHead(500).end();
    return;
  }
  if (model === "two") await held;
  const words = (HEARD[model] ?? "").split(" ").map((word, at) => ({ word, start: at / 2, end: at / 2 + 0.4 }));
  const segment = { id: 0, start: 0, end: 7, text: HEARD[model] };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ text: HEARD[model], language: "english", duration: 14.4, words, segments: [segment] }));
}

/** At the page with a key and the sample. */
async function open(
  t: TestContext,
  query: string,
  options: BrowserContextOptions = {},
  key = KEY,
): Promise<Page | null> {
  const page = await browser.open(t, `${gateway.origin}/playground${query}`, options);
  if (page === null) return null;
  await page.locator("#audio-status", { hasText: "The bundled sample" }).waitFor();
  await page.fill("#key", key);
  await page.keyboard.press("Enter");
  await page.locator("#key-status .good").waitFor();
  return page;
}

async function plan(page: Page): Promise<string> {
  await page.click("#compare-run");
  await page.locator("#result-title", { hasText: "Before you run both" }).waitFor();
  return page.locator("#result").innerText();
}

/** Until both records are read. */
async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run both" }).click();
  await page.locator("#result table", { hasText: "Cost" }).waitFor();
  await page.locator("td", { hasText: "not loaded yet" }).first().waitFor({ state: "detached" });
}

const factOf = async (page: Page, name: string): Promise<readonly string[]> => {
  const cells = await page
    .locator("#result tr", { has: page.locator(`td:first-child:text-is("${name}")`) })
    .locator("td")
    .allInnerTexts();
  return cells.slice(1);
};
const focused = (page: Page) => page.evaluate("document.activeElement?.id");
const heardAt = (page: Page): Promise<number> => page.evaluate("document.querySelector('audio').currentTime");

test("playground.compare, playground.differences: a link names the other side; the costs of both are shown before either runs; then differing words are marked, and none is called an error", async (t) => {
  const page = await open(t, "?compare=second");
  if (page === null) return;
  const keys: (string | undefined)[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/v1/transcription")) keys.push(request.headers()["idempotency-key"]);
  });
  assert.equal(await page.locator("#compare-with option:checked").innerText(), "second: Another ear");
  const planned = await plan(page);
  assert.match(planned, /Both calls are charged/u);
  assert.match(planned, /A: no purpose.*Cost at list prices: \$0\.014402\..*1\. ear: openai-compatible one/su);
  assert.match(planned, /B: purpose second.*list price is unknown.*1\. ear: openai-compatible two/su);
  assert.deepEqual([called, keys], [[], [undefined, undefined]], "nothing ran");
  const release = Promise.withResolvers<undefined>();
  await page.route("**/v1/requests/*", async (route) => {
    await release.promise;
    await route.continue();
  });
  const isRun = run(page);
  await page.locator(".aligned").waitFor();
  await page.evaluate("document.querySelector('.aligned').id = 'as-it-was'");
  await page.getByRole("button", { name: "Copy id" }).first().focus();
  release.resolve(undefined);
  await isRun;
  assert.equal(await page.locator(":focus").innerText(), "Copy id", "nor in the table");
  assert.equal(
    await page.locator("#as-it-was").count(),
    1,
    "a record that comes later replaces no other record in the text",
  );
  assert.deepEqual(called.toSorted(), ["one", "two"]);
  const [one, other, ...more] = keys.slice(2);
  assert.ok(one !== undefined && other !== undefined && one !== other && more.length === 0);
  const summary = await page.locator("#result [role=status]").first().innerText();
  assert.equal(
    summary,
    "A has 6 words, B 7; the same in both: 4. Differing words: 3 (2 different on each side, 0 only in A, 1 only in B), 42.9 % of the 7 words of the longer side.",
  );
  assert.deepEqual(await page.evaluate("[...document.querySelectorAll('.word')].map((word) => word.ariaLabel)"), [
    "morning, (B has mourning)",
    "recipe (B has receipt)",
    "mourning (A has morning,)",
    "receipt (A has recipe)",
    "all (only in B)",
  ]);
  assert.deepEqual(await factOf(page, "Cost"), ["$0.014402 metered", "provider-billed, list price unknown"]);
  assert.deepEqual(await factOf(page, "Target"), ["1. ear: openai-compatible one", "1. ear: openai-compatible two"]);
  assert.match(await page.locator("#result").innerText(), /Neither side is the reference/u);
  assert.ok(await page.locator(".ribbon").isHidden());
});

test("playground.compare, playground.words: without a mouse from difference to difference, and a clicked word is played", async (t) => {
  const page = await open(t, "?compare=second");
  if (page === null) return;
  await plan(page);
  await run(page);
  await page.focus(".word[tabindex='0']");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator(":focus").innerText(), "morning,");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator(":focus").innerText(), "recipe");
  assert.equal(await heardAt(page), 1.5);
  assert.deepEqual(await page.locator("main [aria-current]").allInnerTexts(), ["recipe", "receipt"]);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await heardAt(page), 0.5);
  const next = page.getByRole("button", { name: "Next" });
  await page.evaluate("Element.prototype.scrollIntoView = () => new Promise(() => undefined)");
  const position = page.locator(".steps [role=status]");
  for (const difference of [2, 3, 3]) {
    await next.press("Enter");
    await position.filter({ hasText: `Difference ${difference} of 3` }).waitFor();
  }
  assert.match(await position.innerText(), /^Difference 3 of 3, at 0:02\.5\. A: nothing\. B: all\.$/u);
  assert.equal(await page.locator(":focus").innerText(), "Next", "it can be pressed again");
  await page.locator(".word", { hasText: "receipt" }).click();
  assert.equal(await page.evaluate("document.querySelector('audio').paused"), false);
  assert.ok((await heardAt(page)) >= 1.5);
});

test("playground.compare: one side's failure loses nothing of the other; a repetition has its own key, and the other side is not sent again", async (t) => {
  const page = await open(t, "?compare=second");
  if (page === null) return;
  const keys: string[] = [];
  page.on("request", (request) => {
    const key = request.headers()["idempotency-key"];
    if (key !== undefined) keys.push(key);
  });
  await plan(page);
  earFails = 1;
  await run(page);
  await page.locator(".failure").waitFor();
  assert.match(await page.locator(".failure").innerText(), /^NO_HEALTHY_PROVIDER · 503/u);
  assert.equal(await page.locator(".plain").innerText(), HEARD["one"]);
  assert.ok(await page.getByRole("button", { name: "A as JSON" }).isVisible());
  await page.getByRole("button", { name: "Ask B again" }).click();
  await page.locator(".aligned").waitFor();
  assert.equal(await focused(page), "result-title", "the button that was pressed is gone");
  assert.deepEqual(called.toSorted(), ["one", "two", "two"]);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 2);
});

test("playground.paid-once: while a request runs no other is sent, although its button is there: it would replace what was paid for", async (t) => {
  const page = await open(t, "?compare=second");
  if (page === null) return;
  await plan(page);
  await page.route("**/v1/transcription", (route) => route.abort());
  await page.getByRole("button", { name: "Run both" }).click();
  await page.getByRole("button", { name: "Ask A again" }).waitFor();
  await page.unrouteAll();
  const release = Promise.withResolvers<undefined>();
  t.after(() => release.resolve(undefined));
  held = release.promise;
  await page.getByRole("button", { name: "Ask B again" }).click();
  await page.getByRole("button", { name: "Ask A again" }).click();
  await page.locator("#progress", { hasText: "Wait for the response" }).waitFor();
  assert.ok(await page.locator("#cancel").isVisible());
  release.resolve(undefined);
  await page.locator("#cancel").waitFor({ state: "hidden" });
  await plan(page);
  const answer = Promise.withResolvers<undefined>();
  await page.route("**/v1/transcription", async (route) => {
    await answer.promise;
    await route.continue();
  });
  await page.click("#run");
  await page.getByRole("button", { name: "Run both" }).click();
  await page.locator("#progress", { hasText: "Wait for the response" }).waitFor();
  answer.resolve(undefined);
  await page.locator("#result-title", { hasText: "Transcript" }).waitFor();
});

test("playground.compare: a cancelled plan was neither refused nor charged", async (t) => {
  const page = await open(t, "?compare=second");
  if (page === null) return;
  await page.route("**/v1/transcription", () => undefined);
  await page.click("#compare-run");
  await page.click("#cancel");
  await page.locator("#result-title", { hasText: "Before you run both" }).waitFor();
  const planned = await page.locator("#result").innerText();
  assert.match(planned, /the plan of both sides could not be determined/u);
  assert.doesNotMatch(planned, /refused|charged/u);
});

test("playground.compare: where one side would be refused nothing runs, and the reason is shown", async (t) => {
  const page = await open(t, "?diarization=true&compare=simulated");
  if (page === null) return;
  const planned = await plan(page);
  assert.match(planned, /Not run: side A would be rejected/u);
  assert.match(planned, /rejected with REQUIRED_FEATURE_UNSUPPORTED.*lacks diarization/su);
  assert.match(planned, /B: purpose simulated.*Target 1 would be called/su);
  assert.equal(await page.getByRole("button", { name: "Run both" }).count(), 0);
  assert.deepEqual(called, []);
});

test("playground.compare, playground.links: two identical sides are not sent, and the choice is in the address", async (t) => {
  const page = await open(t, "");
  if (page === null) return;
  await page.click("#compare-title");
  await page.click("#compare-run");
  await page.locator("#compare-status", { hasText: "Choose a purpose to compare with first" }).waitFor();
  await page.selectOption("#compare-with", { label: "No purpose: the key's default" });
  assert.equal(await page.evaluate("location.search"), "?compare=");
  await page.click("#compare-run");
  await page.locator("#compare-status", { hasText: "would be identical" }).waitFor();
  await page.fill("#option-purpose", "second");
  assert.equal(await page.evaluate("location.search"), "?purpose=second&compare=");
  const planned = await plan(page);
  assert.match(planned, /A: purpose second.*B: no purpose/su);
  // What is paid for is what was shown.
  await page.fill("#option-purpose", "simulated");
  await page.getByRole("button", { name: "Run both" }).click();
  await page.locator("#progress", { hasText: "The options changed" }).waitFor();
  assert.match(await page.locator("#result").innerText(), /A: purpose simulated/u);
  assert.deepEqual(called, []);
});

test("playground.compare, playground.paid-once: the first answer is shown while the other is awaited; a cancelled side continues, and its answer can be fetched", async (t) => {
  const page = await open(t, "?compare=second");
  if (page === null) return;
  const release = Promise.withResolvers<undefined>();
  held = release.promise;
  await plan(page);
  await page.getByRole("button", { name: "Run both" }).click();
  await page.locator(".plain", { hasText: HEARD["one"] ?? "" }).waitFor();
  assert.match(await page.locator("#result").innerText(), /B: purpose second\s+Waiting for its answer/u);
  await page.click("#cancel");
  await page.locator(".failure", { hasText: "Cancelled" }).waitFor();
  assert.equal(await focused(page), "result-title", "the button that was pressed is gone");
  assert.equal(await page.locator(".plain").innerText(), HEARD["one"]);
  release.resolve(undefined);
  // Until the gateway has it, the first request still runs.
  for (let tries = 0; (await page.locator(".aligned").count()) === 0; tries += 1) {
    assert.ok(tries < 50, await page.locator("#result").innerText());
    await page.getByRole("button", { name: "Ask B again" }).click();
    await page.locator("#cancel").waitFor({ state: "hidden" });
  }
  await page.locator("td", { hasText: "paid by the earlier request" }).waitFor();
  assert.deepEqual(called.toSorted(), ["one", "two"]);
});

test("playground.compare, playground.exports: with a test key both sides are simulated, and say so on the page and in the name and first line of each file", async (t) => {
  const page = await open(t, "?compare=second", {}, TEST_KEY);
  if (page === null) return;
  assert.match(await plan(page), /This is a test key: both calls are simulated, and nothing is charged/u);
  await run(page);
  await page.locator(".aligned").waitFor();
  assert.equal(await page.locator(".ribbon").innerText(), `A and B: ${SIMULATED}`);
  assert.deepEqual(await factOf(page, "Cost"), ["$0, simulated", "$0, simulated"]);
  assert.deepEqual(await factOf(page, "Target"), ["target 1", "target 1"], "a key without routing:read learns no more");
  assert.match(await page.locator("#result").innerText(), /No word differs/u);
  assert.deepEqual(called, []);
  for (const format of ["txt", "json"]) {
    const download: Promise<Download> = page.waitForEvent("download");
    await page.getByRole("button", { name: `Comparison as ${format.toUpperCase()}` }).click();
    const file: Download = await download;
    assert.equal(file.suggestedFilename(), `dialogue-comparison-simulated.${format}`);
    const saved = await readFile(await file.path(), "utf8");
    assert.ok(saved.split("\n")[0]?.includes(`A and B: ${SIMULATED}`), format);
    assert.match(saved, /req_[0-9a-z]{26}/u);
  }
});

for (const colorScheme of ["light", "dark"] as const)
  test(`console.accessible: ${colorScheme}, the plan, and both transcripts side by side: axe finds nothing serious, and 360 px are wide enough`, async (t) => {
    const page = await open(t, "?compare=second", { colorScheme, viewport: { width: 360, height: 740 } });
    if (page === null) return;
    const judge = (where: string) => judgePage(page, colorScheme, where);
    await plan(page);
    await judge("before");
    await run(page);
    await page.getByRole("button", { name: "Next" }).click();
    await judge("after");
    const [left, right] = await page.evaluate<readonly number[]>(
      "[...document.querySelectorAll('.said')].map((side) => side.getBoundingClientRect().left)",
    );
    assert.equal(left, right, "one below the other");
  });
