// What the pages about errors say of each code, and whether a gateway really answers the examples.
import assert from "node:assert/strict";
import { test } from "node:test";
import { errorBody } from "../../../src/contract/error-body.ts";
import { ERROR_STORIES } from "../../../src/contract/error-stories.ts";
import { ERRORS, type ErrorCode } from "../../../src/contract/errors.ts";
import { JOB_ONLY_ERRORS, jobError } from "../../../src/contract/jobs.ts";
import { PARTS, errorsHtml, errorsMarkdown } from "../../../src/http/pages/docs-errors.ts";
import { exampleError, exampleJobError } from "../../../src/http/pages/error-examples.ts";
import { provokeJobError } from "../../api-examples/error-conditions.ts";
import { openErrorWorld } from "../../api-examples/error-scenario.ts";
import { sentencesIn, wordsIn } from "../../harness/sentences.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];
const LEADS = Object.values(PARTS);
const LONGEST_MEAN = 18;
const LONGEST = 40;

test("errors.story: every code has what happened, why, what to do and an example, and none is empty", () => {
  assert.deepEqual(Object.keys(ERROR_STORIES).toSorted(), [...CODES, ...JOB_ONLY_ERRORS].toSorted());
  const markdown = errorsMarkdown();
  const html = errorsHtml();
  for (const code of [...CODES, ...JOB_ONLY_ERRORS]) {
    const section = markdown.split(/^## /mu).find((each) => each.startsWith(`${code}\n`)) ?? "";
    const parts = section.split(/^\*\*([^*]+?)[.:]\*\*\s*/mu).slice(1);
    const leads = parts.filter((_part, index) => index % 2 === 0);
    assert.deepEqual(leads, LEADS, code);
    for (const [index, text] of parts.entries())
      assert.ok(index % 2 === 0 || text.trim().length > 10, `${code} ${index}`);
    assert.match(section, /```json example\n\{[\s\S]+\}\n```\n/u, code);
    const page = html.split("<section").find((each) => each.startsWith(` id="${code}"`)) ?? "";
    for (const lead of LEADS) assert.ok(page.includes(`<strong>${lead}`), `${code} ${lead}`);
    for (const reason of Object.keys(ERROR_STORIES[code].reasons ?? {}))
      assert.ok(section.includes(`- \`${reason}\`: `));
  }
});

test("errors.story: every example is a valid body", () => {
  for (const code of CODES) assert.equal(errorBody.parse(exampleError(code)).error.type, ERRORS[code].type);
  for (const code of JOB_ONLY_ERRORS) jobError.parse(exampleJobError(code));
});

test("errors.story: sentences are short", () => {
  const texts = Object.values(ERROR_STORIES).flatMap(({ happened, why, action, reasons = {} }) => [
    happened,
    why,
    action,
    ...Object.values(reasons),
  ]);
  const lengths = texts.flatMap(sentencesIn).map((sentence) => [wordsIn(sentence).length, sentence] as const);
  const mean = lengths.reduce((sum, [length]) => sum + length, 0) / lengths.length;
  assert.ok(mean <= LONGEST_MEAN, `mean ${mean}`);
  assert.deepEqual(
    lengths.filter(([length]) => length > LONGEST),
    [],
  );
});

test("errors.story: a gateway answers every example", async (t) => {
  const { provoke } = await openErrorWorld(t);
  for (const code of CODES) assert.deepEqual(factsOf(await provoke(code)), factsOf(exampleError(code)), code);
});

for (const code of JOB_ONLY_ERRORS)
  test(`errors.story: a job ends with the example of ${code}`, async (t) => {
    assert.deepEqual(await provokeJobError(t, code), exampleJobError(code));
  });

/** Without ids and links, and without what depends on the time. */
function factsOf(body: unknown): unknown {
  const { request_id: _id, doc_url: _url, ...facts } = errorBody.parse(body).error;
  const text = JSON.stringify(facts)
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, "a time")
    .replaceAll(/Retry in \d+ s/gu, "Retry in some s");
  return JSON.parse(text) as unknown;
}
