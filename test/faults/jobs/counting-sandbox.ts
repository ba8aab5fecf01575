// The provider of the job trials: the sandbox in another process, so that killing a worker never loses its counts.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { FaultRule, SandboxCall } from "../../../sandbox/server.ts";

export interface CountingSandbox {
  readonly deepgramUrl: string;
  readonly assemblyaiUrl: string;
  /** Sets the duration of every answer, and the number of polls during which a run is in progress. Default: one. */
  setDelay(ms: number, polls?: number): Promise<void>;
  /** Submissions by the key term of their request, which the start of a call already shows. */
  countSubmissions(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

interface Urls {
  readonly origin: string;
  readonly deepgramUrl: string;
  readonly assemblyaiUrl: string;
}

export async function startCountingSandbox(): Promise<CountingSandbox> {
  const child = fork(join(import.meta.dirname, "sandbox-child.ts"), { execArgv: [] });
  const killWithParent = (): void => void child.kill("SIGKILL");
  process.once("exit", killWithParent);
  const [{ origin, deepgramUrl, assemblyaiUrl }] = (await once(child, "message")) as [Urls];
  return {
    deepgramUrl,
    assemblyaiUrl,
    setDelay: async (ms, polls = 1) => {
      await fetch(`${origin}/_sandbox/faults`, {
        method: "PUT",
        body: JSON.stringify([
          { fault: { kind: "delay", ms: Math.round(ms) } },
          ...(polls === 0 ? [] : [{ wire: "assemblyai", fault: { kind: "unfinished", polls } } as const]),
        ] satisfies readonly FaultRule[]),
      });
    },
    countSubmissions: async () => {
      const answer = await fetch(`${origin}/_sandbox/calls`);
      const { calls } = (await answer.json()) as { readonly calls: readonly SandboxCall[] };
      const byTerm = new Map<string, number>();
      for (const call of calls) {
        const term = submittedTerm(call);
        if (term !== null) byTerm.set(term, (byTerm.get(term) ?? 0) + 1);
      }
      return byTerm;
    },
    close: async () => {
      process.off("exit", killWithParent);
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Null for calls that start no work, such as uploads and polls. */
function submittedTerm({ wire, method, path, query, fields }: SandboxCall): string | null {
  if (wire === "deepgram") return query.find(([name]) => name === "keyterm")?.[1] ?? null;
  if (method !== "POST" || !path.endsWith("/v2/transcript")) return null;
  const terms = fields.find(([name]) => name === "keyterms_prompt")?.[1];
  return terms === undefined ? null : ((JSON.parse(terms) as readonly string[])[0] ?? null);
}
