// Reports jobs that fail above a rate: of each workspace, and of the installation if no single workspace explains it [alerts.jobs-failing].
import { brand } from "../../contract/ids.ts";
import { type FailureRate, readFailureRates } from "../../jobs/store/failure-rates.ts";
import type { SystemHandle } from "../../storage/database.ts";
import type { Alert } from "../alert.ts";

export interface JobThresholds {
  /** Of the ended jobs, from 0 to 1. */
  readonly share: number;
  /** Failed jobs. */
  readonly minJobs: number;
  readonly windowMinutes: number;
}

export async function readFailingJobs(db: SystemHandle, thresholds: JobThresholds): Promise<readonly Alert[]> {
  return judgeFailureRates(await readFailureRates(db, thresholds.windowMinutes), thresholds);
}

/** Pure. */
export function judgeFailureRates(rates: readonly FailureRate[], thresholds: JobThresholds): readonly Alert[] {
  const failing = rates.filter((rate) => isAbove(rate, thresholds));
  if (failing.length > 0)
    return failing.map((rate) =>
      describe(
        rate,
        { id: brand("workspace", rate.workspace_id), slug: rate.workspace },
        ` of workspace ${rate.workspace}`,
        thresholds,
      ),
    );
  const whole = rates.reduce<Failures | null>((sum, rate) => (sum === null ? rate : add(sum, rate)), null);
  return whole !== null && isAbove(whole, thresholds) ? [describe(whole, null, "", thresholds)] : [];
}

type Failures = Pick<FailureRate, "failed" | "ended" | "latest_failure_at">;

function isAbove({ failed, ended }: Failures, { share, minJobs }: JobThresholds): boolean {
  return failed >= minJobs && failed >= share * ended;
}

function add(left: Failures, right: Failures): Failures {
  return {
    failed: left.failed + right.failed,
    ended: left.ended + right.ended,
    latest_failure_at:
      left.latest_failure_at > right.latest_failure_at ? left.latest_failure_at : right.latest_failure_at,
  };
}

function describe(
  { failed, ended, latest_failure_at: latest }: Failures,
  workspace: Alert["workspace"],
  owner: string,
  { windowMinutes }: JobThresholds,
): Alert {
  return {
    event: "jobs_failing",
    cause: workspace === null ? "jobs_failing" : `jobs_failing/${workspace.slug}`,
    workspace,
    summary: `${failed} of ${ended} jobs${owner} failed in the last ${windowMinutes} min.`,
    details: { failed, ended, share: Math.round((failed / ended) * 100) / 100, window_minutes: windowMinutes },
    occurredAt: latest,
  };
}
