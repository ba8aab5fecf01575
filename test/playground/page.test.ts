// The playground in a real browser: a transcript on the screen, the sound at its words, refusals that explain themselves, nothing from
// another origin.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import type { BrowserContextOptions, Download, Page, Route } from "playwright-core";
import type { TranscriptionEnvelope } from "../../src/contract/transcription/transcription-envelope.ts";
import { SIMULATED } from "../../src/playground/exports.ts";
import { KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { borrowBrowser, type BorrowedBrowser } from "../harness/browser.ts";
import { configurationWith } from "../harness/configuration.ts";
import { judgePage } from "./judge-page.ts";

let gateway: TestGateway;
let browser: BorrowedBrowser;
before(async () => {
  [browser, gateway] = await Promise.all([
    borrowBrowser(),
    startGateway({
      file: (sandbox) =>
        configurationWith(sandbox, {
          connections: { sandbox: "sandbox" },
          routes: { speech: ["sandbox/simulated-speech", "sandbox/openai/whisper-1"] },
          apps: { notes: { key: KEY, scopes: ["transcribe", "routing:read"] } },
        }),
    }),
  ]);
});
after(async () => {
  await browser.close();
  await gateway.close();
});

/** At the page, with the sample that it begins with. */
async function open(t: TestContext, query = "", options: BrowserContextOptions = {}): Promise<Page | null> {
  const page = await browser.open(t, `${gateway.origin}/playground${query}`, options);
  await page?.locator("#audio-status", { hasText: "The bundled sample" }).waitFor();
  return page;
}

async function useKey(page: Page, key = KEY): Promise<void> {
  await page.fill("#key", key);
  await page.keyboard.press("Enter");
  await page.locator("#key-status .good, #key-status .bad").first().waitFor();
}

async function transcribe(page: Page): Promise<TranscriptionEnvelope> {
  const answered = page.waitForResponse((response) => /\/v1\/(transcription|translation)$/u.test(response.url()));
  await page.click("#run");
  const response = await answered;
  const answer = (await response.json()) as TranscriptionEnvelope;
  // Of this request: that of the one before may still be there.
  await page.locator("#trace .facts", { hasText: response.headers()["x-request-id"] ?? "" }).waitFor();
  return answer;
}

/** The page's policy lets nothing be evaluated there again and again. */
function until(page: Page, condition: string): Promise<void> {
  return page.evaluate(
    `new Promise((done) => { const look = () => (${condition} ? done() : requestAnimationFrame(look)); look(); })`,
  );
}

const textOf = async (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();
const heardAt = (page: Page): Promise<number> => page.evaluate("document.querySelector('audio').currentTime");

test("playground.two-clicks: a newcomer with a key has the sample's transcript on the screen after two clicks, marked as simulated, with its trace", async (t) => {
  const page = await open(t);
  if (page === null) return;
  assert.match(await textOf(page, "#key-status"), /first start printed a key/u);
  await useKey(page);
  assert.match(await textOf(page, "#key-status"), /App notes, workspace acme/u);
  const answer = await transcribe(page);
  assert.equal(await textOf(page, ".ribbon"), SIMULATED);
  const words = await page.locator(".word").allInnerTexts();
  assert.deepEqual(
    words,
    answer.words.map(({ text }) => text),
  );
  const trace = await textOf(page, "#trace");
  assert.match(trace, /1\. sandbox: sandbox simulated-speech\s+served/u);
  assert.match(trace, /2\. sandbox: sandbox openai\/whisper-1\s+not reached/u);
  assert.match(trace, /succeeded\s+\d+ ms\s+0 s, simulated\s+\$0/u);
  assert.match(trace, /req_[0-9a-z]{26}/u);
  assert.equal(await textOf(page, "#progress"), "Done.");
});

test("playground.words: a clicked word is where the sound continues, and each lights up within 50 ms of being heard", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page);
  const { words } = await transcribe(page);
  const [, second, third] = words;
  assert.ok(second && third);
  await page.locator(".word").nth(1).click();
  assert.equal(await heardAt(page), second.start);
  assert.equal(await textOf(page, "main [aria-current]"), second.text);
  const lateness: number[] = [];
  // A machine that does much else at once drops frames: the best of many shows how late the page itself is.
  for (let tries = 0; tries < 60 && Math.min(...lateness) > 0.05; tries += 1) {
    const lit = await page.evaluate<number>(`new Promise((done) => {
      const player = document.querySelector("audio");
      const third = document.querySelectorAll(".word")[2];
      player.pause();
      player.addEventListener("seeked", () => {
        new MutationObserver((_, own) => done(player.currentTime, own.disconnect())).observe(third, { attributes: true });
        player.play();
      }, { once: true });
      player.currentTime = ${third.start} - 0.2;
    })`);
    lateness.push(Math.abs(lit - third.start));
  }
  assert.ok(Math.min(...lateness) <= 0.05, `late by ${lateness.join(", ")} s`);
});

