// Reads the memory of every process below one, by what the process is for.
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { treeOf } from "../cost.ts";

/**
 * `npm`: npm itself and its shell. `launcher`: `bin/patchbay.js` of an installed package. `PostgreSQL`: the embedded server. `external server`: a PostgreSQL
 * server that the gateway did not start.
 */
export type ProcessKind =
  | "npm"
  | "launcher"
  | "gateway"
  | "speech engine"
  | "decoder"
  | "PostgreSQL"
  | "external server";

export interface ProcessMemory {
  readonly pid: number;
  readonly kind: ProcessKind;
  /** Resident memory, in which a page that several processes share counts for each. */
  readonly rssBytes: number;
  /** Resident memory that belongs to no file. Pages shared with other processes, as PostgreSQL's buffers are, count in proportion. */
  readonly ownBytes: number;
}

/** Resident bytes of each mapped part of a file: of programs and libraries, which several processes share. */
export type MappedFiles = ReadonlyMap<string, number>;

export function readTree(root: number): readonly ProcessMemory[] {
  return treeOf(root).flatMap((pid) => {
    const rollup = read(pid, "smaps_rollup");
    const kind = kindOf(pid);
    // Otherwise it has just ended.
    if (rollup === "" || kind === null) return [];
    const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "mu").exec(rollup)?.[1] ?? 0);
    const ownBytes = (kibibytes("Pss_Anon") + kibibytes("Pss_Shmem")) * 1_024;
    return [{ pid, kind, rssBytes: kibibytes("Rss") * 1_024, ownBytes }];
  });
}

/** Costs a millisecond or more of a processor, unlike `readTree`. */
export function readMappedFiles(pid: number): MappedFiles {
  const files = new Map<string, number>();
  let part: string | null = null;
  for (const line of read(pid, "smaps").split("\n")) {
    const mapping = /^[\da-f]+-[\da-f]+ (\S+) (\S+) \S+ \d+\s+(\/.*)$/u.exec(line);
    // Memory that processes share under a name, and the devices, are no files.
    if (mapping !== null) part = /^\/(?:dev|SYSV)/u.test(mapping[3] ?? "") ? null : mapping.slice(1).join(" ");
    else if (/^[\da-f]+-[\da-f]+ /u.test(line)) part = null;
    else if (part !== null && line.startsWith("Rss:"))
      files.set(part, (files.get(part) ?? 0) + Number(/\d+/u.exec(line)?.[0] ?? 0) * 1_024);
    // Pages of a file that were written to are the process's own, and counted there.
    else if (part !== null && line.startsWith("Anonymous:"))
      files.set(part, (files.get(part) ?? 0) - Number(/\d+/u.exec(line)?.[0] ?? 0) * 1_024);
  }
  return files;
}

/** Null: it has just ended. */
export function kindOf(pid: number): ProcessKind | null {
  const program = programOf(pid);
  const command = read(pid, "cmdline");
  if (program === null || command === "") return null;
  if (program === "ffmpeg" || command.includes("ffmpeg-main.")) return "decoder";
  if (/^(?:postgres|initdb|pg_ctl)$/u.test(program) || command.includes("patchbay-database-guard")) return "PostgreSQL";
  if (program !== "node") return "npm";
  if (command.includes("engine-main.")) return "speech engine";
  if (/\/patchbay(?:\.js)?\0/u.test(command)) return "launcher";
  return /src\/main\.[jt]s\0/u.test(command) ? "gateway" : "npm";
}

function programOf(pid: number): string | null {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return null;
  }
}

/** Empty for a process that has just ended. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}
