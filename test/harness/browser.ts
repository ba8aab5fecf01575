// Chromium for the tests of pages, out of an npm package, which holds it for x64 Linux. Starting one costs as much as several tests, so
// a process that runs several test files starts one; each test has a context of its own.
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import type { TestContext } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** Its own list of switches would turn off what is tested here: origins, and the policy of what may be loaded. */
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

/** For something that a test expects in its page: on a machine that does much else at once it comes late. */
const LONGEST_WAIT_MS = 120_000;

export interface BorrowedBrowser {
  /** A page of its own at `url`; null where there is no browser here, which the test then says. */
  readonly open: (t: TestContext, url: string, options?: BrowserContextOptions) => Promise<Page | null>;
  close(): Promise<void>;
}

let isKept = false;
let kept: Promise<Browser | string> | null = null;

/** For a process that runs several files; it must end the browser when it has run them. */
export function keepBrowser(): void {
  isKept = true;
}

export async function endBrowser(): Promise<void> {
  isKept = false;
  await end(await kept);
  kept = null;
}

export async function borrowBrowser(): Promise<BorrowedBrowser> {
  const browser = await (isKept ? keptBrowser() : launch());
  return {
    open: async (t, url, options = {}) => {
      if (typeof browser !== "string") return openPage(t, browser, url, options);
      t.skip(browser);
      return null;
    },
    close: async () => {
      if (!isKept) await end(browser);
    },
  };
}

/** One that crashed is replaced. */
async function keptBrowser(): Promise<Browser | string> {
  const there = await kept;
  if (there !== null && (typeof there === "string" || there.isConnected())) return there;
  kept = launch();
  return kept;
}

async function end(browser: Browser | string | null): Promise<void> {
  if (browser !== null && typeof browser !== "string") await browser.close();
}

/** Or why there is none. */
async function launch(): Promise<Browser | string> {
  if (process.platform !== "linux" || process.arch !== "x64")
    return `the Chromium of the tests is for Linux on x64, not for ${process.platform} on ${process.arch}`;
  // A process without any page to test loads neither.
  const [{ default: sparticuz }, { chromium }] = await Promise.all([
    import("@sparticuz/chromium"),
    import("playwright-core"),
  ]);
  try {
    const executablePath = await sparticuz.executablePath();
    // An interrupt that a test makes up for a command is none of this process: Playwright would end it with its browser.
    return await chromium.launch({ executablePath, args: SWITCHES, timeout: 300_000, handleSIGINT: false });
  } catch (error) {
    return `Chromium does not start here (unpacked in ${tmpdir()}): ${error instanceof Error ? error.message : "unknown"}`;
  }
}

/** Whatever it asks of another origin, whatever its policy keeps out and whatever fails in it fails the test. */
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
