// Counts how many jobs of each workspace failed recently, for alerts [alerts.jobs-failing].
import { sql } from "kysely";
import type { SystemHandle } from "../../storage/database.ts";

export interface FailureRate {
  readonly workspace_id: string;
  readonly workspace: string;
  readonly failed: number;
  /** Succeeded and failed: a cancelled job proves nothing. */
  readonly ended: number;
  readonly latest_failure_at: Date;
}

/** Workspaces with a failed job in the last minutes. Jobs of test keys are simulated and do not count. */
export async function readFailureRates(db: SystemHandle, minutes: number): Promise<readonly FailureRate[]> {
  const { rows } = await sql<FailureRate>`
    select j.workspace_id, w.slug as workspace, count(*) filter (where j.status = 'failed')::int as failed, count(*)::int as ended,
      max(j.finished_at) filter (where j.status = 'failed') as latest_failure_at
    from jobs j join workspaces w on w.id = j.workspace_id
    where j.finished_at > patchbay_now() - make_interval(mins => ${minutes}) and j.status in ('succeeded', 'failed')
      and not exists (select from requests r where r.id = j.request_id and r.test_mode)
    group by j.workspace_id, w.slug having count(*) filter (where j.status = 'failed') > 0 order by w.slug`.execute(db);
  return rows;
}
