// What a source reports, and for how long its cause is quiet afterwards [alerts.once-an-hour].
import type { AlertDetails, AlertEvent } from "../contract/alerts.ts";
import type { WorkspaceId } from "../contract/ids.ts";

export interface AlertWorkspace {
  readonly id: WorkspaceId;
  readonly slug: string;
}

export interface Alert {
  readonly event: AlertEvent;
  /** Names what is wrong, and stays the same while it is wrong. */
  readonly cause: string;
  /** Null: the alert is about the installation. */
  readonly workspace: AlertWorkspace | null;
  readonly summary: string;
  readonly details: AlertDetails;
  /** Of the newest occurrence. A cause that was reported is reported again only if it occurred since. */
  readonly occurredAt: Date;
}

const HOUR = 3_600;
const DAY = 24 * HOUR;

/**
 * Conditions repeat every hour while they last. A budget is reported once per window and limit, which are part of its cause, and a step of a retirement once:
 * their causes are remembered until the window, or the longest notice, is over.
 */
export const QUIET_SECONDS: Readonly<Record<AlertEvent, number>> = {
  circuit_open: HOUR,
  webhook_given_up: HOUR,
  jobs_failing: HOUR,
  disk_low: HOUR,
  model_substitution: DAY,
  budget_soft_limit: 32 * DAY,
  budget_exhausted: 32 * DAY,
  retirement: 120 * DAY,
};
