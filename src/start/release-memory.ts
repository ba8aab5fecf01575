// Returns the memory that loading modules and preparing the database used, before the process listens (decision 58), and sets how far the heap may grow from there
// (decision 61).
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

interface CollectOptions {
  readonly type: "major";
  readonly execution: "sync";
  readonly flavor: "last-resort";
}

/**
 * The whole heap is collected once it has grown by so much since the last time. V8 chooses between 10 and 300 % by the time of the main thread alone, and as little as
 * 10 % after a time with few requests. The next burst then began with a collection every second, whose other threads took 0.3 to 0.6 ms of CPU per job.
 */
const HEAP_GROWTH_PERCENT = 200;

/**
 * A start fills the young generation, which the flags of decision 6 allow to grow to 64 MiB and never to shrink, and leaves garbage in the old one. A collection
 * as the last resort before running out of memory shrinks both. Takes 0.1 s and frees 60 to 70 MiB. V8 offers it under a flag only, which is set for this call.
 */
export function releaseStartMemory(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  if (isCollect(collect)) collect({ type: "major", execution: "sync", flavor: "last-resort" });
}

function isCollect(value: unknown): value is (options: CollectOptions) => void {
  return typeof value === "function";
}
