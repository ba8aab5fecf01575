// Processes that try mutants (host.ts), and the doubt about them: what one mutant leaves behind must not condemn the next, so the
// file as it is has to pass again and again in the same process, or all that it was said to notice since is tried again in fresh ones.
import { fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cpuMsOf } from "../../bench/cost.ts";
import type { Mutant } from "./changes.ts";
import type { Answer, Ask } from "./host.ts";
import type { Subject } from "./subjects.ts";

const COPIED = ["src", "test", "docs", "sandbox", "package.json", "package-lock.json", "tsconfig.json", "scripts"];
/** The verdicts on so many mutants depend on one run of the file as it is. */
const DOUBTED = 25;
/** Modules that were loaded once are never let go. */
const MOST_ROUNDS = 150;
/** An endless loop is recognised by its CPU time: a busy machine does not look like that. */
const MOST_CPU_MS = 20_000;
const LOOK_EVERY_MS = 500;

export interface Trial {
  readonly subject: Subject;
  readonly mutant: Mutant;
}

export interface Tried extends Trial {
  readonly answer: Answer;
}

/** Tries mutants of one file; `source` is the file as it is. */
export async function tryAll(trials: readonly Trial[], source: string, workers: number): Promise<readonly Tried[]> {
  const waiting = trials.map((trial) => ({ ...trial, isAlone: false }));
  const tried: Tried[] = [];
  const kills = new Map<string, { count: number; line: number }>();
  /** First the tests that noticed a neighbour, which often notice this one too, and then those that notice most. */
  const preferred = (line: number): readonly string[] =>
    [...kills]
      .toSorted(
        ([, one], [, other]) =>
          Math.min(3, Math.abs(one.line - line)) - Math.min(3, Math.abs(other.line - line)) || other.count - one.count,
      )
      .map(([key]) => key);

  async function work(): Promise<void> {
    const [first] = trials;
    if (first === undefined) return;
    const { file, tests } = first.subject;
    const place = await openPlace();
    let host: Host | null = null;
    let doubted: Tried[] = [];
    const ask = async (text: string, line: number): Promise<Answer> => {
      await writeFile(join(place, file), text);
      host ??= await startHost(place);
      const answer = await host.ask({ file, tests, first: preferred(line) });
      if (host.isSpent()) await leave();
      return answer;
    };
    const leave = async (): Promise<void> => {
      await host?.end();
      host = null;
    };
    /** Whether the process is still to be believed. */
    const believe = async (): Promise<void> => {
      const isSound = host === null || (await ask(source, 0)).verdict === "survived";
      for (const each of doubted)
        if (isSound || each.answer.verdict === "survived") tried.push(each);
        else waiting.push({ ...each, isAlone: true });
      doubted = [];
      if (!isSound) await leave();
    };
    try {
      const unchanged = await ask(source, 0);
      if (unchanged.verdict !== "survived")
        throw new Error(`the tests of ${file} fail without any change: ${unchanged.by}: ${unchanged.error}`);
      for (;;) {
        if (doubted.length >= DOUBTED || (waiting.length === 0 && doubted.length > 0)) await believe();
        const next = waiting.shift();
        if (next === undefined) break;
        const { subject, mutant, isAlone } = next;
        if (isAlone) await believe();
        if (isAlone) await leave();
        const answer = await ask(mutant.text, mutant.line);
        if (answer.by !== null)
          kills.set(answer.by, { count: (kills.get(answer.by)?.count ?? 0) + 1, line: mutant.line });
        (isAlone ? tried : doubted).push({ subject, mutant, answer });
        if (isAlone) await leave();
      }
    } finally {
      await leave();
      await rm(place, { recursive: true, force: true });
    }
  }

  await Promise.all(Array.from({ length: Math.min(workers, trials.length) }, work));
  return tried;
}

async function openPlace(): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "patchbay-mutation-"));
  for (const name of COPIED)
    await cp(name, join(place, name), { recursive: true, filter: (path) => !path.includes("node_modules") });
  await symlink(resolve("node_modules"), join(place, "node_modules"));
  return place;
}

interface Host {
  ask(ask: Ask): Promise<Answer>;
  isSpent(): boolean;
  end(): Promise<void>;
}

async function startHost(place: string): Promise<Host> {
  const child = fork(join(import.meta.dirname, "host.ts"), {
    cwd: place,
    execArgv: ["--liftoff-only", "--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, PATCHBAY_FEWER_ADDRESSES: "20" },
  });
  const closed = once(child, "close");
  // One that is in an endless loop receives no message.
  const endWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", endWithUs);
  void closed.then(() => process.off("exit", endWithUs));
  await Promise.race([once(child, "message"), closed]);
  let rounds = 0;
  return {
    ask: async (ask) => {
      rounds += 1;
      const answered = Promise.withResolvers<Answer>();
      const cpuMs = cpuMsOf(child.pid ?? 0);
      const timer = setInterval(() => {
        if (cpuMsOf(child.pid ?? 0) - cpuMs < MOST_CPU_MS) return;
        child.kill("SIGKILL");
        answered.resolve({ verdict: "endless", by: null, error: "endless loop" });
      }, LOOK_EVERY_MS);
      const onMessage = (answer: unknown): void => answered.resolve(answer as Answer);
      child.once("message", onMessage);
      void closed.then(() => answered.resolve({ verdict: "killed", by: null, error: "the process ended" }));
      child.send(ask);
      try {
        return await answered.promise;
      } finally {
        clearInterval(timer);
        child.off("message", onMessage);
      }
    },
    isSpent: () => rounds >= MOST_ROUNDS || child.killed || child.exitCode !== null || child.signalCode !== null,
    end: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
