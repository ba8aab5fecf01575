// The sentences of a Markdown page, for the readability check.
import MarkdownIt, { type Token } from "markdown-it";

export interface Sentence {
  readonly text: string;
  readonly words: number;
  /** Of the paragraph, list item or table row that contains it. */
  readonly line: number;
  /** A sentence of a table cell without an end mark is a label: it counts for the limit of a sentence, not for the mean. */
  readonly isLabel: boolean;
}

export interface ProseFigures {
  readonly sentences: number;
  /** Words of a sentence, labels excluded. 0 without sentences. */
  readonly mean: number;
  readonly longest: Sentence | null;
}

const PARSER = new MarkdownIt({ html: true, linkify: false });
const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });
/** Stands for inline code: one word, with a capital letter so that a sentence may begin with it. */
const CODE_WORD = "Code";
const END_MARK = /[.!?…:]["”)*]*$/u;

/** Paragraphs, list items and table cells. Headings, code blocks and HTML are no sentences. */
export function sentencesOf(markdown: string): readonly Sentence[] {
  const found: Sentence[] = [];
  let line = 1;
  let isCell = false;
  let isHeading = false;
  for (const token of PARSER.parse(markdown, {})) {
    if (token.map !== null) line = token.map[0] + 1;
    if (token.type === "heading_open") isHeading = true;
    if (token.type === "heading_close") isHeading = false;
    if (token.type === "td_open" || token.type === "th_open") isCell = true;
    if (token.type === "td_close" || token.type === "th_close") isCell = false;
    if (token.type !== "inline" || isHeading) continue;
    const isLabel = isCell && !END_MARK.test(textOf(token.children ?? []));
    for (const text of splitSentences(token.children ?? [])) {
      const words = countWords(text);
      if (words > 0) found.push({ text, words, line, isLabel });
    }
  }
  return found;
}

export function figuresOf(sentences: readonly Sentence[]): ProseFigures {
  const counted = sentences.filter(({ isLabel }) => !isLabel);
  const words = counted.reduce((sum, each) => sum + each.words, 0);
  return {
    sentences: counted.length,
    mean: counted.length === 0 ? 0 : words / counted.length,
    longest: sentences.toSorted((left, right) => right.words - left.words)[0] ?? null,
  };
}

/** Without a bold lead such as "**Durable.**", which is a heading in a line. */
function splitSentences(children: readonly Token[]): readonly string[] {
  const end = children.findIndex(({ type }) => type === "strong_close");
  const isLead = leadingType(children) === "strong_open" && /[.!?]$/u.test(textOf(children.slice(0, end)));
  return textOf(isLead ? children.slice(end + 1) : children)
    .split("\n")
    .flatMap((part) => [...SEGMENTER.segment(part)].map(({ segment }) => segment.trim()))
    .filter((segment) => segment !== "");
}

/** Some paragraphs begin with an empty text token. */
function leadingType(children: readonly Token[]): string | undefined {
  return children.find(({ type, content }) => type !== "text" || content !== "")?.type;
}

function textOf(children: readonly Token[]): string {
  return children.map(textOfToken).join("").trim();
}

function textOfToken({ type, content }: Token): string {
  if (type === "code_inline") return CODE_WORD;
  if (type === "softbreak") return " ";
  if (type === "hardbreak") return "\n";
  return type === "text" ? content : "";
}

function countWords(text: string): number {
  return text.split(/\s+/u).filter((part) => /[\p{L}\p{N}]/u.test(part)).length;
}