test("playground.words, console.accessible: without a mouse: key, run, word by word, play, the list of keys and back", async (t) => {
  const page = await open(t);
  if (page === null) return;
  const press = (key: string) => page.keyboard.press(key);
  const focused = () => page.evaluate<string>("document.activeElement.id || document.activeElement.className");
  const tabTo = async (id: string): Promise<void> => {
    for (let presses = 0; (await focused()) !== id; presses += 1) {
      assert.ok(presses < 60, `${id} is not reached`);
      await press("Tab");
    }
  };
  await tabTo("key");
  await page.keyboard.type(KEY);
  await press("Enter");
  await page.locator("#key-status .good").waitFor();
  await tabTo("run");
  await press("Enter");
  await page.locator("#result-title").waitFor();
  await until(page, "document.activeElement.id === 'result-title'");
  await tabTo("word");
  await press("ArrowRight");
  await press("ArrowRight");
  assert.equal(await textOf(page, ".word:focus"), "this");
  const at = await heardAt(page);
  await press("ArrowLeft");
  assert.ok((await heardAt(page)) < at);
  await press("l");
  await until(page, `document.querySelector("audio").currentTime > ${at}`);
  await press("k");
  await until(page, "!document.querySelector('audio').paused");
  await press("Space");
  await until(page, "document.querySelector('audio').paused");
  await press("?");
  await page.locator("dialog[open]").waitFor();
  await press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "hidden" });
  assert.equal(await focused(), "word");
  await tabTo("explain");
});

test("playground.refusals: characters that no key contains are reported as the key's fault, not the gateway's", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page, "svc_live_…3f9a");
  assert.match(await textOf(page, "#key-status"), /^This key does not work\. .*key/u);
});

test("playground.links: a browser that forbids storage shows the page nevertheless", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await page.addInitScript(
    "Object.defineProperty(window, 'sessionStorage', { get: () => { throw new DOMException('denied', 'SecurityError'); } })",
  );
  await page.reload();
  await page.locator("#audio-status", { hasText: "The bundled sample" }).waitFor();
  await useKey(page);
  await transcribe(page);
});

test("playground.two-clicks: a file chosen while the sample still loads is the one that is transcribed, and the same file can be chosen again", async (t) => {
  const page = await open(t);
  if (page === null) return;
  const held = Promise.withResolvers<undefined>();
  await page.route("**/playground/sample/*", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.click("#use-sample");
  await page.setInputFiles("#file", { name: "own.mp3", mimeType: "audio/mpeg", buffer: Buffer.from("mine") });
  const arrived = page.waitForEvent("requestfinished");
  held.resolve(undefined);
  await arrived;
  await until(page, "true");
  assert.match(await textOf(page, "#audio-status"), /^own\.mp3, /u);
  assert.equal(await page.inputValue("#file"), "");
});

test("playground.refusals: an invalid key is reported in words, and a request with it is refused with its code", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page, "svc_live_nobody-made-this");
  assert.match(await textOf(page, "#key-status"), /This key does not work\..*key/su);
  await page.click("#run");
  assert.match(await textOf(page, ".failure"), /^UNAUTHENTICATED · 401/u);
});

test("playground.refusals: what no model can do is refused with code, reason, what to do and its trace, and no transcript stays on the screen", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page);
  await transcribe(page);
  await page.click("#options summary");
  await page.fill("#option-to_language", "de");
  await page.check("#option-diarization");
  await transcribe(page);
  const failure = await textOf(page, ".failure");
  assert.equal(
    await page.evaluate("document.activeElement.closest('.failure') !== null"),
    true,
    "it is what is read next",
  );
  assert.match(failure, /^REQUIRED_FEATURE_UNSUPPORTED · 422/u);
  assert.match(failure, /missing: .*to_language/u);
  assert.match(failure, /will fail again\. Change it/u);
  assert.equal(await page.locator(".failure a").getAttribute("href"), "/docs/errors#REQUIRED_FEATURE_UNSUPPORTED");
  assert.match(await textOf(page, "#trace"), /openai\/whisper-1\s+skipped\s+lacks .*diarization/u);
  assert.equal(await page.locator(".word").count(), 0);
});

