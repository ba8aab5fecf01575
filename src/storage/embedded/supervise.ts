// Supervises the embedded server: starts it, restarts it with back-off when it exits unexpectedly, and shuts it down.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { ClientConfig } from "pg";
import { acceptsConnections } from "./accepts-connections.ts";

export interface SupervisedServer {
  /** Requests a fast shutdown and resolves when the server has exited. */
  stop(): Promise<void>;
}

export interface SupervisionOptions {
  readonly spawn: () => ChildProcess;
  /** Stops processes that an unexpectedly exited server may have left running. */
  readonly cleanUp: () => Promise<void>;
  readonly connection: ClientConfig;
  /** The server exited unexpectedly and will be restarted after `delayMs`. */
  readonly onRestart: (delayMs: number) => void;
}

const READY_WITHIN_MS = 60_000;
const POLL_MS = 20;
const SHORTEST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/** After running for so long, a server restarts with the shortest delay. */
const STEADY_MS = 60_000;
const STOP_WITHIN_MS = 15_000;

export class ServerEnded extends Error {
  override readonly name = "ServerEnded";
}

/** Resolves when the server accepts connections. Throws `ServerEnded` if it exits before. */
export async function supervise(options: SupervisionOptions): Promise<SupervisedServer> {
  const stopping = new AbortController();
  let child = options.spawn();
  let sinceMs = performance.now();
  try {
    await waitUntilReady(child, options.connection);
  } catch (error) {
    stopping.abort();
    await stopChild(child);
    throw error;
  }
  const restartLoop = async (): Promise<void> => {
    for (let delayMs = SHORTEST_DELAY_MS; ; ) {
      await waitForExit(child);
      if (stopping.signal.aborted) return;
      delayMs = performance.now() - sinceMs > STEADY_MS ? SHORTEST_DELAY_MS : Math.min(delayMs * 2, LONGEST_DELAY_MS);
      options.onRestart(delayMs);
      await wait(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      await options.cleanUp().catch(() => undefined);
      if (stopping.signal.aborted) return;
      child = options.spawn();
      sinceMs = performance.now();
    }
  };
  const restarting = restartLoop();
  return {
    stop: async () => {
      stopping.abort();
      await stopChild(child);
      await restarting;
    },
  };
}

async function waitUntilReady(child: ChildProcess, connection: ClientConfig): Promise<void> {
  const deadlineMs = performance.now() + READY_WITHIN_MS;
  const exit = waitForExit(child);
  let hasExited = false;
  void (async () => {
    await exit;
    hasExited = true;
  })();
  for (;;) {
    if (hasExited) throw new ServerEnded("the PostgreSQL server ended during its start");
    if (performance.now() > deadlineMs)
      throw new ServerEnded(`the PostgreSQL server is not ready after ${READY_WITHIN_MS / 1000} s`);
    if (await acceptsConnections(connection)) return;
    await Promise.race([wait(POLL_MS), exit]);
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = waitForExit(child);
  child.stdin?.end();
  if (process.platform === "win32") child.kill();
  const isLate = await Promise.race([exit.then(() => false), wait(STOP_WITHIN_MS, true, { ref: false })]);
  if (!isLate) return;
  // Kills the process group: the guard and the server.
  if (process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
  await exit;
}

/** Waits for `exit`, because `close` would wait for every process that inherited the log's pipe. */
async function waitForExit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await Promise.race([once(child, "exit"), once(child, "error")]).catch(() => undefined);
}
