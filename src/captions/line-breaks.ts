// Finds line breaks inside text without spaces: between words of scripts that write none (from the dictionaries of Intl.Segmenter), and between characters of a
// word wider than a whole line.
import { UNSPACED } from "../lib/text/join-words.ts";
import { columnsOf, graphemesOf } from "./columns.ts";

const WORDS = new Intl.Segmenter("und", { granularity: "word" });
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");
/** Not allowed at the start of a line: closing punctuation, mathematical signs, iteration marks, zero-width spaces. */
const CLOSING = /^[\p{Pe}\p{Pf}\p{Po}\p{Pd}\p{Pc}\p{Sm}\p{Sk}\p{M}ๆฯໆຯៗー\u200b]+$/u;
/** Not allowed at the end of a line. */
const OPENING = /^[\p{Ps}\p{Pi}\p{Sc}]+$/u;
/** Characters per segmentation step. */
const WINDOW = 1_000;

/** Splits a run without spaces into unbreakable parts, each at most `maxColumns` wide. */
export function breakRun(run: string, maxColumns: number): readonly string[] {
  const words = HAS_UNSPACED.test(run) ? windowsOf(run).flatMap(wordsOf) : [run];
  return words.flatMap((word) => (columnsOf(word) <= maxColumns ? [word] : cutWord(word, maxColumns)));
}

/** The boundaries between adjacent texts that are inside a word. Boundary `n` precedes text `n`. */
export function tornJoints(texts: readonly string[]): ReadonlySet<number> {
  const torn = new Set<number>();
  const boundaries = new Set([0]);
  let offset = 0;
  for (const word of windowsOf(texts.join("")).flatMap(wordsOf)) boundaries.add((offset += word.length));
  offset = 0;
  for (const [index, text] of texts.entries()) {
    if (!boundaries.has(offset)) torn.add(index);
    offset += text.length;
  }
  return torn;
}

function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let opening = "";
  for (const { segment } of WORDS.segment(text)) {
    const last = words.at(-1);
    if (OPENING.test(segment)) opening += segment;
    else if (last !== undefined && opening === "" && (CLOSING.test(segment) || isSpaced(last, segment)))
      words[words.length - 1] += segment;
    else {
      words.push(opening + segment);
      opening = "";
    }
  }
  if (opening !== "") words.push(opening);
  return words;
}

/** Latin text inside such a run, for example a URL, is cut only where it is too wide, and not at each full stop. */
function isSpaced(one: string, other: string): boolean {
  return !HAS_UNSPACED.test(one) && !HAS_UNSPACED.test(other);
}

/** Limits the input of the segmenter, which reads a whole run at once: a provider may send one of a million characters. */
function windowsOf(text: string): readonly string[] {
  const windows: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = start + WINDOW;
    if (end < text.length) {
      const last = [...graphemesOf(text.slice(start, end))].at(-1)?.length ?? 0;
      if (last < WINDOW) end -= last;
    }
    windows.push(text.slice(start, end));
    start = end;
  }
  return windows;
}

function cutWord(word: string, maxColumns: number): readonly string[] {
  const parts: string[] = [];
  let part = "";
  let columns = 0;
  for (const cluster of graphemesOf(word)) {
    const width = columnsOf(cluster);
    if (part !== "" && columns + width > maxColumns) {
      parts.push(part);
      part = "";
      columns = 0;
    }
    part += cluster;
    columns += width;
  }
  return part === "" ? parts : [...parts, part];
}
