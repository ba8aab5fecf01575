// Serializes a worker's transactions that move money, per app in this process. They wait for each other at the app's budgets anyway, but
// if several waited there when the process is frozen, each would delay the app in its turn.
import { createKeyedSemaphore, type KeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import type { Database, Transacting } from "../storage/database.ts";
import { claims } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";

export type AppMutex = Pick<KeyedSemaphore, "run">;

export function createAppMutex(): AppMutex {
  return createKeyedSemaphore({ total: Number.POSITIVE_INFINITY, perKind: 1 });
}

export function withAppMutex<T>(
  { database, appTurns }: { readonly database: Database; readonly appTurns: AppMutex },
  appId: string,
  work: (tx: Transacting) => Promise<T>,
): Promise<T> {
  return appTurns.run(appId, new AbortController().signal, () => transact(claims(database), work));
}
