// Writes all files generated from code: `npm run docs`. With --check it writes nothing and fails if any is out of date. A new page is one line in PAGES.
import { readFile, writeFile } from "node:fs/promises";
import { ADMIN_ENDPOINTS } from "../src/contract/endpoints/admin-endpoints.ts";
import { ENDPOINTS } from "../src/contract/endpoints/endpoints.ts";
import { errorsMarkdown } from "../src/http/pages/docs-errors.ts";
import { providersPage } from "./write-provider-docs.ts";
import { configurationPage } from "./write-config-docs.ts";
import { coveragePage } from "./write-coverage.ts";
import { ADMIN_API, openapiDocument } from "../src/http/pages/openapi.ts";

const PAGES: Readonly<Record<string, () => string>> = {
  "openapi.json": () => readableJson(openapiDocument(ENDPOINTS)),
  "openapi-admin.json": () => readableJson(openapiDocument(ADMIN_ENDPOINTS, { about: ADMIN_API })),
  "docs/errors.md": errorsMarkdown,
  "docs/configuration.md": configurationPage,
  "docs/providers.md": providersPage,
  "docs/reference/coverage.md": coveragePage,
};

const MAX_LINE = 120;

const isCheck = process.argv.includes("--check");
const root = new URL("../", import.meta.url);
for (const [path, write] of Object.entries(PAGES)) {
  const file = new URL(path, root);
  const expected = write();
  const present = await readFile(file, "utf8").catch(() => null);
  if (present === expected) continue;
  if (isCheck) {
    console.error(`${path} is out of date: run npm run docs`);
    process.exitCode = 1;
  } else {
    await writeFile(file, expected);
    console.log(`wrote ${path}`);
  }
}

/** Indented; lists of plain values that fit are on one line. */
function readableJson(value: unknown): string {
  const indented = JSON.stringify(value, null, 2);
  const compact = indented.replaceAll(
    /\[\n((?: +(?:"(?:[^"\\]|\\.)*"|[-\d.]+|true|false|null),?\n)+) +\]/gu,
    (whole, items: string) => {
      const line = `[${items.trim().replaceAll(/\n +/gu, " ")}]`;
      return line.length <= MAX_LINE ? line : whole;
    },
  );
  return `${compact}\n`;
}
