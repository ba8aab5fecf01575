// Redocly's linter over both OpenAPI documents, as `npx @redocly/cli lint` runs it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { lint, loadConfig } from "@redocly/openapi-core";

const ROOT = join(import.meta.dirname, "../../..");

for (const file of ["openapi.json", "openapi-admin.json"])
  test(`api.openapi-lint: Redocly's linter has no error and no warning about ${file}`, async () => {
    const config = await loadConfig({ configPath: join(ROOT, "redocly.yaml") });
    const problems = await lint({ ref: join(ROOT, file), config });
    const found = problems.map(({ ruleId, message, location: [place], ignored = false }) => ({
      ruleId,
      message,
      place: place?.pointer,
      ignored,
    }));
    assert.deepEqual(
      found.filter(({ ignored }) => !ignored),
      [],
    );
  });
