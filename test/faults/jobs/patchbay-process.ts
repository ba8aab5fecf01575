// `patchbay up` or `patchbay worker` as an operator starts it: a process that can be killed, stopped, continued and restarted.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { testFlags } from "../../harness/node-flags.ts";

export interface PatchbayProcess {
  readonly name: string;
  /** The address of a gateway, which changes with every start. Null for a worker. */
  readonly origin: string | null;
  readonly isRunning: boolean;
  /** Of the running process. Null: none runs. */
  readonly pid: number | null;
  start(): Promise<void>;
  /** SIGKILL, like the operating system's out-of-memory killer. */
  kill(): Promise<void>;
  /** SIGSTOP, like a process whose machine swaps or is migrated. */
  stop(): void;
  resume(): void;
  terminate(): Promise<void>;
}

const MAIN = join(import.meta.dirname, "../../../src/main.ts");
/** A busy machine starts a gateway within two minutes; a process that exits is noticed at once. */
const START_MS = 180_000;

/** It neither served nor exited, so a supervisor would not restart it. */
export class StuckStart extends Error {
  override readonly name = "StuckStart";
}

export interface PatchbayProcessOptions {
  readonly name: string;
  readonly command: "up" | "worker";
  readonly configFile: string;
  readonly folder: string;
  /** Node.js options. */
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
    // A stopped process handles no other signal.
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
        // A shared compile cache, so that not each process compiles the whole gateway.
        env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" },
        stdio: ["ignore", log, "pipe"],
      });
      closeSync(log);
      child = started;
      const output = await ready(started).catch((error: unknown) => {
        started.kill("SIGKILL");
        throw error;
      });
      origin = command === "up" ? output : null;
      started.stderr?.resume();
    },
    kill: () => end("SIGKILL"),
    stop: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    terminate: () => end("SIGTERM"),
  };
}

/** The first line of output: its address, or what it works on. A process that finds no database exits before. */
async function ready(child: ChildProcess): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new StuckStart(`patchbay did not start: ${output}`)), START_MS);
    child.stderr?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const word = /(?:listening|working)\s+(\S+)/u.exec(output)?.[1];
      if (word === undefined) return;
      clearTimeout(late);
      resolve(word);
    });
    child.once("exit", () => {
      clearTimeout(late);
      reject(new Error(`patchbay ended early: ${output}`));
    });
  });
}
