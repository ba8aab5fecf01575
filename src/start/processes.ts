// `patchbay up --processes N`: several gateways on one port and one database, because one process has one thread for its requests. The parent serves no
// request: it owns the embedded database, distributes connections, replaces dead processes and forwards the stop signal.
import cluster, { type Worker } from "node:cluster";
import { setTimeout as pause } from "node:timers/promises";
import { EXIT } from "../cli/exit-codes.ts";
import type { UpOptions } from "../cli/operate/process-commands.ts";
import { PROCESS_NUMBER } from "../cli/process-number.ts";
import { stopSignal } from "./stop-signal.ts";

const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A process that lived for so long before it died is replaced after the shortest pause. */
const STEADY_MS = 60_000;

/**
 * Resolves with the exit code once every gateway has ended. `processNumber`: null for a single gateway and for the parent, which loads no gateway modules.
 * `orphaned`: counts as a stop.
 */
export async function upInProcesses(
  options: UpOptions,
  processNumber: number | null,
  orphaned: Promise<void> | null,
): Promise<number> {
  if (processNumber === null) await (await import("./require-ports.ts")).requirePorts(options);
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
    // Ctrl-C reaches the whole process group of the terminal, and a second signal would kill a gateway; `patchbay down` reaches the parent only. A message
    // counts once, whether or not the signal came.
    const isOfTerminal = signal === "SIGINT" && process.stdin.isTTY;
    for (const worker of running.values())
      if (isOfTerminal) worker.send(signal);
      else worker.process.kill(signal);
  };
  void stop();
  const first = start(1, running);
  // The first process migrates the schema and applies the file, so that an error in either is reported once.
  if (!(await first.listening)) return first.exitCode;
  // The signal was forwarded to running processes only; one started later would never receive it.
  const processCount = stopping.signal.aborted ? 1 : count;
  const keepers = Array.from({ length: processCount }, (_, index) =>
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

/** Replaces a gateway each time it dies, with a back-off that grows if it died soon, until a stop is requested. */
async function keep(first: Started, running: Map<number, Worker>, stopping: AbortSignal): Promise<void> {
  let pauseMs = SHORTEST_PAUSE_MS;
  for (let started = first; ; started = start(first.number, running)) {
    const code = await started.exitCode;
    if (stopping.aborted) return;
    pauseMs =
      performance.now() - started.sinceMs > STEADY_MS ? SHORTEST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    process.stderr.write(`process ${first.number} ended with exit code ${code}; restarting in ${pauseMs / 1000} s\n`);
    await pause(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return;
  }
}
