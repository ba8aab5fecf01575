// Renders the HTML pages /docs and /docs/errors, and the document frame, style and security headers that the console and the playground share: nothing is
// loaded from other sites [api.docs].
export interface HtmlPage {
  readonly title: string;
  /** Prose, in which text in backticks is code. */
  readonly intro: string;
  readonly navLabel: string;
  /** Markup, like all following fields. Sections for first-time readers, before the list of links. */
  readonly firstSections?: readonly string[];
  readonly links: readonly string[];
  readonly sections: readonly string[];
}

export function htmlPage({ title, intro, navLabel, firstSections = [], links, sections }: HtmlPage): string {
  return htmlDocument({
    title,
    head: `<style>${STYLE}</style>`,
    body: `<main>
<header><p class="product">Patchbay</p><h1>${title}</h1><p>${prose(intro)}</p></header>
${firstSections.join("\n")}
<nav aria-label="${navLabel}"><ul>
${links.join("\n")}
</ul></nav>
${sections.join("\n")}
</main>`,
  });
}

/** `head` and `body` are markup, added to what all pages share. */
export interface HtmlDocument {
  readonly title: string;
  readonly head: string;
  readonly body: string;
  /** Attributes of the body element. */
  readonly data?: string;
}

export function htmlDocument({ title, head, body, data = "" }: HtmlDocument): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Patchbay</title>
${head}
</head>
<body${data}>
${body}
</body>
</html>
`;
}

/** HTTP headers of a page without scripts. */
export const PAGE_HEADERS = {
  "cache-control": "public, max-age=300",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
} as const;

/**
 * HTTP headers of pages on which an API key is entered, and of their files: nothing from other sites, and only the page's own scripts.
 * Revalidated on each request, because modules of two releases do not work together.
 */
export const SCRIPTED_PAGE_HEADERS = {
  "cache-control": "no-cache",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src blob: 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

export function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** Lets long codes wrap at underscores on narrow screens. */
export function insertWordBreaks(code: string): string {
  return code.replaceAll("_", "_<wbr>");
}

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Styles that all pages share: light and dark colours, typography, cards. */
export const LOOK = `
:root{--ink:#1c1f24;--soft:#5a6270;--paper:#fbfaf7;--card:#fff;--line:#e3e0d8;--accent:#0b5c6b;--warn:#8a4b00;--bad:#9c2230}
@media(prefers-color-scheme:dark){:root{--ink:#e8e6e1;--soft:#a1a8b3;--paper:#15171a;--card:#1d2024;--line:#32363c;--accent:#6cc5d4;--warn:#e8b062;--bad:#f08c97}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 system-ui,sans-serif}
.product{margin:0;color:var(--accent);font-weight:600;letter-spacing:.02em}
h1{margin:.1rem 0 1rem;font-size:2.25rem;line-height:1.15;letter-spacing:-.02em}
code{font:.92em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
p code{background:color-mix(in srgb,var(--ink) 7%,transparent);padding:.1em .3em;border-radius:.25em}
pre{margin:.5rem 0 0;padding:.7rem .9rem;white-space:pre-wrap;background:color-mix(in srgb,var(--ink) 7%,transparent);border-radius:.4em}
section{margin:0 0 1rem;padding:1.1rem 1.25rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
h2{margin:0;font-size:1.05rem;line-height:1.4}
section p{margin:.5rem 0 0}
`;

const STYLE = `${LOOK}
main{max-width:44rem;margin:0 auto;padding:2.5rem 1.25rem 40vh}
a{color:inherit;text-decoration:none}
a:hover code,a:focus-visible code{text-decoration:underline;text-underline-offset:.2em}
nav{margin:2rem 0;padding:1rem 0;border-block:1px solid var(--line)}
nav ul{margin:0;padding:0;list-style:none;columns:18rem;column-gap:2rem}
nav li{break-inside:avoid;padding:.2rem 0}
nav span{display:inline-block;min-width:2.4rem;color:var(--soft);font-variant-numeric:tabular-nums}
nav a{display:block;padding:.15rem 0}
section:target{border-color:var(--accent);box-shadow:0 0 0 3px color-mix(in srgb,var(--accent) 22%,transparent)}
.facts{display:flex;flex-wrap:wrap;gap:.2rem 1rem;color:var(--soft);font-size:.875rem}
.facts a{text-decoration:underline;text-underline-offset:.2em}
.status{font-weight:600}.s4{color:var(--warn)}.s5{color:var(--bad)}
`;
