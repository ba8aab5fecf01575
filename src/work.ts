// `patchbay worker`: works on jobs and listens nowhere; any number of them beside the gateways on one PostgreSQL (contract 5).
import { createApp } from "./app.ts";
import type { WorkerOptions } from "./cli/run-cli.ts";
import { EXIT } from "./cli/exit-codes.ts";
import { prepare, stopSignal } from "./prepare.ts";

const NEEDS_SERVER =
  "patchbay worker needs a PostgreSQL server (storage.database_url or DATABASE_URL): the embedded database belongs to one process, and patchbay up works on its jobs itself.";

/** Runs until SIGTERM or SIGINT; resolves with the exit code. */
export async function work(options: WorkerOptions): Promise<number> {
  const prepared = await prepare(options, ({ storage }) => (storage.databaseUrl === null ? NEEDS_SERVER : null));
  if (typeof prepared === "number") return prepared;
  const { configuration, database, say, step } = prepared;
  const app = await createApp(prepared);
  step(`working      on ${configuration.limits.jobConcurrency} jobs at once`);
  const signal = await stopSignal();
  say(`\n${signal}: finishing the calls in flight`);
  app.startDraining();
  await app.close({ graceMs: configuration.limits.workerGraceSeconds * 1000 });
  await database.close();
  return EXIT.ok;
}
