// Tests the published package, packed from a copy of what Git knows: installs the tarball with an empty HOME, as a command of an empty prefix without install
// scripts and as a dependency in an empty directory. Starts both, kills them with SIGKILL, starts again, and transcribes the bundled sample by the command and
// by the client. With --short, for CI, there is only the dependency.
import { type ChildProcess, execFileSync, spawn, spawnSync, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { findFfmpeg } from "../src/audio/decode/find-ffmpeg.ts";
import { isEngineInstalled } from "../src/providers/local/engine/engine-installed.ts";
import { ownerOf } from "../src/storage/embedded/installation-lock.ts";
import { packCopy } from "./pack-copy.ts";
import { tryClient } from "./try-client.ts";

const PORT = 18_437;
const ORIGIN = `http://127.0.0.1:${PORT}`;
/** Long, because only starts and stops are tested, possibly next to other trials on a busy machine. */
const PATIENCE_SECONDS = 180;
/** Recognised, or simulated with the sample's own words. */
const SAMPLE_TEXT = /good morning,? this is the harbour office/iu;
const root = join(import.meta.dirname, "..");
const directory = mkdtempSync(join(tmpdir(), "patchbay-tarball-"));
// Reuses the downloads of `npm ci`: a slow registry is not the subject of the test.
const cache = execFileSync("npm", ["config", "get", "cache"], { cwd: root, encoding: "utf8" }).trim();
const env = { ...process.env, HOME: directory, npm_config_cache: cache, PATCHBAY_CONFIG: "", PATCHBAY_API_KEY: "" };

const isShort = process.argv.includes("--short");
const prefix = join(directory, "prefix");
const isWindows = process.platform === "win32";
const globalModules = isWindows ? join(prefix, "node_modules") : join(prefix, "lib/node_modules");
const launcherIn = (modules: string): string => join(modules, "patchbay-gateway/bin/patchbay.js");
const dependency = launcherIn(join(directory, "node_modules"));
const command = isShort ? dependency : launcherIn(globalModules);

try {
  const tarball = packCopy({ root, directory, run });
  console.log(`tarball: ${megabytes(statSync(tarball).size)} MB`);
  if (!isShort) installCommand(tarball);
  writeFileSync(join(directory, "package.json"), '{ "name": "empty", "private": true }\n');
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", tarball], directory);

  const imports =
    'const { verifyWebhook } = await import("patchbay-gateway/webhooks"); if (!verifyWebhook) process.exit(1)';
  run(process.execPath, ["--input-type=module", "-e", imports], directory);

  const first = await start(command);
  await loadPage("/playground", "captions/vtt.js");
  await loadPage("/console", "page/element.js");
  await loadPage("/docs", "/web/ui/html.js");
  const guide = await textAt("/docs/guides/install");
  if (!guide.includes("<h1")) throw new Error("/docs/guides/install is no page");
  useCommand();
  // Kills the launcher and its gateway at once, like a power cut.
  if (first.pid !== undefined) process.kill(-first.pid, "SIGKILL");
  await once(first, "exit");

  // If only the launcher is killed, its gateway exits too and frees the port.
  const orphaned = await start(command);
  orphaned.kill("SIGKILL");
  await untilReleased();

  const second = await start(dependency);
  run("npx", ["patchbay-gateway", "transcribe", "--sample", "--url", ORIGIN, "--json"], directory);
  tryClient({ directory, origin: ORIGIN, run });
  second.kill("SIGINT");
  const [code] = await once(second, "exit");
  if (code !== 0) throw new Error(`the gateway ended with exit code ${String(code)}`);
  console.log("tarball: installed, started, killed, started again, transcribed");
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** As `npm i -g` does, elsewhere. Install scripts are not needed, so they are not run here; the dependency's are. */
function installCommand(tarball: string): void {
  mkdirSync(prefix);
  const options = ["--global", "--prefix", prefix, "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  run("npm", ["install", ...options, tarball], directory);
  const { scripts = {} } = JSON.parse(readFileSync(join(globalModules, "patchbay-gateway/package.json"), "utf8")) as {
    readonly scripts?: Readonly<Record<string, string>>;
  };
  const atInstallation = ["preinstall", "install", "postinstall", "prepare"].filter((name) => name in scripts);
  if (atInstallation.length > 0) throw new Error(`the package runs ${atInstallation.join()} when it is installed`);
  const files = readdirSync(prefix, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const bytes = files.reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0);
  console.log(`tarball: installed ${megabytes(bytes)} MB in ${files.length} files`);
}

function useCommand(): void {
  const links = isShort ? join(directory, "node_modules/.bin") : isWindows ? prefix : join(prefix, "bin");
  const linked = join(links, isWindows ? "patchbay.cmd" : "patchbay");
  const output = (...args: readonly string[]): string =>
    execFileSync(linked, args, { cwd: directory, env, encoding: "utf8", shell: isWindows, timeout: 300_000 });
  if (!output("--help").includes("transcribe")) throw new Error("patchbay --help lists no commands");
  if (!output("console").includes("/console")) throw new Error("patchbay console prints no link");
  output("models", "verify");
  const text = output("transcribe", "--sample", "--url", ORIGIN);
  if (!SAMPLE_TEXT.test(text)) throw new Error(`not the sample's text: ${text}`);
  const isRecognised = output("transcribe", "--sample", "--url", ORIGIN, "--json").includes("DEMONSTRATION_MODEL");
  console.log(`tarball: sample transcribed, ${isRecognised ? "recognised on this machine" : "simulated"}`);
  if (!isRecognised && canRecognise()) throw new Error("the demonstration model was not used");
}

function canRecognise(): boolean {
  return isEngineInstalled() && findFfmpeg(process.env["PATH"]) !== null;
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
async function start(launcher: string): Promise<ChildProcess> {
  const waited = stopwatch();
  const child = spawn(process.execPath, [launcher, "up", "--port", String(PORT), "--admin-port", String(PORT + 1)], {
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

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** Seconds since its creation. */
function stopwatch(): () => number {
  const startedMs = performance.now();
  return () => (performance.now() - startedMs) / 1000;
}
