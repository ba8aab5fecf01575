// Writes all files generated from code: `npm run docs`. With --check it writes nothing and fails if any is out of date. A new page is one line in PAGES.
import { readFile, writeFile } from "node:fs/promises";
import { ADMIN_ENDPOINTS } from "../src/contract/endpoints/admin-endpoints.ts";
import { ENDPOINTS } from "../src/contract/endpoints/endpoints.ts";
import { errorsMarkdown } from "../src/http/pages/docs-errors.ts";
import { providersPage } from "./write-provider-docs.ts";
import { configurationPage } from "./write-config-docs.ts";
import { coveragePage } from "./write-coverage.ts";
import { ADMIN_API, openapiDocument } from "../src/http/pages/openapi.ts";
import { readExamples } from "./api-examples.ts";

const examples = readExamples();
const PAGES: Readonly<Record<string, () => string>> = {
  "openapi.json": () => readableJson(openapiDocument(ENDPOINTS, { examples })),
  "openapi-admin.json": () => readableJson(openapiDocument(ADMIN_ENDPOINTS, { about: ADMIN_API, examples })),
  "docs/errors.md": errorsMarkdown,
  "docs/configuration.md": configurationPage,
  "docs/providers.md": providersPage,
  "docs/reference/coverage.md": coveragePage,
};

const MAX_LINE = 120;
/** Members of an OpenAPI document that would take hundreds of lines. */
const ON_ONE_LINE: ReadonlySet<string> = new Set(["example", "x-codeSamples"]);
/** Takes the place of such a member while the document is indented. */
const LINE = "on one line: ";
const PLACEHOLDER = new RegExp(`"${LINE}(\\d+)"`, "gu");

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

/** Indented; examples, and lists of plain values that fit, are on one line each. */
function readableJson(value: unknown): string {
  const lines: string[] = [];
  const shorten = (key: string, member: unknown): unknown =>
    ON_ONE_LINE.has(key) && typeof member === "object" ? `${LINE}${lines.push(JSON.stringify(member)) - 1}` : member;
  const indented = JSON.stringify(value, shorten, 2);
  const compact = indented.replaceAll(
    /\[\n((?: +(?:"(?:[^"\\]|\\.)*"|[-\d.]+|true|false|null),?\n)+) +\]/gu,
    (whole, items: string) => {
      const line = `[${items.trim().replaceAll(/\n +/gu, " ")}]`;
      return line.length <= MAX_LINE ? line : whole;
    },
  );
  return `${compact.replaceAll(PLACEHOLDER, (_whole, at: string) => lines[Number(at)] ?? "")}\n`;
}
