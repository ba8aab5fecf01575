// Reads CPU time and memory of a process from /proc, so it requires Linux.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** `getconf CLK_TCK` on every Linux supported by Node.js. */
const TICKS_PER_SECOND = 100;

/** User and system time of all threads of a process and of its current and former children, since their start. */
export function cpuMsOf(pid: number): number {
  return treeOf(pid).reduce((sum, each) => sum + ownCpuMsOf(each), 0);
}

/** The same of this process and its ended children. */
export function ownCpuMsOf(pid: number): number {
  const stat = read(pid, "stat");
  // The second field is a name in parentheses, which may contain spaces. The last two fields are of ended children.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1000) / TICKS_PER_SECOND;
}

export interface Memory {
  /** Current resident memory. */
  readonly rssBytes: number;
  /** Peak resident memory, as recorded by the kernel. */
  readonly peakBytes: number;
}

/** Of the process and its children; their peaks may have been at different times. */
export function memoryOf(pid: number): Memory {
  const all = treeOf(pid).map((each) => {
    const status = read(each, "status");
    const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "mu").exec(status)?.[1] ?? 0);
    return { rssBytes: kibibytes("VmRSS") * 1024, peakBytes: kibibytes("VmHWM") * 1024 };
  });
  const sum = (of: (each: Memory) => number) => all.reduce((total, each) => total + of(each), 0);
  return { rssBytes: sum((each) => each.rssBytes), peakBytes: sum((each) => each.peakBytes) };
}

/** Resident memory of the process and its children, with shared pages counted once. */
export function sharedOnceBytes(pid: number): number {
  return treeOf(pid).reduce((sum, each) => {
    const kibibytes = Number(/^Pss:\s+(\d+)/mu.exec(read(each, "smaps_rollup"))?.[1] ?? 0);
    return sum + kibibytes * 1024;
  }, 0);
}

/** Resets the kernel's peaks to the current resident memory. */
export function resetPeak(pid: number): void {
  for (const each of treeOf(pid)) writeFileSync(`/proc/${each}/clear_refs`, "5");
}

/** The process and its current descendants. A child belongs to the thread that started it. */
export function treeOf(pid: number): readonly number[] {
  const children = threadsOf(pid).flatMap((thread) => read(pid, `task/${thread}/children`).split(" ").filter(Boolean));
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Empty for a process that has just ended: its time then belongs to its parent. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}
