// Hostile audio: every media row of test/cases/bad-input.json and our own, through the real worker.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { after, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createMeasurer } from "../../src/audio/measure.ts";
import { hostileAudio, hostileTitles } from "./hostile-audio.ts";

// The kill limit is a wall clock with tests of its own; here a busy machine must not decide.
const measurer = createMeasurer({ killAfterMs: () => 60_000 });
after(() => measurer.close());

type Case = {
  readonly id: string;
  readonly area: string;
  readonly input: string;
  readonly status: number;
  readonly code: string | null;
};
const cases: readonly Case[] = JSON.parse(readFileSync(new URL("../cases/bad-input.json", import.meta.url), "utf8"));
const mediaCases = cases.filter((row) => row.area.startsWith("media-"));

test("measuring.no-crash: every media row of bad-input.json has its bytes here, with the same status", () => {
  assert.ok(mediaCases.length >= 58);
  for (const row of mediaCases) assert.equal(hostileAudio.get(row.id)?.status, row.status, row.id);
});

const CODES = { 200: null, 415: "UNSUPPORTED_MEDIA_TYPE", 422: "INVALID_AUDIO" } as const;
const WORK_MS = 2000;
const BLOCK_MS = 50;

/** A recording of 25 MiB has garbage collected among all that this process has loaded for other tests: that is not its work. */
const collections: PerformanceEntry[] = [];
const collector = new PerformanceObserver((list) => collections.push(...list.getEntries()));
collector.observe({ entryTypes: ["gc"] });
after(() => collector.disconnect());

/** What was collected since, and nothing of before: Node reports a collection in a later turn. */
async function collectedMsSince(startedAt: number): Promise<number> {
  for (let turns = 0; turns < 3; turns += 1) await turn();
  return collections.filter((one) => one.startTime >= startedAt).reduce((sum, { duration }) => sum + duration, 0);
}

/** Time on the processor, of which a busy neighbour takes none: all threads, and this one, whose loop must stay free. */
async function watchWork<T>(work: () => Promise<T>): Promise<{ result: T; workMs: number; ownMs: number }> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const ownBefore = process.threadCpuUsage();
  const result = await work();
  const own = process.threadCpuUsage(ownBefore);
  const all = process.cpuUsage(before);
  const ownMs = (own.user + own.system) / 1000 - (await collectedMsSince(startedAt));
  return { result, workMs: (all.user + all.system) / 1000, ownMs };
}

async function blockFor60Ms(): Promise<void> {
  const before = process.threadCpuUsage();
  while (process.threadCpuUsage(before).user + process.threadCpuUsage(before).system < 60_000);
}

test("measuring.event-loop: the watch on this thread sees a block of 60 ms", async () => {
  let { ownMs } = await watchWork(blockFor60Ms);
  // As below: the loop itself makes garbage, and a collection may fall into it.
  for (let attempt = 1; attempt < 4 && ownMs < BLOCK_MS; attempt++) ({ ownMs } = await watchWork(blockFor60Ms));
  assert.ok(ownMs >= BLOCK_MS, `${ownMs} ms`);
});

for (const [id, row] of hostileAudio) {
  const title = hostileTitles.get(id) || mediaCases.find((candidate) => candidate.id === id)?.input;
  test(`measuring.event-loop, measuring.no-crash: ${id} ${title}: ${row.status} in 2 s of work, event loop free`, async () => {
    const bytes = row.bytes();
    const watch = () => watchWork(() => measurer.measure({ kind: "bytes", bytes }));
    let watched = await watch();
    // Real work costs as much every time; a collection of garbage that happens to fall into it does not.
    for (let attempt = 1; attempt < 4 && (watched.ownMs >= BLOCK_MS || watched.workMs >= WORK_MS); attempt++)
      watched = await watch();
    const measurement = watched.result;
    assert.equal(measurement.ok ? null : measurement.code, CODES[row.status], JSON.stringify(measurement));
    if (measurement.ok) {
      assert.ok(
        row.seconds !== undefined && Math.abs(measurement.durationSeconds - row.seconds) < 0.05,
        `${measurement.durationSeconds} s, not ${row.seconds} s`,
      );
    } else {
      assert.match(measurement.reason, /^[a-z][^\n]{3,100}[^.]$/);
    }
    assert.ok(watched.workMs < WORK_MS, `took ${watched.workMs} ms`);
    assert.ok(watched.ownMs < BLOCK_MS, `blocked ${watched.ownMs} ms`);
  });
}
