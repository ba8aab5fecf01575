// Stores what a provider's own list of models says of their ends, per connection [providers.listed-ends], and claims the daily question for one process.
import { type Kysely, sql } from "kysely";
import { z } from "zod";
import { isSameData } from "../../lib/json/is-same-data.ts";
import type { SystemHandle, DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

export interface ListPlace {
  readonly scope: string;
  readonly connection: string;
}

export interface ModelList extends ListPlace {
  /** Model → first day of refusal. */
  readonly ends: Readonly<Record<string, string>>;
  readonly readAt: Date;
}

const storedEnds = z.record(z.string(), z.string());
const now = sql<Date>`patchbay_now()`;

/** Lists of all scopes. */
export async function listModelLists(db: Pick<Kysely<Tables>, "selectFrom">): Promise<readonly ModelList[]> {
  const rows = await db.selectFrom("model_lists").selectAll().execute();
  return rows.flatMap(({ scope, connection, ends, read_at: readAt }) =>
    readAt === null ? [] : [{ scope, connection, ends: storedEnds.parse(ends), readAt }],
  );
}

/**
 * `listed`: every model of the list with its end. Models that the list no longer has keep the end that it gave before, because providers remove those that have
 * ended. Returns whether anything differs.
 */
export async function putModelEnds(
  tx: DatabaseTransaction,
  place: ListPlace,
  listed: ReadonlyMap<string, string | null>,
): Promise<boolean> {
  const row = await tx
    .selectFrom("model_lists")
    .select("ends")
    .where("scope", "=", place.scope)
    .where("connection", "=", place.connection)
    .executeTakeFirst();
  const before = row === undefined ? {} : storedEnds.parse(row.ends);
  const unlisted = Object.entries(before).filter(([model]) => !listed.has(model));
  const announced = [...listed].flatMap(([model, end]) => (end === null ? [] : [[model, end] as const]));
  const ends = Object.fromEntries([...unlisted, ...announced]);
  const isSame = isSameData(before, ends);
  // Setting `ends` makes every process reload its directory.
  const facts = isSame ? { read_at: now } : { read_at: now, ends: JSON.stringify(ends) };
  await tx
    .insertInto("model_lists")
    .values({ ...place, ...facts })
    .onConflict((conflict) => conflict.columns(["scope", "connection"]).doUpdateSet(facts))
    .execute();
  return !isSame;
}

/** Connections of these kinds with a credential that no process has asked today. */
export async function listUnasked(db: SystemHandle, kinds: readonly string[]): Promise<readonly ListPlace[]> {
  if (kinds.length === 0) return [];
  return db
    .selectFrom("connections")
    .leftJoin("model_lists", (join) =>
      join.onRef("model_lists.scope", "=", "connections.scope").onRef("model_lists.connection", "=", "connections.id"),
    )
    .select(["connections.scope as scope", "connections.id as connection"])
    .where("connections.kind", "in", kinds)
    .where("connections.credential", "is not", null)
    .where((where) => where.or([where("model_lists.asked_at", "is", null), sql<boolean>`${IS_EARLIER_DAY}`]))
    .execute();
}

const IS_EARLIER_DAY = sql<boolean>`(model_lists.asked_at at time zone 'utc')::date < (patchbay_now() at time zone 'utc')::date`;

/** Null: another process asks on this day, or the connection was deleted. */
export async function claimQuestion(db: SystemHandle, place: ListPlace): Promise<boolean> {
  const claimed = await sql`
    insert into model_lists (scope, connection, asked_at)
    select scope, id, patchbay_now() from connections where scope = ${place.scope} and id = ${place.connection}
    on conflict (scope, connection) do update set asked_at = excluded.asked_at
    where model_lists.asked_at is null or ${IS_EARLIER_DAY}
    returning 1`.execute(db);
  return claimed.rows.length > 0;
}
