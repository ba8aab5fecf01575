// Records when each key was last used, to the minute [keys.last-used]. Collected in memory and written for all keys at once, so that a request waits for
// nothing and costs no statement.
import type { KeyId } from "../contract/ids.ts";
import type { Database, systemAccess } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";
import { updateLastUsed } from "./store/tenants.ts";

export interface KeyUse {
  readonly note: (key: KeyId) => void;
  /** Writes the keys noted since the last flush. */
  flush(): Promise<void>;
}

export function createKeyUse(database: Pick<Database, typeof systemAccess>): KeyUse {
  const { db } = bypassRls(database, "batch");
  let usedKeys = new Set<KeyId>();
  return {
    note: (key) => void usedKeys.add(key),
    flush: async () => {
      if (usedKeys.size === 0) return;
      const flushedKeys = usedKeys;
      usedKeys = new Set();
      try {
        await updateLastUsed(db, [...flushedKeys]);
      } catch (error) {
        // Kept for the next flush.
        for (const key of flushedKeys) usedKeys.add(key);
        throw error;
      }
    },
  };
}
