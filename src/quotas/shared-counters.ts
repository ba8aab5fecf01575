// Quotas over several processes on one server [quotas.exact] (docs/decisions/0015): each holds slices that it spends in memory, and takes
// and returns for all of them in one transaction at a time.
import { randomUUID } from "node:crypto";
import { createBatcher } from "../lib/concurrency/batcher.ts";
import type { Database } from "../storage/database.ts";
import { countName, lockCounts, readCounts, sweepCounts, writeCounts } from "../storage/quota-counts.ts";
import { batches, sweeps } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { isBadData } from "../storage/database-faults.ts";
import type { MaybePromise } from "../lib/concurrency/maybe-promise.ts";
import type { Counters, Limit, Verdict } from "./counters.ts";
import { drawPlaces, drawWindow, PLACE_LEASE_MS, type WindowDrawn } from "./draw.ts";
import { PlaceSlice } from "./place-slice.ts";
import { type WindowRow, WindowSlice } from "./window-slice.ts";

export interface SharedCountersOptions {
  readonly database: Database;
  /** Never set back; the database's own clock says what a quota's last minute is. */
  readonly elapsedMs?: () => number;
  /** Rows of forgotten holders could not be cleared away; it is tried again. */
  readonly onError?: (error: unknown) => void;
}

export interface SharedCounters extends Counters {
  /** What the timer does once a second. */
  look(): void;
  /** Tells that this process still holds its places. */
  renew(): void;
  /** Resolves when nothing is being drawn or returned. */
  quiet(): Promise<void>;
}

/** One slice's part in a transaction. */
interface Drawing {
  readonly limit: Limit;
  change(state: unknown, nowMs: number): unknown;
  done(): void;
  failed(error: unknown): void;
}

const LOOK_MS = 1_000;
const SWEEP_MS = 600_000;
const MAX_BATCH = 200;

export function createSharedCounters(options: SharedCountersOptions): SharedCounters {
  const { database, elapsedMs = () => performance.now() } = options;
  const process = randomUUID();
  const windows = new Map<string, WindowSlice>();
  const places = new Map<string, PlaceSlice>();
  const under = new Set<Promise<void>>();
  const batched = createBatcher(
    async (begins: readonly (() => Drawing)[]) => {
      await drawAll(
        database,
        begins.map((begin) => begin()),
      );
      return begins.map(() => undefined);
    },
    { maxItems: MAX_BATCH, isItemFault: () => false },
  );
  const draw = (begin: () => Drawing): void => {
    const drawing: Promise<void> = batched(begin).finally(() => under.delete(drawing));
    under.add(drawing);
  };

  const windowOf = (limit: Limit): WindowSlice => {
    const name = countName(limit);
    const slice = windows.get(name) ?? new WindowSlice(limit, elapsedMs, () => draw(() => windowDrawing(slice)));
    windows.set(name, slice);
    return slice;
  };
  const placeOf = (limit: Limit): PlaceSlice => {
    const name = countName(limit);
    const slice = places.get(name) ?? new PlaceSlice(limit, elapsedMs, () => draw(() => placeDrawing(slice, process)));
    places.set(name, slice);
    return slice;
  };
  const look = (): void => {
    for (const [name, slice] of windows) if (!slice.look()) windows.delete(name);
    for (const [name, slice] of places) if (!slice.look()) places.delete(name);
  };
  const renew = (): void => places.forEach((slice) => slice.renew());
  const quiet = async (): Promise<void> => {
    while (under.size > 0) await Promise.all(under);
  };
  const timers = [
    setInterval(look, LOOK_MS),
    setInterval(renew, PLACE_LEASE_MS / 3),
    setInterval(
      () => void sweepCounts(sweeps(database).db).catch((error: unknown) => options.onError?.(error)),
      SWEEP_MS,
    ),
  ];
  for (const timer of timers) timer.unref();

  return {
    take: (limits, amount) =>
      together(limits, {
        take: (limit) => windowOf(limit).take(limit, amount),
        undo: (limit) => windowOf(limit).put(amount),
      }),
    judge: async (limits, amount) => {
      const { nowMs, states } = await readCounts(batches(database).db, limits);
      for (const limit of limits) {
        const name = countName(limit);
        const own = windows.get(name)?.unspent ?? 0;
        const ask = { limit, own, amounts: [amount], inAdvance: 0, returned: 0, owed: 0 };
        const [waitMs = null] = drawWindow(states.get(name), ask, nowMs).drawn.waitsMs;
        if (waitMs !== null) return { ok: false, limit, waitMs };
      }
      return { ok: true };
    },
    correct: (limits, difference) => limits.forEach((limit) => windowOf(limit).correct(difference)),
    enter: (limits) => {
      const leave = (limit: Limit): void => placeOf(limit).leave();
      const entered = together(limits, { take: (limit) => placeOf(limit).enter(limit), undo: leave });
      const withLeave = (verdict: Verdict) =>
        verdict.ok ? { ...verdict, leave: () => limits.forEach(leave) } : verdict;
      return entered instanceof Promise ? entered.then(withLeave) : withLeave(entered);
    },
    standing: (limit) => (limit.periodMs === 0 ? places : windows).get(countName(limit))?.standing(limit) ?? null,
    look,
    renew,
    quiet,
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      await quiet();
      windows.forEach((slice) => slice.giveBackAll());
      places.forEach((slice) => slice.giveBackAll());
      await quiet();
    },
  };
}

