// Records when each key was last used, to the minute [keys.last-used]. Collected in memory and written for all keys at once, so that a request waits for
// nothing and costs no statement.
import { sql } from "kysely";
import type { KeyId } from "../contract/ids.ts";
import type { Database, systemAccess } from "../storage/database.ts";
import { bypassRls } from "../storage/system.ts";

export interface KeyUse {
  readonly note: (key: KeyId) => void;
  /** Writes the keys noted since the last flush. */
  flush(): Promise<void>;
}

export function createKeyUse(database: Pick<Database, typeof systemAccess>): KeyUse {
  const { db } = bypassRls(database, "batch");
  let usedKeys = new Set<KeyId>();
  const write = async (keys: readonly KeyId[]): Promise<void> => {
    // In id order, skipping keys that another process has just written, so that processes do not wait for each other.
    await sql`update api_keys set last_used_at = patchbay_now() where id in (
      select id from api_keys where id = any(${keys}::text[])
        and (last_used_at is null or last_used_at < patchbay_now() - interval '20 seconds')
      order by id for update skip locked)`.execute(db);
  };
  return {
    note: (key) => void usedKeys.add(key),
    flush: async () => {
      if (usedKeys.size === 0) return;
      const flushedKeys = usedKeys;
      usedKeys = new Set();
      try {
        await write([...flushedKeys]);
      } catch (error) {
        // Kept for the next flush.
        for (const key of flushedKeys) usedKeys.add(key);
        throw error;
      }
    },
  };
}
