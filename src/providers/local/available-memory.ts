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

async function ofVersion2({ proc, cgroup }: MemoryFiles): Promise<number | null> {
  const own = /^0::(.*)$/mu.exec((await textOf(join(proc, "self/cgroup"))) ?? "")?.[1];
  return leastOf(cgroup, own, { limit: "memory.max", used: "memory.current", reclaimable: "inactive_file" });
}

async function ofVersion1({ proc, cgroup }: MemoryFiles): Promise<number | null> {
  const own = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/mu.exec((await textOf(join(proc, "self/cgroup"))) ?? "")?.[1];
  return leastOf(join(cgroup, "memory"), own, {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
  });
}

/** Of the group of this process and all that contain it, because each may have a limit. A container sees its own group as the root. */
async function leastOf(
  root: string,
  own: string | undefined,
  names: { readonly limit: string; readonly used: string; readonly reclaimable: string },
): Promise<number | null> {
  const rests = await Promise.all(
    groupsOf(own ?? "/").map(async (group) => {
      const folder = join(root, group);
      return restOf({
        limit: await textOf(join(folder, names.limit)),
        used: await textOf(join(folder, names.used)),
        reclaimable: statOf(await textOf(join(folder, "memory.stat")), names.reclaimable),
      });
    }),
  );
  return least(rests);
}

/** `/a/b` → the root, `a`, `a/b`. A path above the root of this process's view has no files here. */
function groupsOf(path: string): readonly string[] {
  const names = path.split("/").filter((name) => name !== "");
  if (names.includes("..")) return [""];
  return ["", ...names.map((_name, at) => names.slice(0, at + 1).join("/"))];
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
