// Chromium for the tests of pages, from an npm package that contains it for x64 Linux. Starting it costs as much as several tests, so a process that runs
// several test files starts one; each test has its own context.
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import type { TestContext } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** The package's own switches would disable what is tested here: origins, and the content security policy. */
const SWITCHES = [
  "--no-sandbox",
  "--disable-setuid-sandbox",
  "--no-zygote",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--autoplay-policy=no-user-gesture-required",
  // A microphone that beeps.
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
];

/** For an expected change in a page: on a busy machine it comes late. */
const LONGEST_WAIT_MS = 120_000;

export interface BorrowedBrowser {
  /** A new page at `url`. Null: there is no browser, which the test reports. */
  readonly open: (t: TestContext, url: string, options?: BrowserContextOptions) => Promise<Page | null>;
  close(): Promise<void>;
}

let isKept = false;
let sharedBrowser: Promise<Browser | string> | null = null;

/** For a process that runs several files; it must close the browser afterwards. */
export function keepBrowser(): void {
  isKept = true;
}

export async function endBrowser(): Promise<void> {
  isKept = false;
  await end(await sharedBrowser);
  sharedBrowser = null;
}

/** `microphone` is a WAV file that the microphone delivers over and over instead of beeps. Such a browser is of its own. */
export async function borrowBrowser({ microphone }: { readonly microphone?: string } = {}): Promise<BorrowedBrowser> {
  const isOwn = !isKept || microphone !== undefined;
  const browser = await (isOwn ? launch(microphone) : keptBrowser());
  return {
    open: async (t, url, options = {}) => {
      if (typeof browser !== "string") return openPage(t, browser, url, options);
      t.skip(browser);
      return null;
    },
    close: async () => {
      if (isOwn) await end(browser);
    },
  };
}

/** A crashed browser is replaced. */
async function keptBrowser(): Promise<Browser | string> {
  const current = await sharedBrowser;
  if (current !== null && (typeof current === "string" || current.isConnected())) return current;
  sharedBrowser = launch();
  return sharedBrowser;
}

async function end(browser: Browser | string | null): Promise<void> {
  if (browser !== null && typeof browser !== "string") await browser.close();
}

/** Or why there is none. */
async function launch(microphone?: string): Promise<Browser | string> {
  if (process.platform !== "linux" || process.arch !== "x64")
    return `the Chromium of the tests is for Linux on x64, not for ${process.platform} on ${process.arch}`;
  // Loaded only in processes that test a page.
  const [{ default: sparticuz }, { chromium }] = await Promise.all([
    import("@sparticuz/chromium"),
    import("playwright-core"),
  ]);
  try {
    const executablePath = await sparticuz.executablePath();
    // Playwright must not handle signals: a test that sends an interrupt to a command would close the browser.
    const args = microphone === undefined ? SWITCHES : [...SWITCHES, `--use-file-for-fake-audio-capture=${microphone}`];
    return await chromium.launch({ executablePath, args, timeout: 300_000, handleSIGINT: false });
  } catch (error) {
    return `Chromium does not start here (unpacked in ${tmpdir()}): ${error instanceof Error ? error.message : "unknown"}`;
  }
}

/** Requests to another origin, blocked resources and script errors fail the test. */
async function openPage(t: TestContext, browser: Browser, url: string, options: BrowserContextOptions): Promise<Page> {
  const { origin } = new URL(url);
  const context = await browser.newContext({ reducedMotion: "reduce", acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_WAIT_MS);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy/iu.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    if (![origin, `blob:${origin}`].some((own) => request.url().startsWith(`${own}/`))) faults.push(request.url());
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  await page.goto(url);
  return page;
}
