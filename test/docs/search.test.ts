// Questions that users ask, in their words, and the sections with the answer: asked of the index that the documentation serves, by the search of its pages.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { packageRoot } from "../../src/cli/package-root.ts";
import { createDocumentation } from "../../src/http/pages/docs/documentation.ts";
import { createSearchIndex, findSections, type SearchIndex, type SearchSection } from "../../web/ui/search-index.ts";
import { QUESTIONS } from "./questions.ts";

/** What a reader sees without scrolling. */
const FIRST_RESULTS = 3;
const MIN_IN_FIRST_RESULTS = 0.9;
/** What a reader still looks at. */
const MAX_RANK = 5;

let sections: readonly SearchSection[];
let index: SearchIndex;
before(async () => {
  sections = await createDocumentation(packageRoot()).searchSections();
  index = createSearchIndex(sections);
});

/** `expected` is the path of a page, or of a section of it, below `/docs/`. */
const isAnswer = (id: string, expected: string): boolean =>
  id === `/docs/${expected}` || id.startsWith(`/docs/${expected}#`);

/** 0: not among the results that a reader looks at. */
const rankOf = (question: string, answers: readonly string[]): number =>
  findSections(index, question)
    .slice(0, MAX_RANK)
    .findIndex(({ id }) => answers.some((answer) => isAnswer(String(id), answer))) + 1;

const ranks = (): readonly (readonly [question: string, rank: number])[] =>
  Object.values(QUESTIONS)
    .flatMap((questions) => Object.entries(questions))
    .map(([question, answers]) => [question, rankOf(question, answers)]);

for (const [person, questions] of Object.entries(QUESTIONS))
  test(`guides.search: each question of ${person} is answered by one of the first ${MAX_RANK} results`, () => {
    const failures = Object.entries(questions)
      .filter(([question, answers]) => rankOf(question, answers) === 0)
      .map(([question]) => ({
        question,
        found: findSections(index, question)
          .slice(0, MAX_RANK)
          .map(({ id }) => id),
      }));
    assert.deepEqual(failures, []);
  });

test(`guides.search: nine of ten questions are answered by one of the first ${FIRST_RESULTS} results`, () => {
  const all = ranks();
  const later = all.filter(([, rank]) => rank === 0 || rank > FIRST_RESULTS);
  assert.ok(later.length <= (1 - MIN_IN_FIRST_RESULTS) * all.length, JSON.stringify(later, null, 2));
});

test("guides.search: every section that is named as an answer exists", () => {
  const missing = Object.values(QUESTIONS)
    .flatMap((questions) => Object.values(questions).flat())
    .filter((answer) => !sections.some(({ id }) => isAnswer(id, answer)));
  assert.deepEqual(missing, []);
});

const found = (headings: readonly string[], query: string): readonly string[] => {
  const pages = headings.map((heading) => ({ id: `/docs/page#${heading}`, page: "Page", heading, content: "" }));
  return findSections(createSearchIndex(pages), query).map((each) => String(each["heading"]));
};

test("guides.search: forms of a word, beginnings of the last word, misspelled words and synonyms are found", () => {
  const headings = ["Backups of a database", "How the gateway is started", "Rotation of keys", "Budgets"];
  const cases = [
    ["how do I make a backup", ["Backups of a database"]],
    ["data", ["Backups of a database"]],
    ["rotate", ["Rotation of keys"]],
    ["key", ["Rotation of keys"]],
    ["startled", ["How the gateway is started"]],
    ["monthly spending", ["Budgets"]],
    ["cap", ["Budgets"]],
    ["is it the", []],
  ] as const;
  for (const [query, expected] of cases) assert.deepEqual(found(headings, query), expected, query);
});

test("guides.search: a whole word comes before its beginning, and another word of the same root is not found", () => {
  assert.deepEqual(found(["Keyterms", "Keys"], "key"), ["Keys", "Keyterms"]);
  assert.deepEqual(found(["Production", "Names of products"], "product list"), ["Names of products"]);
});

test("guides.search: most of the words come before one of them, and words that say little decide nothing alone", () => {
  assert.deepEqual(
    found(["Webhooks", "The webhook's secret", "Set up"], "set a webhook secret")[0],
    "The webhook's secret",
  );
  assert.deepEqual(found(["Set up", "Limits of budgets"], "set a limit")[0], "Limits of budgets");
  assert.deepEqual(found(["Set up", "Limits of budgets"], "set"), ["Set up"]);
});

test("guides.search: a section that has a rare word of the query comes before those with a synonym in their heading", () => {
  const cases = [
    ["sso", /\bSSO\b/u],
    ["invite a colleague", /invite a colleague/u],
  ] as const;
  for (const [query, word] of cases) {
    const [first] = findSections(index, query);
    assert.match(`${first?.["heading"]} ${first?.["content"]}`, word, query);
  }
});

test("guides.search: a status code leads to an error that has it", () => {
  for (const status of ["400", "401", "402", "409", "413", "422", "429", "503"]) {
    const [first] = findSections(index, `what does error ${status} mean`);
    assert.match(String(first?.id), /^\/docs\/(?:errors|guides\/troubleshooting)#/u, status);
    assert.ok(`${first?.["heading"]} ${first?.["content"]}`.includes(status), `${status}: ${first?.id}`);
  }
});
