// A transaction that runs again when the server chose it as the victim of a deadlock or a serialisation conflict.
import type { Database, Transacting } from "./database.ts";

const MAX_TRIES = 3;

export async function transact<T>(database: Database, work: (tx: Transacting) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (tries >= MAX_TRIES || !isTransient(error)) throw error;
    }
  }
}

/** The transaction is certainly undone. */
function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

export function sqlState(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
