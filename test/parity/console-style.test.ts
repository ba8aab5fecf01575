// The console's style has no class that nothing on its page has.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { consoleHtml } from "../../src/http/pages/console-page.ts";
import { CONSOLE_STYLE } from "../../src/http/pages/console-style.ts";

const SOURCES = join(import.meta.dirname, "../../src");

test("console.one-style: every class that the console's style names is one that its page or its modules use", () => {
  const modules = globSync("{console,page}/*.ts", { cwd: SOURCES }).map((path) =>
    readFileSync(join(SOURCES, path), "utf8"),
  );
  const texts = [consoleHtml("main.ts", "admin", "http://gateway"), ...modules].flatMap(
    (text) => text.match(/["`][^"`\n]*["`]/gu) ?? [],
  );
  const words = new Set(texts.flatMap((text) => text.match(/[\w-]+/gu) ?? []));
  const classes = new Set([...CONSOLE_STYLE.matchAll(/\.([a-z][\w-]*)/gu)].map(([, name = ""]) => name));
  assert.ok(classes.size > 20);
  assert.deepEqual(
    [...classes].filter((name) => !words.has(name)),
    [],
  );
});
