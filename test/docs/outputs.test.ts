// The outputs that the documentation shows outside the guides: each is what its commands print, or is compared by the test that produces it, or says why not.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Block, type GuideSession, openSession, ROOT } from "../guides/run-guide.ts";
import { assertShownJson, blocksIn, blocksOfPage, commandsOf, isOutput, type ShownBlock } from "./shown-blocks.ts";

/** The first is generated from answers of a gateway [errors.story]. Guides are run as a whole [guides.executed]. */
const EXCLUDED = ["docs/errors.md", "docs/reference/coverage.md"];
const PAGES = globSync("docs/**/*.md", { cwd: ROOT, exclude: [...EXCLUDED, "docs/guides/*.md"] }).toSorted();
const GUIDES = [...globSync("docs/guides/*.md", { cwd: ROOT }), "README.md"];
const CITATION = /shownOutputs\(\s*"(?<page>[^"]+)",\s*"(?<heading>[^"]+)"/gu;

const outputs = PAGES.flatMap(blocksOfPage).filter(isOutput);
/** Page and heading of the outputs that another test compares. */
const cited = new Set(
  globSync("test/**/*.test.ts", { cwd: ROOT, exclude: ["**/node_modules/**"] }).flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(CITATION)].map(
      ({ groups }) => `${groups?.["page"]}#${groups?.["heading"]}`,
    ),
  ),
);
const isCited = ({ page, heading }: ShownBlock): boolean => cited.has(`${page}#${heading}`);
const isRun = (block: ShownBlock): boolean => !block.isMarked && !isCited(block) && commandsOf(block) !== null;

/** What the pages assume: the configuration behind their examples, and the variables that they name. */
const START: Block = sh(`
cat > patchbay.yaml <<'EOF'
connections:
  - { id: sandbox, kind: sandbox }
routes:
  - { id: speech, targets: [{ connection: sandbox, model: simulated-speech }] }
  - { id: chat, targets: [{ connection: sandbox, model: simulated-chat }] }
workspaces:
  - id: acme
    apps:
      - id: notes
        route: chat
        audio_input_override: speech
        keys: [{ id: notes-key, secret: notes-key-of-the-pages-01, scopes: [transcribe, chat, jobs] }]
    admin_keys: [{ id: admin, secret: admin-key-of-the-pages-01 }]
EOF
npm start`);
const VARIABLES: Block = sh(`
export PATCHBAY_URL=http://127.0.0.1:8080 GATEWAY=http://127.0.0.1:8080 BASE=http://127.0.0.1:8080
export KEY=notes-key-of-the-pages-01 API_KEY=notes-key-of-the-pages-01 PATCHBAY_API_KEY=notes-key-of-the-pages-01
export ADMIN_KEY=admin-key-of-the-pages-01`);

function sh(code: string): Block {
  return { language: "sh", flags: [], code };
}

const missing = ["bash", "curl"].filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
const skip = missing.length > 0 ? `there is no ${missing.join(" and no ")} on this machine` : false;

let session: GuideSession;
before(async () => {
  if (skip !== false) return;
  session = await openSession([START, ...outputs.flatMap((block) => commandsOf(block) ?? [])]);
  await session.run(START);
});
after(() => (session as GuideSession | undefined)?.[Symbol.asyncDispose]());

for (const page of new Set(outputs.filter(isRun).map((block) => block.page)))
  test(`guides.outputs: the outputs of ${page} are what its commands print`, { skip }, async () => {
    await session.run(VARIABLES);
    let commands: ShownBlock | null = null;
    for (const block of outputs.filter((each) => each.page === page && isRun(each))) {
      if (commandsOf(block) !== commands) {
        commands = commandsOf(block);
        if (commands !== null) await session.run(commands);
      }
      await check(block);
    }
  });

async function check(block: ShownBlock): Promise<void> {
  if (block.flags.includes("log")) {
    const { route } = JSON.parse(block.code) as { readonly route: string };
    assertShownJson(block.code, await session.gatewayLine((line) => line.includes(`"route":"${route}"`)));
  } else if (block.language === "json") assertShownJson(block.code, session.printed());
  else await session.run({ ...block, language: "text" });
}

test("guides.outputs: each output is run, compared by a test that names it, or marked as not run", () => {
  const unchecked = outputs
    .filter((block) => !block.isMarked && !isRun(block) && !isCited(block))
    .map(({ page, line }) => `${page}:${line}`);
  assert.deepEqual(unchecked, []);
});

test("guides.outputs: an output belongs to the commands above it below the same heading; what a reader writes and a drawing are none", () => {
  const blocks = blocksIn(
    "page.md",
    [
      "# One",
      "```sh\necho a\n```",
      "```text\na\n```",
      "```json\n{}\n```",
      "```json input\n{}\n```",
      "```text figure\n->\n```",
      "## Two",
      "```text\nb\n```",
      "Not run in CI, because\nit needs a moon:",
      "```text\nc\n```",
      "More text.\n\n   ```text\n   d\n   ```",
    ].join("\n\n"),
  );
  const shown = blocks.filter(isOutput);
  assert.deepEqual(
    shown.map((block) => [block.code, block.heading, commandsOf(block)?.code ?? null, block.isMarked]),
    [
      ["a", "One", "echo a", false],
      ["{}", "One", "echo a", false],
      ["b", "Two", null, false],
      ["c", "Two", null, true],
      ["d", "Two", null, false],
    ],
  );
});

test("guides.outputs: no output hides in a comment of commands, every block has a language, and guides show outputs as text, which is compared", () => {
  const hidden = PAGES.flatMap(blocksOfPage).filter(
    ({ language, code }) => language === "" || (language === "sh" && /^\s*#/mu.test(code)),
  );
  const other = GUIDES.flatMap(blocksOfPage).filter(
    (block) => isOutput(block) && block.language !== "text" && !block.isMarked,
  );
  assert.deepEqual(
    [...hidden, ...other].map(({ page, line }) => `${page}:${line}`),
    [],
  );
});

test("guides.outputs: a shown value that differs, is missing or is too much is an error; ids, times and what an ellipsis stands for are not", () => {
  const real = {
    id: "job_01kaj3v9q8f0t5x2m7c4r6d1nf",
    at: "2026-11-20T12:00:00.123Z",
    n: 1,
    list: [1, 2],
    text: "abc",
  };
  const same = [
    real,
    { ...real, id: "job_01kaj3v9q8f0t5x2m7c4r6d1ng", at: "2026-11-21T12:00:00.000Z" },
    { ...real, id: "job_…", n: "…", list: [1, "…"], text: "a…" },
  ];
  for (const shown of same) assertShownJson(JSON.stringify(shown), JSON.stringify(real));
  const others = [
    { ...real, n: 2 },
    { ...real, more: 1 },
    { ...real, n: undefined },
    { ...real, list: [1] },
    { ...real, list: [1, 2, "…"] },
    { ...real, text: "b…" },
    { ...real, id: "app_…" },
  ];
  for (const shown of others)
    assert.throws(() => assertShownJson(JSON.stringify(shown), JSON.stringify(real)), JSON.stringify(shown));
});
