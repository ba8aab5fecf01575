// Composes recognition on this machine for `compose/app.ts`: the installed models, the bundled one, and how many threads and how much memory they may use.
import { availableParallelism } from "node:os";
import type { Logger } from "pino";
import type { Configuration } from "../config/configuration.ts";
import { packageRoot } from "../cli/package-root.ts";
import { createInstalledReader } from "../local-models/installed-reader.ts";
import { MANIFEST } from "../local-models/manifest.ts";
import { DEMONSTRATION, demonstrationDirectory, readDemonstration } from "../providers/local/demonstration.ts";
import { isEngineInstalled } from "../providers/local/engine/engine-installed.ts";
import { createRecognisers, type Recognisers } from "../providers/local/recognisers.ts";

export function openRecognisers(configuration: Configuration, logger: Logger): Recognisers {
  const { threads, idleSeconds, maxQueueSeconds, maxMemoryBytes } = configuration.local;
  const { dir } = configuration.models;
  const hasEngine = isEngineInstalled();
  const readInstalled = createInstalledReader(dir, MANIFEST);
  // Part of the package, which does not change while it runs.
  const readingBundled = readDemonstration(demonstrationDirectory(packageRoot()));
  readingBundled.catch(() => undefined);
  return createRecognisers({
    installed: async () => {
      const [pulled, bundled] = await Promise.all([readInstalled(), readingBundled]);
      return [...pulled.filter(({ name }) => name !== DEMONSTRATION), ...(bundled === null ? [] : [bundled])];
    },
    isEngineInstalled: () => hasEngine,
    threads: threads ?? threadsFor(availableParallelism()),
    idleMs: idleSeconds * 1000,
    maxQueueSeconds,
    maxMemoryBytes,
    logger,
  });
}

/** More threads make one recording hardly faster and all others slower. */
const MOST_THREADS = 4;

/** One processor is left to the gateway [local.process]. */
export function threadsFor(processors: number): number {
  return Math.min(MOST_THREADS, Math.max(1, processors - 1));
}
