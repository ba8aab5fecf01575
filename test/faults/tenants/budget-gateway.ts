// Starts the gateway of budget-child.ts as a separate process, and observes its death.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { AppSums, BudgetSetup, FromGateway, ToGateway } from "./budget-protocol.ts";

export interface BudgetGateway {
  readonly origin: string;
  resolve(): Promise<readonly AppSums[]>;
  /** SIGKILL, like the operating system's out-of-memory killer. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function startBudgetGateway(setup: BudgetSetup): Promise<BudgetGateway> {
  const child = fork(join(import.meta.dirname, "budget-child.ts"), [JSON.stringify(setup)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const killWithParent = (): void => void child.kill("SIGKILL");
  process.once("exit", killWithParent);
  const exited = once(child, "exit").then(() => void process.off("exit", killWithParent));
  const next = async (): Promise<FromGateway> => {
    const nextMessage = once(child, "message") as Promise<[FromGateway]>;
    const [message] = await Promise.race([
      nextMessage,
      exited.then(() => Promise.reject(new Error("the gateway ended"))),
    ]);
    return message;
  };
  const ready = await next();
  if (ready.kind !== "ready") throw new Error("the gateway did not start");
  return {
    origin: ready.origin,
    resolve: async () => {
      const answer = next();
      child.send("resolve" satisfies ToGateway);
      const message = await answer;
      return message.kind === "resolved" ? message.sums : [];
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
    close: async () => {
      if (child.connected) child.send("close" satisfies ToGateway);
      await exited;
    },
  };
}
