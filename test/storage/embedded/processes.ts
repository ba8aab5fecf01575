// Processes that own an embedded server, and a look at what runs on its files.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { postgresBin } from "../../harness/postgres/embedded-data.ts";

const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

export interface OwnerProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** Resolves with the next line of this kind. */
  readonly restarted: Promise<unknown>;
  readonly stop: () => Promise<void>;
}

/** Rejects with what the process printed if it ends before the server is ready. */
export async function startOwner(dataDir: string, wrapper: readonly string[] = []): Promise<OwnerProcess> {
  const args = [CHILD, dataDir, await postgresBin()];
  const [program, ...options] = wrapper;
  const child =
    program === undefined
      ? spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] })
      : spawn(program, [...options, process.execPath, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const ready = Promise.withResolvers<string>();
  const restarted = Promise.withResolvers<unknown>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as { url?: string; restartInMs?: number };
    if (message.url !== undefined) ready.resolve(message.url);
    else restarted.resolve(message);
  });
  child.once("close", () => ready.reject(new Error(complaint)));
  child.stdin.on("error", () => undefined);
  const url = await ready.promise;
  return {
    child,
    url,
    restarted: restarted.promise,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}

/** The processes whose command line names these files: the guard's shells and the server. */
export function processesOn(data: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .filter((name) => commandOf(name).includes(data))
    .map(Number);
}

export function guardsOn(data: string): readonly number[] {
  return processesOn(data).filter((pid) => commandOf(String(pid)).includes("patchbay-database-guard"));
}

export function postmasterOf(data: string): number {
  return Number.parseInt(readFileSync(join(data, "postmaster.pid"), "utf8"), 10);
}

/** Polls: what ends by itself says nothing to this process. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(20);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(join("/proc", pid, "cmdline"), "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
