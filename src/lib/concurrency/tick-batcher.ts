// Starts work that became ready in one event-loop tick in groups, so that it runs the same code back to back: whole ticks save 15 to 30 % of the CPU of a chat
// under load (docs/decisions/0023-lockstep.md). Groups are small while the loop has time left, because all of a group wait for its last one
// (docs/decisions/0065-small-groups-while-there-is-time.md).
import { createLoopUtilization } from "./loop-utilization.ts";
import { createTickThrottle } from "./tick-throttle.ts";

const MAX_HELD_TICKS = 32;
/** Above it, processor time decides how long a request takes, and below it the wait for others. */
const BUSY_UTILIZATION = 0.7;
const GROUP = { idle: 2, busy: 16 } as const;

const loopUtilization = createLoopUtilization();

export interface TickBatching {
  /** While it returns true, work waits for the end of the next tick, at most 32 ticks. Then all of it runs. Default: never. */
  readonly mayWait?: () => boolean;
  /** From 0 to 1. Default: of this thread. */
  readonly utilization?: (() => number) | undefined;
  /** All that became ready in a tick is one group. */
  readonly isWhole?: boolean;
}

/** Returns a function that runs its callbacks in order, from the end of the current tick on: two in each tick, and 16 on a busy loop. */
export function createTickBatcher({
  mayWait = () => false,
  utilization = loopUtilization,
  isWhole = false,
}: TickBatching = {}): (work: () => void) => void {
  let heldTicks = 0;
  return createTickThrottle(() => {
    const wasHeld = heldTicks > 0;
    const isHeld = heldTicks < MAX_HELD_TICKS && mayWait();
    heldTicks = isHeld ? heldTicks + 1 : 0;
    if (isHeld) return 0;
    // In groups, the last of what was held could be held again, without a bound.
    if (wasHeld || isWhole) return Number.POSITIVE_INFINITY;
    return utilization() > BUSY_UTILIZATION ? GROUP.busy : GROUP.idle;
  });
}
