// Renders docs/errors.md and the page /docs/errors, both from the error catalogue, so that their texts are the same [errors.doc-url].
import { STATUS_CODES } from "node:http";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import { JOB_ONLY_ERRORS } from "../../contract/jobs.ts";
import { insertWordBreaks, escapeHtml, htmlPage, prose } from "./html-page.ts";

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

/** Codes with a retryability that depends on the case. */
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
<h2><a href="#${code}"><code>${insertWordBreaks(code)}</code></a></h2>
<p class="facts"><span class="status s${Math.floor(status / 100)}">${status} ${escapeHtml(STATUS_CODES[status] ?? "")}</span>
<span>${type}</span> <span>retryable: ${retryable}</span></p>
<p>${prose(doc)}</p>
</section>`,
  );
  for (const [code, doc] of Object.entries(JOB_ONLY_ERRORS)) {
    index.push(`<li><a href="#${code}"><span>job</span> <code>${code}</code></a></li>`);
    sections.push(`<section id="${code}">
<h2><a href="#${code}"><code>${insertWordBreaks(code)}</code></a></h2>
<p class="facts">${prose(OF_JOBS)}</p>
<p>${prose(doc)}</p>
</section>`);
  }
  return htmlPage({ title: "Errors", intro: INTRO, navLabel: "Codes", links: index, sections });
}
