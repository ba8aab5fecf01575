// Notifies every process within 5 s that something it may have cached has changed, when the transaction commits [keys.revoke-announced]. Notifications,
// which `changes.ts` receives, may be lost, so caches also expire by age.
import { sql } from "kysely";
import type { DatabaseTransaction } from "../database.ts";

/**
 * `keys`: API keys and their apps and workspaces. `directory`: connections, routes, prices. `leases`: a workspace's chat was refused because
 * other processes hold its budgets. `circuits`: a circuit breaker of an account or of a model on it may close early. This is not stored, so a
 * process that misses it waits for the cooldown to end.
 */
export const CHANGE_TOPICS = ["keys", "directory", "leases", "circuits"] as const;
export type ChangeTopic = (typeof CHANGE_TOPICS)[number];

export const CHANGES_CHANNEL = "patchbay_changes";

/** `detail` is the id of what changed. The payload is `{"topic","detail"}`; PostgreSQL accepts at most 8,000 bytes. */
export async function announceChange(tx: DatabaseTransaction, topic: ChangeTopic, detail: string): Promise<void> {
  await sql`select pg_notify(${CHANGES_CHANNEL}, ${JSON.stringify({ topic, detail })})`.execute(tx);
}
