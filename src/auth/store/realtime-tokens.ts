// Stores single-use realtime tokens as hashes. A token is redeemed by deleting its row, so that of two concurrent uses only one succeeds
// [keys.realtime-token].
import { type Kysely, sql } from "kysely";
import type { SystemHandle } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

export interface RealtimeTokenOwner {
  readonly workspaceId: string;
  readonly appId: string | null;
  readonly keyId: string;
  readonly testMode: boolean;
}

/** Returns the time of expiry. Also deletes expired tokens. */
export async function insertRealtimeToken(
  db: Kysely<Tables>,
  tokenHash: Buffer,
  owner: RealtimeTokenOwner,
  lifeSeconds: number,
): Promise<Date> {
  const { rows } = await sql<{ expires_at: Date }>`
    with expired as (delete from realtime_tokens where expires_at < patchbay_now())
    insert into realtime_tokens (token_hash, workspace_id, app_id, key_id, test_mode, expires_at)
    values (${tokenHash}, ${owner.workspaceId}, ${owner.appId}, ${owner.keyId}, ${owner.testMode},
      patchbay_now() + make_interval(secs => ${lifeSeconds}::int))
    returning expires_at`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("a token was not kept");
  return row.expires_at;
}

/** The key that the token was issued for. Null: unknown, used or expired. */
export async function takeRealtimeToken(
  db: SystemHandle,
  tokenHash: Buffer,
): Promise<{ readonly secretHash: Buffer; readonly testMode: boolean } | null> {
  const { rows } = await sql<{ secret_hash: Uint8Array; test_mode: boolean }>`
    with taken as (
      delete from realtime_tokens where token_hash = ${tokenHash} and expires_at > patchbay_now()
      returning key_id, test_mode)
    select key.secret_hash, taken.test_mode from taken join api_keys as key on key.id = taken.key_id`.execute(db);
  const [row] = rows;
  return row === undefined ? null : { secretHash: Buffer.from(row.secret_hash), testMode: row.test_mode };
}
