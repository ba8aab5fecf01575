// Rows of jobs in any state, without the work that leads to them, and what a statement has changed in them.
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import type { JobOwner } from "../../src/jobs/store/jobs.ts";
import type { SystemAccess, SystemHandle, SystemTransaction } from "../../src/storage/database.ts";
import type { JobRow } from "../../src/storage/schema/tables.ts";
import { runSequentially } from "../harness/postgres/sequential-statements.ts";

/** The database's time in these tests. */
export const NOW = "2026-03-01T12:00:00.000Z";

/** So many seconds after `NOW`. */
export const at = (seconds: number): string => new Date(Date.parse(NOW) + seconds * 1_000).toISOString();

/** As JSON: times as ISO strings, bytes as `\x…`. */
export type StoredColumns = Partial<Pick<JobRow, "id">> & { readonly [Column in keyof JobRow]?: unknown };

const ENDED = { finished_at: NOW, expires_at: at(3_600), stage: "done" };
const OF_STATUS: Readonly<Record<string, StoredColumns>> = {
  queued: {},
  processing: { attempt: 1, lease_until: at(20), started_at: at(-60) },
  succeeded: { attempt: 1, ...ENDED },
  failed: { attempt: 1, error: {}, ...ENDED },
  cancelled: { attempt: 1, ...ENDED },
};

/** Returns the job's id. */
export async function storeJob(
  { transaction }: Pick<SystemAccess, "transaction">,
  { workspaceId, appId }: JobOwner,
  { id = newId("job"), status = "queued", ...columns }: StoredColumns = {},
): Promise<string> {
  const row = {
    id,
    workspace_id: workspaceId,
    app_id: appId,
    request_id: newId("request"),
    task: "transcribe",
    status,
    stage: "queued",
    attempt: 0,
    laid_aside: 0,
    woken_at: NOW,
    cancel_requested: false,
    failures: [],
    purpose: {},
    metadata: {},
    provider_deletion: "none",
    created_at: at(-60),
    deadline_at: at(3_600),
    ...OF_STATUS[String(status)],
    ...columns,
  };
  // A job begins as queued [jobs.states].
  await transaction(async (tx) => {
    await sql`alter table jobs disable trigger user`.execute(tx);
    await sql`insert into jobs select * from jsonb_populate_record(null::jobs, ${JSON.stringify(row)}::jsonb)`.execute(
      tx,
    );
    await sql`alter table jobs enable trigger user`.execute(tx);
  });
  return id;
}

type Rows = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

async function readRows(db: SystemHandle): Promise<Rows> {
  const { rows } = await sql<{ id: string; columns: Record<string, unknown> }>`
    select id, to_jsonb(jobs) as columns from jobs`.execute(db);
  return new Map(rows.map(({ id, columns }) => [id, columns]));
}

export interface Outcome<T> {
  readonly result: T;
  /** The new values of the columns that changed, by job. A deleted job has none. */
  readonly changed: Readonly<Record<string, Readonly<Record<string, unknown>> | null>>;
}

/** Runs the statement in a transaction that is rolled back. It throws if it does not wait for what it executes. */
export async function tryStatement<T>(
  { transaction }: Pick<SystemAccess, "transaction">,
  statement: (tx: SystemTransaction) => Promise<T>,
): Promise<Outcome<T>> {
  const outcome = Promise.withResolvers<Outcome<T>>();
  const rollback = new Error("rollback");
  await transaction(async (tx) => {
    const before = await readRows(tx);
    const result = await runSequentially(tx, statement);
    outcome.resolve({ result, changed: differences(before, await readRows(tx)) });
    throw rollback;
  }).catch((error: unknown) => {
    if (error !== rollback) throw error;
  });
  return outcome.promise;
}

function differences(before: Rows, after: Rows): Outcome<unknown>["changed"] {
  const changed: Record<string, Readonly<Record<string, unknown>> | null> = {};
  for (const [id, old] of before) {
    const row = after.get(id);
    const columns = Object.entries(row ?? {}).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name]),
    );
    if (row === undefined) changed[id] = null;
    else if (columns.length > 0) changed[id] = Object.fromEntries(columns.map(([name, value]) => [name, iso(value)]));
  }
  return changed;
}

/** The server writes `2026-03-01T12:00:00+00:00`. */
function iso(value: unknown): unknown {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT.*\+00:00$/.test(value) ? new Date(value).toISOString() : value;
}
