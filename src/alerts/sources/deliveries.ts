// Reports workspaces whose webhook deliveries were given up [alerts.webhook-given-up].
import { brand } from "../../contract/ids.ts";
import type { SystemHandle } from "../../storage/database.ts";
import { listGivenUp } from "../../webhooks/store/given-up.ts";
import type { Alert } from "../alert.ts";

/** Long enough for an installation that was down over night. What was reported is not reported again. */
const LOOK_BACK_HOURS = 24;

export async function readGivenUpDeliveries(db: SystemHandle): Promise<readonly Alert[]> {
  const found = await listGivenUp(db, LOOK_BACK_HOURS);
  return found.map(({ workspace_id: id, workspace: slug, count, latest_at: latestAt, ...latest }) => ({
    event: "webhook_given_up",
    cause: `webhook_given_up/${slug}`,
    workspace: { id: brand("workspace", id), slug },
    summary: `${count === 1 ? "1 webhook delivery" : `${count} webhook deliveries`} of workspace ${slug} ${count === 1 ? "was" : "were"} given up in the last ${LOOK_BACK_HOURS} h.`,
    details: { deliveries: count, latest_delivery_id: latest.latest_id, latest_job_id: latest.latest_job_id },
    occurredAt: latestAt,
  }));
}
