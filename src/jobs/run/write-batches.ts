// Writes of this process's workers that come at the same time: each kind is one statement and one commit for all jobs.
import { createBatcher } from "../../lib/concurrency/batcher.ts";
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import type { JobRow } from "../../storage/schema/tables.ts";
import type { SystemHandle } from "../../storage/database.ts";
import { type Announcement, announceCalls, claimJobs } from "../store/claimed-jobs.ts";
import { deleteSpentAudio } from "../store/spent-audio.ts";

export interface WriteBatches {
  /** Null: the job has ended, or another worker has it. */
  claim(db: SystemHandle, id: string): Promise<JobRow | null>;
  /** False: another worker has the job, or a cancellation came first. */
  announce(db: SystemHandle, announcement: Announcement): Promise<boolean>;
  /** The audio of ended jobs was deleted. */
  forgetSpentAudio(db: SystemHandle, id: bigint): Promise<void>;
}

const MAX_BATCH = 100;
const FORGET_PAUSE_FACTOR = 4;

export function createWriteBatches(): WriteBatches {
  return {
    claim: batched(async (db, ids) => {
      const claimed = new Map((await claimJobs(db, ids)).map((row) => [row.id, row]));
      return ids.map((id) => {
        const row = claimed.get(id) ?? null;
        // A second message of the same job, in the same batch, claims nothing.
        claimed.delete(id);
        return row;
      });
    }),
    announce: batched(async (db, announcements) => {
      const written = await announceCalls(db, announcements);
      return announcements.map(({ fence }) => written.has(fence.id));
    }),
    // No job waits for it, so that a batch may wait for more.
    forgetSpentAudio: batched(
      async (db, ids) => {
        await deleteSpentAudio(db, ids);
        return ids.map(() => undefined);
      },
      { pauseFactor: FORGET_PAUSE_FACTOR },
    ),
  };
}

/** A batch is run once for each handle, of which a process has one. */
function batched<Item, Result>(
  run: (db: SystemHandle, items: readonly Item[]) => Promise<readonly Result[]>,
  { pauseFactor }: { readonly pauseFactor: number } = { pauseFactor: 0 },
): (db: SystemHandle, item: Item) => Promise<Result> {
  interface Call {
    readonly db: SystemHandle;
    readonly item: Item;
  }
  const enqueue = createBatcher<Call, Result>(
    async (calls) => {
      const results = new Map<Call, Result>();
      for (const [db, own] of Map.groupBy(calls, (call) => call.db)) {
        const answers = await run(
          db,
          own.map(({ item }) => item),
        );
        own.forEach((call, index) => results.set(call, answers[index] as Result));
      }
      return calls.map((call) => results.get(call) as Result);
    },
    { maxItems: MAX_BATCH, pauseFactor, isItemFault: (error) => !isDatabaseUnavailable(error) },
  );
  return (db, item) => enqueue({ db, item });
}
