// The file of `patchbay init --for try`, used as the command says.
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { test } from "node:test";
import { run } from "../cli/fake-gateway.ts";
import { makeTemporary, removeDataDir } from "../harness/postgres/embedded-data.ts";
import { startWithoutFile, stopCommand } from "./commands.ts";

test("cli.init, configuration.same-file: the file to try starts a gateway without secrets or accounts, and it transcribes with the next command", async (t) => {
  const cwd = await makeTemporary("patchbay-tried-");
  t.after(() => removeDataDir(cwd));
  chmodSync(cwd, 0o711);
  assert.equal((await run(["init", "--for", "try"], { cwd })).exitCode, 0);
  // In this folder, whose patchbay.yaml it finds.
  const gateway = startWithoutFile(cwd, {}, "up", "--port", "0", "--admin-port", "0");
  await gateway.said(/playground {2}(\S+)\/playground/u);
  const transcript = await run(["transcribe", "--sample"], { cwd });
  assert.equal(transcript.exitCode, 0, transcript.stderr);
  assert.match(transcript.stdout, /\w+ \w+/u);
  const applied = await run(["apply", "--dry-run"], { cwd });
  assert.deepEqual([applied.exitCode, applied.stdout], [0, ""], "the file says what the start made of it");
  await stopCommand(gateway);
});
