// The embedded database of several gateway processes: owned by their parent process, so that it outlives each of them.
import type { UpOptions } from "../cli/operate/process-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { CliError } from "../cli/terminal.ts";
import { awaitDataDir, realTime } from "./await-predecessor.ts";
import { loadConfiguration } from "../config/load-configuration.ts";
import { logDestination } from "../lib/log-destination.ts";
import { createLogger } from "../lib/logger.ts";
import { reportEmbedded, throwUnavailable } from "./prepare.ts";
import { beginInstallation } from "../storage/embedded/installation-state.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../storage/embedded/server.ts";
import { createDataDir } from "../storage/connection/make-data-dir.ts";

/** Null: the configuration names a server, or is invalid, which the first gateway process reports. */
export async function ownEmbeddedServer(options: UpOptions): Promise<Pick<EmbeddedServer, "stop"> | null> {
  const loaded = loadConfiguration({ file: options.config, env: process.env, cwd: process.cwd() });
  if (!loaded.ok || loaded.configuration.storage.databaseUrl !== null) return null;
  const { storage } = loaded.configuration;
  if (!(await createDataDir(storage.dataDir)).ok) return null;
  await awaitDataDir(
    storage.dataDir,
    realTime((text) => process.stderr.write(`${text}\n`)),
  );
  const state = await beginInstallation(storage.dataDir, options.newDatabase);
  if (state.kind === "refused") throw new CliError(EXIT.config, state.message, { hints: state.hints });
  const log = logDestination(1);
  const server = await startEmbeddedServer({
    ...storage,
    path: process.env["PATH"],
    ...reportEmbedded(createLogger(log)),
  }).catch(throwUnavailable);
  return {
    stop: async () => {
      await server.stop();
      await log.end(LOG_END_MS);
    },
  };
}

const LOG_END_MS = 2_000;