test("playground.links: an address is loaded and judged by the gateway, and nothing of it is loaded by the page", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page);
  await page.fill("#url", "https://example.com/call.mp3");
  await page.click("#url-form button");
  assert.match(await textOf(page, "#audio-status"), /fetched by the gateway/u);
  assert.match(await textOf(page, 'pre[data-language="curl"]'), /-F audio\.url=https:\/\/example\.com\/call\.mp3/u);
  await transcribe(page);
  assert.match(await textOf(page, ".failure"), /^AUDIO_URL_REJECTED · 400/u);
  // There is nothing to play, and a key that would is no fault.
  await page.focus("#show-keys");
  await page.keyboard.press("k");
  assert.ok(await page.evaluate("document.querySelector('audio').paused"));
});

test("playground.links: a link shares the options, never the key: opened, it shows the same options", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page);
  await page.check("#option-diarization");
  await page.selectOption("#option-timestamps", "");
  await page.fill("#option-keyterms", "Patchbay\nAda & Bob = friends");
  await page.click("#options summary");
  await page.check('input[name="redaction"][value="phi"]');
  const url = page.url();
  assert.deepEqual(
    [...new URL(url).searchParams],
    [
      ["diarization", "true"],
      ["timestamps", ""],
      ["keyterms", "Patchbay"],
      ["keyterms", "Ada & Bob = friends"],
      ["redaction", "phi"],
    ],
  );
  assert.ok(!url.includes(KEY));
  const other = await open(t, new URL(url).search);
  assert.ok(other !== null);
  assert.equal(await other.inputValue("#key"), "");
  assert.equal(await other.inputValue("#option-keyterms"), "Patchbay\nAda & Bob = friends");
  assert.equal(await other.inputValue("#option-timestamps"), "");
  assert.ok(await other.isChecked('input[name="redaction"][value="phi"]'));
  await page.reload();
  assert.equal(await page.inputValue("#key"), KEY, "the tab keeps it");
  assert.equal(await page.evaluate("localStorage.length + document.cookie.length"), 0);
});

test("playground.exports: speakers are named once for all; a saved file says that it was simulated, and can be opened again with its trace", async (t) => {
  const page = await open(t, "?diarization=true");
  if (page === null) return;
  await useKey(page);
  await transcribe(page);
  await page.fill(".speaker:first-child input", "Ada <x>");
  assert.deepEqual(await page.locator(".who").allInnerTexts(), ["Ada x", "S2", "Ada x", "S2"]);
  const saved: Record<string, string> = {};
  for (const format of ["TXT", "SRT", "VTT", "JSON"]) {
    const download: Promise<Download> = page.waitForEvent("download");
    await page.getByRole("button", { name: format, exact: true }).click();
    const file: Download = await download;
    assert.equal(file.suggestedFilename(), `dialogue-simulated.${format.toLowerCase()}`);
    saved[format] = await readFile(await file.path(), "utf8");
  }
  assert.match(
    saved["TXT"] ?? "",
    new RegExp(`^${SIMULATED}\nAda x: Good morning, .*\nS2: Hello\\. .*\nAda x: Pier .*\nS2: Two nights, .*\n$`, "u"),
  );
  assert.match(saved["SRT"] ?? "", new RegExp(`^1\n.*\nAda x: ${SIMULATED}\n`, "u"));
  assert.match(saved["VTT"] ?? "", new RegExp(`^WEBVTT ${SIMULATED}\n\n.*\n<v Ada x>`, "u"));
  const before = await textOf(page, "#trace");
  await page.reload();
  await page.setInputFiles("#saved", {
    name: "dialogue-simulated.json",
    mimeType: "application/json",
    buffer: Buffer.from(saved["JSON"] ?? ""),
  });
  await page.locator("#trace-title").waitFor();
  assert.equal(await textOf(page, ".ribbon"), SIMULATED);
  assert.deepEqual(await page.locator(".who").allInnerTexts(), ["Ada x", "S2", "Ada x", "S2"]);
  assert.equal(await textOf(page, "#trace"), before);
});

