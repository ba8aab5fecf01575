// Keeps this process's directory (its copy of the stored accounts and routes) up to date [admin.immediate]: it is reloaded when its version has changed,
// which is checked on a timer, on notification, and after each change by this process. No request waits for it.
import type { PriceBook } from "../metering/price.ts";
import { readDirectoryVersion } from "../storage/directory-state.ts";
import { type DirectoryServices, loadDirectory, loadPrices } from "./load-directory.ts";
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
  readonly directory: Directory;
  readonly prices: PriceBook;
}

export async function followDirectory(services: DirectoryServices): Promise<FollowedDirectory> {
  const { database } = services;
  let loaded = await loadAll(services, await readDirectoryVersion(bypassRls(database, "installation").db));
  let running: Promise<void> | null = null;
  let queued: Promise<void> | null = null;

  const reloadIfChanged = async (): Promise<void> => {
    const version = await readDirectoryVersion(bypassRls(database, "installation").db);
    if (version !== loaded.version) loaded = await loadAll(services, version);
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
async function loadAll(services: DirectoryServices, version: bigint): Promise<Loaded> {
  return { version, directory: await loadDirectory(services), prices: await loadPrices(services.database) };
}
