// Fails if a page of the documentation is hard to read: sentences of more than 18 words in the mean, or one of more than 40; and if the
// README has more than 900 words. `--list` prints each page's figures.
import { globSync, readFileSync } from "node:fs";
import { figuresOf, sentencesOf } from "./prose.ts";

const MAX_MEAN = 18;
const MAX_SENTENCE = 40;
const README = "README.md";
/** Between blanks, code and tables included: it is read in two minutes. */
const MAX_README_WORDS = 900;
const PAGES = [README, "docs/*.md", "docs/guides/*.md", "docs/reference/*.md", "examples/**/README.md"];
/** A generated list of tests. */
const EXCLUDED = ["docs/reference/coverage.md"];

const isList = process.argv.includes("--list");
let count = 0;
for (const page of globSync(PAGES, { exclude: EXCLUDED }).toSorted()) {
  const sentences = sentencesOf(readFileSync(page, "utf8"));
  const { sentences: counted, mean, longest } = figuresOf(sentences);
  count += counted;
  if (isList) console.log(`${page}: ${counted} sentences, mean ${mean.toFixed(1)}, longest ${longest?.words ?? 0}`);
  if (mean > MAX_MEAN)
    fail(`${page}: sentences have ${mean.toFixed(1)} words in the mean, at most ${MAX_MEAN} are allowed`);
  for (const { text, words, line } of sentences)
    if (words > MAX_SENTENCE) fail(`${page}:${line}: a sentence of ${words} words, at most ${MAX_SENTENCE}: ${text}`);
}
const readmeWords = readFileSync(README, "utf8").trim().split(/\s+/u).length;
if (readmeWords > MAX_README_WORDS) fail(`${README}: ${readmeWords} words, at most ${MAX_README_WORDS} are allowed`);
if (process.exitCode !== 1) console.log(`prose: ${count} sentences`);

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
