// Adds attempts up into the hours and days of usage: each exactly once [usage.once], by the moment of its settlement, however late its
// transaction commits [usage.late-commit], whichever of many processes does it, and wherever one of them dies.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database, Transacting } from "./database.ts";
import { batches } from "./system.ts";
import type { Tables } from "./tables.ts";
import { AMOUNT_NAMES, ATTEMPTS_AS_USAGE, beginningOf, DIMENSIONS, SUMS } from "./usage-amounts.ts";

/** A transaction has made its first write so long after its beginning, or was ended for idling (`database.ts`). */
const FIRST_WRITE_SECONDS = 20;
/** Attempts in one transaction; on the embedded engine everybody waits for it. */
const MAX_ATTEMPTS = 10_000;

interface Progress {
  readonly has_barrier: boolean;
  /** Nobody is left who could settle before the barrier. */
  readonly is_passed: boolean;
  /** The numbers are of another server: the database was moved here. Nobody writes there any more. */
  readonly is_foreign: boolean;
}

/** Adds up as much as is certain, and marks how far the next call may go. Answers whether there is more to do at once. */
export async function rollUsage(database: Database): Promise<boolean> {
  return batches(database).transaction(async (tx) => {
    // A locked row has a transaction number too: ours is larger than every one that a barrier can hold.
    const { rows } = await sql<Progress>`
      select barrier_at is not null as has_barrier, pg_snapshot_xmin(pg_current_snapshot()) > barrier_xid as is_passed,
        barrier_xid > pg_current_xact_id() as is_foreign
      from usage_progress where exists (select from attempts where state = 'settled' and settled_at >= rolled_until)
      for update skip locked`.execute(tx);
    const [progress] = rows;
    // There is nothing to add up, or another process is at it.
    if (progress === undefined) return false;
    if (progress.has_barrier && !progress.is_passed && !progress.is_foreign) return false;
    const hasMore = progress.has_barrier && (await rollToBarrier(tx));
    if (!hasMore) await setBarrier(tx);
    return hasMore;
  });
}

async function rollToBarrier(tx: Transacting): Promise<boolean> {
  // All that were settled in one moment go together: a batch shares its transaction's time.
  const { rows } = await sql<{ until: string; has_more: boolean }>`
    select least(barrier_at, chunk)::text as until, coalesce(chunk < barrier_at, false) as has_more
    from usage_progress left join lateral (
      select settled_at + interval '1 microsecond' as chunk from attempts
      where state = 'settled' and settled_at >= rolled_until and settled_at < barrier_at
      order by settled_at offset ${sql.lit(MAX_ATTEMPTS - 1)} limit 1) as full_chunk on true`.execute(tx);
  const [range] = rows;
  if (range === undefined) throw new Error("the progress of the roll-up is gone");
  await sql`with settled as materialized (
      select hour, ${DIMENSION_LIST}, ${SUMS} from (${ATTEMPTS_AS_USAGE} where state = 'settled'
        and settled_at < ${range.until}::timestamptz and settled_at >= (select rolled_until from usage_progress)) as attempt
      group by hour, ${DIMENSION_LIST}),
    by_hour as (${addTo("usage_hours", "hour", sql`select hour, ${DIMENSION_LIST}, ${AMOUNT_LIST} from settled`)})
    ${addTo("usage_days", "day", sql`select ${sql.raw(beginningOf("day", "hour"))}, ${DIMENSION_LIST}, ${SUMS} from settled group by 1, ${DIMENSION_LIST}`)}`.execute(
    tx,
  );
  await sql`update usage_progress set rolled_until = ${range.until}::timestamptz`.execute(tx);
  return range.has_more;
}

const DIMENSION_LIST = sql.raw(DIMENSIONS.join(", "));
const AMOUNT_LIST = sql.raw(AMOUNT_NAMES.join(", "));

function addTo(table: "usage_hours" | "usage_days", period: "hour" | "day", rows: RawBuilder<unknown>) {
  const added = AMOUNT_NAMES.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ");
  return sql`insert into ${sql.raw(table)} (${sql.raw(period)}, ${DIMENSION_LIST}, ${AMOUNT_LIST}) ${rows}
    on conflict on constraint ${sql.raw(`${table}_once`)} do update set ${sql.raw(added)}`;
}

/** In a transaction that has a number: whoever began before the barrier's moment and still runs has a smaller one. */
async function setBarrier(tx: Transacting): Promise<void> {
  await sql`update usage_progress set barrier_xid = pg_current_xact_id(),
    barrier_at = greatest(rolled_until, patchbay_now() - ${sql.lit(FIRST_WRITE_SECONDS)} * interval '1 second')`.execute(
    tx,
  );
}

/** Hours and days that are older than their retention. Answers how many rows went. */
export async function purgeUsage(db: Kysely<Tables>, keptDays: number, limit: number): Promise<number> {
  return (
    (await purgeSums(db, "usage_hours", "hour", keptDays, limit)) +
    (await purgeSums(db, "usage_days", "day", keptDays, limit))
  );
}

async function purgeSums(
  db: Kysely<Tables>,
  table: "usage_hours" | "usage_days",
  period: "hour" | "day",
  keptDays: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`delete from ${sql.raw(table)} where ctid = any(array(
    select ctid from ${sql.raw(table)} where ${sql.raw(period)} <= patchbay_now() - ${keptDays}::int * interval '1 day'
    limit ${limit}))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Attempts that are older than the request log and stand in the sums. Answers how many went. */
export async function purgeAttempts(db: Kysely<Tables>, keptDays: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from attempts where ctid = any(array(
    select ctid from attempts where state = 'settled' and settled_at <= patchbay_now() - ${keptDays}::int * interval '1 day'
      and settled_at < (select rolled_until from usage_progress) limit ${limit}))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
