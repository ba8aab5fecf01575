// Lists every kind of secret that data keys seal, with its owner, object and field. A secret does not open in another place [tenancy.sealed-place].
import type { SealPlace } from "./seal.ts";

export interface SecretPlace {
  /** The owner of the data key: `platform` or a workspace's id. */
  readonly scope: string;
  readonly object: string;
  readonly field: string;
  /** Its place when the key ring itself sealed it, in earlier versions. */
  readonly before: SealPlace;
}

export function credentialPlace(scope: string, id: string): SecretPlace {
  return { scope, object: `connection/${id}`, field: "credential", before: ["connection", scope, id] };
}

/** The URL is a secret too, because paths and queries contain tokens. */
export type WebhookSecret = "secret" | "previous_secret" | "sealed_url";

export function webhookSecretPlace(workspaceId: string, field: WebhookSecret): SecretPlace {
  return { scope: workspaceId, object: "webhook", field, before: ["webhooks", workspaceId, field] };
}
