// The header of the pages that explain the product: links to playground, documentation and console, and places for search and theme, which scripts fill.
import { escapeHtml } from "./html-page.ts";

const LINKS = [
  ["/playground", "Playground"],
  ["/docs", "Documentation"],
  ["/console", "Console"],
] as const;

/** `current` is the path of the link that the page belongs to, or of none. */
export function siteHeader(current: string): string {
  const links = LINKS.map(
    ([path, label]) => `<a href="${path}"${path === current ? ' aria-current="page"' : ""}>${escapeHtml(label)}</a>`,
  );
  return `<header class="site"><a class="brand" href="/">Patchbay</a>
<nav aria-label="Site">${links.join("\n")}</nav>
<div id="search"></div><div id="theme"></div></header>`;
}
