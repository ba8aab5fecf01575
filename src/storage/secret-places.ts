// Every stored secret that a data key seals: its owner, the object it belongs to, and its field. Moved to another place it does not
// open [tenancy.sealed-place].
import type { SealPlace } from "./seal.ts";

export interface SecretPlace {
  /** `platform` or a workspace's id: whose data key. */
  readonly scope: string;
  readonly object: string;
  readonly field: string;
  /** Where it was when the key ring itself sealed it. */
  readonly before: SealPlace;
}

export function credentialPlace(scope: string, id: string): SecretPlace {
  return { scope, object: `connection/${id}`, field: "credential", before: ["connection", scope, id] };
}

/** The address too: tokens stand in paths and queries. */
export type WebhookSecret = "secret" | "previous_secret" | "sealed_url";

export function webhookSecretPlace(workspaceId: string, field: WebhookSecret): SecretPlace {
  return { scope: workspaceId, object: "webhook", field, before: ["webhooks", workspaceId, field] };
}
