// Measures the current capacity of this machine's cores: rented ones may be two threads of one core in one hour and two cores in the next. Every rate below
// saturation depends on it, so each report contains it, before and after.
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

const SPIN_MS = 250;

if (!isMainThread) parentPort?.postMessage(spin());

/** Throughput of a busy loop on all cores at once, relative to one alone: at best the number of cores. */
export async function worthOfCores(): Promise<number> {
  const [alone = Number.NaN] = await loops(1);
  const together = await loops(availableParallelism());
  return together.reduce((sum, each) => sum + each, 0) / alone;
}

function loops(count: number): Promise<readonly number[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const worker = new Worker(new URL(import.meta.url));
      // Subscribed at the start: both events may come in one tick.
      const exit = once(worker, "exit");
      const [done] = (await once(worker, "message")) as [number];
      await exit;
      return done;
    }),
  );
}

function spin(): number {
  const endMs = performance.now() + SPIN_MS;
  let done = 0;
  for (let value = 1; performance.now() < endMs; done += 1) {
    for (let step = 0; step < 10_000; step += 1) value = (value * 1_103_515_245 + step) & 0x7fff_ffff;
  }
  return done;
}
