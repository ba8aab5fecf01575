// Tells every process that something it may remember has changed (contract 2: a revoked key is refused within 5 s everywhere).
// Sent with the commit, and not at all when there is none.
import { sql } from "kysely";
import type { Transacting } from "./database.ts";

export const CHANGES_CHANNEL = "patchbay_changes";

export type ChangeTopic = "keys" | "directory";

/** `detail`: what changed, an id. The payload is `{"topic","detail"}`; a server takes no more than 8,000 bytes. */
export async function announceChange(tx: Transacting, topic: ChangeTopic, detail: string): Promise<void> {
  await sql`select pg_notify(${CHANGES_CHANNEL}, ${JSON.stringify({ topic, detail })})`.execute(tx);
}
