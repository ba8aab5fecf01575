// Tests the published package: packs it, installs the tarball into an empty directory with an empty HOME, starts it twice (the second time after kill -9), and
// transcribes the bundled sample by its command line and its client.
import { type ChildProcess, execFileSync, spawn, spawnSync, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ownerOf } from "../src/storage/embedded/installation-lock.ts";
import { tryClient } from "./try-client.ts";

const PORT = 18_437;
const ORIGIN = `http://127.0.0.1:${PORT}`;
/** Long, because only starts and stops are tested, possibly next to other trials on a busy machine. */
const PATIENCE_SECONDS = 180;
const root = join(import.meta.dirname, "..");
const directory = mkdtempSync(join(tmpdir(), "patchbay-tarball-"));
// Reuses the downloads of `npm ci`: a slow registry is not the subject of the test.
const cache = execFileSync("npm", ["config", "get", "cache"], { cwd: root, encoding: "utf8" }).trim();
const env = { ...process.env, HOME: directory, npm_config_cache: cache, PATCHBAY_CONFIG: "", PATCHBAY_API_KEY: "" };

try {
  run("npm", ["pack", "--pack-destination", directory], root);
  const tarball = readdirSync(directory).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack made no tarball");
  writeFileSync(join(directory, "package.json"), '{ "name": "empty", "private": true }\n');
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", `./${tarball}`], directory);

  const imports =
    'const { verifyWebhook } = await import("patchbay-gateway/webhooks"); if (!verifyWebhook) process.exit(1)';
  run(process.execPath, ["--input-type=module", "-e", imports], directory);

  const first = await start();
  await loadPage("/playground", "captions/vtt.js");
  await loadPage("/console", "page/element.js");
  await loadPage("/docs", "/web/ui/html.js");
  run("npx", ["patchbay-gateway", "console"], directory);
  run("npx", ["patchbay-gateway", "transcribe", "--sample", "--url", ORIGIN], directory);
  // Kills the launcher and its gateway at once, like a power cut.
  if (first.pid !== undefined) process.kill(-first.pid, "SIGKILL");
  await once(first, "exit");

  // If only the launcher is killed, its gateway exits too and frees the port.
  const orphaned = await start();
  orphaned.kill("SIGKILL");
  await untilReleased();

  const second = await start();
  run("npx", ["patchbay-gateway", "transcribe", "--sample", "--url", ORIGIN, "--json"], directory);
  tryClient({ directory, origin: ORIGIN, run });
  second.kill("SIGINT");
  const [code] = await once(second, "exit");
  if (code !== 0) throw new Error(`the gateway ended with exit code ${String(code)}`);
  console.log("tarball: installed, started, killed, started again, transcribed twice");
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function run(command: string, args: readonly string[], cwd: string, more: Readonly<Record<string, string>> = {}): void {
  const stdio: StdioOptions = ["ignore", "inherit", "inherit"];
  const { status } = spawnSync(command, args, { cwd, env: { ...env, ...more }, stdio, timeout: 300_000 });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${String(status)}`);
}

/** A page, its first built module, and a shared module. */
async function loadPage(path: string, shared: string): Promise<void> {
  const page = await textAt(path);
  const main = /<script type="module" src="([^"]+)"/u.exec(page)?.[1] ?? "";
  const modules = [await textAt(main), await textAt(shared.startsWith("/") ? shared : `${path}/${shared}`)];
  if (!modules.every((text) => text.includes("import ") || text.includes("export ")))
    throw new Error(`the modules of ${path} are not what was built: ${main}`);
  console.log(`tarball: ${path} is served, from ${main} on`);
}

async function textAt(path: string): Promise<string> {
  const response = await fetch(ORIGIN + path);
  if (response.status !== 200) throw new Error(`${path} is answered ${response.status}`);
  return response.text();
}

/** Waits until the gateway has released its data directory, its last step. */
async function untilReleased(): Promise<void> {
  for (const waited = stopwatch(); waited() < PATIENCE_SECONDS; ) {
    if ((await ownerOf(join(directory, "data"))) === null) return;
    await wait(100);
  }
  throw new Error(`the gateway outlived its launcher by ${PATIENCE_SECONDS} s`);
}

/** Starts the launcher directly, so that a signal reaches it instead of a shell around it. */
async function start(): Promise<ChildProcess> {
  const waited = stopwatch();
  const launcher = join(directory, "node_modules", "patchbay-gateway", "bin", "patchbay.js");
  const child = spawn(process.execPath, [launcher, "up", "--port", String(PORT)], {
    cwd: directory,
    env,
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  while (waited() < PATIENCE_SECONDS) {
    if (child.exitCode !== null) throw new Error(`the gateway ended with exit code ${child.exitCode}`);
    const ready = await fetch(`${ORIGIN}/readyz`).then(
      (response) => response.status === 200,
      () => false,
    );
    if (ready) {
      console.log(`tarball: ready after ${waited().toFixed(1)} s`);
      return child;
    }
    await wait(100);
  }
  child.kill("SIGKILL");
  throw new Error(`the gateway was not ready after ${PATIENCE_SECONDS} s`);
}

/** Seconds since its creation. */
function stopwatch(): () => number {
  const startedMs = performance.now();
  return () => (performance.now() - startedMs) / 1000;
}
