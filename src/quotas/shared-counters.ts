// Quotas over several processes on one database [quotas.exact] (docs/decisions/0015): each process holds slices that it spends in memory, and one
// transaction at a time allocates and returns slices for all quotas.
import { randomUUID } from "node:crypto";
import { createBatcher } from "../lib/concurrency/batcher.ts";
import type { Database } from "../storage/database.ts";
import { countName, lockCounts, readCounts, sweepCounts, writeCounts } from "./store/quota-counts.ts";
import { bypassRls } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { isBadData } from "../storage/database-faults.ts";
import type { Counters, Limit, Verdict } from "./counters.ts";
import { drawPlaces, drawWindow, PLACE_LEASE_MS, type WindowDrawn } from "./grant-quota.ts";
import { PlaceSlice } from "./concurrency-slice.ts";
import { type WindowRow, WindowSlice } from "./window-slice.ts";

export interface SharedCountersOptions {
  readonly database: Database;
  /** A monotonic clock. The database's clock defines a quota's window. */
  readonly elapsedMs?: () => number;
  /** Called when old rows could not be deleted. The sweep is repeated. */
  readonly onError?: (error: unknown) => void;
}

export interface SharedCounters extends Counters {
  /** The timer calls it once a second. */
  look(): void;
  /** Renews the slots that this process holds. */
  renew(): void;
  /** Resolves when no draw or return is in progress. */
  quiet(): Promise<void>;
}

/** One slice's part of a transaction. */
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
  const inProgress = new Set<Promise<void>>();
  const enqueue = createBatcher(
    async (starts: readonly (() => Drawing)[]) => {
      await drawAll(
        database,
        starts.map((start) => start()),
      );
      return starts.map(() => undefined);
    },
    { maxItems: MAX_BATCH, isItemFault: () => false },
  );
  const draw = (start: () => Drawing): void => {
    const drawing: Promise<void> = enqueue(start).finally(() => inProgress.delete(drawing));
    inProgress.add(drawing);
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
    while (inProgress.size > 0) await Promise.all(inProgress);
  };
  const timers = [
    setInterval(look, LOOK_MS),
    setInterval(renew, PLACE_LEASE_MS / 3),
    setInterval(
      () => void sweepCounts(bypassRls(database, "sweep").db).catch((error: unknown) => options.onError?.(error)),
      SWEEP_MS,
    ),
  ];
  for (const timer of timers) timer.unref();

  return {
    take: (limits, amount) =>
      takeAll(limits, {
        take: (limit) => windowOf(limit).take(limit, amount),
        undo: (limit) => windowOf(limit).put(amount),
      }),
    judge: async (limits, amount) => {
      const { nowMs, states } = await readCounts(bypassRls(database, "batch").db, limits);
      for (const limit of limits) {
        const name = countName(limit);
        const unspent = windows.get(name)?.unspent ?? 0;
        const ask = { limit, own: unspent, amounts: [amount], inAdvance: 0, returned: 0, owed: 0 };
        const [waitMs = null] = drawWindow(states.get(name), ask, nowMs).drawn.waitsMs;
        if (waitMs !== null) return { ok: false, limit, waitMs };
      }
      return { ok: true };
    },
    correct: (limits, difference) => limits.forEach((limit) => windowOf(limit).correct(difference)),
    enter: async (limits) => {
      const leave = (limit: Limit): void => placeOf(limit).leave();
      const verdict = await takeAll(limits, { take: (limit) => placeOf(limit).enter(limit), undo: leave });
      return verdict.ok ? { ...verdict, leave: () => limits.forEach(leave) } : verdict;
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
  readonly take: (this: void, limit: Limit) => Promise<Verdict>;
  readonly undo: (this: void, limit: Limit) => void;
}

/** Takes all limits or none. One after the other, so that nothing is drawn of the app's quota if the key's own refuses. */
async function takeAll(limits: readonly Limit[], step: Step): Promise<Verdict> {
  const taken: Limit[] = [];
  try {
    for (const limit of limits) {
      const verdict = await step.take(limit);
      if (!verdict.ok) {
        taken.forEach(step.undo);
        return verdict;
      }
      taken.push(limit);
    }
    return { ok: true };
  } catch (error) {
    taken.forEach(step.undo);
    throw error;
  }
}

async function drawAll(database: Database, drawings: readonly Drawing[]): Promise<void> {
  try {
    await transact(bypassRls(database, "batch"), async (tx) => {
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
    // A drawing of a deleted workspace fails the batch, so each one is run alone.
    if (drawings.length > 1 && isBadData(error)) for (const drawing of drawings) await drawAll(database, [drawing]);
    else for (const drawing of drawings) drawing.failed(error);
    return;
  }
  for (const drawing of drawings) drawing.done();
}

function windowDrawing(slice: WindowSlice): Drawing {
  const ask = slice.ask();
  let result: WindowDrawn = { granted: 0, inAdvance: 0, waitsMs: [] };
  let row: WindowRow = { slots: [], nowMs: 0 };
  return {
    limit: ask.limit,
    change: (state, nowMs) => {
      const change = drawWindow(state, ask, nowMs);
      result = change.drawn;
      row = { slots: change.state, nowMs };
      return change.state;
    },
    done: () => slice.drawn(ask, result, row),
    failed: (error) => slice.failed(ask, error),
  };
}

function placeDrawing(slice: PlaceSlice, process: string): Drawing {
  const ask = slice.ask();
  let result = { granted: 0, others: 0 };
  return {
    limit: ask.limit,
    change: (state, nowMs) => {
      const change = drawPlaces(state, ask, { process, nowMs });
      result = change;
      return change.state;
    },
    done: () => slice.drawn(ask, result),
    failed: (error) => slice.failed(ask, error),
  };
}
