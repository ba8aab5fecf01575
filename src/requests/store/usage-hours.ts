// Adds each settled provider call to the usage totals of its hour and day exactly once [usage.once], also with several processes, after a crash, and if the
// settling transaction commits late [usage.late-commit]. The hour is that of the settlement.
import { type RawBuilder, sql } from "kysely";
import type { Database, SystemHandle, SystemTransaction } from "../../storage/database.ts";
import { bypassRls } from "../../storage/system.ts";
import { AMOUNT_NAMES, ATTEMPTS_AS_USAGE, beginningOf, DIMENSIONS, SUMS } from "./usage-amounts.ts";

/** Longest time from a transaction's start to its first write. Beyond it, the idle timeout has ended the transaction (server-sessions.ts). */
const FIRST_WRITE_SECONDS = 20;
/** Attempts per transaction, because other statements wait for its locks. */
const MAX_ATTEMPTS = 10_000;

interface Progress {
  readonly has_barrier: boolean;
  /** No transaction is left that could settle attempts before the barrier. */
  readonly is_passed: boolean;
  /** The transaction ids are from another server, from which the database was moved. No transaction runs there any more. */
  readonly is_foreign: boolean;
}

/** Rolls up to the barrier if it has passed, then sets the next barrier. Returns whether more can be done at once. */
export async function rollUsage(database: Database): Promise<boolean> {
  return bypassRls(database, "batch").transaction(async (tx) => {
    // A locking read gets a transaction id too, which is larger than any id that the barrier can contain.
    const { rows } = await sql<Progress>`
      select barrier_at is not null as has_barrier, pg_snapshot_xmin(pg_current_snapshot()) > barrier_xid as is_passed,
        barrier_xid > pg_current_xact_id() as is_foreign
      from usage_progress where exists (select from attempts where state = 'settled' and settled_at >= rolled_until)
      for update skip locked`.execute(tx);
    const [progress] = rows;
    // There is nothing to roll up, or another process is doing it.
    if (progress === undefined) return false;
    if (progress.has_barrier && !progress.is_passed && !progress.is_foreign) return false;
    const hasMore = progress.has_barrier && (await rollToBarrier(tx));
    if (!hasMore) await setBarrier(tx);
    return hasMore;
  });
}

async function rollToBarrier(tx: SystemTransaction): Promise<boolean> {
  // Attempts that were settled at the same time are kept together: a batch shares its transaction's time.
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
  const assignments = AMOUNT_NAMES.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ");
  return sql`insert into ${sql.raw(table)} (${sql.raw(period)}, ${DIMENSION_LIST}, ${AMOUNT_LIST}) ${rows}
    on conflict on constraint ${sql.raw(`${table}_once`)} do update set ${sql.raw(assignments)}`;
}

/** The transaction must have an id. Transactions that began before the barrier's time and still run have smaller ids. */
async function setBarrier(tx: SystemTransaction): Promise<void> {
  await sql`update usage_progress set barrier_xid = pg_current_xact_id(),
    barrier_at = greatest(rolled_until, patchbay_now() - ${sql.lit(FIRST_WRITE_SECONDS)} * interval '1 second')`.execute(
    tx,
  );
}

/** Deletes hours and days beyond their retention. Returns the number of rows. */
export async function purgeUsage(db: SystemHandle, keptDays: number, limit: number): Promise<number> {
  return (
    (await purgeSums(db, "usage_hours", "hour", keptDays, limit)) +
    (await purgeSums(db, "usage_days", "day", keptDays, limit))
  );
}

async function purgeSums(
  db: SystemHandle,
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

/** Deletes attempts older than the request log that are included in the sums. Returns the number of rows. */
export async function purgeAttempts(db: SystemHandle, keptDays: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from attempts where ctid = any(array(
    select ctid from attempts where state = 'settled' and settled_at <= patchbay_now() - ${keptDays}::int * interval '1 day'
      and settled_at < (select rolled_until from usage_progress) limit ${limit}))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
