// Lets a restart wait for its data directory and port while the previous process finishes its work, up to a time limit.
import { setTimeout as wait } from "node:timers/promises";
import { readRunningGateway } from "../config/running-gateway.ts";
import { listenProblem } from "../http/server/check-port.ts";
import { ownerOf } from "../storage/embedded/installation-lock.ts";

const WAIT_MS = 60_000;
/** A process that has just received a stop signal may not have recorded it yet. */
const NOTICE_MS = 1_000;
const LOOK_MS = 100;

export interface PredecessorWait {
  readonly wait: (ms: number) => Promise<unknown>;
  readonly nowMs: () => number;
  readonly step: (text: string) => void;
}

export function realTime(step: PredecessorWait["step"]): PredecessorWait {
  return { wait, nowMs: () => performance.now(), step };
}

/** Waits until the embedded database is free. Returns at once if its gateway is not stopping: opening the database then reports the owner. */
export async function awaitDataDir(dataDir: string, waiting: PredecessorWait): Promise<void> {
  await awaitEnd(dataDir, async () => (await ownerOf(dataDir)) === null, waiting);
}

/** Waits until the port is free, if the gateway of this data directory is stopping. */
export async function awaitPort(
  dataDir: string,
  { host, port }: { readonly host: string; readonly port: number },
  waiting: PredecessorWait,
): Promise<void> {
  if (port !== 0) await awaitEnd(dataDir, async () => (await listenProblem(host, port)) !== "EADDRINUSE", waiting);
}

async function awaitEnd(dataDir: string, isFree: () => Promise<boolean>, waiting: PredecessorWait): Promise<void> {
  const startedMs = waiting.nowMs();
  let isSaid = false;
  while (!(await isFree())) {
    const gateway = readRunningGateway(dataDir);
    const waitedMs = waiting.nowMs() - startedMs;
    if (waitedMs >= (gateway?.isStopping === true ? WAIT_MS : NOTICE_MS)) return;
    if (gateway?.isStopping === true && !isSaid) {
      isSaid = true;
      waiting.step(`waiting      process ${gateway.pid} is stopping: for at most ${WAIT_MS / 1000} s`);
    }
    await waiting.wait(LOOK_MS);
  }
}
