// Starts the gateway of kill-child.ts as a separate process, communicates with it, and observes its death.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Ask, ChildSetup, Facts, FromChild, ToChild } from "./kill-protocol.ts";

export interface GatewayProcess {
  readonly origin: string;
  ask(ask: Ask): Promise<Facts | null>;
  /** SIGKILL, like the operating system's out-of-memory killer. */
  kill(): void;
  /** True once it has died; false if it is still alive after the timeout. */
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
    const pending = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === "answer") pending?.resolve(message.facts);
    else pending?.reject(new Error(message.message));
  });
  void exited.then(() => ready.reject(new Error("the gateway process did not start")));
  const origin = await ready.promise;
  let lastId = 0;
  const ask = (question: Ask): Promise<Facts | null> => {
    const answer = Promise.withResolvers<Facts | null>();
    lastId += 1;
    waiting.set(lastId, answer);
    child.send({ id: lastId, ask: question } satisfies ToChild);
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
