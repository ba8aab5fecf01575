// docs/errors.md and the page /docs/errors, both from the catalogue (contract 1): one text for callers wherever they read.
import { STATUS_CODES } from "node:http";
import { ERRORS, type ErrorCode } from "../contract/errors.ts";
import { JOB_ONLY_ERRORS } from "../contract/jobs.ts";

const INTRO =
  "Every error of every endpoint has the same body. `code` is for programs and never changes its meaning; `message` is for people. `retryable`, the header `X-Should-Retry` and the presence of `Retry-After` always say the same. Quote `request_id` when you report one.";
const SOMETIMES = "depends";
const OF_JOBS = "Only in `error.code` of a failed job · `api_error` · retryable: yes";

interface Row {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly retryable: string;
  readonly doc: string;
}

/** Codes whose retryability the contract decides by case, in words. */
const BY_CASE: Partial<Record<ErrorCode, string>> = {
  AUDIO_FETCH_FAILED: SOMETIMES,
  NO_HEALTHY_PROVIDER: SOMETIMES,
  all_providers_exhausted: SOMETIMES,
  INTERNAL: SOMETIMES,
};

function rows(): readonly Row[] {
  return (Object.keys(ERRORS) as ErrorCode[])
    .map((code) => ({ ...ERRORS[code], code, retryable: BY_CASE[code] ?? (ERRORS[code].retryable ? "yes" : "no") }))
    .toSorted((left, right) => left.status - right.status);
}

export function errorsMarkdown(): string {
  const sections = rows().map(
    ({ code, status, type, retryable, doc }) =>
      `## ${code}\n\n${status} ${STATUS_CODES[status] ?? ""} · \`${type}\` · retryable: ${retryable}\n\n${doc}\n`,
  );
  const heading = "# Errors\n\nGenerated from `src/contract/errors.ts` by `npm run docs`; do not edit.";
  const ofJobs = Object.entries(JOB_ONLY_ERRORS).map(([code, doc]) => `## ${code}\n\n${OF_JOBS}\n\n${doc}\n`);
  return `${heading}\n\n${INTRO}\n\n${[...sections, ...ofJobs].join("\n")}`;
}

export function errorsHtml(): string {
  const all = rows();
  const index = all.map(
    ({ code, status }) => `<li><a href="#${code}"><span>${status}</span> <code>${code}</code></a></li>`,
  );
  const sections = all.map(
    ({ code, status, type, retryable, doc }) => `<section id="${code}">
<h2><a href="#${code}"><code>${breakable(code)}</code></a></h2>
<p class="facts"><span class="status s${Math.floor(status / 100)}">${status} ${escape(STATUS_CODES[status] ?? "")}</span>
<span>${type}</span> <span>retryable: ${retryable}</span></p>
<p>${prose(doc)}</p>
</section>`,
  );
  for (const [code, doc] of Object.entries(JOB_ONLY_ERRORS)) {
    index.push(`<li><a href="#${code}"><span>job</span> <code>${code}</code></a></li>`);
    sections.push(`<section id="${code}">
<h2><a href="#${code}"><code>${breakable(code)}</code></a></h2>
<p class="facts">${prose(OF_JOBS)}</p>
<p>${prose(doc)}</p>
</section>`);
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Errors · Patchbay</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header><p class="product">Patchbay</p><h1>Errors</h1><p>${prose(INTRO)}</p></header>
<nav aria-label="Codes"><ul>
${index.join("\n")}
</ul></nav>
${sections.join("\n")}
</main>
</body>
</html>
`;
}

function prose(text: string): string {
  return escape(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** Long codes may break at underscores on a narrow screen. */
function breakable(code: string): string {
  return code.replaceAll("_", "_<wbr>");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

const STYLE = `
:root{--ink:#1c1f24;--soft:#5a6270;--paper:#fbfaf7;--card:#fff;--line:#e3e0d8;--accent:#0b5c6b;--warn:#8a4b00;--bad:#9c2230}
@media(prefers-color-scheme:dark){:root{--ink:#e8e6e1;--soft:#a1a8b3;--paper:#15171a;--card:#1d2024;--line:#32363c;--accent:#6cc5d4;--warn:#e8b062;--bad:#f08c97}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 system-ui,sans-serif}
main{max-width:44rem;margin:0 auto;padding:2.5rem 1.25rem 40vh}
.product{margin:0;color:var(--accent);font-weight:600;letter-spacing:.02em}
h1{margin:.1rem 0 1rem;font-size:2.25rem;line-height:1.15;letter-spacing:-.02em}
code{font:.92em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
p code{background:color-mix(in srgb,var(--ink) 7%,transparent);padding:.1em .3em;border-radius:.25em}
a{color:inherit;text-decoration:none}
a:hover code,a:focus-visible code{text-decoration:underline;text-underline-offset:.2em}
nav{margin:2rem 0;padding:1rem 0;border-block:1px solid var(--line)}
nav ul{margin:0;padding:0;list-style:none;columns:18rem;column-gap:2rem}
nav li{break-inside:avoid;padding:.2rem 0}
nav span{display:inline-block;min-width:2.4rem;color:var(--soft);font-variant-numeric:tabular-nums}
nav a{display:block;padding:.15rem 0}
section{margin:0 0 1rem;padding:1.1rem 1.25rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
section:target{border-color:var(--accent);box-shadow:0 0 0 3px color-mix(in srgb,var(--accent) 22%,transparent)}
h2{margin:0;font-size:1.05rem;line-height:1.4}
section p{margin:.5rem 0 0}
.facts{display:flex;flex-wrap:wrap;gap:.2rem 1rem;color:var(--soft);font-size:.875rem}
.status{font-weight:600}.s4{color:var(--warn)}.s5{color:var(--bad)}
`;
