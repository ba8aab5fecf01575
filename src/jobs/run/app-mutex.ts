// Lets a worker run only one transaction at a time that reserves or settles an app's money. The database would queue them at the app's budget rows anyway. But
// if this process froze while several were queued, each in turn would hold the rows until its timeout, and other processes would wait for all of them.
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
