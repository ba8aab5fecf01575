// The alerts of an installation: their events, and the body of a delivery [alerts.body]. Alerts are monitoring: they are no events of the API.

/** Events that a workspace's own destinations may receive, about that workspace only [alerts.workspace]. */
export const WORKSPACE_ALERT_EVENTS = [
  "budget_soft_limit",
  "budget_exhausted",
  "webhook_given_up",
  "jobs_failing",
] as const;

/** Events of the operator's destinations. */
export const ALERT_EVENTS = [
  "retirement",
  "model_substitution",
  "circuit_open",
  ...WORKSPACE_ALERT_EVENTS,
  "disk_low",
] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];

/** Numbers, configured names and ids: never text of a caller, a transcript or a secret. */
export type AlertDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface AlertBody {
  /** `alr_…`: the same in every attempt. */
  readonly id: string;
  /** `test`: sent by `patchbay alerts test`. */
  readonly event: AlertEvent | "test";
  /** RFC 3339, UTC. */
  readonly occurred_at: string;
  /** Slug of the workspace concerned. Null: the alert is about the installation. */
  readonly workspace: string | null;
  /** Stable name of the cause: alerts of one cause are limited [alerts.once-an-hour]. */
  readonly cause: string;
  readonly summary: string;
  readonly details: AlertDetails;
  /** The summary in the form that Slack's incoming webhooks display. */
  readonly text: string;
}
