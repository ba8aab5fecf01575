// The slots of a queue's handlers in this process, in total and per group, and what runs in them: messages, and work that needs none.
import type { Job } from "pg-boss";

export interface Occupant {
  readonly groupId?: string | null;
}

export interface Slots {
  room(): Room;
  /** Runs `work` in a slot. `job`: its message, null for work without one. */
  occupy(occupant: Occupant, job: Job<unknown> | null, work: () => Promise<void>): void;
  /** Frees the slot before the work has ended. */
  free(occupant: Occupant): void;
  /** The messages that are being handled, with a slot or without. */
  messages(): Job<unknown>[];
  /** Resolves when all that runs now has ended. */
  finished(): Promise<unknown>;
}

export interface Room {
  /** So many messages may be fetched at once whatever their groups, because even if all belong to one group it stays within its limit. */
  readonly slots: number;
  /** Whatever their groups. */
  readonly freeSlots: number;
  readonly busyGroups: readonly string[];
  readonly fullGroups: string[];
}

export interface SlotsOptions {
  readonly concurrency: number;
  readonly perGroup: number;
  /** Called whenever a slot or the work in it has ended. */
  readonly onFree: () => void;
  readonly onError: (error: unknown) => void;
}

/** Handlers that have freed their slots may be so many times as many as there are slots. */
const MAX_RUNNING_FACTOR = 4;

export function createSlots({ concurrency, perGroup, onFree, onError }: SlotsOptions): Slots {
  const running = new Map<Promise<void>, Job<unknown> | null>();
  const occupants = new Set<Occupant>();
  return {
    room: () => roomFor(occupants, running.size, concurrency, perGroup),
    occupy(occupant, job, run) {
      occupants.add(occupant);
      const work: Promise<void> = run()
        .catch(onError)
        .finally(() => {
          running.delete(work);
          occupants.delete(occupant);
          onFree();
        });
      running.set(work, job);
    },
    free(occupant) {
      if (occupants.delete(occupant)) onFree();
    },
    messages: () => [...running.values()].filter((job) => job !== null),
    finished: () => Promise.all(running.keys()),
  };
}

export function hasRoomFor({ freeSlots, fullGroups }: Room, group: string): boolean {
  return freeSlots > 0 && !fullGroups.includes(group);
}

function roomFor(occupants: ReadonlySet<Occupant>, running: number, concurrency: number, perGroup: number): Room {
  const counts = new Map<string, number>();
  for (const { groupId = null } of occupants) if (groupId !== null) counts.set(groupId, (counts.get(groupId) ?? 0) + 1);
  const headroom = [...counts.values()].filter((count) => count < perGroup).map((count) => perGroup - count);
  const free = Math.min(concurrency - occupants.size, MAX_RUNNING_FACTOR * concurrency - running);
  return {
    slots: Math.min(free, perGroup, ...headroom),
    freeSlots: free,
    busyGroups: [...counts.keys()],
    fullGroups: [...counts].filter(([, count]) => count >= perGroup).map(([group]) => group),
  };
}
