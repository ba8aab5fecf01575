// The directory of this process, kept up to date with storage [admin.immediate]: read again when its number has changed, which is checked
// on a timer, on notice of a change, and after each change that this process made. No request ever waits for it.
import type { PriceBook } from "../metering/price.ts";
import { readDirectoryVersion } from "../storage/directory-state.ts";
import { type DirectoryServices, loadDirectory, loadPrices } from "./load-directory.ts";
import type { Directory } from "./snapshot.ts";
import { installation } from "../storage/system.ts";

export interface FollowedDirectory {
  readonly directory: () => Directory;
  readonly prices: () => PriceBook;
  /** Whatever was committed before the call is in force here when it resolves. */
  readonly refresh: () => Promise<void>;
}

interface Loaded {
  readonly version: bigint;
  readonly directory: Directory;
  readonly prices: PriceBook;
}

export async function followDirectory(services: DirectoryServices): Promise<FollowedDirectory> {
  const { database } = services;
  let loaded = await load(services, await readDirectoryVersion(installation(database).db));
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    const version = await readDirectoryVersion(installation(database).db);
    if (version !== loaded.version) loaded = await load(services, version);
  };
  const refresh = (): Promise<void> => {
    if (running === null) {
      running = look().finally(() => {
        running = null;
      });
      return running;
    }
    // The look under way may have begun too early; those who come while it lasts share the one behind it.
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return refresh();
      });
    return next;
  };
  return { directory: () => loaded.directory, prices: () => loaded.prices, refresh };
}

/** The number is read before the rows: what changes meanwhile is read again at the next look. */
async function load(services: DirectoryServices, version: bigint): Promise<Loaded> {
  return { version, directory: await loadDirectory(services), prices: await loadPrices(services.database) };
}
