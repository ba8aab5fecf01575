// Runs a worker's transactions that move money one at a time per app. They would wait for each other at the app's budgets anyway, but several that wait in
// the database while this process is frozen would each delay the app.
import { createKeyedSemaphore, type KeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.ts";
import type { Database, SystemTransaction } from "../../storage/database.ts";
import { bypassRls } from "../../storage/system.ts";
import { transact } from "../../storage/transact.ts";

export type AppMutex = Pick<KeyedSemaphore, "run">;

export function createAppMutex(): AppMutex {
  return createKeyedSemaphore({ total: Number.POSITIVE_INFINITY, perKind: 1 });
}

export function withAppMutex<T>(
  { database, appTurns }: { readonly database: Database; readonly appTurns: AppMutex },
  appId: string,
  work: (tx: SystemTransaction) => Promise<T>,
): Promise<T> {
  return appTurns.run(appId, new AbortController().signal, () => transact(bypassRls(database, "claim"), work));
}
