// Keeps this process's directory (its copy of the stored accounts and routes) up to date [admin.immediate]: it is reloaded when its version has changed,
// which is checked on a timer, on notification, and after each change by this process. No request waits for it.
import type { PriceBook } from "../metering/price.ts";
import { readDirectoryVersion } from "../storage/directory-state.ts";
import { type DirectoryServices, loadDirectory, loadPrices, NO_LOCAL_MODELS } from "./load-directory.ts";
import type { LocalState } from "../providers/local/local-calls.ts";
import type { Directory } from "./snapshot.ts";
import { bypassRls } from "../storage/system.ts";

export interface FollowedDirectory {
  readonly directory: () => Directory;
  readonly prices: () => PriceBook;
  /** When it resolves, everything committed before the call is in force in this process. */
  readonly refresh: () => Promise<void>;
}

interface Loaded {
  readonly version: bigint;
  /** Models on this machine may be installed and removed at any time. */
  readonly localFingerprint: string;
  readonly directory: Directory;
  readonly prices: PriceBook;
}

export async function followDirectory(services: DirectoryServices): Promise<FollowedDirectory> {
  const { database } = services;
  const readLocal = async (): Promise<LocalState> => (await services.localState?.()) ?? NO_LOCAL_MODELS;
  let loaded = await loadAll(
    services,
    await readDirectoryVersion(bypassRls(database, "installation").db),
    await readLocal(),
  );
  let running: Promise<void> | null = null;
  let queued: Promise<void> | null = null;

  const reloadIfChanged = async (): Promise<void> => {
    const version = await readDirectoryVersion(bypassRls(database, "installation").db);
    const local = await readLocal();
    if (version !== loaded.version || fingerprintOf(local) !== loaded.localFingerprint)
      loaded = await loadAll(services, version, local);
  };
  const refresh = (): Promise<void> => {
    if (running === null) {
      running = reloadIfChanged().finally(() => {
        running = null;
      });
      return running;
    }
    // The check in progress may have begun too early. All calls during it share the next one.
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = null;
        return refresh();
      });
    return queued;
  };
  return { directory: () => loaded.directory, prices: () => loaded.prices, refresh };
}

/** The version is read before the rows, so that a change meanwhile is found by the next check. */
async function loadAll(services: DirectoryServices, version: bigint, local: LocalState): Promise<Loaded> {
  return {
    version,
    localFingerprint: fingerprintOf(local),
    directory: await loadDirectory({ ...services, localState: async () => local }),
    prices: await loadPrices(services.database),
  };
}

function fingerprintOf({ isEngineInstalled, models }: LocalState): string {
  return JSON.stringify([isEngineInstalled, models.map(({ name, dir, files }) => [name, dir, files])]);
}