test("playground.words, playground.refusals: an opened transcript marks uncertain words, and reports when the sound is of another recording", async (t) => {
  const page = await open(t);
  if (page === null) return;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  const word = { speaker: null, channel: null, start: 0, end: 1 };
  const saved = {
    content: "Clear murmur",
    duration_seconds: 14.4,
    language: null,
    segments: [],
    words: [
      { ...word, text: "Clear", confidence: 0.99 },
      { ...word, text: "murmur", start: 1, end: 2, confidence: 0.41 },
    ],
    warnings: [],
    usage: { billable_audio_seconds: 14.4 },
    svc_applied_purpose: null,
  };
  const file = (value: object) => ({
    name: "call.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(value)),
  });
  await page.setInputFiles("#saved", file(saved));
  assert.equal(await page.locator(".low").getAttribute("aria-label"), "murmur, confidence 41 %");
  assert.equal(await page.locator(".low").getAttribute("title"), "confidence 41 %, at 0:01.0");
  assert.equal(await page.locator(".low").count(), 1);
  assert.ok(await page.locator("#result .warning").isHidden());
  await page.setInputFiles("#saved", file({ ...saved, duration_seconds: 60 }));
  await page.getByText("The player contains 0:14.4, the transcript belongs to 1:00.0").waitFor();
  await page.setInputFiles("#file", { name: "other.mp3", mimeType: "audio/mpeg", buffer: Buffer.from("no sound") });
  assert.deepEqual(asked, [], "what is opened here stays here");
});

test("playground.words: right-to-left words are shown so; without words the keys move nothing; words are followed once a frame", async (t) => {
  const page = await open(t);
  if (page === null) return;
  const word = { speaker: "S1", channel: null, confidence: 0.9 };
  const saved = {
    content: "صباح الخير",
    duration_seconds: 14.4,
    language: "ar",
    segments: [],
    words: [
      { ...word, text: "صباح", start: 0, end: 1 },
      { ...word, text: "الخير", start: 1, end: 2 },
    ],
    warnings: [],
    usage: { billable_audio_seconds: 14.4 },
    svc_applied_purpose: null,
  };
  const openSaved = (value: object): Promise<void> =>
    page.setInputFiles("#saved", {
      name: "call.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(value)),
    });
  await openSaved(saved);
  await page.locator(".word").first().waitFor();
  assert.equal(await page.evaluate("getComputedStyle(document.querySelector('.turn')).direction"), "rtl");
  assert.equal(await page.getAttribute(".transcript", "lang"), "ar");
  const aFrame = await page.evaluate<number>(`new Promise((done) => {
    const player = document.querySelector("audio");
    for (let times = 0; times < 4; times += 1) {
      player.pause();
      player.play().catch(() => undefined);
    }
    const { requestAnimationFrame: ask } = window;
    let asked = 0;
    window.requestAnimationFrame = (run) => ask(run, (asked += 1));
    // What was asked for before is counted when it asks again.
    ask(() => ask(() => { const before = asked; ask(() => { player.pause(); done(asked - before); }); }));
  })`);
  assert.ok(aFrame <= 1, `${aFrame} times a frame`);
  await openSaved({ ...saved, words: [] });
  await page.locator(".plain").waitFor();
  await page.evaluate("document.querySelector('audio').currentTime = 3");
  await page.focus("#show-keys");
  await page.keyboard.press("ArrowRight");
  assert.equal(await heardAt(page), 3);
});

test("playground.two-clicks: a recording from the microphone is played and transcribed", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page);
  await page.click("#record");
  const began = await page
    .getByRole("button", { name: "Stop recording" })
    .or(page.locator("#audio-status", { hasText: "not available" }))
    .innerText();
  if (began.includes("not available")) return t.skip(`this Chromium has no microphone: ${began}`);
  // So long the fake microphone beeps.
  await page.evaluate("new Promise((done) => setTimeout(done, 1_500))");
  await page.click("#record");
  await page.locator("#audio-status", { hasText: "recording.webm" }).waitFor();
  const { duration_seconds: seconds, words } = await transcribe(page);
  assert.ok(seconds > 0.3, String(seconds));
  await page.locator(".word").nth(2).click();
  assert.equal(
    await heardAt(page),
    words[2]?.start,
    "a recording can be sought in, though its file does not say how long it is",
  );
  assert.ok(await page.evaluate("Number.isFinite(document.querySelector('audio').duration)"));
});

test("playground.refusals: no answer, a cancelled one and one that is not the gateway's have their own messages", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page);
  await page.route("**/v1/transcription", (route) => route.abort());
  await page.click("#run");
  assert.match(await textOf(page, ".failure"), /^No answer from the gateway/u);
  await page.unrouteAll();
  await page.route("**/v1/transcription", (route) => route.fulfill({ status: 502, body: "<html>bad gateway" }));
  await page.click("#run");
  await page.locator(".failure", { hasText: "status 502" }).waitFor();
  assert.match(await textOf(page, ".failure"), /^Unexpected response/u);
  await page.unrouteAll();
  await page.route("**/v1/transcription", (route) => route.fulfill({ status: 413, json: { error: "too large" } }));
  await page.click("#run");
  await page.locator(".failure", { hasText: "status 413" }).waitFor();
  assert.match(await textOf(page, ".failure"), /^Unexpected response/u);
  await page.unrouteAll();
  await page.route("**/v1/transcription", () => undefined);
  await page.click("#run");
  await page.click("#cancel");
  await page.locator(".failure", { hasText: "Cancelled" }).waitFor();
  assert.match(await textOf(page, ".failure"), /reached the gateway, it continues there and is charged/u);
  assert.ok(await page.isEnabled("#run"));
  await page.click("#explain");
  await page.click("#cancel");
  await page.locator(".failure", { hasText: "Cancelled" }).waitFor();
  assert.doesNotMatch(await textOf(page, ".failure"), /charged/u, "a dry run costs nothing");
});

