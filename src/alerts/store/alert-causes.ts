// Stores when each cause was last reported to each destination. The upsert elects the process that reports it [alerts.two-processes].
import { type RawBuilder, sql } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { SystemHandle, DatabaseTransaction } from "../../storage/database.ts";

export interface CauseOwner {
  readonly destination: string;
  /** Null: the operator. */
  readonly workspaceId: WorkspaceId | null;
}

export interface OccurredCause {
  readonly cause: string;
  readonly occurredAt: Date;
  readonly quietSeconds: number;
}

/** Those that are not quiet, or have never been reported. Locks nothing: most causes are known. */
export async function listDueCauses(
  tx: DatabaseTransaction,
  destination: string,
  causes: readonly OccurredCause[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ cause: string }>`
    select c.cause from ${causesTable(causes)} where not exists (
      select from alert_causes known where known.destination = ${destination} and known.cause = c.cause
        and (known.quiet_until > patchbay_now() or known.occurred_at >= c.occurred_at))`.execute(tx);
  return new Set(rows.map(({ cause }) => cause));
}

/** Returns the causes that this process is to report. Each cause is given once, in a fixed order. */
export async function reportCauses(
  tx: DatabaseTransaction,
  { destination, workspaceId }: CauseOwner,
  causes: readonly OccurredCause[],
): Promise<ReadonlySet<string>> {
  if (causes.length === 0) return new Set();
  const { rows } = await sql<{ cause: string }>`
    insert into alert_causes as known (destination, cause, workspace_id, occurred_at, quiet_until)
    select ${destination}, c.cause, ${workspaceId}::text, c.occurred_at, patchbay_now() + make_interval(secs => c.quiet)
    from ${causesTable(causes)} order by c.place
    on conflict (destination, cause) do update set occurred_at = excluded.occurred_at, quiet_until = excluded.quiet_until
      where known.quiet_until <= patchbay_now() and known.occurred_at < excluded.occurred_at
    returning cause`.execute(tx);
  return new Set(rows.map(({ cause }) => cause));
}

function causesTable(causes: readonly OccurredCause[]): RawBuilder<unknown> {
  return sql`unnest(${causes.map(({ cause }) => cause)}::text[],
    ${causes.map(({ occurredAt }) => occurredAt.toISOString())}::timestamptz[],
    ${causes.map(({ quietSeconds }) => quietSeconds)}::float8[]) with ordinality as c (cause, occurred_at, quiet, place)`;
}

/** Deletes causes that have been quiet for a day longer than they had to be. Returns how many. */
export async function purgeCauses(db: SystemHandle, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from alert_causes where (destination, cause) in (
      select destination, cause from alert_causes where quiet_until < patchbay_now() - interval '1 day' limit ${limit})`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0n);
}
