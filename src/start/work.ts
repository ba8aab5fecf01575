// `patchbay worker`: works on jobs and accepts none, so its listener serves monitoring only [configuration.worker-listener]. Any number of workers may run next
// to the gateways of one PostgreSQL server.
import { listen } from "../http/server/listen.ts";
import { type App, createApp } from "../compose/app.ts";
import type { WorkerOptions } from "../cli/operate/process-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { type PreparedProcess, prepare } from "./prepare.ts";
import { releaseStartMemory } from "./release-memory.ts";
import { stopSignal } from "./stop-signal.ts";

/** Runs until SIGTERM or SIGINT; resolves with the exit code. */
export async function work(options: WorkerOptions, orphaned: Promise<void> | null = null): Promise<number> {
  const prepared = await prepare({ config: options.config, embedded: "join" });
  if (typeof prepared === "number") return prepared;
  const { configuration, database, say, step, endLog } = prepared;
  const app = await createApp({ ...prepared, isAdministered: false });
  releaseStartMemory();
  // Work begins here.
  const stopped = stopSignal(orphaned);
  step(`working      on ${configuration.limits.jobConcurrency} jobs at once`);
  if (!(await listenForWatchers(app, prepared, options.adminPort))) {
    await app.close();
    await database.close();
    await endLog();
    return EXIT.config;
  }
  const signal = await stopped;
  say(`\n${signal}: finishing calls in progress`);
  app.startDraining();
  await app.close({ graceMs: configuration.limits.workerGraceSeconds * 1000 });
  await database.close();
  await endLog();
  return EXIT.ok;
}

/** Next to a gateway on the same machine the file's port is in use: the worker runs without it, unless the port was requested explicitly. */
async function listenForWatchers(
  { admin }: App,
  { configuration, say, step }: PreparedProcess,
  port: number | undefined,
): Promise<boolean> {
  const configured = configuration.server.admin;
  if (admin === null || configured === null) return true;
  const place = { host: configured.host, port: port ?? configured.port };
  try {
    step(`metrics      ${await listen(admin, { ...place, exclusive: true })}/metrics, /healthz, /readyz`);
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    const conflict = `${place.host}:${place.port} is in use`;
    if (port === undefined)
      step(`metrics      nowhere: ${conflict}; use --admin-port to set another port for this worker`);
    else say(`patchbay worker cannot serve metrics: ${conflict}`);
    return port === undefined;
  }
}
