// Records every job's history in the database by a trigger: each change of state, each new attempt, and any change after the end; and checks all of it (R3, R5,
// R7).
import { setTimeout as wait } from "node:timers/promises";
import { Client, type QueryResultRow } from "pg";

export interface JobHistory {
  install(): Promise<void>;
  countUnfinished(): Promise<number>;
  countTerminal(): Promise<number>;
  facts(): Promise<Facts>;
}

export interface JobRow {
  readonly id: string;
  readonly status: string;
  readonly code: string | null;
  readonly attempt: number;
  readonly events: number;
  readonly ends: number;
  /** Columns that changed after the end, except those that a purge clears. */
  readonly overwritten: readonly string[];
  readonly chargedAttempts: number;
}

export interface Facts {
  readonly jobs: readonly JobRow[];
  /** From the last heartbeat of a job's worker to the next attempt. */
  readonly takeOverSeconds: TakeOverSeconds;
}

interface TakeOverSeconds {
  readonly n: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly max: number | null;
  /** Longest time until the job was first offered to others. */
  readonly offeredMax: number | null;
}

/** With the rights of the owner: a job that begins where it is accepted is changed by a role that may write to the tables of the product only. */
const INSTALL = [
  `create table fault_history (
    job_id text not null, from_status text not null, to_status text not null, from_attempt int not null, to_attempt int not null,
    changed text[] not null, lease_until timestamptz, at timestamptz not null default clock_timestamp()
  )`,
  `create function fault_witness() returns trigger language plpgsql security definer as $$
    begin
      if new.status <> old.status or new.attempt <> old.attempt or new.woken_at <> old.woken_at or old.status in ('succeeded', 'failed', 'cancelled') then
        insert into fault_history (job_id, from_status, to_status, from_attempt, to_attempt, changed, lease_until)
        select new.id, old.status, new.status, old.attempt, new.attempt, coalesce(array_agg(key), '{}'), old.lease_until
        from jsonb_each(to_jsonb(new)) as after (key, value)
        where after.value is distinct from to_jsonb(old) -> after.key;
      end if;
      return null;
    end $$`,
  `create trigger fault_witness after update on jobs for each row execute function fault_witness()`,
];

const JOBS = `
  select jobs.id, jobs.status, jobs.error ->> 'code' as code, jobs.attempt,
    (select count(*)::int from webhook_events where job_id = jobs.id) as events,
    (select count(*)::int from fault_history h where h.job_id = jobs.id
      and h.from_status in ('queued', 'processing') and h.to_status in ('succeeded', 'failed', 'cancelled')) as ends,
    array(select distinct unnest(h.changed) from fault_history h
      where h.job_id = jobs.id and h.from_status in ('succeeded', 'failed', 'cancelled')
      except select unnest(array['request', 'audio_key', 'remote_run', 'provider_deletion', 'slot_key', 'purged_at'])) as overwritten,
    (select count(*)::int from attempts where request_id = jobs.request_id and charge_nano_usd > 0) as "chargedAttempts"
  from jobs`;

const LEASE_SECONDS = 30;
/** The age of a lease counts from its worker's last heartbeat. */
const TAKE_OVERS = `
  select count(*)::int as n, max(seconds)::float8 as max, max(offered)::float8 as "offeredMax",
    percentile_cont(0.5) within group (order by seconds)::float8 as p50,
    percentile_cont(0.99) within group (order by seconds)::float8 as p99
  from (select extract(epoch from at - lease_until) + ${LEASE_SECONDS} as seconds,
      (select extract(epoch from min(offer.at) - taken.lease_until) + ${LEASE_SECONDS} from fault_history offer
        where offer.job_id = taken.job_id and offer.to_attempt = taken.from_attempt and 'woken_at' = any(offer.changed)
          and offer.at between taken.lease_until and taken.at) as offered
    from fault_history taken where to_attempt > from_attempt and from_attempt > 0 and lease_until is not null) as steps`;
const NO_TAKE_OVERS: TakeOverSeconds = { n: 0, p50: null, p99: null, max: null, offeredMax: null };

export function createJobHistory(databaseUrl: string): JobHistory {
  /** Retries until the database answers, because it is being restarted. */
  const rows = async <Row extends QueryResultRow>(statement: string): Promise<readonly Row[]> => {
    for (let tries = 0; ; tries += 1) {
      const client = new Client({ connectionString: databaseUrl });
      client.on("error", () => undefined);
      try {
        await client.connect();
        return (await client.query<Row>(statement)).rows;
      } catch (error) {
        if (tries > 60 || !isAway(error)) throw error;
        await wait(250);
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  };
  const count = async (where: string) => {
    const [row] = await rows<{ n: number }>(`select count(*)::int as n from jobs where ${where}`);
    return row?.n ?? 0;
  };
  return {
    async install() {
      for (const statement of INSTALL) await rows(statement);
    },
    countUnfinished: () => count("status in ('queued', 'processing')"),
    countTerminal: () => count("status not in ('queued', 'processing')"),
    async facts() {
      const [takeOverSeconds = NO_TAKE_OVERS] = await rows<TakeOverSeconds & QueryResultRow>(TAKE_OVERS);
      return { jobs: await rows<JobRow>(JOBS), takeOverSeconds };
    },
  };
}

/** The server is unavailable, starting, stopping or recovering; an error of the statement itself has another class. */
function isAway(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return !/^(22|23|42)/u.test(code);
}
