// The log and its reader.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

test("logs.not-blocking: a log that is not read does not stop the process, and the lines that it loses are counted in it", async () => {
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

// A pipe that is not read, one that can no longer be read, a disk that is full.
for (const [what, stdout] of [
  ["stalls", "pipe"],
  ["is gone", "closed"],
  ["has no room", "/dev/full"],
] as const) {
  for (const [how, code] of [
    ["end", 0],
    ["exit", 7],
  ] as const) {
    test(`logs.shutdown: a process ends though the reader of its log ${what}: ${how}`, async (t) => {
      if (stdout === "/dev/full" && process.platform !== "linux") return t.skip("there is no such device");
      const full = stdout === "/dev/full" ? openSync(stdout, "w") : null;
      const child = spawn(process.execPath, [join(import.meta.dirname, "log-writer.ts"), how], {
        stdio: ["ignore", full ?? "pipe", "ignore"],
      });
      if (full !== null) closeSync(full);
      t.after(() => child.kill("SIGKILL"));
      if (stdout === "closed") child.stdout?.destroy();
      assert.deepEqual(await once(child, "exit"), [code, null]);
    });
  }
}
