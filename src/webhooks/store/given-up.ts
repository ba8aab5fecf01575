// Finds workspaces whose deliveries were given up, for the operator's and their own alerts [alerts.webhook-given-up].
import { sql } from "kysely";
import type { SystemHandle } from "../../storage/database.ts";

export interface GivenUp {
  readonly workspace_id: string;
  readonly workspace: string;
  readonly count: number;
  readonly latest_at: Date;
  readonly latest_id: string;
  readonly latest_job_id: string;
}

/** Of the last hours. A delivery that ended because its owner disabled or deleted the webhook was not given up. */
export async function listGivenUp(db: SystemHandle, hours: number): Promise<readonly GivenUp[]> {
  const { rows } = await sql<GivenUp>`
    select d.workspace_id, w.slug as workspace, count(*)::int as count, max(d.finished_at) as latest_at,
      (array_agg(d.id order by d.finished_at desc, d.id desc))[1] as latest_id,
      (array_agg(d.job_id order by d.finished_at desc, d.id desc))[1] as latest_job_id
    from webhook_deliveries d join workspaces w on w.id = d.workspace_id
    where d.state = 'failed' and not d.is_test and d.finished_at > patchbay_now() - make_interval(hours => ${hours})
      and (d.ended_by in ('attempts', 'gone') or (d.ended_by = 'disabled' and exists (
        select from webhooks h where h.workspace_id = d.workspace_id and h.disabled_reason in ('gone', 'failing'))))
    group by d.workspace_id, w.slug order by w.slug`.execute(db);
  return rows;
}
