// Stores which pepper the database's API keys were hashed with [tenancy.pepper], and replaces it [tenancy.pepper-replace].
import { createHmac } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { announceChange } from "../connection/announce.ts";
import { writeAudit } from "../audit-log.ts";
import type { Database, systemAccess, SystemTransaction } from "../database.ts";
import { lockDirectory } from "../directory-state.ts";
import { bypassRls } from "../system.ts";
import type { Tables } from "../schema/tables.ts";
import { transact } from "../transact.ts";

type Reading = Pick<Kysely<Tables>, "selectFrom">;

/** False also if the database has no API keys yet. */
export async function isOtherPepper(db: Reading, pepper: Buffer): Promise<boolean> {
  return (await comparePepper(db, pepper)) === "other";
}

/** `unknown`: the keys are older than the stored mark, and no start has stored one since. */
async function comparePepper(db: Reading, pepper: Buffer): Promise<"own" | "other" | "unknown"> {
  const stored = await db.selectFrom("key_pepper").select("mark").executeTakeFirst();
  if (stored?.mark.equals(markOf(pepper)) === true) return "own";
  const key = await db.selectFrom("api_keys").select("id").limit(1).executeTakeFirst();
  if (key === undefined) return "own";
  return stored === undefined ? "unknown" : "other";
}

/** The caller holds `lockDirectory`. */
export async function storePepper(tx: SystemTransaction, pepper: Buffer): Promise<void> {
  const mark = markOf(pepper);
  await tx
    .insertInto("key_pepper")
    .values({ mark })
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet({ mark, set_at: sql<Date>`patchbay_now()` })
        .where("key_pepper.mark", "<>", mark),
    )
    .execute();
}

/**
 * Revokes every API key, whichever pepper it was hashed with, and writes an entry to the installation's audit log. Returns how many; null: it is
 * the database's pepper already.
 */
export async function replacePepper(
  database: Pick<Database, typeof systemAccess>,
  pepper: Buffer,
): Promise<{ readonly revokedKeys: number } | null> {
  return transact(bypassRls(database, "installation"), async (tx) => {
    await lockDirectory(tx);
    if ((await comparePepper(tx, pepper)) === "own") return null;
    const { numUpdatedRows } = await tx
      .updateTable("api_keys")
      .set({ revoked_at: sql<Date>`patchbay_now()` })
      .where("revoked_at", "is", null)
      .executeTakeFirstOrThrow();
    const revokedKeys = Number(numUpdatedRows);
    await storePepper(tx, pepper);
    await writeAudit(tx, {
      workspaceId: null,
      actorKeyId: null,
      action: "key_pepper.replaced",
      object: "key_pepper",
      before: null,
      after: { revoked_keys: revokedKeys },
    });
    await announceChange(tx, "keys", "key_pepper");
    return { revokedKeys };
  });
}

/** Never equal to a key's hash, because no key contains a space. */
function markOf(pepper: Buffer): Buffer {
  return createHmac("sha256", pepper).update("the pepper of this database").digest();
}
