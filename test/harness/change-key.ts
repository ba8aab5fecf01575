// Changes a stored key as another process does: the change and its notification are committed, and this process only receives the notification.
import assert from "node:assert/strict";
import { sql } from "kysely";
import { announceChange } from "../../src/storage/connection/announce.ts";
import type { TestGateway } from "./gateway.ts";

export const REVOKED = { revoked_at: sql<Date>`patchbay_now()` };
export const EXPIRED = { expires_at: sql<Date>`patchbay_now()` };
export const CHAT_ALONE = { scopes: ["chat"] };
export const JOBS_ALONE = { scopes: ["jobs"] };

export async function changeKey(
  { database }: Pick<TestGateway, "database">,
  name: string,
  change: typeof REVOKED | typeof EXPIRED | typeof CHAT_ALONE,
): Promise<void> {
  await database.transaction(async (tx) => {
    const changed = await tx.updateTable("api_keys").set(change).where("name", "=", name).executeTakeFirstOrThrow();
    assert.equal(changed.numUpdatedRows, 1n);
    await announceChange(tx, "keys", name);
  });
}
