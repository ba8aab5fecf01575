// Starts programs that listen, for the benchmarks, and detects their failure.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { end } from "../../test/harness/programs.ts";

export interface Running extends AsyncDisposable {
  readonly origin: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const START_MS = 60_000;
const ASK_AGAIN_MS = 20;

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The port on loopback where it will listen. */
  readonly port: number;
}

/** A third-party program without a ready message: it is ready when its port accepts connections. */
export async function startProgram({ command, args, env, port }: Program): Promise<Running> {
  const child = spawn(command, args, { env, stdio: "ignore" });
  const cleanUp = (): void => {
    child.kill("SIGKILL");
  };
  // Also if this process ends without waiting: no child may survive it.
  process.once("exit", cleanUp);
  const stop = async () => {
    await end(child, "SIGTERM");
    process.off("exit", cleanUp);
  };
  try {
    await Promise.race([listens(port), ended(child, command)]);
    return { origin: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function listens(port: number): Promise<void> {
  const lastMs = performance.now() + START_MS;
  while (performance.now() < lastMs) {
    const socket = connect({ host: "127.0.0.1", port });
    try {
      await once(socket, "connect");
      return;
    } catch {
      await wait(ASK_AGAIN_MS);
    } finally {
      socket.destroy();
    }
  }
  throw new Error(`nothing listens on port ${port}`);
}

export async function ended(child: ChildProcess, what: string): Promise<never> {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  throw new Error(`${what} ended early (${signal ?? code})`);
}

export function tooLate(what: string): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`${what} did not start`)), START_MS).unref();
  });
}
