// Composes for `compose/app.ts` this process's caches of keys, configuration and prices, and invalidates them when another process announces a change.
import type { Logger } from "pino";
import { createKeyUse } from "../auth/key-use.ts";
import { createKeyVerifier, type KeyVerifier } from "../auth/verify-key.ts";
import { findKeys } from "../directory/find-key.ts";
import { type FollowedDirectory, followDirectory } from "../directory/follow-directory.ts";
import { warnOfLargeRoutes } from "../directory/large-routes.ts";
import { isWithin } from "../directory/account-key.ts";
import type { DirectoryServices } from "../directory/load-directory.ts";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import type { Leases } from "../metering/leases.ts";
import type { ReportingCircuits } from "../providers/health.ts";
import { listenForChanges } from "../storage/connection/changes.ts";
import type { Database } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";

/** Maximum staleness of the directory in this process if the notification of a change was lost [admin.immediate]. */
const DIRECTORY_REFRESH_MS = 4_000;
/** The last use of a key is reported to the minute. */
const KEY_USE_MS = 30_000;
const NOTE_USE = "note which keys were used";

export interface Caches extends FollowedDirectory {
  readonly keys: KeyVerifier;
  /** Stops the timers that refresh caches and record key use; notifications of changes are still received. */
  stopRefreshing(): Promise<void>;
  close(): Promise<void>;
}

export interface RememberedOptions {
  readonly database: Database;
  readonly seal: Seal;
  readonly pepper: Buffer;
  readonly logger: Logger;
  readonly leases: Pick<Leases, "giveBack">;
  readonly circuits: Pick<ReportingCircuits, "close">;
  readonly localState: DirectoryServices["localState"];
}

export async function openCaches(
  { database, seal, pepper, logger, leases, circuits, localState }: RememberedOptions,
  nowMs: () => number,
): Promise<Caches> {
  const changes = await listenForChanges(database, {
    keyIds: seal.keyIds,
    onError: (err) =>
      logger.warn(
        { task: "listen for changes", err },
        "lost the notification connection; caches use short lifetimes until it is restored",
      ),
  });
  const use = createKeyUse(database);
  const keys = createKeyVerifier({
    pepper,
    findKeys: (hashes) => findKeys(database, hashes),
    nowMs,
    onUsed: use.note,
  });
  const noteUse = createPeriodicTask(KEY_USE_MS, logger, NOTE_USE, () => use.flush());
  changes.onChange("keys", () => keys.forget());
  const followed = await followDirectory({ database, seal, localState });
  await warnOfLargeRoutes(database, logger);
  const refresh = createPeriodicTask(DIRECTORY_REFRESH_MS, logger, "refresh the directory", () => followed.refresh());
  changes.onChange("leases", (workspaceId) => void leases.giveBack(workspaceId));
  changes.onChange("circuits", (place) => (place === null ? undefined : circuits.close(isWithin(place))));
  changes.onChange("directory", () => refresh.runNow());
  return {
    ...followed,
    keys,
    stopRefreshing: async () => {
      await Promise.all([refresh.stop(), noteUse.stop()]);
      await use
        .flush()
        .catch((error: unknown) => logger.error({ task: NOTE_USE, err: error }, `could not ${NOTE_USE}`));
    },
    close: () => changes.close(),
  };
}
