// Stores manual pauses of provider accounts: at most one per model of an account, and one for the whole account [admin.pause].
import { type Kysely, sql } from "kysely";
import type { Database, DatabaseTransaction, systemAccess } from "../../storage/database.ts";
import { bypassRls } from "../../storage/system.ts";
import type { ConnectionPauseRow, Tables } from "../../storage/schema/tables.ts";

/** A null `model` means all models of the connection. */
export interface PausePlace {
  readonly scope: string;
  readonly connection: string;
  readonly model: string | null;
}

export interface PauseFacts {
  readonly seconds: number;
  readonly reason: string | null;
  readonly actorKeyId: string;
}

const now = sql<Date>`patchbay_now()`;

/** Pauses from now on, and replaces an earlier pause of the same account and model. */
export async function putPause(
  tx: DatabaseTransaction,
  place: PausePlace,
  { seconds, reason, actorKeyId }: PauseFacts,
): Promise<ConnectionPauseRow> {
  const facts = {
    ends_at: sql<Date>`patchbay_now() + ${seconds}::float8 * interval '1 second'`,
    reason,
    actor_key_id: actorKeyId,
    created_at: now,
  };
  return tx
    .insertInto("connection_pauses")
    .values({ ...place, ...facts })
    .onConflict((conflict) => conflict.constraint("connection_pauses_place").doUpdateSet(facts))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Pauses in force. A null `scope` means all scopes. */
export async function listPauses(
  db: Pick<Kysely<Tables>, "selectFrom">,
  scope: string | null,
): Promise<readonly ConnectionPauseRow[]> {
  const rows = db
    .selectFrom("connection_pauses")
    .selectAll()
    .where("ends_at", ">", now)
    .orderBy("scope")
    .orderBy("connection")
    .orderBy("model", (order) => order.asc().nullsFirst());
  return (scope === null ? rows : rows.where("scope", "=", scope)).execute();
}

/** Ends one pause of a model, or all pauses of a connection and its models. Returns those that were still in force. */
export async function endPauses(
  tx: DatabaseTransaction,
  { scope, connection, model }: PausePlace,
): Promise<readonly ConnectionPauseRow[]> {
  const inForce = await listPauses(tx, scope);
  const deletion = tx.deleteFrom("connection_pauses").where("scope", "=", scope).where("connection", "=", connection);
  await (model === null ? deletion : deletion.where("model", "=", model)).execute();
  return inForce.filter((each) => each.connection === connection && (model === null || each.model === model));
}

/** Deletes expired pauses, which stay in the audit log. */
export async function sweepPauses(database: Pick<Database, typeof systemAccess>): Promise<void> {
  await bypassRls(database, "sweep").db.deleteFrom("connection_pauses").where("ends_at", "<=", now).execute();
}
