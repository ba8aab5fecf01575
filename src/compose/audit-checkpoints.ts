// Signs the heads of the audit log's hash chains every hour and stores them outside the database [tenancy.audit-checkpoint].
import type { Logger } from "pino";
import { type ReadCheckpoint, readCheckpoint, writeCheckpoint } from "../admin/audit/audit-checkpoint.ts";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import type { ObjectStore } from "../objects/store.ts";
import { wholeObjects } from "../objects/whole-objects.ts";
import type { Database } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";

export interface CheckpointKeeper {
  readonly read: () => Promise<ReadCheckpoint>;
  /** Writes a last checkpoint if this process has written any. */
  readonly stop: () => Promise<void>;
}

interface KeeperParts {
  readonly database: Database;
  readonly seal: Seal;
  readonly objects: Pick<ObjectStore, "put" | "open">;
  readonly logger: Logger;
  readonly now: () => Date;
}

const CHECKPOINT_MS = 3_600_000;

/** The first checkpoint comes soon after the start, because the process may not live for an hour. */
const LOOK_MS = 60_000;

/** Signs the ends of the audit log's hash chains every hour [tenancy.audit-checkpoint]. */
export function keepCheckpoints({ database, seal, objects, logger, now }: KeeperParts): CheckpointKeeper {
  const services = { database, seal, store: wholeObjects(objects), now };
  let lastMs: number | null = null;
  const turns = createPeriodicTask(LOOK_MS, logger, "write a checkpoint of the audit log", async () => {
    const nowMs = now().getTime();
    if (lastMs !== null && nowMs - lastMs < CHECKPOINT_MS) return;
    await writeCheckpoint(services);
    lastMs = nowMs;
  });
  return {
    read: () => readCheckpoint(services),
    stop: async () => {
      await turns.stop();
      if (lastMs === null) return;
      await writeCheckpoint(services).catch((error: unknown) =>
        logger.error(
          { task: "write a checkpoint of the audit log", err: error },
          "could not write the last checkpoint",
        ),
      );
    },
  };
}
