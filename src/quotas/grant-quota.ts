// Decides how much of a shared quota a process is granted, as pure functions of a row's state [quotas.advance-bounded]. Grants never exceed what is left,
// and an advance is only a small part of it, so that the last of a quota is not held where it is not needed.
import type { Limit } from "./counters.ts";
import { addTo, msUntilFree, removeFrom, type Slots, slotsAt, sumOf } from "./window.ts";

export interface WindowAsk {
  readonly limit: Limit;
  /** What the process already holds for the waiting requests. */
  readonly own: number;
  /** Amounts of the waiting requests, in order. */
  readonly amounts: readonly number[];
  readonly inAdvance: number;
  /** Was granted earlier and not used. */
  readonly returned: number;
  /** Was used without a grant, and counts whatever room there is. */
  readonly owed: number;
}

export interface WindowDrawn {
  readonly granted: number;
  /** The part of the grant that no request is waiting for yet. */
  readonly inAdvance: number;
  /** For each waiting request: null if it fits, otherwise the time until it would. */
  readonly waitsMs: readonly (number | null)[];
}

/** An advance is at most this fraction of what is left: three processes that hold theirs unused keep a quota's error far below 2 %. */
const SHARE = 64;

export function drawWindow(state: unknown, ask: WindowAsk, nowMs: number): { state: Slots; drawn: WindowDrawn } {
  const { limit, periodMs } = ask.limit;
  const remaining = removeFrom(slotsAt(readSlots(state), nowMs, periodMs), ask.returned);
  const slots = addTo(remaining, ask.owed, nowMs, periodMs);
  const available = limit - sumOf(slots);
  let fittingSum = 0;
  const waitsMs = ask.amounts.map((amount) => {
    const excess = fittingSum + amount - ask.own - available;
    if (excess > 0) return msUntilFree(slots, excess, nowMs, periodMs);
    fittingSum += amount;
    return null;
  });
  const needed = Math.max(0, fittingSum - ask.own);
  const isEnough = waitsMs.every((wait) => wait === null);
  const inAdvance = isEnough ? Math.max(0, Math.min(ask.inAdvance, Math.floor((available - needed) / SHARE))) : 0;
  const granted = needed + inAdvance;
  return { state: addTo(slots, granted, nowMs, periodMs), drawn: { granted, inAdvance, waitsMs } };
}

export interface PlaceAsk {
  readonly limit: Limit;
  /** Slots in use and idle ones. */
  readonly held: number;
  readonly wanted: number;
}

/** Slots per process, and when they expire unless the process renews them. */
type Places = Readonly<Record<string, readonly [places: number, untilMs: number]>>;

/** A dead process is detected within 45 s. */
export const PLACE_LEASE_MS = 30_000;

export function drawPlaces(
  state: unknown,
  ask: PlaceAsk,
  { process, nowMs }: { readonly process: string; readonly nowMs: number },
): { state: Places; granted: number; others: number } {
  const others = Object.entries(readPlaces(state)).filter(([id, [, untilMs]]) => id !== process && untilMs > nowMs);
  const takenByOthers = others.reduce((sum, [, [places]]) => sum + places, 0);
  const granted = Math.max(0, Math.min(ask.wanted, ask.limit.limit - takenByOthers - ask.held));
  const held = ask.held + granted;
  const ownEntry = held > 0 ? { [process]: [held, nowMs + PLACE_LEASE_MS] as const } : {};
  return { state: { ...Object.fromEntries(others), ...ownEntry }, granted, others: takenByOthers };
}

/** The casts are safe: only this file writes these states. */
function readSlots(state: unknown): Slots {
  return Array.isArray(state) ? (state as Slots) : [];
}

function readPlaces(state: unknown): Places {
  return typeof state === "object" && state !== null ? (state as Places) : {};
}
