// The header of all pages: links to playground, documentation and console. Pages with components add search and theme, which scripts fill.
import { escapeHtml } from "./html-page.ts";

const LINKS = [
  ["/playground", "Playground"],
  ["/docs", "Documentation"],
  ["/console", "Console"],
] as const;

export interface SiteHeader {
  /** The path of the link that the page belongs to, or of none. */
  readonly current: string;
  /** Where the other pages are, if another listener serves them: the public URL without a slash at its end. */
  readonly origin?: string;
  /** Markup after the links. */
  readonly tools?: string;
}

/** Places for search and theme. */
export const SEARCH_AND_THEME = '<div id="search"></div><div id="theme"></div>';

export function siteHeader({ current, origin = "", tools = "" }: SiteHeader): string {
  const address = (path: string): string => escapeHtml(path === current ? path : origin + path);
  const links = LINKS.map(
    ([path, label]) => `<a href="${address(path)}"${path === current ? ' aria-current="page"' : ""}>${label}</a>`,
  );
  return `<header class="site"><a class="brand" href="${escapeHtml(origin)}/">Patchbay</a>
<nav aria-label="Site">${links.join("\n")}</nav>
${tools}</header>`;
}

export const SITE_HEADER_STYLE = `
header.site{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem 1.2rem;padding:.6rem 1.25rem;background:var(--paper);border-bottom:1px solid var(--line)}
header.site .brand{font-weight:700;color:var(--accent);text-decoration:none}
header.site nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem}
header.site nav a{padding:.1rem 0;color:inherit;text-decoration:none}
header.site nav a[aria-current]{border-bottom:2px solid var(--accent)}
@media print{header.site{display:none}}
`;
