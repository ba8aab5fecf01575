// The services that all webhook endpoints use.
import type { WebhookServices } from "../../../webhooks/services.ts";
import type { RequireAdmin } from "../workspace-admin.ts";

export interface WebhookEdge {
  readonly requireAdmin: RequireAdmin;
  readonly webhooks: WebhookServices;
  /** Aborts at the start of a shutdown, which ends streams. */
  readonly draining: AbortSignal;
}
