// The commands of docs/guides and of the README, run as they are written.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { test } from "node:test";
import { blocksOf, missingLine, ROOT, runBlocks, runGuide } from "./run-guide.ts";

const GUIDES = [...globSync("docs/guides/*.md", { cwd: ROOT }).toSorted(), "README.md"];
const missing = ["bash", "curl"].filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
const skip = missing.length > 0 ? `there is no ${missing.join(" and no ")} on this machine` : false;

for (const guide of GUIDES)
  test(`guides.executed: the commands of ${guide} work and print what it shows`, { skip }, () => runGuide(guide));

test("guides.executed: a command that fails, output that is not printed and a failure that does not happen are errors", {
  skip,
}, async () => {
  const runMarkdown = (markdown: string): Promise<void> => runBlocks(blocksOf(markdown));
  await runMarkdown(
    "```sh\nexport NAME=you\n```\n\n```sh\necho hello $NAME; echo bye\n```\n\n```text\nhello …\nbye\n```\n",
  );
  await runMarkdown("1. A list:\n\n   ```sh fails\n   exit 3\n   ```\n");
  await runMarkdown("```sh eventually\necho one >> lines; wc -l < lines\n```\n\n```text\n3\n```\n");
  const wrong = [
    ["```sh\nfalse\ntrue\n```\n", /ended with exit code 1/u],
    ["```sh\nfalse | cat\n```\n", /ended with exit code 1/u],
    ["```sh\necho hello\n```\n\n```text\ngoodbye\n```\n", /was not printed:\ngoodbye\n[\s\S]*Printed:\nhello/u],
    ["```sh fails\ntrue\n```\n", /should have failed/u],
    ["```sh background\necho ready\n```\n\n```text\nother\n```\n", /was not printed:\nother/u],
    ["```text\nhello\n```\n", /belongs to no command/u],
    ["```sh\nnpm run build\n```\n", /not one of the scripts that guides use/u],
  ] as const;
  for (const [markdown, message] of wrong) await assert.rejects(runMarkdown(markdown), message, markdown);
});

test("guides.executed: shown lines are printed in their order, with any text for an ellipsis", () => {
  assert.equal(missingLine("a … c\nd", "x\n  a b c\nd\n"), null);
  assert.equal(missingLine("d\na … c", "a b c\nd\n"), "a … c");
  assert.equal(missingLine("a.c", "abc"), "a.c");
});
