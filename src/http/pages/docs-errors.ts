// Renders docs/errors.md and the page /docs/errors, both from the error catalogue and its stories, so that their texts are the same [errors.doc-url].
import { STATUS_CODES } from "node:http";
import { ERROR_STORIES, type ErrorStory } from "../../contract/error-stories.ts";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import { JOB_ONLY_ERRORS } from "../../contract/jobs.ts";
import { exampleError, exampleJobError } from "./error-examples.ts";
import { NOT_SEARCHED } from "./docs/not-searched.ts";
import { insertWordBreaks, escapeHtml, htmlPage, prose } from "./html-page.ts";

const INTRO =
  "Every error of every endpoint has the same body. `code` is for programs and never changes its meaning; `message` is for people. `retryable`, the header `X-Should-Retry` and the presence of `Retry-After` always say the same. Quote `request_id` when you report one. The examples are answers of a gateway to a test, with simulated providers.";
const GENERATED =
  "Generated from `src/contract/errors.ts` and `src/contract/error-stories.ts` by `npm run docs`; do not edit.";
const SOMETIMES = "depends";
const OF_JOBS = "Only in `error.code` of a failed job";

/** The four parts of each code's section, in their order [errors.story]. */
export const PARTS = { happened: "What happened", why: "Why", action: "What to do", example: "Example" } as const;

interface Section {
  readonly code: string;
  /** For the list of links. */
  readonly status: string;
  /** Status, type and retryability, in Markdown. */
  readonly facts: readonly string[];
  readonly story: ErrorStory;
  readonly example: object;
}

/** Codes with a retryability that depends on the case. */
const BY_CASE: Partial<Record<ErrorCode, string>> = {
  AUDIO_FETCH_FAILED: SOMETIMES,
  NO_HEALTHY_PROVIDER: SOMETIMES,
  all_providers_exhausted: SOMETIMES,
  INTERNAL: SOMETIMES,
  OVERLOADED: SOMETIMES,
};

function sectionsByStatus(): readonly Section[] {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).toSorted(
    (left, right) => ERRORS[left].status - ERRORS[right].status,
  );
  const ofRequests = codes.map((code) => {
    const { status, type, retryable } = ERRORS[code];
    const facts = [
      `${status} ${STATUS_CODES[status] ?? ""}`,
      `\`${type}\``,
      `retryable: ${BY_CASE[code] ?? (retryable ? "yes" : "no")}`,
    ];
    return { code, status: String(status), facts, story: ERROR_STORIES[code], example: exampleError(code) };
  });
  const ofJobs = JOB_ONLY_ERRORS.map((code) => {
    const facts = [OF_JOBS, "`api_error`", "retryable: yes"];
    return { code, status: "job", facts, story: ERROR_STORIES[code], example: exampleJobError(code) };
  });
  return [...ofRequests, ...ofJobs];
}

export function errorsMarkdown(): string {
  const sections = sectionsByStatus().map(
    ({ code, facts, story, example }) => `## ${code}

${facts.join(" · ")}

**${PARTS.happened}.** ${story.happened}

**${PARTS.why}.** ${story.why}
${Object.entries(story.reasons ?? {})
  .map(([reason, meaning], index) => `${index === 0 ? "\n" : ""}- \`${reason}\`: ${meaning}\n`)
  .join("")}
**${PARTS.action}.** ${story.action}

**${PARTS.example}:**

\`\`\`json ${NOT_SEARCHED}
${JSON.stringify(example, null, 2)}
\`\`\`
`,
  );
  return `# Errors\n\n${GENERATED}\n\n${INTRO}\n\n${sections.join("\n")}`;
}

export function errorsHtml(): string {
  const all = sectionsByStatus();
  const links = all.map(
    ({ code, status }) => `<li><a href="#${code}"><span>${status}</span> <code>${code}</code></a></li>`,
  );
  const sections = all.map(
    ({ code, status, facts, story, example }) => `<section id="${code}">
<h2><a href="#${code}"><code>${insertWordBreaks(code)}</code></a></h2>
<p class="facts">${factsHtml(status, facts)}</p>
<p><strong>${PARTS.happened}.</strong> ${prose(story.happened)}</p>
<p><strong>${PARTS.why}.</strong> ${prose(story.why)}</p>${reasonsHtml(story)}
<p><strong>${PARTS.action}.</strong> ${prose(story.action)}</p>
<p><strong>${PARTS.example}:</strong></p>
<pre tabindex="0"><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre>
</section>`,
  );
  return htmlPage({ title: "Errors", intro: INTRO, navLabel: "Codes", links, sections });
}

/** Client errors, server errors and those of jobs have their own colours. */
function factsHtml(status: string, [first = "", ...others]: readonly string[]): string {
  const main = `<span class="status s${status.charAt(0)}">${prose(first)}</span>`;
  return [main, ...others.map((fact) => `<span>${prose(fact)}</span>`)].join(" ");
}

function reasonsHtml({ reasons = {} }: ErrorStory): string {
  const items = Object.entries(reasons).map(
    ([reason, meaning]) => `<li><code>${insertWordBreaks(reason)}</code>: ${prose(meaning)}</li>`,
  );
  return items.length === 0 ? "" : `\n<ul>${items.join("")}</ul>`;
}
