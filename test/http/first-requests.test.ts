// The examples that /docs and /llms.txt begin with, run by a shell or by Node.js as they are. That of OpenAI's client is run where that
// client is installed, by test/sdk-oracle.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { submittedJob } from "../../src/contract/jobs.ts";
import { transcriptionEnvelope } from "../../src/contract/transcription/transcription-envelope.ts";
import { FIRST_REQUESTS } from "../../src/http/pages/first-requests.ts";
import { KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { SAMPLE_TEXT } from "../harness/sample-text.ts";
import { installPackage } from "../harness/installed-package.ts";

const ROOT = join(import.meta.dirname, "../..");
let gateway: TestGateway;
let folder: string;
before(async () => {
  gateway = await startGateway();
  folder = await mkdtemp(join(tmpdir(), "patchbay-first-"));
  await copyFile(join(ROOT, "sandbox/samples/dialogue.mp3"), join(folder, "call.mp3"));
  installPackage(folder);
  const command = join(folder, "patchbay");
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "src/main.ts")}" "$@"\n`);
  await chmod(command, 0o755);
});
after(async () => {
  await gateway.close();
  await rm(folder, { recursive: true, force: true });
});

test("api.first-requests: the first requests of the documentation work as they are", {
  skip: ["sh", "curl"].every((tool) => spawnSync(tool, ["--version"]).error === undefined)
    ? false
    : "no shell or no curl",
}, async () => {
  const outputs = [];
  for (const { title, language, code } of FIRST_REQUESTS.filter(({ language }) => language !== "js")) {
    await writeFile(join(folder, "example.mts"), code);
    const [command, args] =
      language === "sh" ? ["sh", ["-c", code]] : [process.execPath, ["--no-warnings", "example.mts"]];
    const child = spawn(command, args, {
      cwd: folder,
      env: {
        PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}`,
        PATCHBAY_URL: gateway.origin,
        PATCHBAY_API_KEY: KEY,
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    assert.deepEqual(await once(child, "close"), [0, null], title);
    outputs.push(output);
  }
  const [transcript = "", captions = "", job = "", saved = "", ...others] = outputs;
  assert.ok(transcriptionEnvelope.parse(JSON.parse(transcript)).segments.every(({ speaker }) => speaker !== null));
  assert.match(captions, /^WEBVTT\n/u);
  submittedJob.parse(JSON.parse(job));
  assert.deepEqual([saved, ...others], ["", `${SAMPLE_TEXT}\n`]);
  assert.match(await readFile(join(folder, "call.srt"), "utf8"), /^1\n00:00:00,\d{3} --> /u);
});
