// What a process is granted of a shared quota, as pure functions of a row's state [quotas.advance-bounded]. No more is granted than there
// is, and in advance only a small part of what is left, so that the last of a quota is not held where it is not needed.
import type { Limit } from "./counters.ts";
import { addTo, msUntilFree, removeFrom, type Slots, slotsAt, sumOf } from "./window.ts";

export interface WindowAsk {
  readonly limit: Limit;
  /** What the process holds and those who wait may have. */
  readonly own: number;
  /** Of those who wait, in their order. */
  readonly amounts: readonly number[];
  readonly inAdvance: number;
  /** Was drawn before and not used. */
  readonly returned: number;
  /** Was used without being drawn, and counts whatever room there is. */
  readonly owed: number;
}

export interface WindowDrawn {
  readonly granted: number;
  /** Of it, what nobody waits for yet. */
  readonly inAdvance: number;
  /** For each who waits: null when it fits, else how long until it would. */
  readonly waitsMs: readonly (number | null)[];
}

/** Of what is left at most this part: three processes that hold it unused keep a quota's error below 2 % by far. */
const SHARE = 64;

export function drawWindow(state: unknown, ask: WindowAsk, nowMs: number): { state: Slots; drawn: WindowDrawn } {
  const { limit, periodMs } = ask.limit;
  const kept = removeFrom(slotsAt(readSlots(state), nowMs, periodMs), ask.returned);
  const slots = addTo(kept, ask.owed, nowMs, periodMs);
  const left = limit - sumOf(slots);
  let fitting = 0;
  const waitsMs = ask.amounts.map((amount) => {
    const excess = fitting + amount - ask.own - left;
    if (excess > 0) return msUntilFree(slots, excess, nowMs, periodMs);
    fitting += amount;
    return null;
  });
  const needed = Math.max(0, fitting - ask.own);
  const isEnough = waitsMs.every((wait) => wait === null);
  const inAdvance = isEnough ? Math.max(0, Math.min(ask.inAdvance, Math.floor((left - needed) / SHARE))) : 0;
  const granted = needed + inAdvance;
  return { state: addTo(slots, granted, nowMs, periodMs), drawn: { granted, inAdvance, waitsMs } };
}

export interface PlaceAsk {
  readonly limit: Limit;
  /** Those in use and those kept for the next. */
  readonly held: number;
  readonly wanted: number;
}

/** What each process holds, and until when if it says nothing more. */
type Places = Readonly<Record<string, readonly [places: number, untilMs: number]>>;

/** A process that has died is noticed within 45 s. */
export const PLACE_LEASE_MS = 30_000;

export function drawPlaces(
  state: unknown,
  ask: PlaceAsk,
  { process, nowMs }: { readonly process: string; readonly nowMs: number },
): { state: Places; granted: number; others: number } {
  const others = Object.entries(readPlaces(state)).filter(([id, [, untilMs]]) => id !== process && untilMs > nowMs);
  const taken = others.reduce((sum, [, [places]]) => sum + places, 0);
  const granted = Math.max(0, Math.min(ask.wanted, ask.limit.limit - taken - ask.held));
  const held = ask.held + granted;
  const own = held > 0 ? { [process]: [held, nowMs + PLACE_LEASE_MS] as const } : {};
  return { state: { ...Object.fromEntries(others), ...own }, granted, others: taken };
}

/** Both are written here and nowhere else. */
function readSlots(state: unknown): Slots {
  return Array.isArray(state) ? (state as Slots) : [];
}

function readPlaces(state: unknown): Places {
  return typeof state === "object" && state !== null ? (state as Places) : {};
}
