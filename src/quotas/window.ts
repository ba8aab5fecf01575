// A sliding window over the last minute or hour, as plain data [quotas.sliding-window]: sums per slot of 1/120 of the period, each available again a whole
// period after its slot began. In any period minus one slot, at most the limit is taken.

/** `[slot, amount]`, the oldest first. */
export type Slots = readonly (readonly [slot: number, amount: number])[];

const SLOTS_PER_PERIOD = 120;

/** Returns the slots that still count. Slots in the future, left by a clock that was set back, count as now. */
export function slotsAt(slots: Slots, nowMs: number, periodMs: number): Slots {
  const now = slotOf(nowMs, periodMs);
  const counted = slots.filter(([slot]) => slot > now - SLOTS_PER_PERIOD);
  return counted.some(([slot]) => slot > now)
    ? counted.map(([slot, amount]) => [Math.min(slot, now), amount])
    : counted;
}

export function sumOf(slots: Slots): number {
  return slots.reduce((sum, [, amount]) => sum + amount, 0);
}

export function addTo(slots: Slots, amount: number, nowMs: number, periodMs: number): Slots {
  if (amount === 0) return slots;
  const now = slotOf(nowMs, periodMs);
  const last = slots.at(-1);
  if (last !== undefined && last[0] >= now) return [...slots.slice(0, -1), [last[0], last[1] + amount]];
  return [...slots, [now, amount]];
}

/** Removes an amount that was taken and not used, from the newest slots first, because unused amounts are returned soon. */
export function removeFrom(slots: Slots, amount: number): Slots {
  let unremoved = amount;
  return slots
    .toReversed()
    .map(([slot, taken]) => {
      const removed = Math.min(taken, unremoved);
      unremoved -= removed;
      return [slot, taken - removed] as const;
    })
    .filter(([, left]) => left > 0)
    .toReversed();
}

/** Milliseconds until this amount has left the window. The whole period if the window contains less. */
export function msUntilFree(slots: Slots, amount: number, nowMs: number, periodMs: number): number {
  let freed = 0;
  for (const [slot, taken] of slots) {
    freed += taken;
    if (freed >= amount) return ((slot + SLOTS_PER_PERIOD) * periodMs) / SLOTS_PER_PERIOD - nowMs;
  }
  return periodMs;
}

/** What is left of the limit, and the time until the oldest slot becomes available again. */
export function standingOf(
  slots: Slots,
  { limit, periodMs }: { readonly limit: number; readonly periodMs: number },
  nowMs: number,
): { readonly left: number; readonly moreInMs: number | null } {
  return { left: limit - sumOf(slots), moreInMs: slots.length === 0 ? null : msUntilFree(slots, 1, nowMs, periodMs) };
}

function slotOf(nowMs: number, periodMs: number): number {
  return Math.floor((nowMs * SLOTS_PER_PERIOD) / periodMs);
}
