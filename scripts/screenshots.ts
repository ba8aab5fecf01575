// Takes pictures of the pages in a real browser: `node scripts/screenshots.ts DIRECTORY [NAME…]`, in light, dark and at 390 pixels. Those of the README:
// `node scripts/screenshots.ts DIRECTORY transcript console-requests`, copied to docs/images.
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sparticuz from "@sparticuz/chromium";
import { type Browser, chromium, type Page } from "playwright-core";
import { samplePath } from "../src/cli/package-root.ts";
import type { ConfigurationFile } from "../src/config/schema/file.ts";
import { consoleFile, goTo, OPERATOR } from "../test/console/world.ts";
import { KEY } from "../test/harness/gateway.ts";
import { startCommand, stopCommand } from "../test/up/commands.ts";

interface Look {
  readonly name: string;
  readonly colorScheme: "light" | "dark";
  readonly width: number;
}

const LOOKS: readonly Look[] = [
  { name: "light", colorScheme: "light", width: 1280 },
  { name: "dark", colorScheme: "dark", width: 1280 },
  { name: "390", colorScheme: "light", width: 390 },
];

/** Name of the picture → path on the public listener. */
const PAGES = {
  home: "/",
  docs: "/docs",
  "docs-guide": "/docs/guides/add-a-fallback",
  "docs-reference": "/docs/reference/idempotency",
  "docs-api": "/docs/api",
  "docs-api-transcription": "/docs/api/transcription",
  "docs-api-webhook": "/docs/api/webhook",
  "docs-admin-api": "/docs/admin-api",
  "docs-admin-api-workspaces": "/docs/admin-api/workspaces",
  "docs-errors": "/docs/errors",
  playground: "/playground",
} as const;

const [directory, ...names] = process.argv.slice(2);
if (directory === undefined) throw new Error("Usage: node scripts/screenshots.ts DIRECTORY [NAME…]");
await mkdir(directory, { recursive: true });
const folder = await mkdtemp(join(tmpdir(), "patchbay-screenshots-"));
const command = await startCommand(folder, configuration(), "up");
const gateway = {
  origin: await command.said(/playground\s+(http\S+)\/playground/u),
  adminOrigin: await command.said(/console\s+(http\S+)\/console/u),
};
const executablePath = await sparticuz.executablePath();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--no-zygote"] });
try {
  await makeTraffic();
  for (const look of LOOKS) await takeAll(browser, look);
} finally {
  await browser.close();
  await stopCommand(command);
  await rm(folder, { recursive: true });
}

/** That of the console's tests, with the demonstration model in front of the sandbox. */
function configuration(): ConfigurationFile {
  const { connections = [], routes = [], ...file } = consoleFile();
  const demonstration = { connection: "here", model: "demonstration-en" };
  return {
    ...file,
    server: { port: 0, admin: { port: 0 } },
    connections: [...connections, { id: "here", kind: "local" }],
    routes: routes.map((route) =>
      route.id === "speech" ? { ...route, targets: [demonstration, ...route.targets] } : route,
    ),
  };
}

/** The sample in the playground, transcribed, with the word that is heard lit up. */
async function showTranscript(page: Page): Promise<void> {
  await page.goto(`${gateway.origin}/playground?timestamps=word`);
  await page.fill("#key", KEY);
  await page.press("#key", "Enter");
  await page.locator("#key-status .good").waitFor();
  await page.locator("#audio-status", { hasText: "The bundled sample" }).waitFor();
  await page.click("#run");
  await page.locator("#result .word").first().waitFor();
  await page.evaluate('document.querySelector("#player").currentTime = 6.2');
  await page.locator("#result .word[aria-current]").waitFor();
}

async function takeAll(from: Browser, look: Look): Promise<void> {
  const context = await from.newContext({
    colorScheme: look.colorScheme,
    viewport: { width: look.width, height: 900 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const take = async (name: string): Promise<void> => {
    await page.screenshot({ path: join(directory ?? ".", `${name}-${look.name}.png`), fullPage: true });
  };
  await page.goto(`${gateway.adminOrigin}/console#key=${OPERATOR}`);
  await page.locator("#shell").waitFor();
  for (const screen of await screensOf(page)) {
    if (!isWanted(`console-${screen}`)) continue;
    await goTo(page, `#/${screen}`);
    await take(`console-${screen}`);
  }
  for (const [name, path] of Object.entries(PAGES)) {
    if (!isWanted(name)) continue;
    await page.goto(gateway.origin + path);
    await page.waitForLoadState("networkidle");
    await take(name);
  }
  if (isWanted("transcript")) {
    await showTranscript(page);
    const path = join(directory ?? ".", `transcript-${look.name}.png`);
    await page.screenshot({ path });
  }
  await context.close();
}

/** From the links of the console's navigation. */
async function screensOf(page: Page): Promise<readonly string[]> {
  const links = await page.locator('nav a[href^="#/"]').all();
  const names = await Promise.all(
    links.map(async (link) => (await link.getAttribute("href"))?.slice("#/".length) ?? ""),
  );
  return [...new Set(names)];
}

function isWanted(name: string): boolean {
  return names.length === 0 || names.includes(name);
}

/** Some requests that succeed and some that fail, so that lists and charts have content. */
async function makeTraffic(): Promise<void> {
  const audio = new Blob([await readFile(samplePath())]);
  for (const fields of [{}, { diarization: "true" }, { purpose: "unknown", purpose_policy: "strict" }, {}]) {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    body.append("file", audio, "dialogue.mp3");
    const response = await fetch(`${gateway.origin}/v1/transcription`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}` },
      body,
    });
    await response.arrayBuffer();
  }
}
