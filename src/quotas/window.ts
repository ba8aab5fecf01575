// How much was taken in the last minute or hour, as plain data [quotas.sliding-window]: sums by slots of a 120th of the period. In any
// period but one slot no more is taken than the limit. A slot's sum is free again a whole period after the slot began.

/** `[slot, amount]`, the oldest first. */
export type Slots = readonly (readonly [slot: number, amount: number])[];

const SLOTS_PER_PERIOD = 120;

/** Those that still count. What a clock that was set back left in the future counts as taken now. */
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

/** What was taken and not used; the youngest first, for it is not kept long. */
export function removeFrom(slots: Slots, amount: number): Slots {
  let rest = amount;
  return slots
    .toReversed()
    .map(([slot, taken]) => {
      const removed = Math.min(taken, rest);
      rest -= removed;
      return [slot, taken - removed] as const;
    })
    .filter(([, left]) => left > 0)
    .toReversed();
}

/** Milliseconds until so much has left the window; the whole period when there is not so much in it. */
export function msUntilFree(slots: Slots, amount: number, nowMs: number, periodMs: number): number {
  let freed = 0;
  for (const [slot, taken] of slots) {
    freed += taken;
    if (freed >= amount) return ((slot + SLOTS_PER_PERIOD) * periodMs) / SLOTS_PER_PERIOD - nowMs;
  }
  return periodMs;
}

/** What is left beside these, which count now, and until the oldest of them is free again. */
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
