// `patchbay up` or `patchbay worker` as an operator starts it: a process that is killed, stopped and continued, and started again.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { testFlags } from "../../harness/node-flags.ts";

export interface PatchbayProcess {
  readonly name: string;
  /** Where it listens; a gateway's alone, and another one after every start. */
  readonly origin: string | null;
  readonly isRunning: boolean;
  /** Of the process that runs; null when none does. */
  readonly pid: number | null;
  start(): Promise<void>;
  /** As the operating system's out-of-memory killer does it. */
  kill(): Promise<void>;
  /** Frozen, as a process is whose machine swaps or is moved. */
  stop(): void;
  resume(): void;
  terminate(): Promise<void>;
}

const MAIN = join(import.meta.dirname, "../../../src/main.ts");
/** A machine that does ten things at once starts a gateway within two minutes; one that ends says so at once. */
const START_MS = 180_000;

/** It neither served nor ended: nobody would start another. */
export class StuckStart extends Error {
  override readonly name = "StuckStart";
}

export interface PatchbayProcessOptions {
  readonly name: string;
  readonly command: "up" | "worker";
  readonly configFile: string;
  readonly folder: string;
  /** What Node itself is started with. */
  readonly nodeOptions?: readonly string[];
  /** Instead of those for processes that live for minutes. */
  readonly flags?: readonly string[];
}

export function createPatchbayProcess({
  name,
  command,
  configFile,
  folder,
  nodeOptions = [],
  flags = testFlags(),
}: PatchbayProcessOptions): PatchbayProcess {
  const logFile = join(folder, `${name}.log`);
  let child: ChildProcess | null = null;
  let origin: string | null = null;
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null;
  const killWithParent = (): void => void child?.kill("SIGKILL");
  process.once("exit", killWithParent);

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === null || !isRunning()) return;
    const exited = once(child, "exit");
    child.kill(signal);
    // A frozen process takes no signal but this one.
    if (signal !== "SIGKILL") child.kill("SIGCONT");
    await exited;
  };
  return {
    name,
    get origin() {
      return origin;
    },
    get isRunning() {
      return isRunning();
    },
    get pid() {
      return isRunning() ? (child?.pid ?? null) : null;
    },
    async start() {
      if (isRunning()) return;
      const log = openSync(logFile, "a");
      const started = spawn(process.execPath, [...flags, ...nodeOptions, MAIN, command, "--config", configFile], {
        cwd: folder,
        // The cache of what was compiled, so that not each of them compiles the whole gateway.
        env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" },
        stdio: ["ignore", log, "pipe"],
      });
      closeSync(log);
      child = started;
      const said = await ready(started).catch((error: unknown) => {
        started.kill("SIGKILL");
        throw error;
      });
      origin = command === "up" ? said : null;
      started.stderr?.resume();
    },
    kill: () => end("SIGKILL"),
    stop: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    terminate: () => end("SIGTERM"),
  };
}

/** Where it listens, or what it works on: a process that finds no database at its start ends before it says so. */
async function ready(child: ChildProcess): Promise<string> {
  let said = "";
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new StuckStart(`patchbay did not start: ${said}`)), START_MS);
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const word = /(?:listening|working)\s+(\S+)/u.exec(said)?.[1];
      if (word === undefined) return;
      clearTimeout(late);
      resolve(word);
    });
    child.once("exit", () => {
      clearTimeout(late);
      reject(new Error(`patchbay ended early: ${said}`));
    });
  });
}
