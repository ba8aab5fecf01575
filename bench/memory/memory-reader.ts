// Reads the memory of an installation repeatedly: each page counted once, however many of its processes share it.
import { type MappedFiles, type ProcessKind, type ProcessMemory, readMappedFiles, readTree } from "./process-memory.ts";

export interface KindMemory {
  /** Each page once. A page that kinds share counts in each of them. */
  readonly bytes: number;
  readonly rssBytes: number;
  readonly processes: number;
}

export interface Reading {
  readonly kinds: ReadonlyMap<ProcessKind, KindMemory>;
  /** Of the installation's own processes: without npm and an external server. */
  readonly own: KindMemory;
}

export interface MemoryReader {
  read(): Reading;
}

/** Mapped files grow with the code that runs; reading them at each sample would slow the processes. */
const FILES_EVERY_MS = 200;
const NOT_OWN: ReadonlySet<ProcessKind> = new Set(["npm", "external server"]);

/** `externalPid`: a PostgreSQL server that is reported too. */
export function createMemoryReader(root: number, externalPid: number | null): MemoryReader {
  const cache = new Map<number, { readonly atMs: number; readonly files: MappedFiles }>();

  function filesOf(pid: number): MappedFiles {
    const known = cache.get(pid);
    const nowMs = performance.now();
    if (known !== undefined && nowMs - known.atMs < FILES_EVERY_MS) return known.files;
    const files = readMappedFiles(pid);
    cache.set(pid, { atMs: nowMs, files });
    return files;
  }

  function sum(processes: readonly ProcessMemory[]): KindMemory {
    const parts = new Map<string, number>();
    for (const { pid } of processes)
      for (const [part, bytes] of filesOf(pid)) parts.set(part, Math.max(bytes, parts.get(part) ?? 0));
    const shared = [...parts.values()].reduce((total, bytes) => total + bytes, 0);
    return {
      bytes: processes.reduce((total, { ownBytes }) => total + ownBytes, shared),
      rssBytes: processes.reduce((total, { rssBytes }) => total + rssBytes, 0),
      processes: processes.length,
    };
  }

  return {
    read: () => {
      const external = externalPid === null ? [] : readTree(externalPid);
      const tree = [...readTree(root), ...external.map((each) => ({ ...each, kind: "external server" as const }))];
      const groups = Map.groupBy(tree, ({ kind }) => kind);
      return {
        kinds: new Map([...groups].map(([kind, processes]) => [kind, sum(processes)])),
        own: sum(tree.filter(({ kind }) => !NOT_OWN.has(kind))),
      };
    },
  };
}
