// A gateway that npm started ends when npm is stopped: npm sends SIGTERM to a shell, which does not pass it on.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { isForegroundScript, untilOrphaned } from "../../src/start/npm-shell.ts";
import { makeTemporary } from "../harness/postgres/embedded-data.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
const folder = await makeTemporary("patchbay-npm-");
after(() => rmSync(folder, { recursive: true, force: true }));

test("configuration.stop-signals: SIGTERM to npm's own process ends the gateway that it started, in order", {
  skip:
    process.platform !== "win32" && spawnSync("npm", ["--version"]).status === 0
      ? false
      : "there is no npm, or no signal",
  timeout: 120_000,
}, async () => {
  const start = `"${process.execPath}" --max-semi-space-size=64 "${MAIN}" up --port 0 --admin-port 0`;
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "started-by-npm", private: true, scripts: { start } }),
  );
  const npm = spawn("npm", ["start"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const listening = Promise.withResolvers<void>();
  npm.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    if (/Pages:/u.test(said)) listening.resolve();
  });
  // The gateway has this pipe too: it closes when the last of them has ended.
  const closed = once(npm.stderr, "close");
  await Promise.race([listening.promise, closed.then(() => assert.fail(said))]);
  const origin = /listening\s+(http:\S+)/u.exec(said)?.[1] ?? "";
  npm.kill("SIGTERM");
  await closed;
  assert.match(said, /SIGTERM: finishing requests in progress/u);
  await assert.rejects(fetch(`${origin}/healthz`));
});

test("configuration.stop-signals: only a script that runs the gateway in its foreground ends it with its shell", () => {
  for (const script of [
    "node --flag src/main.ts up",
    "patchbay up",
    "npx patchbay-gateway up --port 1",
    "npm run build && patchbay up",
  ])
    assert.equal(isForegroundScript(script), true, script);
  for (const script of [
    undefined,
    "sh deploy.sh",
    "node scripts/test.ts",
    "patchbay up &",
    "nohup patchbay up",
    "setsid patchbay up",
    "patchbay up; echo done",
    "patchbay worker | tee log",
  ])
    assert.equal(isForegroundScript(script), false, String(script));
});

test("configuration.stop-signals: a process is orphaned as soon as its parent is another one", async () => {
  const parents = [7, 7, 1];
  await untilOrphaned(7, () => parents.shift() ?? 1);
  assert.deepEqual(parents, []);
});

test("cli.launcher: a command ends with the shell of its npx", {
  skip: process.platform === "win32" ? "there is no shell of npm's" : false,
  timeout: 30_000,
}, async (t) => {
  const launcher = join(import.meta.dirname, "../../bin/patchbay.js");
  const command = `"${process.execPath}" "${launcher}" mcp --url http://127.0.0.1:1 --api-key test-key-of-someone-0001`;
  // What follows keeps the shell from becoming the command.
  // A pipe of its own, because that of a child closes with the child.
  const requests = join(folder, "requests");
  spawnSync("mkfifo", [requests]);
  const stdin = openSync(requests, "r+");
  t.after(() => closeSync(stdin));
  const shell = spawn("sh", ["-c", `${command}; true`], {
    env: { ...process.env, npm_lifecycle_script: "patchbay mcp" },
    stdio: [stdin, "pipe", "ignore"],
  });
  // The command has this pipe too: it closes when the last of them has ended.
  const { stdout } = shell;
  assert(stdout !== null);
  const closed = once(stdout, "close");
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  writeSync(stdin, `${JSON.stringify(initialize)}\n`);
  await once(stdout, "data");
  shell.kill("SIGTERM");
  await closed;
});
