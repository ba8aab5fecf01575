// Fetches the messages that a queue's dispatcher starts next: fairly by group, then by age [jobs.fairness], and not at all if none can be waiting.
import type { Db, Job, PgBoss } from "pg-boss";
import type { Backlog } from "./backlog.ts";
import { type Fetched, fetchOnePerGroup } from "./fetch-one-per-group.ts";
import type { GroupOrder } from "./round-robin-groups.ts";
import type { Room, Slots } from "./slots.ts";

export interface Fetches {
  readonly boss: Pick<PgBoss, "fetch">;
  readonly db: Db;
  readonly name: string;
  /** Without it, messages are served by age alone. */
  readonly perGroup?: number;
  readonly backlog: Backlog;
  readonly turns: GroupOrder;
  readonly slots: Pick<Slots, "room">;
  /** Starts a message that was fetched. */
  readonly start: (job: Job<unknown>) => void;
}

const MAX_EXACT_SIZE = 16;

/** Returns whether another fetch may find more. */
export async function fetchNext(fetches: Fetches, room: Room): Promise<boolean> {
  const { perGroup, turns, slots, start } = fetches;
  // Free slots go first to groups that run nothing and were not served in this round, whatever the age of other messages.
  if (perGroup !== undefined && turns.isOpen()) {
    const ignoreGroups = turns.had(room.busyGroups);
    const { jobs, isExhausted } = await fetchTurns(fetches, { ignoreGroups, limit: room.freeSlots });
    // Other processes have just taken the first messages of these groups, and the next ones follow.
    const isTaken = jobs.length === 0 && !isExhausted;
    const begun = isTaken ? await fetchFrom(fetches, { batchSize: 1, ignoreGroups }) : jobs;
    begun.forEach(start);
    if (isExhausted || begun.length === 0) turns.end(slots.room().busyGroups);
    return true;
  }
  const batchSize = fewSizes(room.slots);
  const jobs = await fetchFrom(fetches, { batchSize, ignoreGroups: room.fullGroups });
  jobs.forEach(start);
  return jobs.length === batchSize;
}

/** One message of each group. Without a fetch if no message may be found. */
async function fetchTurns(
  { db, name, backlog }: Fetches,
  { ignoreGroups, limit }: { readonly ignoreGroups: readonly string[]; readonly limit: number },
): Promise<Fetched> {
  const search = backlog.search(ignoreGroups);
  if (search === null) return { jobs: [], isExhausted: true, leftGroups: [] };
  const fetched = await fetchOnePerGroup(db, name, ignoreGroups, limit);
  if (fetched.isExhausted && fetched.leftGroups !== null) search.foundAll(fetched.leftGroups);
  return fetched;
}

/** By age. Without a fetch if no message may be found. */
async function fetchFrom(
  { boss, db, name, backlog }: Fetches,
  wanted: { readonly batchSize: number; readonly ignoreGroups: string[] },
): Promise<readonly Job<unknown>[]> {
  const search = backlog.search(wanted.ignoreGroups);
  if (search === null) return [];
  const jobs = await boss.fetch<unknown>(name, { ...wanted, db });
  if (jobs.length < wanted.batchSize) search.foundAll([]);
  return jobs;
}

/** Each size is a statement of its own to prepare, so large ones are rounded down to powers of two. */
function fewSizes(slots: number): number {
  return slots <= MAX_EXACT_SIZE ? slots : 2 ** Math.floor(Math.log2(slots));
}
