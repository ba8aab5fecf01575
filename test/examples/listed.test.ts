// Every example is in the index, says how to run it, contains no secret and is run by a test.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./example-gateway.ts";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const FILES = globSync("examples/*/**/*.*", { cwd: ROOT, exclude: ["**/data/**", "**/node_modules/**"] });
const EXAMPLES = FILES.filter((file) => !file.endsWith(".md"));
const MOST_LINES = 10;

test("api.examples: each example is in the README of its folder, begins with what it is and how to run it, and is named by a test", () => {
  const tests = [...globSync("test/examples/*.ts", { cwd: ROOT }), "test/webhooks/receivers.test.ts"]
    .map(read)
    .join("");
  assert.ok(EXAMPLES.length > 10);
  for (const file of EXAMPLES) {
    const path = file.replaceAll("\\", "/").replace("examples/", "");
    const [folder = "", ...rest] = path.split("/");
    assert.ok(read(`examples/${folder}/README.md`).includes(`(${rest.join("/")})`), `no README has a link to ${path}`);
    const head = read(file).split("\n").slice(0, 5).join("\n");
    assert.match(head, /^(?:#!.*\n)?(?:#|\/\/|<!--) [A-Z]/u, path);
    assert.match(head, /\n(?:#|\/\/|<!--) {3}\S/u, `${path} does not say how to run it`);
    assert.ok(tests.includes(basename(path)), `no test runs ${path}`);
  }
});

test("api.examples: the README of a folder has at most ten lines, and the index leads to it or to each of its files", () => {
  const index = read("examples/README.md");
  for (const folder of new Set(EXAMPLES.map((file) => file.replaceAll("\\", "/").split("/")[1] ?? ""))) {
    const lines = read(`examples/${folder}/README.md`).trimEnd().split("\n");
    assert.ok(lines.length <= MOST_LINES, `${folder}: ${lines.length} lines`);
    const files = EXAMPLES.map((file) => file.replaceAll("\\", "/").replace("examples/", "")).filter((path) =>
      path.startsWith(`${folder}/`),
    );
    const isListed = [`${folder}/README.md`, folder].some((target) => index.includes(`(${target})`));
    assert.ok(isListed || files.every((path) => index.includes(path.replace(/\/patchbay\.yaml$/u, ""))), folder);
  }
});

test("api.examples: no example contains a secret, or the address of a machine", () => {
  for (const file of FILES)
    assert.doesNotMatch(
      read(file),
      /svc_[a-z0-9]{8}|whsec_[A-Za-z0-9]|\bsk-|(?<!\d)(?!127\.|0\.)\d+\.\d+\.\d+\.\d+/u,
      file,
    );
});
