// Questions that users ask, in their words, and the pages with the answer: asked of the index that the documentation serves, by the search of its pages.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { packageRoot } from "../../src/cli/package-root.ts";
import { createDocumentation } from "../../src/http/pages/docs/documentation.ts";
import { createSearchIndex, findSections, type SearchIndex } from "../../web/ui/search-index.ts";

const RESULTS = 3;

/** Written before the pages were looked at. A question has several right pages if each of them answers it. */
const QUESTIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "the developer of an application": {
    "how do I use the OpenAI SDK with this": ["reference/compatible", "guides/move-from-openai"],
    "how do I get subtitles for a video": ["reference/captions"],
    "retry a request without paying twice": ["reference/idempotency"],
    "how do I check the signature of a webhook": ["reference/webhooks", "guides/jobs-and-webhooks"],
    "transcribe the microphone in a browser": ["guides/live-captions", "reference/realtime"],
    "my file is too big to upload": ["guides/troubleshooting", "errors"],
    "transcribe a folder of files": ["guides/first-transcript", "reference/cli"],
    "what does error 429 mean": ["guides/troubleshooting", "errors", "reference/quotas"],
  },
  "the engineer of the platform": {
    "what happens when Deepgram is down": ["guides/add-a-fallback"],
    "how do I run several instances": ["guides/several-processes"],
    "connect to a managed Postgres with a TLS certificate": ["guides/production"],
    "upgrade without downtime": ["guides/upgrade"],
    "how do I make a backup": ["operations"],
  },
  "the administrator of a workspace": {
    "how do I limit a key to 10 requests a minute": ["reference/quotas"],
    "how do I rotate a webhook secret": ["reference/webhooks"],
    "how do I revoke an API key": ["reference/tenancy", "api/keys"],
    "revoke a leaked API key": ["guides/troubleshooting", "reference/tenancy", "api/keys"],
    "delete all recordings of a customer": ["reference/data-policy"],
    "who changed the route": ["reference/tenancy"],
    "which regions is my audio processed in": ["reference/data-policy", "providers"],
    "how long are recordings kept": ["reference/data-policy"],
  },
  "who debugs a bad transcript": {
    "why are the speakers missing": ["guides/require-a-feature", "guides/debug-a-bad-transcript"],
    "product names are spelled wrong": ["guides/debug-a-bad-transcript"],
    "transcript is empty": ["guides/debug-a-bad-transcript", "reference/transcription"],
    "why was the other provider used": ["guides/debug-a-bad-transcript", "reference/requests"],
    "which provider answered my request": ["reference/requests"],
  },
  "who pays": {
    "how much did my team spend this month": ["guides/what-did-it-cost"],
    "stop spending at 100 dollars a month": ["guides/a-team-with-a-budget", "reference/budgets"],
    "do I pay for failed requests": ["guides/what-did-it-cost", "reference/metering"],
    "the provider's invoice does not match usage": ["guides/what-did-it-cost"],
  },
};

let index: SearchIndex;
before(async () => {
  index = createSearchIndex(await createDocumentation(packageRoot()).searchSections());
});

for (const [person, questions] of Object.entries(QUESTIONS))
  test(`guides.search: what ${person} asks is answered by one of the first ${RESULTS} results`, () => {
    const failures = Object.entries(questions).flatMap(([question, pages]) => {
      const found = findSections(index, question)
        .slice(0, RESULTS)
        .map(({ id }) => String(id));
      const isAnswered = found.some((id) => pages.some((page) => id.startsWith(`/docs/${page}#`)));
      return isAnswered ? [] : [{ question, pages, found }];
    });
    assert.deepEqual(failures, []);
  });

test("guides.search: words that are in every text decide nothing, plurals and beginnings of words are found", () => {
  const sections = ["Backups of a database", "How the gateway is started", "Keys"].map((heading) => ({
    id: `/docs/page#${heading}`,
    page: "Page",
    heading,
    content: "",
  }));
  const small = createSearchIndex(sections);
  const found = (query: string): readonly string[] => findSections(small, query).map((each) => String(each["heading"]));
  assert.deepEqual(found("how do I make a backup"), ["Backups of a database"]);
  assert.deepEqual(found("data"), ["Backups of a database"]);
  assert.deepEqual(found("key"), ["Keys"]);
  assert.deepEqual(found("how is the"), []);
});
