// Finds the rules of docs/reference and their citations: test titles begin with rule ids, comments contain one in square brackets.
import { globSync, readFileSync } from "node:fs";

export interface Rule {
  readonly id: string;
  /** Relative to the repository. */
  readonly page: string;
}

export interface Citation {
  readonly id: string;
  readonly file: string;
  /** Null: cited by a comment or a document. */
  readonly title: string | null;
}

const ID = "[a-z][a-z0-9-]*\\.[a-z0-9][a-z0-9-]*";
/** The first cell of a table row, or the end of a heading. */
const DEFINITION = new RegExp(`^\\| \`(${ID})\` \\||^#{2,4} .*\`(${ID})\`$`, "gmu");
const TITLE = /\btest\(\s*(?<quote>["'`])(?<title>(?:\\.|(?!\k<quote>).)*)\k<quote>/gsu;
const TITLE_IDS = new RegExp(`^(?<ids>${ID}(?:, ${ID})*): `, "u");
const BRACKETS = new RegExp(`\\[(?<id>${ID})\\]`, "gu");
const CODE = ["src", "test", "sandbox", "bench", "scripts"].map((folder) => `${folder}/**/*.{ts,js,sql}`);

export function readRules(): readonly Rule[] {
  return globSync("docs/reference/*.md")
    .filter((page) => !page.endsWith("coverage.md"))
    .toSorted()
    .flatMap((page) =>
      [...readFileSync(page, "utf8").matchAll(DEFINITION)].map(([, cell, heading]) => ({
        id: cell ?? heading ?? "",
        page,
      })),
    );
}

export function readCitations(): readonly Citation[] {
  return globSync(CODE, { exclude: ["**/node_modules/**"] })
    .toSorted()
    .flatMap((file) => citationsOf(file, readFileSync(file, "utf8")));
}

function citationsOf(file: string, text: string): readonly Citation[] {
  const titles = file.startsWith("test/") ? [...text.matchAll(TITLE)].map(({ groups }) => groups?.["title"] ?? "") : [];
  const inTitles = titles.flatMap((title) =>
    (TITLE_IDS.exec(title)?.groups?.["ids"]?.split(", ") ?? []).map((id) => ({ id, file, title })),
  );
  const inComments = text
    .split("\n")
    .filter((line) => /(?:^|\s)(?:\/\/|\/?\*|--)/u.test(line))
    .flatMap((line) =>
      [...line.matchAll(BRACKETS)].map(({ groups }) => ({ id: groups?.["id"] ?? "", file, title: null })),
    );
  return [...inTitles, ...inComments];
}
