// What a gateway has loaded that was started and has served nothing: each module that is not needed yet is memory of every installation.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { openTestDatabase } from "../harness/postgres/database.ts";
import { ENCRYPTION_KEY, PEPPER, startWithoutFile, stopCommand } from "./commands.ts";

/** Packages, and files of this repository, each with who needs it. */
const ON_USE: readonly (readonly [pattern: RegExp, neededBy: string])[] = [
  [/^node_modules\/@(?:aws-sdk|smithy)\//u, "an object store with the protocol of S3"],
  [/^node_modules\/@modelcontextprotocol\/|^src\/mcp\/(?:answer-message|tool-answers|tool-server)/u, "POST /mcp"],
  [/^node_modules\/(?:markdown-it|linkify-it|mdurl|entities)\//u, "GET /docs"],
  [/^node_modules\/minisearch\//u, "the search of the documentation, in the browser"],
  [/^node_modules\/jose\//u, "a Google account"],
  [/^node_modules\/(?:mpg123-decoder|@wasm-audio-decoders|seek-bzip)\//u, "threads of their own"],
  [/^node_modules\/sherpa-onnx/u, "a process of its own"],
  [/^sandbox\/(?:endpoints|openai\/openai|deepgram|assemblyai|google|anthropic|elevenlabs)/u, "a call to the sandbox"],
  [/^src\/operations\/(?:backup|doctor|explain)\//u, "commands of an operator"],
  [/^src\/(?:client\/client|cli\/(?:use|administer|inspect))/u, "commands of a client"],
];

const HOOK = `
  import { appendFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  import { isMainThread } from "node:worker_threads";
  const list = process.env.LOADED_LIST;
  if (isMainThread && list !== undefined && process.argv[1].includes("main.ts")) {
    registerHooks({ load: (url, context, next) => (appendFileSync(list, url + "\\n"), next(url, context)) });
  }`;

test("configuration.loads-on-use: a gateway that was started, with its self-check, has loaded nothing that only some requests need", async (t) => {
  const { loaded } = await startedOnce(t);
  for (const needed of [/^src\/gateway\//u, /^node_modules\/undici\//u])
    assert.ok(
      loaded.some((each) => needed.test(each)),
      `the list is complete: ${needed}`,
    );
  for (const [pattern, neededBy] of ON_USE)
    assert.deepEqual(
      loaded.filter((each) => pattern.test(each)),
      [],
      `loaded before its use: ${neededBy}`,
    );
});

async function startedOnce(t: TestContext): Promise<{ readonly loaded: readonly string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "patchbay-loaded-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const database = await openTestDatabase();
  t.after(() => database.close());
  const hook = join(folder, "hook.mjs");
  const list = join(folder, "loaded");
  writeFileSync(hook, HOOK);
  const gateway = startWithoutFile(
    folder,
    {
      DATABASE_URL: database.direct.databaseUrl,
      PATCHBAY_KEY_PEPPER: PEPPER,
      PATCHBAY_ENCRYPTION_KEY: ENCRYPTION_KEY,
      NODE_OPTIONS: `--import=${pathToFileURL(hook).href}`,
      LOADED_LIST: list,
    },
    "up",
    "--port",
    "0",
    "--admin-port",
    "0",
  );
  await gateway.said(/(Try it)/u);
  await stopCommand(gateway);
  const loaded = readFileSync(list, "utf8").split("\n");
  return { loaded: loaded.map((url) => url.replace(/^file:.*\/(node_modules|src|sandbox)\//u, "$1/")) };
}
