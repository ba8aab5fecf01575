// What a process costs, read from /proc, so it needs Linux.
import { readFileSync, writeFileSync } from "node:fs";

/** `getconf CLK_TCK` on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** User and system time of all the threads of a process, and of the processes it runs or ran, since they began. */
export function cpuMsOf(pid: number): number {
  return treeOf(pid).reduce((sum, each) => sum + ownCpuMsOf(each), 0);
}

function ownCpuMsOf(pid: number): number {
  const stat = read(pid, "stat");
  // The second field is a name in parentheses, which may hold spaces. The last two are of children that ended.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1000) / TICKS_PER_SECOND;
}

export interface Memory {
  /** What is resident now. */
  readonly rssBytes: number;
  /** The most that ever was, as the kernel kept it. */
  readonly peakBytes: number;
}

/** Of the process and those it runs; their peaks need not have been at once. */
export function memoryOf(pid: number): Memory {
  const all = treeOf(pid).map((each) => {
    const status = read(each, "status");
    const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "mu").exec(status)?.[1] ?? 0);
    return { rssBytes: kibibytes("VmRSS") * 1024, peakBytes: kibibytes("VmHWM") * 1024 };
  });
  const sum = (of: (each: Memory) => number) => all.reduce((total, each) => total + of(each), 0);
  return { rssBytes: sum((each) => each.rssBytes), peakBytes: sum((each) => each.peakBytes) };
}

/** Resident memory of the process and those it runs, with pages that several share counted once. */
export function sharedOnceBytes(pid: number): number {
  return treeOf(pid).reduce((sum, each) => {
    const kibibytes = Number(/^Pss:\s+(\d+)/mu.exec(read(each, "smaps_rollup"))?.[1] ?? 0);
    return sum + kibibytes * 1024;
  }, 0);
}

/** The kernel's peaks begin again at what is resident now. */
export function resetPeak(pid: number): void {
  for (const each of treeOf(pid)) writeFileSync(`/proc/${each}/clear_refs`, "5");
}

function treeOf(pid: number): readonly number[] {
  const children = read(pid, `task/${pid}/children`).split(" ").filter(Boolean);
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
}

/** Nothing of a process that has just ended: its time is its parent's by then. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}
