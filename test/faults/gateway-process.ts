// Starts the gateway of kill-child.ts as a process of its own, talks to it, and sees it die.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Ask, ChildSetup, Facts, FromChild, ToChild } from "./kill-protocol.ts";

export interface GatewayProcess {
  readonly origin: string;
  ask(ask: Ask): Promise<Facts | null>;
  /** As the operating system's out-of-memory killer does it. */
  kill(): void;
  /** True once it has died; false when it is still there after so long. */
  diedWithin(ms: number): Promise<boolean>;
  close(): Promise<void>;
}

export async function startGatewayProcess(setup: ChildSetup): Promise<GatewayProcess> {
  const child = fork(join(import.meta.dirname, "kill-child.ts"), [JSON.stringify(setup)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const waiting = new Map<number, PromiseWithResolvers<Facts | null>>();
  const killWithParent = (): void => void child.kill("SIGKILL");
  process.once("exit", killWithParent);
  const exited = untilGone();
  async function untilGone(): Promise<void> {
    await once(child, "exit");
    process.off("exit", killWithParent);
    for (const { reject } of waiting.values()) reject(new Error("the gateway process died"));
    waiting.clear();
  }
  const ready = Promise.withResolvers<string>();
  child.on("message", (raw) => {
    const message = raw as FromChild;
    if (message.kind === "ready") return ready.resolve(message.origin);
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === "answer") asked?.resolve(message.facts);
    else asked?.reject(new Error(message.message));
  });
  void exited.then(() => ready.reject(new Error("the gateway process did not start")));
  const origin = await ready.promise;
  let asked = 0;
  const ask = (what: Ask): Promise<Facts | null> => {
    const answer = Promise.withResolvers<Facts | null>();
    asked += 1;
    waiting.set(asked, answer);
    child.send({ id: asked, ask: what } satisfies ToChild);
    return answer.promise;
  };
  return {
    origin,
    ask,
    kill: killWithParent,
    diedWithin: (ms) => within(exited, ms),
    close: async () => {
      if (isGone(child)) return;
      await ask({ kind: "close" }).catch(() => null);
      if (!(await within(exited, 10_000))) child.kill("SIGKILL");
      await exited;
    },
  };
}

function isGone(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function within(event: Promise<void>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([event.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
