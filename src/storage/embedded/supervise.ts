// Keeps the embedded server running: started once, restarted with back-off when it ends by itself, stopped in good order.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { ClientConfig } from "pg";
import { acceptsConnections } from "./accepts-connections.ts";

export interface SupervisedServer {
  /** Ends the server by a fast shutdown; resolves when it is gone. */
  stop(): Promise<void>;
}

export interface SupervisionOptions {
  readonly spawn: () => ChildProcess;
  /** Removes what a server that ended by itself may have left running. */
  readonly cleanUp: () => Promise<void>;
  readonly connection: ClientConfig;
  /** The server ended by itself and is started again after `delayMs`. */
  readonly onRestart: (delayMs: number) => void;
}

const READY_WITHIN_MS = 60_000;
const LOOK_MS = 20;
const SHORTEST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/** A server that ran for so long starts again with the shortest delay. */
const STEADY_MS = 60_000;
const STOP_WITHIN_MS = 15_000;

export class ServerEnded extends Error {
  override readonly name = "ServerEnded";
}

/** Resolves when the server accepts connections. Throws `ServerEnded` if it ends before. */
export async function supervise(options: SupervisionOptions): Promise<SupervisedServer> {
  const stopping = new AbortController();
  let child = options.spawn();
  let sinceMs = performance.now();
  try {
    await ready(child, options.connection);
  } catch (error) {
    stopping.abort();
    await stopChild(child);
    throw error;
  }
  const keep = async (): Promise<void> => {
    for (let delayMs = SHORTEST_DELAY_MS; ; ) {
      await exited(child);
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
  const kept = keep();
  return {
    stop: async () => {
      stopping.abort();
      await stopChild(child);
      await kept;
    },
  };
}

async function ready(child: ChildProcess, connection: ClientConfig): Promise<void> {
  const deadlineMs = performance.now() + READY_WITHIN_MS;
  const ended = exited(child);
  let hasEnded = false;
  void (async () => {
    await ended;
    hasEnded = true;
  })();
  for (;;) {
    if (hasEnded) throw new ServerEnded("the PostgreSQL server ended during its start");
    if (performance.now() > deadlineMs)
      throw new ServerEnded(`the PostgreSQL server is not ready after ${READY_WITHIN_MS / 1000} s`);
    if (await acceptsConnections(connection)) return;
    await Promise.race([wait(LOOK_MS), ended]);
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = exited(child);
  child.stdin?.end();
  if (process.platform === "win32") child.kill();
  const isLate = await Promise.race([gone.then(() => false), wait(STOP_WITHIN_MS, true, { ref: false })]);
  if (!isLate) return;
  // The group: the guard and the server.
  if (process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
  await gone;
}

/** Not `close`, which waits for every process that inherited the log's pipe. */
async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await Promise.race([once(child, "exit"), once(child, "error")]).catch(() => undefined);
}
