// Notifies every process that something it may have cached has changed (within 5 s): received when the transaction commits, or not at all
// [keys.revoke-announced]. A hint, never truth: caches also expire by age, because a notification may be lost. Received by `changes.ts`.
import { sql } from "kysely";
import type { Transacting } from "./database.ts";

/**
 * `keys`: API keys, and the apps and workspaces they stand for. `directory`: connections, routes, prices. `leases`: a workspace's chat was
 * refused for what other processes hold of its budgets. `circuits`: an account, or a model on it, need not rest after failures any longer; nobody
 * keeps that, so who misses it lets the rest end by itself.
 */
export const CHANGE_TOPICS = ["keys", "directory", "leases", "circuits"] as const;
export type ChangeTopic = (typeof CHANGE_TOPICS)[number];

export const CHANGES_CHANNEL = "patchbay_changes";

/** `detail`: what changed, an id. The payload is `{"topic","detail"}`; a server takes no more than 8,000 bytes. */
export async function announceChange(tx: Transacting, topic: ChangeTopic, detail: string): Promise<void> {
  await sql`select pg_notify(${CHANGES_CHANNEL}, ${JSON.stringify({ topic, detail })})`.execute(tx);
}
