// When each key was last used, to the minute [keys.last-used]. Collected in memory and written for all keys at once: a request waits for
// nothing and costs no statement.
import { sql } from "kysely";
import type { KeyId } from "../contract/ids.ts";
import type { Database } from "../storage/database.ts";
import { batches } from "../storage/system.ts";

export interface KeyUse {
  readonly note: (key: KeyId) => void;
  /** Writes what was noted since the last time. */
  flush(): Promise<void>;
}

export function createKeyUse(database: Pick<Database, "db">): KeyUse {
  const { db } = batches(database);
  let used = new Set<KeyId>();
  const write = async (keys: readonly KeyId[]): Promise<void> => {
    // In order, and none that another process has just written: processes do not wait for each other.
    await sql`update api_keys set last_used_at = patchbay_now() where id in (
      select id from api_keys where id = any(${keys}::text[])
        and (last_used_at is null or last_used_at < patchbay_now() - interval '20 seconds')
      order by id for update skip locked)`.execute(db);
  };
  return {
    note: (key) => void used.add(key),
    flush: async () => {
      if (used.size === 0) return;
      const noted = used;
      used = new Set();
      try {
        await write([...noted]);
      } catch (error) {
        // Told the next time.
        for (const key of noted) used.add(key);
        throw error;
      }
    },
  };
}
