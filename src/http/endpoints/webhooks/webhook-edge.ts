// What the endpoints of the completion webhook need.
import type { WebhookServices } from "../../../webhooks/services.ts";
import type { RequireAdmin } from "../workspace-admin.ts";

export interface WebhookEdge {
  readonly requireAdmin: RequireAdmin;
  readonly webhooks: WebhookServices;
  /** Streams end when a shutdown begins. */
  readonly draining: AbortSignal;
}
