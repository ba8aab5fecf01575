// The log and whoever collects it (reliability 6).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

test("reliability 6: a log that nobody reads does not stop the process, and the lines it loses are counted in it", async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "log-writer.ts")], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  // Nothing of standard output is read before the process has said that it lives.
  const [said] = (await once(child.stderr, "data")) as [Buffer];
  assert.equal(said.toString(), "alive after 40000\n");
  const lines = (await text(child.stdout))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { status?: number; event?: string; lost?: number });
  const written = lines.filter(({ status }) => status !== undefined);
  const lost = lines.reduce((sum, line) => sum + (line.event === "log_lines_lost" ? (line.lost ?? 0) : 0), 0);
  assert(lost > 0 && written.length > 1_000);
  assert.equal(written.length + lost, 40_000);
});
