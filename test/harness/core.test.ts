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
  for (const [story, entries] of Object.entries(CORE)) {
    assert.ok(entries.length > 0, story);
    for (const entry of entries) {
      const found = globSync(entry.endsWith("/") ? `${entry}**/*.test.ts` : entry, { cwd: ROOT });
      assert.ok(found.length > 0, `${story}: ${entry}`);
    }
  }
});
