// Finds a statement of a transaction that its code does not wait for: its error would be lost, and it might run after the commit.
import assert from "node:assert/strict";
import type { KyselyPlugin } from "kysely";
import {
  asSystemTransaction,
  type Database,
  type SystemAccess,
  type SystemTransaction,
} from "../../../src/storage/database.ts";
import { withSystemAccess } from "./database.ts";

/** Runs the work on the transaction, and throws if one statement began, or the work ended, while another was running. */
export async function runSequentially<T>(
  tx: SystemTransaction,
  work: (tx: SystemTransaction) => Promise<T>,
): Promise<T> {
  let running = 0;
  let overlaps = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      overlaps += running;
      running += 1;
      return node;
    },
    transformResult: async ({ result }) => {
      running -= 1;
      return result;
    },
  };
  const result = await work(asSystemTransaction(tx.withPlugin(counting)));
  assert.equal(overlaps + running, 0, "a statement that its code does not wait for");
  return result;
}

/** The same database, whose transactions throw if their work does not wait for a statement. */
export function withSequentialStatements<D extends Database & SystemAccess>(database: D): D & SystemAccess {
  return withSystemAccess(database, {
    transaction: (work) => database.transaction((tx) => runSequentially(tx, work)),
  });
}
