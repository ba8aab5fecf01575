// Stops a server that a killed gateway left running, before another one is started on the same files. It is found by its pid file and socket.
import { readFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { errorCode } from "../../lib/error-code.ts";
import type { Placement } from "./placement.ts";
import { SOCKET_PORT } from "./settings.ts";

const FAST_SHUTDOWN_MS = 3_000;
const IMMEDIATE_SHUTDOWN_MS = 3_000;
const POLL_MS = 25;

/** Resolves once no server uses these files. The caller must hold the installation's lock. Throws if a server cannot be stopped. */
export async function stopRemainingServer(placement: Placement): Promise<void> {
  if (!(await isServing(placement))) return;
  const pid = await postmasterPid(placement.data);
  for (const [signal, ms] of [
    ["SIGINT", FAST_SHUTDOWN_MS],
    ["SIGQUIT", IMMEDIATE_SHUTDOWN_MS],
    ["SIGKILL", IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    // The server's guard may have stopped it already. If it runs in another container, its pid is not valid here and no signal is sent.
    if (pid !== null && (await isPostmaster(pid, placement.data))) signalProcess(pid, signal);
    for (let waitedMs = 0; waitedMs < ms; waitedMs += POLL_MS) {
      if (!(await isServing(placement))) return;
      await wait(POLL_MS);
    }
  }
  throw new Error(
    `A PostgreSQL server is still using ${placement.data}${pid === null ? "" : ` (process ${pid})`} and does not stop.`,
  );
}

/** Whether its process runs, or its socket accepts connections, which also works across containers. */
async function isServing({ data, sockets }: Placement): Promise<boolean> {
  const pid = await postmasterPid(data);
  if (pid !== null && (await isPostmaster(pid, data))) return true;
  return acceptsSocket(join(sockets, `.s.PGSQL.${SOCKET_PORT}`));
}

/** Null: it was shut down normally, or never started. */
async function postmasterPid(data: string): Promise<number | null> {
  const text = await readFile(join(data, "postmaster.pid"), "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return "";
    throw error;
  });
  const pid = Number.parseInt(text, 10);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
}

/** Process ids are reused, so the command line must name these files. A zombie has no command line. */
async function isPostmaster(pid: number, data: string): Promise<boolean> {
  if (process.platform !== "linux") return signalProcess(pid, 0);
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return line.split("\0").includes(data);
}

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) === "ESRCH") return false;
    throw error;
  }
}

async function acceptsSocket(socketPath: string): Promise<boolean> {
  if (process.platform === "win32") return false;
  const socket = createConnection(socketPath);
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}
