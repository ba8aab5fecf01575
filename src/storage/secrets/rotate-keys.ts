// Rotates the key that wraps data keys: secrets stay as they are, and only their data keys are wrapped again, one by one while requests are
// served. An old key may be removed once nothing counted here needs it [tenancy.rotate].
import { sql } from "kysely";
import type { Database, systemAccess, SystemTransaction } from "../database.ts";
import { isSealedByRing, readDataKeys, sealSecret, wrappingPlace } from "./data-keys.ts";
import { lockDirectory } from "../directory-state.ts";
import type { Seal } from "./seal.ts";
import { credentialPlace, webhookSecretPlace } from "./secret-places.ts";
import { bypassRls } from "../system.ts";
import { transact } from "../transact.ts";

/** How many stored values need one key of the ring. */
export interface KeyUse {
  /** The id in the sealed bytes, in hexadecimal. */
  readonly keyId: string;
  readonly dataKeys: number;
  /** Stored answers and jobs' requests and results, which all expire. */
  readonly answers: number;
}

/** Returns how many were wrapped again. Throws if a data key's wrapping key is not in the ring. */
export async function rewrapDataKeys(database: Pick<Database, typeof systemAccess>, ring: Seal): Promise<number> {
  const { db } = bypassRls(database, "installation");
  const rows = await db.selectFrom("data_keys").select(["scope", "version", "wrapped"]).execute();
  let count = 0;
  for (const { scope, version, wrapped } of rows) {
    if (wrapped.subarray(1, 5).toString("hex") === ring.keyIds[0]) continue;
    const place = wrappingPlace(scope, version);
    const { numUpdatedRows } = await db
      .updateTable("data_keys")
      .set({ wrapped: ring.seal(ring.open(wrapped, place), place) })
      .where("scope", "=", scope)
      .where("version", "=", version)
      .where("wrapped", "=", wrapped)
      .executeTakeFirstOrThrow();
    count += Number(numUpdatedRows);
  }
  return count;
}

export async function countKeyUse(
  database: Pick<Database, typeof systemAccess>,
  ring: Seal,
): Promise<readonly KeyUse[]> {
  const { db } = bypassRls(database, "installation");
  const keyOf = (column: string) => sql.raw(`encode(substring(${column} from 2 for 4), 'hex')`);
  const { rows } = await sql<{ key: string; kind: "dataKeys" | "answers"; count: bigint }>`
    select ${keyOf("wrapped")} as key, 'dataKeys' as kind, count(*) as count from data_keys group by 1
    union all
    select key, 'answers', count(*) from (
      select ${keyOf("body")} as key from idempotency_slots where body is not null
      union all select ${keyOf("request")} from jobs where request is not null
      union all select ${keyOf("result")} from jobs where result is not null
    ) as sealed group by 1`.execute(db);
  const keyIds = new Set([...ring.keyIds, ...rows.map(({ key }) => key)]);
  const count = (keyId: string, kind: string) =>
    Number(rows.find((row) => row.key === keyId && row.kind === kind)?.count ?? 0n);
  return [...keyIds].map((keyId) => ({
    keyId,
    dataKeys: count(keyId, "dataKeys"),
    answers: count(keyId, "answers"),
  }));
}

/** Large results are in the object store. Their rows do not record which key they need. */
export async function countLargeResults(database: Pick<Database, typeof systemAccess>): Promise<number> {
  const { db } = bypassRls(database, "installation");
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from jobs where result_key is not null`.execute(db);
  return Number(rows[0]?.count ?? 0n);
}

/** Seals with data keys what the ring itself sealed, and what was not sealed, in earlier versions. Returns how many. */
export async function sealUnderDataKeys(database: Pick<Database, typeof systemAccess>, ring: Seal): Promise<number> {
  return transact(bypassRls(database, "installation"), async (tx) => {
    await lockDirectory(tx);
    return (await resealCredentials(tx, ring)) + (await resealWebhooks(tx, ring)) + (await sealAddresses(tx, ring));
  });
}

const SEALED_BY_RING = (column: string) => sql<boolean>`get_byte(${sql.ref(column)}, 0) = 1`;

async function resealCredentials(tx: SystemTransaction, ring: Seal): Promise<number> {
  const rows = await tx
    .selectFrom("connections")
    .select(["scope", "id", "credential"])
    .where("credential", "is not", null)
    .where(SEALED_BY_RING("credential"))
    .forUpdate()
    .execute();
  for (const { scope, id, credential } of rows) {
    const sealed = await reseal(tx, ring, credential, credentialPlace(scope, id));
    await tx
      .updateTable("connections")
      .set({ credential: sealed })
      .where("scope", "=", scope)
      .where("id", "=", id)
      .execute();
  }
  return rows.length;
}

async function resealWebhooks(tx: SystemTransaction, ring: Seal): Promise<number> {
  let count = 0;
  for (const field of ["secret", "previous_secret"] as const) {
    const rows = await tx
      .selectFrom("webhooks")
      .select(["workspace_id", field])
      .where(field, "is not", null)
      .where(SEALED_BY_RING(field))
      .forUpdate()
      .execute();
    for (const row of rows) {
      const sealed = await reseal(tx, ring, row[field] ?? null, webhookSecretPlace(row.workspace_id, field));
      if (sealed === null) continue;
      await tx
        .updateTable("webhooks")
        .set({ [field]: sealed })
        .where("workspace_id", "=", row.workspace_id)
        .execute();
    }
    count += rows.length;
  }
  return count;
}

/** Seals webhook addresses that an earlier version stored unsealed. */
async function sealAddresses(tx: SystemTransaction, ring: Seal): Promise<number> {
  const rows = await tx
    .selectFrom("webhooks")
    .select(["workspace_id", "url"])
    .where("url", "is not", null)
    .forUpdate()
    .execute();
  for (const { workspace_id: workspaceId, url } of rows) {
    const sealed = await sealSecret(tx, ring, webhookSecretPlace(workspaceId, "sealed_url"), url ?? "");
    await tx
      .updateTable("webhooks")
      .set({ url: null, sealed_url: sealed })
      .where("workspace_id", "=", workspaceId)
      .execute();
  }
  return rows.length;
}

async function reseal(
  tx: SystemTransaction,
  ring: Seal,
  sealed: Buffer | null,
  place: ReturnType<typeof credentialPlace>,
): Promise<Buffer | null> {
  if (sealed === null || !isSealedByRing(sealed)) return sealed;
  const opener = await readDataKeys(tx, ring, place.scope);
  return sealSecret(tx, ring, place, opener.open(sealed, place));
}
