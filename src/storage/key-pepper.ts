// Which pepper the keys of this database were hashed with [tenancy.pepper], and how another replaces it [tenancy.pepper-replace].
import { createHmac } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { announceChange } from "./announce.ts";
import { writeAudit } from "./audit-log.ts";
import type { Database, Transacting } from "./database.ts";
import { lockDirectory } from "./directory-state.ts";
import { installation } from "./system.ts";
import type { Tables } from "./tables.ts";
import { transact } from "./transact.ts";

type Reading = Pick<Kysely<Tables>, "selectFrom">;

/** False also where the database has had no key yet. */
export async function isOtherPepper(db: Reading, pepper: Buffer): Promise<boolean> {
  return (await judgePepper(db, pepper)) === "other";
}

/** `unknown`: the keys are from before there was a mark, and no start has brought one since. */
async function judgePepper(db: Reading, pepper: Buffer): Promise<"own" | "other" | "unknown"> {
  const kept = await db.selectFrom("key_pepper").select("mark").executeTakeFirst();
  if (kept?.mark.equals(markOf(pepper)) === true) return "own";
  const key = await db.selectFrom("api_keys").select("id").limit(1).executeTakeFirst();
  if (key === undefined) return "own";
  return kept === undefined ? "unknown" : "other";
}

/** Under `lockDirectory`. */
export async function storePepper(tx: Transacting, pepper: Buffer): Promise<void> {
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
 * Every key ends, with a row in the platform's audit log, also where nobody can tell which pepper made it. Answers how many; null: it is
 * the database's pepper already.
 */
export async function replacePepper(
  database: Pick<Database, "transaction">,
  pepper: Buffer,
): Promise<{ readonly revokedKeys: number } | null> {
  return transact(installation(database), async (tx) => {
    await lockDirectory(tx);
    if ((await judgePepper(tx, pepper)) === "own") return null;
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

/** No key's hash: no key has a space. */
function markOf(pepper: Buffer): Buffer {
  return createHmac("sha256", pepper).update("the pepper of this database").digest();
}
