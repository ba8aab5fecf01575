// Runs one step of the table of goals in a process of its own, and reports what the machine was doing before it.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { end } from "../../test/harness/programs.ts";
import { worthOfCores } from "../measure/cores.ts";
import { round } from "../measure/report.ts";
import type { StepArgument, StepResult } from "./reading.ts";

export interface Circumstances {
  readonly loadAverage: number;
  /** Cores that other programs used in the second before the step. */
  readonly otherCores: number;
  readonly worthOfCores: number;
}

const LOOK_MS = 1_000;
const FAULT_CHARACTERS = 600;
/** For a step to end its own child processes. */
const END_MS = 30_000;

export async function readCircumstances(): Promise<Circumstances> {
  const loadAverage = round(loadavg()[0] ?? Number.NaN, 2);
  const before = readTicks();
  await wait(LOOK_MS);
  const after = readTicks();
  const busyShare = (after.busy - before.busy) / (after.all - before.all);
  const otherCores = round(busyShare * availableParallelism(), 2);
  return { loadAverage, otherCores, worthOfCores: round(await worthOfCores(), 2) };
}

/** Throws with the last lines of its output if it failed or took too long. */
export async function runStep(argument: StepArgument, limitSeconds: number): Promise<StepResult> {
  const child = fork(join(import.meta.dirname, "step.ts"), [JSON.stringify(argument)], {
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let output = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-FAULT_CHARACTERS);
  });
  const kill = (): void => {
    child.kill("SIGTERM");
  };
  process.once("exit", kill);
  const timeout = new AbortController();
  try {
    return await Promise.race([
      answerOf(child, () => output),
      wait(limitSeconds * 1000, null, { signal: timeout.signal }).then(() => {
        throw new Error(`it took longer than ${limitSeconds} s`);
      }),
    ]);
  } finally {
    timeout.abort();
    const killed = setTimeout(() => child.kill("SIGKILL"), END_MS);
    await end(child, "SIGTERM");
    clearTimeout(killed);
    process.off("exit", kill);
  }
}

async function answerOf(child: ChildProcess, output: () => string): Promise<StepResult> {
  const exited = once(child, "exit").then(([code, signal]) => {
    throw new Error(`it ended early (${signal ?? code}): ${output().trim()}`);
  });
  const [result] = (await Promise.race([once(child, "message"), exited])) as [StepResult];
  return result;
}

function readTicks(): { readonly busy: number; readonly all: number } {
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, ...others] = (
    readFileSync("/proc/stat", "latin1").split("\n")[0] ?? ""
  )
    .split(/\s+/u)
    .slice(1, 9)
    .map(Number);
  const busy = user + nice + system + others.reduce((sum, each) => sum + each, 0);
  return { busy, all: busy + idle + waiting };
}
