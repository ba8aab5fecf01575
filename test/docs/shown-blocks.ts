// The code blocks of the documentation, and what each of them shows: something to type or write, or an output that a reader would see too.
//
// Words behind a block's language, which no renderer shows:
// - `input`: a reader writes or sends it, such as a request body in JSON.
// - `figure`: a drawing.
// - `log`: lines of the gateway's log, after the commands above it.
//
// A paragraph that begins with "Not run in CI" belongs to the block below it, whose output needs what a test does not have.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

const ROOT = join(import.meta.dirname, "../..");
/** Languages of what a reader types or writes. */
const WRITTEN = new Set(["sh", "bash", "yaml", "sql", "nginx", "ts", "js", "py", "mermaid"]);
const FENCE = /^ *```/u;
const NOT_RUN = /^\s*Not run in CI\b/u;
const ID = /\b[a-z]{2,5}_[0-9a-z]{26}\b/gu;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/gu;

export interface ShownBlock {
  /** Relative to the repository. */
  readonly page: string;
  /** Of its first line of code. */
  readonly line: number;
  /** The heading above it. */
  readonly heading: string;
  readonly language: string;
  readonly flags: readonly string[];
  /** Without the indentation of a list. */
  readonly code: string;
  /** A paragraph directly above it says that it is not run. */
  readonly isMarked: boolean;
  /** The block before it, if both are below the same heading. */
  readonly previous: ShownBlock | null;
}

export function blocksOfPage(page: string): readonly ShownBlock[] {
  return blocksIn(page, readFileSync(join(ROOT, page), "utf8"));
}

export function blocksIn(page: string, markdown: string): readonly ShownBlock[] {
  const lines = markdown.split("\n");
  const blocks: ShownBlock[] = [];
  let [heading, paragraph] = ["", ""];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line.startsWith("#")) heading = line.replace(/^#+ /u, "");
    if (!FENCE.test(line)) {
      // The first line of the paragraph. Empty lines after it leave it what it is.
      if (line.trim() !== "" && (lines[at - 1] ?? "").trim() === "") paragraph = line;
      continue;
    }
    const end = lines.findIndex((each, place) => place > at && FENCE.test(each));
    assert.ok(end > at, `${page}:${at + 1}: the block does not end`);
    const [language = "", ...flags] = line.trim().slice(3).split(" ");
    const indent = line.length - line.trimStart().length;
    const before = blocks.at(-1);
    blocks.push({
      page,
      line: at + 2,
      heading,
      language,
      flags,
      code: lines
        .slice(at + 1, end)
        .map((each) => each.slice(indent))
        .join("\n"),
      isMarked: NOT_RUN.test(paragraph),
      previous: before?.heading === heading ? before : null,
    });
    paragraph = "";
    at = end;
  }
  return blocks;
}

/** It claims that a reader sees this. */
export function isOutput({ language, flags }: ShownBlock): boolean {
  return !WRITTEN.has(language) && !flags.includes("input") && !flags.includes("figure");
}

/** An output directly below commands, or below another output of them. */
export function commandsOf({ previous }: ShownBlock): ShownBlock | null {
  if (previous === null || previous.isMarked) return null;
  return isOutput(previous) ? commandsOf(previous) : previous.language === "sh" ? previous : null;
}

/**
 * The outputs that a page shows below a heading, for the test that produces the same. Call it with texts, not with variables: a test finds by them which outputs
 * are checked.
 */
export function shownOutputs(page: string, heading: string): readonly string[] {
  const shown = blocksOfPage(page).filter((block) => block.heading === heading && isOutput(block));
  assert.ok(shown.length > 0, `${page} shows no output below "${heading}"`);
  return shown.map(({ code }) => code);
}

/**
 * The shown JSON and the real one have the same members with the same values, except for ids, times and durations (`ms`). In the shown one, `…` stands for any part of a string, any
 * value, and at the end of a list for the rest of it.
 */
export function assertShownJson(shown: string, printed: string): void {
  const difference = differenceOf(JSON.parse(shown), JSON.parse(printed), "$");
  assert.equal(difference, null, `${difference}\nShown:\n${shown}\nPrinted:\n${printed}`);
}

function differenceOf(shown: unknown, real: unknown, place: string): string | null {
  if (shown === "…") return null;
  if (typeof shown === "string" && typeof real === "string") return isSameText(shown, real) ? null : place;
  if (Array.isArray(shown) && Array.isArray(real)) {
    const isBeginning = shown.at(-1) === "…";
    const listed = isBeginning ? shown.slice(0, -1) : shown;
    if (isBeginning ? real.length <= listed.length : real.length !== listed.length) return `${place}.length`;
    return firstDifference(listed.map((each, at) => differenceOf(each, real[at], `${place}[${at}]`)));
  }
  if (isObject(shown) && isObject(real)) {
    const keys = new Set([...Object.keys(shown), ...Object.keys(real)]);
    return firstDifference(
      [...keys].map((key) =>
        key in shown && key in real
          ? differenceOf(shown[key], key === "ms" ? shown[key] : real[key], `${place}.${key}`)
          : `${place}.${key}`,
      ),
    );
  }
  return isDeepStrictEqual(shown, real) ? null : place;
}

function firstDifference(differences: readonly (string | null)[]): string | null {
  return differences.find((each) => each !== null) ?? null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSameText(shown: string, real: string): boolean {
  const parts = stable(shown)
    .split("…")
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`));
  return new RegExp(`^${parts.join("[^]*")}$`, "u").test(stable(real));
}

function stable(text: string): string {
  return text.replaceAll(ID, (id) => id.replace(/_.*/u, "_ID")).replaceAll(TIME, "TIME");
}
