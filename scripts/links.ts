// Finds broken links in Markdown files: to files, to headings, to images and to pages that the gateway serves. Finds paths of the repository that do not exist.
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import MarkdownIt, { type Token } from "markdown-it";
import { renderMarkdown } from "../src/http/pages/docs/markdown.ts";

export interface LinkOptions {
  /** The directory that links are relative to. */
  readonly root: string;
  /** Whether the gateway serves this path, with its fragment. */
  readonly isServed: (target: string) => boolean;
}

export interface BrokenLink {
  readonly file: string;
  readonly target: string;
}

const PARSER = new MarkdownIt({ html: true, linkify: false });
/** Links of other hosts cannot be checked without a network. */
const ELSEWHERE = /^[a-z][a-z0-9+.-]*:|^\/\//iu;
const REPOSITORY_PATH = /^(?:src|test|scripts|docs|compose|bench)\/[\w./-]*\w\/?$/u;

/** `files` are relative to the root, with slashes. */
export function brokenLinks(files: readonly string[], { root, isServed }: LinkOptions): readonly BrokenLink[] {
  const anchors = new Map<string, ReadonlySet<string>>();
  const anchorsOf = (file: string): ReadonlySet<string> => {
    const known = anchors.get(file) ?? readAnchors(join(root, file), file);
    anchors.set(file, known);
    return known;
  };
  const isBroken = (file: string, target: string): boolean => {
    if (ELSEWHERE.test(target)) return false;
    if (target.startsWith("/")) return !isServed(target);
    const [path = "", fragment] = decodeURI(target).split("#");
    const linked = path === "" ? file : posix.normalize(posix.join(posix.dirname(file), path));
    if (!existsSync(join(root, linked))) return true;
    return fragment !== undefined && linked.endsWith(".md") && !anchorsOf(linked).has(fragment);
  };
  return files.flatMap((file) =>
    linksIn(readFileSync(join(root, file), "utf8"))
      .filter((target) => isBroken(file, target))
      .map((target) => ({ file, target })),
  );
}

/** Of links, images and HTML such as `<picture>`. */
export function linksIn(markdown: string): readonly string[] {
  return flatten(PARSER.parse(markdown, {})).flatMap((token) => {
    if (token.type === "link_open") return [String(token.attrGet("href") ?? "")];
    if (token.type === "image") return [String(token.attrGet("src") ?? "")];
    if (!token.type.startsWith("html_")) return [];
    return [...token.content.matchAll(/\s(?:href|src|srcset)="([^"\s]+)/gu)].map(([, target = ""]) => target);
  });
}

/** Paths such as `src/main.ts` in inline code, relative to one of the directories. Paths with a placeholder are not checked. */
export function missingPaths(markdown: string, directories: readonly string[]): readonly string[] {
  return flatten(PARSER.parse(markdown, {}))
    .filter(({ type, content }) => type === "code_inline" && REPOSITORY_PATH.test(content))
    .map(({ content }) => content)
    .filter((path) => !directories.some((directory) => existsSync(join(directory, path))));
}

function flatten(tokens: readonly Token[]): readonly Token[] {
  return tokens.flatMap((token) => [token, ...flatten(token.children ?? [])]);
}

function readAnchors(path: string, file: string): ReadonlySet<string> {
  const { html } = renderMarkdown(readFileSync(path, "utf8"), { file, pathOf: () => null });
  return new Set([...html.matchAll(/\sid="([^"]+)"/gu)].map(([, id = ""]) => id));
}
