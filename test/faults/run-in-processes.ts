// Runs trials as separate processes, several in parallel if requested: a crash affects no other trial, and trials that mostly wait for leases and clocks share
// the machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { testFlags } from "../harness/node-flags.ts";
import type { FaultReport } from "./report.ts";

export interface RunInProcesses {
  readonly names: readonly string[];
  /** Passed to each. */
  readonly options: readonly string[];
  readonly atOnce: number;
  /** The report; or the last output as text if there is none. */
  readonly onEnd: (name: string, report: FaultReport | string, seconds: number) => void;
}

const LAST_WORDS = 2_000;

export async function runInProcesses({ names, options, atOnce, onEnd }: RunInProcesses): Promise<void> {
  const waiting = [...names];
  const runNext = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const started = performance.now();
      const report = await runOne(name, options);
      onEnd(name, report, (performance.now() - started) / 1000);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
}

async function runOne(name: string, options: readonly string[]): Promise<FaultReport | string> {
  const trial = [join(import.meta.dirname, "main.ts"), name, "--json", ...options];
  const child = spawn(process.execPath, [...testFlags(), ...trial], { stdio: ["ignore", "pipe", "pipe"] });
  const endWithParent = (): void => void child.kill("SIGTERM");
  process.once("exit", endWithParent);
  const [output, complained] = await Promise.all([text(child.stdout), text(child.stderr), exited(child)]);
  process.off("exit", endWithParent);
  const line = output.trimEnd().split("\n").at(-1) ?? "";
  try {
    return JSON.parse(line) as FaultReport;
  } catch {
    return (complained || output).trim().slice(-LAST_WORDS) || "it ended without a word";
  }
}

async function exited(child: ReturnType<typeof spawn>): Promise<void> {
  await once(child, "exit");
}
