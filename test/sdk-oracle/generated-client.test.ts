// A client generated from each OpenAPI document by openapi-typescript: it compiles strictly, and transcribes, runs a job and administers.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { test } from "node:test";
import openapiTS, { astToString } from "openapi-typescript";
import { samplePath } from "../../src/cli/package-root.ts";
import { KEY } from "../harness/gateway.ts";
import { OPERATOR_KEY, startAdminGateway } from "../http/admin/admin.ts";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);
/** As in an application that checks everything, generated declarations included. */
const PROJECT = {
  compilerOptions: {
    target: "es2024",
    module: "nodenext",
    lib: ["es2024"],
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules/@types")],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  files: ["program.ts"],
};

test("api.openapi-client: generated clients compile strictly, transcribe an upload, run a job and administer a workspace", async (t) => {
  const gateway = await startAdminGateway();
  t.after(() => gateway.close());
  // Here, because the program imports openapi-fetch.
  const folder = await mkdtemp(join(import.meta.dirname, "generated-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  for (const [document, name] of [
    ["openapi.json", "public.ts"],
    ["openapi-admin.json", "admin.ts"],
  ] as const) {
    // Or it makes fields with a default required in requests, too.
    const types = await openapiTS(pathToFileURL(join(ROOT, document)), { defaultNonNullable: false });
    await writeFile(join(folder, name), astToString(types));
  }
  await copyFile(join(import.meta.dirname, "generated-client-program.ts"), join(folder, "program.ts"));
  await copyFile(samplePath(), join(folder, "call.mp3"));
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(PROJECT));
  const compiled = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder]).catch((error: unknown) => error);
  assert.ok(!(compiled instanceof Error), JSON.stringify(compiled));
  const { stdout } = await run(process.execPath, ["--no-warnings", "program.ts"], {
    cwd: folder,
    env: {
      PATCHBAY_URL: gateway.origin,
      PATCHBAY_ADMIN_URL: gateway.adminOrigin,
      PATCHBAY_API_KEY: KEY,
      OPERATOR_KEY,
    },
  });
  const [transcript = "", job, error, created, ...apps] = stdout.trimEnd().split("\n");
  assert.match(transcript, /^S1: Good morning, /u);
  assert.deepEqual([job, error, created], ["succeeded", "JOB_NOT_FOUND", "support"]);
  assert.deepEqual(apps.toSorted(), ["notes", "support"]);
});
