// A transaction that runs again when the server chose it as the victim of a deadlock or a serialisation conflict.
import { setTimeout as pause } from "node:timers/promises";
import { errorCode } from "../lib/error-code.ts";
import { createSymbolSlot } from "../lib/symbol-slot.ts";
import type { Database, Transacting } from "./database.ts";
import { isTransient, isAway } from "./database-faults.ts";

const MAX_TRIES = 3;

export async function transact<T>(
  database: Pick<Database, "transaction">,
  work: (tx: Transacting) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (tries >= MAX_TRIES || !isTransient(error)) throw error;
    }
  }
}

/** Until a connection that ended with its neighbours has been found out. */
const AWAY_PAUSE_MS = 50;

/**
 * Runs again, on another session, also where one was cut: for work that changes nothing the second time, because nobody knows whether
 * the first was committed.
 */
export async function transactAgain<T>(
  database: Pick<Database, "transaction">,
  work: (tx: Transacting) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transact(database, work);
    } catch (error) {
      if (tries >= MAX_TRIES || !isAway(error)) throw error;
    }
    await pause(AWAY_PAUSE_MS);
  }
}

const undone = createSymbolSlot<object, true>("certainly undone");

/** One transaction, whose error tells whether it may have been committed: it may where its commit was asked for. */
export async function orUndone<T>(
  begin: (work: (tx: Transacting) => Promise<T>) => Promise<T>,
  work: (tx: Transacting) => Promise<T>,
): Promise<T> {
  let isComplete = false;
  try {
    return await begin(async (tx) => {
      const result = await work(tx);
      isComplete = true;
      return result;
    });
  } catch (error) {
    const isRolledBack = !isComplete || isTransient(error);
    if (isRolledBack && typeof error === "object" && error !== null) undone.set(error, true);
    throw error;
  }
}

/** The transaction that failed has changed nothing. Those before it of the same work are another matter: see `afterCommit`. */
export function isUndone(error: unknown): boolean {
  return typeof error === "object" && error !== null && undone.get(error) === true;
}

/** What is done behind a commit: where it fails, something has been changed. */
export async function afterCommit<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw isUndone(error) && isAway(error) ? new Error("failed behind a commit", { cause: error }) : error;
  });
}

const UNIQUE_VIOLATION = "23505";

/**
 * Done once, though a session be cut: `done` looks up on another one whether it was committed, and what was not is done again. It
 * answers null where it was not. `work` puts in a row by an id that stays the same.
 */
export async function transactOnce<T>(
  database: Pick<Database, "transaction">,
  work: (tx: Transacting) => Promise<T>,
  done: (tx: Transacting) => Promise<T | null>,
): Promise<T> {
  let hasBegun = false;
  try {
    return await transact(database, async (tx) => {
      hasBegun = true;
      return work(tx);
    });
  } catch (error) {
    if (!hasBegun || !isAway(error)) throw error;
  }
  try {
    return await transactAgain(database, async (tx) => (await done(tx)) ?? work(tx));
  } catch (error) {
    // It was still being committed when it was looked up: the row that was put in again has waited for that.
    const found = errorCode(error) === UNIQUE_VIOLATION ? await transactAgain(database, done) : null;
    if (found === null) throw error;
    return found;
  }
}