test("playground.refusals: a file that changed since it was chosen is reported as the file's fault, and has to be chosen again", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page);
  const path = join(tmpdir(), `${randomUUID()}.mp3`);
  t.after(() => rm(path, { force: true }));
  await writeFile(path, "one");
  await page.setInputFiles("#file", path);
  await page.locator("#audio-status", { hasText: ".mp3" }).waitFor();
  await writeFile(path, "another");
  await utimes(path, 1, 1);
  await page.click("#run");
  const failure = await textOf(page, ".failure");
  assert.match(failure, /^The file cannot be read.*Choose it again/su);
  assert.doesNotMatch(failure, /once more/u);
});

test("playground.paid-once: a request that broke off is sent again under the same Idempotency-Key until it is answered; an answered or changed one is not", async (t) => {
  const page = await open(t);
  if (page === null) return;
  await useKey(page);
  const keys: (string | undefined)[] = [];
  const refused = { code: "INVALID_AUDIO", message: "No.", param: null, retryable: false, details: null };
  const answers = [
    (route: Route) => route.abort(),
    (route: Route) => route.fulfill({ status: 409, json: { error: { ...refused, retryable: true } } }),
    (route: Route) => route.continue(),
    (route: Route) => route.abort(),
    (route: Route) => route.fulfill({ status: 422, json: { error: refused } }),
    (route: Route) => route.continue(),
  ];
  await page.route("**/v1/transcription", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    await answers[keys.length - 1]?.(route);
  });
  const ask = async (): Promise<string> => {
    await page.click("#run");
    await page.locator("#cancel").waitFor({ state: "hidden" });
    return textOf(page, "#result");
  };
  assert.match(await ask(), /within 24 hours, it is not charged twice/u);
  assert.match(await ask(), /not charged twice/u);
  assert.doesNotMatch(await ask(), /paid twice/u);
  assert.match(await ask(), /not charged twice/u);
  await page.fill("#options [name=language]", "en");
  assert.doesNotMatch(await ask(), /paid/u);
  await ask();
  const [first, second, third, ...others] = keys;
  assert.match(first ?? "", /^playground-\d+$/u);
  assert.deepEqual([second, third], [first, first]);
  assert.equal(new Set([first, ...others]).size, 4, "answered, changed, refused: each time another question");
});

test('playground.dry-run: "Explain only" decides a request and calls no provider', async (t) => {
  const page = await open(t, "?diarization=true");
  if (page === null) return;
  await useKey(page);
  await page.click("#explain");
  await page.locator("#trace-title").waitFor();
  assert.match(await textOf(page, "#result"), /Target 1 would be called\..*Nothing was called or charged/su);
  assert.match(await textOf(page, "#result"), /openai\/whisper-1\s+skipped\s+lacks diarization/u);
  assert.match(await textOf(page, 'pre[data-language="curl"]'), /-F dry_run=true/u);
});

for (const colorScheme of ["light", "dark"] as const)
  test(`console.accessible: ${colorScheme}, with an answer, a refusal and the keys: axe finds nothing serious, and 360 px are wide enough`, async (t) => {
    const page = await open(t, "?diarization=true", { colorScheme, viewport: { width: 360, height: 740 } });
    if (page === null) return;
    const judge = (where: string) => judgePage(page, colorScheme, where);
    const name = `${"one_word_".repeat(9)}.mp3`;
    await page.setInputFiles("#file", { name, mimeType: "audio/mpeg", buffer: Buffer.from("long") });
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360, "with a long name");
    await page.click("#use-sample");
    await page.locator("#audio-status", { hasText: "The bundled sample" }).waitFor();
    await useKey(page);
    await page.click("#options summary");
    await transcribe(page);
    await page.locator(".word").first().click();
    await judge("with an answer");
    if (colorScheme === "light") {
      await page.click("#show-keys");
      await judge("with the keys");
      await page.keyboard.press("Escape");
    }
    await page.fill("#option-to_language", "de");
    await transcribe(page);
    await page.click(".failure summary");
    await judge("with a refusal");
  });
