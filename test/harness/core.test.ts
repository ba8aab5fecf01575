// Checks the list of tests that run on the oldest supported server (test/core.ts).
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CORE } from "../core.ts";

const ROOT = join(import.meta.dirname, "../..");
const STORIES = ["chat", "idempotency", "jobs", "metering", "storage", "tenancy", "transcription", "webhooks"];

test("logs.test-core: the core covers every story, and each of its entries names existing test files", () => {
  assert.deepEqual(Object.keys(CORE).toSorted(), STORIES);
  const listed = new Set<string>();
  for (const [story, { why, files }] of Object.entries(CORE)) {
    assert.match(why, /\.$/u, `${story} has no reason`);
    assert.ok(files.length > 0, story);
    for (const entry of files) {
      const found = globSync(entry.endsWith("/") ? `${entry}**/*.test.ts` : entry, { cwd: ROOT });
      assert.ok(found.length > 0, `${story}: ${entry} is no test file`);
      for (const file of found) {
        assert.ok(file.endsWith(".test.ts"), `${story}: ${entry} is no test file`);
        assert.ok(!listed.has(file), `${story}: ${file} is listed twice`);
        listed.add(file);
      }
    }
  }
});
