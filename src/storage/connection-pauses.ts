// Manual pauses [admin.pause]: at most one for each model of an account, and one for all of it.
import { type Kysely, sql } from "kysely";
import type { Database, Transacting } from "./database.ts";
import { sweeps } from "./system.ts";
import type { ConnectionPauseRow, Tables } from "./tables.ts";

/** `model` null: all models of the connection. */
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

/** From now on, whatever was said of this place before. */
export async function putPause(
  tx: Transacting,
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

/** Those in force; `scope` null: everybody's. */
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

/** Of a model that one pause, of a connection all pauses of it and its models. Answers those that were still in force. */
export async function endPauses(
  tx: Transacting,
  { scope, connection, model }: PausePlace,
): Promise<readonly ConnectionPauseRow[]> {
  const inForce = await listPauses(tx, scope);
  const gone = tx.deleteFrom("connection_pauses").where("scope", "=", scope).where("connection", "=", connection);
  await (model === null ? gone : gone.where("model", "=", model)).execute();
  return inForce.filter((each) => each.connection === connection && (model === null || each.model === model));
}

/** The audit log tells that they were. */
export async function sweepPauses(database: Pick<Database, "db">): Promise<void> {
  await sweeps(database).db.deleteFrom("connection_pauses").where("ends_at", "<=", now).execute();
}
