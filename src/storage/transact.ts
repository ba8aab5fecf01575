// Runs transactions: repeats them after deadlocks and serialisation conflicts, and tags failures with what is known of their outcome.
import { setTimeout as pause } from "node:timers/promises";
import { errorCode } from "../lib/error-code.ts";
import type { DatabaseTransaction, Transactor } from "./database.ts";
import { isTransient, isServerUnavailable } from "./database-faults.ts";

const MAX_TRIES = 3;

export async function transact<Tx extends DatabaseTransaction, T>(
  database: Transactor<Tx>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (tries >= MAX_TRIES || !isTransient(error)) throw error;
    }
  }
}

/** Gives the pool time to notice that other connections broke as well. */
const UNAVAILABLE_PAUSE_MS = 50;

/** Also repeats a transaction after its connection broke, when it is unknown whether it was committed. Only for idempotent work. */
export async function transactIdempotently<Tx extends DatabaseTransaction, T>(
  database: Transactor<Tx>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transact(database, work);
    } catch (error) {
      if (tries >= MAX_TRIES || !isServerUnavailable(error)) throw error;
    }
    await pause(UNAVAILABLE_PAUSE_MS);
  }
}

const rolledBack = new WeakSet<object>();

/** Tags the error as rolled back if the transaction failed before COMMIT was sent. After that its outcome is unknown. */
export async function tagRolledBack<Tx extends DatabaseTransaction, T>(
  begin: (work: (tx: Tx) => Promise<T>) => Promise<T>,
  work: (tx: Tx) => Promise<T>,
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
    if (isRolledBack && typeof error === "object" && error !== null) rolledBack.add(error);
    throw error;
  }
}

/** The failed transaction changed nothing. Earlier transactions of the same work may have: see `markPostCommitFailure`. */
export function isRolledBack(error: unknown): boolean {
  return typeof error === "object" && error !== null && rolledBack.has(error);
}

/** For work after a commit: its failure must not count as "nothing was changed". */
export async function markPostCommitFailure<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw isRolledBack(error) && isServerUnavailable(error)
      ? new Error("failed behind a commit", { cause: error })
      : error;
  });
}

const UNIQUE_VIOLATION = "23505";

/**
 * Exactly once, even if the connection breaks: `done` looks up on another connection whether `work` was committed (null: it was not), and
 * `work` is repeated only then. `work` inserts a row with an id that stays the same.
 */
export async function transactExactlyOnce<Tx extends DatabaseTransaction, T>(
  database: Transactor<Tx>,
  work: (tx: Tx) => Promise<T>,
  done: (tx: Tx) => Promise<T | null>,
): Promise<T> {
  let hasBegun = false;
  try {
    return await transact(database, async (tx) => {
      hasBegun = true;
      return work(tx);
    });
  } catch (error) {
    if (!hasBegun || !isServerUnavailable(error)) throw error;
  }
  return repeatUnlessDone(database, work, done);
}

/** Looks up whether an earlier transaction of `work`, whose outcome is unknown, was committed, and repeats it only if it was not. */
export async function repeatUnlessDone<Tx extends DatabaseTransaction, T>(
  database: Transactor<Tx>,
  work: (tx: Tx) => Promise<T>,
  done: (tx: Tx) => Promise<T | null>,
): Promise<T> {
  try {
    return await transactIdempotently(database, async (tx) => (await done(tx)) ?? work(tx));
  } catch (error) {
    // The first commit was still in progress during the look-up, and the second insert waited for it.
    const found = errorCode(error) === UNIQUE_VIOLATION ? await transactIdempotently(database, done) : null;
    if (found === null) throw error;
    return found;
  }
}
