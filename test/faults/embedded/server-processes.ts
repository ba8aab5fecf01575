// Finds the processes of an embedded server by the data directory in their command lines: its postmaster and the shells of its guard.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { readPlacement } from "../../../src/storage/embedded/placement.ts";

export interface ServerProcesses {
  readonly postmasters: readonly number[];
  readonly guards: readonly number[];
}

const LOOK_MS = 50;

export async function serverProcesses(dataDir: string): Promise<ServerProcesses> {
  const { data } = await readPlacement(dataDir);
  const found = readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map((name) => ({ pid: Number(name), words: commandOf(name) }))
    .filter(({ words }) => words.includes(data));
  const servers = found.filter(({ words }) => words[0]?.endsWith("postgres") === true).map(({ pid }) => pid);
  return {
    // A process that a postmaster has just forked has the same command line for a moment.
    postmasters: servers.filter((pid) => !servers.includes(parentOf(pid))),
    guards: found.filter(({ words }) => words.includes("patchbay-database-guard")).map(({ pid }) => pid),
  };
}

/** Milliseconds until none remained. Null: some remained after `withinMs`. */
export async function untilServerGone(dataDir: string, withinMs: number): Promise<number | null> {
  const startedMs = performance.now();
  for (;;) {
    const { postmasters, guards } = await serverProcesses(dataDir);
    const ms = performance.now() - startedMs;
    if (postmasters.length + guards.length === 0) return ms;
    if (ms > withinMs) return null;
    await wait(LOOK_MS);
  }
}

export function killHard(pids: readonly number[]): void {
  for (const pid of pids)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just exited.
    }
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return 0;
  }
}

/** Empty for a process that has just exited, or is a zombie. */
function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(join("/proc", pid, "cmdline"), "utf8").split("\0");
  } catch {
    return [];
  }
}
