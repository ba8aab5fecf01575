// The readability check of the documentation (scripts/check-prose.ts): what it takes for a sentence.
import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresOf, sentencesOf } from "../../scripts/prose.ts";

const ROWS: readonly (readonly [what: string, markdown: string, sentences: readonly string[]])[] = [
  ["paragraphs", "One two. Three\nfour?\n\nFive.", ["One two.", "Three four?", "Five."]],
  [
    "abbreviations and versions",
    "Use Node.js 24.15, i.e. a new one. Done.",
    ["Use Node.js 24.15, i.e. a new one.", "Done."],
  ],
  [
    "list items",
    "Before:\n\n1. one thing\n2. two things. And more\n",
    ["Before:", "one thing", "two things.", "And more"],
  ],
  ["inline code is one word", "Run `npm run patchbay -- up`. `doctor` checks it.", ["Run Code.", "Code checks it."]],
  ["links, emphasis and images", "See [the *guide*](a.md#b) ![picture](p.png) now.", ["See the guide  now."]],
  [
    "a bold lead is a heading",
    "- **Never twice.** A retry is safe.\n- **Keys**: two of them",
    ["A retry is safe.", "Keys: two of them"],
  ],
  ["headings, code and HTML are left out", "# Title here\n\n```sh\nnpm start. Now\n```\n\n<p>Not this.</p>\n", []],
  ["cells", "| a | b |\n|---|---|\n| A rule. It holds. | 3 |\n", ["a", "b", "A rule.", "It holds.", "3"]],
];

for (const [what, markdown, expected] of ROWS)
  test(`guides.readable: sentences of ${what}`, () => {
    assert.deepEqual(
      sentencesOf(markdown).map(({ text }) => text),
      expected,
    );
  });

test("guides.readable: labels of tables count for the longest sentence, not for the mean", () => {
  const words = (count: number): string => Array.from({ length: count }, () => "word").join(" ");
  const markdown = `${words(10)}. Then ${words(19)}.\n\n| a | ${words(41)} |\n|---|---|\n| b | c |\n`;
  const { sentences, mean, longest } = figuresOf(sentencesOf(markdown));
  assert.deepEqual([sentences, mean], [2, 15]);
  assert.deepEqual([longest?.words, longest?.line], [41, 3]);
});
