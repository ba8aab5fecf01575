// Commands in our texts are written as they work where the text is shown.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { commandAfterCd, ownCommand } from "../../src/cli/invocation.ts";
import { packageRoot } from "../../src/cli/package-root.ts";
import { showCommands } from "../../src/cli/shown-text.ts";
import { run } from "./fake-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "patchbay-invocation-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const CHECKOUT = "npm run patchbay --";

test("cli.invocation: in a checkout it is npm's script, and outside of its directory the launcher", () => {
  const root = packageRoot();
  assert.equal(ownCommand({ env: {}, cwd: root }), CHECKOUT);
  assert.equal(ownCommand({ env: {}, cwd: join(root, "docs") }), CHECKOUT);
  assert.equal(ownCommand({ env: {}, cwd: folder }), `node ${join(root, "bin", "patchbay.js")}`);
});

test("cli.invocation: of an installed package it is the command, if that is on the path, else the package's name behind npx", () => {
  const bin = join(folder, "bin");
  const local = join(folder, "node_modules", ".bin");
  for (const directory of [bin, local]) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "patchbay"), "");
  }
  const commandOn = (...path: readonly string[]) =>
    ownCommand({ env: { PATH: path.join(delimiter) }, cwd: folder }, false);
  assert.equal(commandOn(bin), "patchbay");
  assert.equal(commandOn(local, bin), "patchbay");
  // npm put it there for this process; the reader's shell does not have it.
  assert.equal(commandOn(local), "npx patchbay-gateway");
  assert.equal(commandOn(), "npx patchbay-gateway");
});

test("cli.invocation: after a cd to another directory, a checkout's command is called by its path", () => {
  const command = `node ${join(packageRoot(), "bin", "patchbay.js")}`;
  assert.equal(commandAfterCd({ command: CHECKOUT }, folder), command);
  assert.equal(commandAfterCd({ command: CHECKOUT }, join(packageRoot(), "trial")), command);
  assert.equal(commandAfterCd({ command: CHECKOUT }, packageRoot()), CHECKOUT);
  assert.equal(commandAfterCd({ command: "patchbay" }, folder), "patchbay");
});

test("cli.invocation: each of this program's commands is rewritten, and nothing that only looks like one", () => {
  for (const { names } of COMMANDS)
    for (const name of names)
      if (name !== "up") assert.equal(showCommands(`see: patchbay ${name} X`, CHECKOUT), `see: ${CHECKOUT} ${name} X`);
  for (const [text, shown] of [
    ["start one: patchbay up", "start one: npm start"],
    ["`patchbay up --port N`", "`npm start -- --port N`"],
    [
      "patchbay jobs wait a; stop it: patchbay jobs cancel a",
      `${CHECKOUT} jobs wait a; stop it: ${CHECKOUT} jobs cancel a`,
    ],
    ["patchbay without a configuration file", "patchbay without a configuration file"],
    [
      "patchbay.yaml, patchbay-gateway up, npx patchbay-gateway up",
      "patchbay.yaml, patchbay-gateway up, npx patchbay-gateway up",
    ],
  ] as const)
    assert.equal(showCommands(text, CHECKOUT), shown);
  assert.equal(showCommands("patchbay up --port 1", "npx patchbay-gateway"), "npx patchbay-gateway up --port 1");
  assert.equal(showCommands("patchbay up", "patchbay"), "patchbay up");
});

test("cli.invocation: hints, errors and help of a command are printed so", async () => {
  const options = { cwd: folder, command: CHECKOUT };
  assert.match(
    (await run(["transcribe", "--url", "http://127.0.0.1:1", "--api-key", "k"], options)).stderr,
    /npm run patchbay -- transcribe --sample/u,
  );
  assert.match(
    (await run(["jobs", "list", "--url", "http://127.0.0.1:1", "--api-key", "k"], options)).stderr,
    /use another port: npm start -- --port 8080\n/u,
  );
  assert.match((await run(["keys", "--help"], options)).stdout, /\$ npm run patchbay -- keys create/u);
  assert.doesNotMatch((await run(["--help"], options)).stdout, /\$ patchbay /u);
});
