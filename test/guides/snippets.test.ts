// The JavaScript and Python of the guides that move an application here. OpenAI's packages are used where they are installed: that for Node.js in
// test/sdk-oracle, that for Python for the program in PATCHBAY_TEST_PYTHON, or else python3. Deepgram's API is the sandbox's.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type ExampleGateway, ROOT, startExampleGateway, TRANSCRIPT } from "../examples/example-gateway.ts";
import { blocksOf } from "./run-guide.ts";

const CLIENT = join(ROOT, "test/sdk-oracle/node_modules/openai");
const PYTHON = process.env["PATCHBAY_TEST_PYTHON"] ?? "python3";

let gateway: ExampleGateway;
before(async () => {
  gateway = await startExampleGateway();
});
after(() => gateway[Symbol.asyncDispose]());

const snippetOf = (guide: string, language: string): string => {
  const [only, ...others] = blocksOf(readFileSync(join(ROOT, `docs/guides/${guide}.md`), "utf8")).filter(
    (block) => block.language === language,
  );
  assert.ok(only !== undefined && others.length === 0, `${guide} has one block in ${language}`);
  return only.code;
};

const run = (command: string, file: string, code: string): Promise<string> => {
  writeFileSync(join(gateway.folder, file), code);
  return gateway.run([command, file], { OPENAI_BASE_URL: `${gateway.origin}/v1`, OPENAI_API_KEY: gateway.key });
};

/** Packing and Docker, which scripts/try-tarball.ts and scripts/try-image.ts run. */
const INSTALLATIONS = Array.from({ length: 4 }, () => "docs/guides/install.md bash");

test("guides.snippets: each block in JavaScript or Python is one of those below", () => {
  const found = globSync("docs/guides/*.md", { cwd: ROOT }).flatMap((file) =>
    blocksOf(readFileSync(join(ROOT, file), "utf8"))
      .filter(({ language }) => !["sh", "text", "yaml", "sql", "nginx", "json"].includes(language))
      .map(({ language }) => `${file} ${language}`),
  );
  assert.deepEqual(found.toSorted(), [
    ...INSTALLATIONS,
    "docs/guides/move-from-deepgram.md js",
    "docs/guides/move-from-openai.md js",
    "docs/guides/move-from-openai.md py",
  ]);
});

test("guides.snippets: the call of Deepgram's API that is replaced works", async () => {
  const code = snippetOf("move-from-deepgram", "js");
  assert.ok(code.includes("https://api.deepgram.com/v1"));
  const printed = await run(
    process.execPath,
    "deepgram.mjs",
    `import { readFileSync } from "node:fs";
const deepgramKey = "any-key";
const audio = readFileSync("call.mp3");
${code.replace("https://api.deepgram.com", gateway.deepgramUrl)}
console.log((await answer.json()).results.channels[0].alternatives[0].transcript);`,
  );
  assert.match(printed, /\w/u);
});

test("guides.snippets: the program with OpenAI's client for Node.js works with two variables", {
  skip: existsSync(CLIENT) ? false : "OpenAI's client is not installed: npm ci --prefix test/sdk-oracle",
}, async () => {
  symlinkSync(CLIENT, join(gateway.folder, "node_modules/openai"));
  const printed = await run(process.execPath, "openai.mjs", snippetOf("move-from-openai", "js"));
  assert.ok(printed.startsWith(`${TRANSCRIPT} [simulated`), printed);
});

test("guides.snippets: the program with OpenAI's client for Python works with two variables", {
  skip:
    spawnSync(PYTHON, ["-c", "import openai"]).status === 0
      ? false
      : `${PYTHON} has no package openai; recorded requests are replayed in test/examples/openai-sdk.test.ts`,
}, async () => {
  const printed = await run(PYTHON, "openai_program.py", snippetOf("move-from-openai", "py"));
  assert.ok(printed.startsWith(`${TRANSCRIPT} [simulated`), printed);
});
