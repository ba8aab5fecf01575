// `patchbay up --processes N`: gateways on one port and one database, because one process has one thread for its requests. This process serves
// nothing: it owns the embedded database, hands out connections, replaces processes that end, and passes the stop on.
import cluster, { type Worker } from "node:cluster";
import { setTimeout as pause } from "node:timers/promises";
import { EXIT } from "./cli/exit-codes.ts";
import type { UpOptions } from "./cli/process-commands.ts";
import { stopSignal } from "./stop-signal.ts";

/** Which of the processes a gateway is, from 1; told by this file to the ones it starts. */
export const PROCESS_NUMBER = "PATCHBAY_PROCESS_NUMBER";

const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** One that served for so long before it died is replaced after the shortest pause. */
const STEADY_MS = 60_000;

/**
 * Resolves with the exit code once every gateway has ended. `processNumber`: of a gateway that was started by this file; null: of one
 * alone, or of the process that starts them, which loads nothing of what they are made of. `orphaned`: counts as a stop.
 */
export async function upInProcesses(
  options: UpOptions,
  processNumber: number | null,
  orphaned: Promise<void> | null,
): Promise<number> {
  if (processNumber === null && options.processes > 1) {
    const { ownEmbeddedServer } = await import("./own-embedded-server.ts");
    const server = await ownEmbeddedServer(options);
    try {
      return await supervise(options.processes, orphaned);
    } finally {
      await server?.stop();
    }
  }
  const { up } = await import("./up.ts");
  return up(options, processNumber ?? 1, orphaned);
}

async function supervise(count: number, orphaned: Promise<void> | null): Promise<number> {
  const running = new Map<number, Worker>();
  const stopping = new AbortController();
  const stop = async (): Promise<void> => {
    const signal = await stopSignal(orphaned);
    stopping.abort();
    // Ctrl-C has reached the whole terminal group, and a second signal would end a gateway there and then; `patchbay down` has reached this process
    // alone. A message counts once, whether or not the signal came.
    const isOfTerminal = signal === "SIGINT" && process.stdin.isTTY;
    for (const worker of running.values())
      if (isOfTerminal) worker.send(signal);
      else worker.process.kill(signal);
  };
  void stop();
  const first = start(1, running);
  // The first brings schema and set-up up to date; what is wrong with either is said once.
  if (!(await first.listening)) return first.exitCode;
  // The signal was passed on to those that ran: who is started after it would never be told.
  const wanted = stopping.signal.aborted ? 1 : count;
  const keepers = Array.from({ length: wanted }, (_, index) =>
    keep(index === 0 ? first : start(index + 1, running), running, stopping.signal),
  );
  await Promise.all(keepers);
  return EXIT.ok;
}

interface Started {
  readonly number: number;
  /** False: it ended before it listened. */
  readonly listening: Promise<boolean>;
  readonly exitCode: Promise<number>;
  readonly sinceMs: number;
}

function start(number: number, running: Map<number, Worker>): Started {
  const worker = cluster.fork({ [PROCESS_NUMBER]: String(number) });
  running.set(number, worker);
  const exitCode = new Promise<number>((resolve) => {
    worker.once("exit", (code, signal) => {
      running.delete(number);
      resolve(signal === null ? code : EXIT.unexpected);
    });
  });
  const listens = new Promise<boolean>((resolve) => {
    worker.once("listening", () => resolve(true));
  });
  return {
    number,
    listening: Promise.race([listens, exitCode.then(() => false)]),
    exitCode,
    sinceMs: performance.now(),
  };
}

/** Replaces a gateway each time it dies, the later the sooner it died, until it is asked to stop. */
async function keep(first: Started, running: Map<number, Worker>, stopping: AbortSignal): Promise<void> {
  let pauseMs = SHORTEST_PAUSE_MS;
  for (let started = first; ; started = start(first.number, running)) {
    const code = await started.exitCode;
    if (stopping.aborted) return;
    pauseMs =
      performance.now() - started.sinceMs > STEADY_MS ? SHORTEST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    process.stderr.write(
      `process ${first.number} ended with exit code ${code}; another is started in ${pauseMs / 1000} s\n`,
    );
    await pause(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return;
  }
}
