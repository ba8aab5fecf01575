// Renders a page of the documentation from Markdown to HTML: headings and rules get ids, links lead to the served pages.
import { posix } from "node:path";
import MarkdownIt, { type Token } from "markdown-it";
import { NOT_SEARCHED } from "./not-searched.ts";

export interface RenderedPage {
  /** Text of the first heading. */
  readonly title: string;
  readonly html: string;
  /** Headings of the second level, for the list of contents. */
  readonly headings: readonly Heading[];
  /** The page cut at its headings, for the search. */
  readonly sections: readonly Section[];
}

export interface Heading {
  readonly id: string;
  readonly text: string;
}

export interface Section extends Heading {
  readonly content: string;
}

export interface RenderOptions {
  /** Path of the Markdown file in the repository, such as `docs/reference/jobs.md`. */
  readonly file: string;
  /** The served path of a file in the repository. Null: it is not served. */
  readonly pathOf: (file: string) => string | null;
}

/** The heading of an error in `docs/errors.md`. Its id is the code, to which every `doc_url` links. */
const ERROR_CODE = /^[A-Za-z]+(?:_[A-Za-z]+)+$|^[A-Z]{3,}$/u;
const RULE_ID = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+$/u;

export function renderMarkdown(source: string, { file, pathOf }: RenderOptions): RenderedPage {
  const parser = new MarkdownIt({ html: false, linkify: false });
  const tokens = parser.parse(source, {});
  const uniqueId = createSlugs();
  const headings: Heading[] = [];
  const sections: { id: string; text: string; content: string[] }[] = [];
  let title = "";
  let columns: string[] = [];
  let cells = 0;
  tokens.forEach((token, index) => {
    if (token.type === "heading_open") {
      const explicit = takeExplicitId(tokens[index + 1]);
      const text = textOf(tokens[index + 1]);
      const id = explicit ?? (ERROR_CODE.test(text) ? text : uniqueId(text));
      token.attrSet("id", id);
      if (token.tag === "h1" && title === "") title = text;
      if (token.tag === "h2") headings.push({ id, text });
      sections.push({ id, text, content: [] });
    } else if (token.type === "inline" && tokens[index - 1]?.type !== "heading_open") {
      sections.at(-1)?.content.push(textOf(token));
    } else if (token.type === "fence" && !token.info.endsWith(` ${NOT_SEARCHED}`))
      sections.at(-1)?.content.push(token.content);
    if (token.type === "th_open" || token.type === "td_open") alignByClass(token);
    if (token.type === "table_open") columns = [];
    if (token.type === "tr_open") cells = 0;
    if (token.type === "th_open") columns.push(textOf(tokens[index + 1]));
    if (token.type === "td_open") {
      markRule(token, tokens[index + 1]);
      // Shown where the screen is too narrow for columns.
      token.attrSet("data-column", columns[cells] ?? "");
      cells += 1;
    }
    resolveLinks(token.children ?? [], (path) => resolvePath(path, file, pathOf));
  });
  return {
    title,
    html: wrapTables(parser.renderer.render(tokens, parser.options, {})),
    headings,
    sections: sections.map(({ content, ...section }) => ({ ...section, content: content.join(" ") })),
  };
}

/** Removes `{#id}` from the end of a heading. Null: there is none. */
function takeExplicitId(heading: Token | undefined): string | null {
  const last = heading?.children?.at(-1);
  const found = /\s*\{#([\w-]+)\}$/u.exec(last?.content ?? "");
  if (last === undefined || found === null) return null;
  last.content = last.content.slice(0, found.index);
  return found[1] ?? null;
}

/** Ids as GitHub creates them, so that a link works there and here. */
function createSlugs(): (text: string) => string {
  const used = new Map<string, number>();
  return (text) => {
    const slug = text
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/gu, "-");
    const count = used.get(slug) ?? 0;
    used.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
}

function textOf(token: Token | undefined): string {
  return (token?.children ?? [])
    .map(({ type, content }) => (type === "softbreak" ? " " : content))
    .join("")
    .trim();
}

/** The content security policy forbids style attributes. */
function alignByClass(cell: Token): void {
  const alignment = /text-align:\s*(right|center)/u.exec(String(cell.attrGet("style") ?? ""))?.[1];
  cell.attrs = alignment === undefined ? null : [["class", alignment]];
}

/** A table cell that contains only the id of a rule becomes the target of links to the rule. */
function markRule(cell: Token, content: Token | undefined): void {
  const [only, ...others] = content?.children ?? [];
  if (only?.type === "code_inline" && others.length === 0 && RULE_ID.test(only.content))
    cell.attrSet("id", only.content);
}

interface Target {
  /** Null: the file is not served. */
  readonly served: string | null;
  readonly file: string;
}

/** Links to files that are not served stay visible as text, because the reader may have the repository. */
function resolveLinks(tokens: readonly Token[], resolve: (path: string) => Target | null): void {
  let tag = "a";
  for (const token of tokens) {
    if (token.type === "link_close") token.tag = tag;
    if (token.type !== "link_open") continue;
    const target = resolve(String(token.attrGet("href") ?? ""));
    tag = target?.served === null ? "span" : "a";
    if (target === null) continue;
    token.tag = tag;
    token.attrs = target.served === null ? [["title", `In the repository: ${target.file}`]] : [["href", target.served]];
  }
}

/** Null: the link is an address, a fragment or a path of the gateway, and stays as it is. */
function resolvePath(link: string, file: string, pathOf: RenderOptions["pathOf"]): Target | null {
  if (/^(?:[a-z]+:|#|\/)/u.test(link)) return null;
  const [path = "", fragment] = link.split("#");
  const inRepository = posix.normalize(posix.join(posix.dirname(file), path));
  const served = pathOf(inRepository);
  if (served === null || fragment === undefined) return { served, file: inRepository };
  return { served: `${served}#${fragment}`, file: inRepository };
}

/** Wide tables scroll in a frame of their own, so that the page never does. */
function wrapTables(html: string): string {
  return html
    .replaceAll("<table>", '<div class="table" tabindex="0" role="region" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>");
}
