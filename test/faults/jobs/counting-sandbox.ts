// The provider of the job trials: the sandbox in another process, so that killing a worker never loses its count.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { SandboxCall } from "../../../sandbox/server.ts";

export interface CountingSandbox {
  readonly deepgramUrl: string;
  /** How long every answer takes from now on. */
  setDelay(ms: number): Promise<void>;
  /** Submissions by the SHA-256 of their audio; of those whose body never came whole, only how many. */
  countSubmissions(): Promise<{ readonly byAudio: ReadonlyMap<string, number>; readonly incomplete: number }>;
  close(): Promise<void>;
}

export async function startCountingSandbox(): Promise<CountingSandbox> {
  const child = fork(join(import.meta.dirname, "sandbox-child.ts"), { execArgv: [] });
  const killWithParent = (): void => void child.kill("SIGKILL");
  process.once("exit", killWithParent);
  const [{ origin, deepgramUrl }] = (await once(child, "message")) as [{ origin: string; deepgramUrl: string }];
  return {
    deepgramUrl,
    setDelay: async (ms) => {
      await fetch(`${origin}/_sandbox/faults`, {
        method: "PUT",
        body: JSON.stringify([{ fault: { kind: "delay", ms: Math.round(ms) } }]),
      });
    },
    countSubmissions: async () => {
      const answer = await fetch(`${origin}/_sandbox/calls`);
      const { calls } = (await answer.json()) as { readonly calls: readonly SandboxCall[] };
      const byAudio = new Map<string, number>();
      let incomplete = 0;
      for (const { file } of calls) {
        if (file === null) incomplete += 1;
        else byAudio.set(file.sha256, (byAudio.get(file.sha256) ?? 0) + 1);
      }
      return { byAudio, incomplete };
    },
    close: async () => {
      process.off("exit", killWithParent);
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
