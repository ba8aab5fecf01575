// The dependencies of the handlers of all webhook endpoints: the check of the administrator's role, the webhook services, and the signal of a shutdown.
import type { WebhookServices } from "../../../webhooks/services.ts";
import type { RequireAdmin } from "../workspace-admin.ts";

export interface WebhookEdge {
  readonly requireAdmin: RequireAdmin;
  readonly webhooks: WebhookServices;
  /** Aborts at the start of a shutdown, which ends streams. */
  readonly draining: AbortSignal;
}
