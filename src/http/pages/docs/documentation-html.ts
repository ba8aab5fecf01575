// Renders a page of the documentation: header, navigation, the text, its contents.
import { escapeHtml, htmlDocument } from "../html-page.ts";
import { SEARCH_AND_THEME, siteHeader } from "../site-header.ts";
import type { DocumentationPage } from "./documentation.ts";
import type { RenderedPage } from "./markdown.ts";

export interface DocumentationView {
  readonly page: RenderedPage;
  readonly path: string;
  readonly navigation: readonly DocumentationPage[];
  /** Markup in the head: scripts and styles. */
  readonly head: string;
}

const GROUPS = [
  { title: "Guides", prefix: "/docs/guides/" },
  { title: "Reference", prefix: "/docs/reference/" },
  { title: "HTTP API", prefix: "/docs/api" },
  { title: "Admin API", prefix: "/docs/admin-api" },
] as const;
const INDEX = "/docs";
/** Listed on their own index page, because readers of the documentation seldom need them. */
const UNLISTED = "/docs/decisions";

export function documentationHtml({ page, path, navigation, head }: DocumentationView): string {
  return htmlDocument({
    title: escapeHtml(page.title),
    head,
    body: `<a class="skip" href="#text">Skip to the text</a>
${siteHeader({ current: "/docs", tools: SEARCH_AND_THEME })}
<div class="page">
<details class="navigation" open><summary>All pages</summary>${navigationHtml(path, navigation)}</details>
<main id="text" class="prose">
${page.html}
</main>
<nav class="contents" aria-label="On this page">${contentsHtml(page)}</nav>
</div>`,
  });
}

function navigationHtml(path: string, pages: readonly DocumentationPage[]): string {
  const isTopic = ({ path: each }: DocumentationPage): boolean =>
    each !== INDEX && !each.startsWith(UNLISTED) && !GROUPS.some(({ prefix }) => each.startsWith(prefix));
  const topics = ["Topics", pages.filter(isTopic)] as const;
  const groups = GROUPS.map(
    ({ title, prefix }) => [title, pages.filter((page) => page.path.startsWith(prefix))] as const,
  );
  const index = `<ul>${linkTo({ path: INDEX, title: "Overview" }, path)}</ul>`;
  return `<nav aria-label="Documentation">${index}${[...groups.slice(0, 1), topics, ...groups.slice(1)]
    .filter(([, entries]) => entries.length > 0)
    .map(([title, entries]) => `<h2>${title}</h2><ul>${entries.map((entry) => linkTo(entry, path)).join("")}</ul>`)
    .join("\n")}</nav>`;
}

function linkTo({ path, title }: { readonly path: string; readonly title: string }, current: string): string {
  return `<li><a href="${path}"${path === current ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a></li>`;
}

function contentsHtml({ headings }: RenderedPage): string {
  if (headings.length < 2) return "";
  return `<h2>On this page</h2><ul>${headings
    .map(({ id, text }) => `<li><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`)
    .join("")}</ul>`;
}