interface Step {
  readonly take: (this: void, limit: Limit) => MaybePromise<Verdict>;
  readonly undo: (this: void, limit: Limit) => void;
}

/** All of them or none. In turn, so that nothing is drawn of the app's for what the key's own quota refuses. */
function together(limits: readonly Limit[], step: Step): MaybePromise<Verdict> {
  for (const [index, limit] of limits.entries()) {
    const verdict = step.take(limit);
    if (verdict instanceof Promise) return togetherLater(limits, step, { taken: index, coming: verdict });
    if (!verdict.ok) {
      limits.slice(0, index).forEach(step.undo);
      return verdict;
    }
  }
  return { ok: true };
}

async function togetherLater(
  limits: readonly Limit[],
  step: Step,
  { taken, coming }: { readonly taken: number; readonly coming: Promise<Verdict> },
): Promise<Verdict> {
  let done = taken;
  const undo = (): void => limits.slice(0, done).forEach(step.undo);
  try {
    let verdict = await coming;
    while (verdict.ok) {
      done += 1;
      const next = limits[done];
      if (next === undefined) return verdict;
      verdict = await step.take(next);
    }
    undo();
    return verdict;
  } catch (error) {
    undo();
    throw error;
  }
}

async function drawAll(database: Database, drawings: readonly Drawing[]): Promise<void> {
  try {
    await transact(batches(database), async (tx) => {
      const { nowMs, states } = await lockCounts(
        tx,
        drawings.map((drawing) => drawing.limit),
      );
      await writeCounts(
        tx,
        drawings.map((drawing) => ({
          ...drawing.limit,
          state: drawing.change(states.get(countName(drawing.limit)), nowMs),
        })),
      );
    });
  } catch (error) {
    // One whose workspace is gone fails the batch: the others are drawn for without it.
    if (drawings.length > 1 && isBadData(error)) for (const drawing of drawings) await drawAll(database, [drawing]);
    else for (const drawing of drawings) drawing.failed(error);
    return;
  }
  for (const drawing of drawings) drawing.done();
}

function windowDrawing(slice: WindowSlice): Drawing {
  const ask = slice.ask();
  let drawn: WindowDrawn = { granted: 0, inAdvance: 0, waitsMs: [] };
  let row: WindowRow = { slots: [], nowMs: 0 };
  return {
    limit: ask.limit,
    change: (state, nowMs) => {
      const change = drawWindow(state, ask, nowMs);
      drawn = change.drawn;
      row = { slots: change.state, nowMs };
      return change.state;
    },
    done: () => slice.drawn(ask, drawn, row),
    failed: (error) => slice.failed(ask, error),
  };
}

function placeDrawing(slice: PlaceSlice, process: string): Drawing {
  const ask = slice.ask();
  let drawn = { granted: 0, others: 0 };
  return {
    limit: ask.limit,
    change: (state, nowMs) => {
      const change = drawPlaces(state, ask, { process, nowMs });
      drawn = change;
      return change.state;
    },
    done: () => slice.drawn(ask, drawn),
    failed: (error) => slice.failed(ask, error),
  };
}
