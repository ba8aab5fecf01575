// How much memory a new process may use: what the machine has left, and what the container's limit leaves.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface MemoryFiles {
  /** `/proc` and `/sys/fs/cgroup`, or copies for tests. */
  readonly proc: string;
  readonly cgroup: string;
}

const LINUX: MemoryFiles = { proc: "/proc", cgroup: "/sys/fs/cgroup" };

/** In bytes. On other systems than Linux, Node's own figure. */
export async function availableMemory(files: MemoryFiles = LINUX): Promise<number> {
  const machine = await machineMemory(files);
  const limits = await Promise.all([ofVersion2(files), ofVersion1(files)]);
  return Math.min(machine ?? process.availableMemory(), ...limits.filter((each) => each !== null));
}

async function machineMemory({ proc }: MemoryFiles): Promise<number | null> {
  const text = await textOf(join(proc, "meminfo"));
  const kibibytes = Number(/^MemAvailable:\s+(\d+) kB$/mu.exec(text ?? "")?.[1]);
  return Number.isFinite(kibibytes) ? kibibytes * 1024 : null;
}

/** The group of this process as the container sees it: its own root, or the path in `/proc/self/cgroup`. */
async function ofVersion2({ proc, cgroup }: MemoryFiles): Promise<number | null> {
  const path = /^0::(.*)$/mu.exec((await textOf(join(proc, "self/cgroup"))) ?? "")?.[1] ?? "/";
  const rests = await Promise.all(
    [cgroup, join(cgroup, path)].map(async (folder) =>
      restOf({
        limit: await textOf(join(folder, "memory.max")),
        used: await textOf(join(folder, "memory.current")),
        reclaimable: statOf(await textOf(join(folder, "memory.stat")), "inactive_file"),
      }),
    ),
  );
  return least(rests);
}

async function ofVersion1({ cgroup }: MemoryFiles): Promise<number | null> {
  const folder = join(cgroup, "memory");
  return restOf({
    limit: await textOf(join(folder, "memory.limit_in_bytes")),
    used: await textOf(join(folder, "memory.usage_in_bytes")),
    reclaimable: statOf(await textOf(join(folder, "memory.stat")), "total_inactive_file"),
  });
}

/** Cached files count as used and are dropped when memory is needed. */
function restOf(group: {
  readonly limit: string | null;
  readonly used: string | null;
  readonly reclaimable: number;
}): number | null {
  const limit = Number(group.limit ?? "max");
  const used = Number(group.used ?? "unknown");
  if (!Number.isFinite(limit) || !Number.isFinite(used)) return null;
  return Math.max(0, limit - Math.max(0, used - group.reclaimable));
}

function statOf(text: string | null, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, "mu").exec(text ?? "")?.[1] ?? 0);
}

function least(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

async function textOf(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    return null;
  }
}
