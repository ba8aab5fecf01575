// Upserts a provider account: its credential is sealed and stored with the part of it that may be shown [admin.connection-credential].
import type { ConnectionConfiguration } from "../config/configuration.ts";
import { putConnection } from "./store/connections.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import type { ManagedBy } from "./store/routes.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import { lastFour, sealCredential } from "./connection-credential.ts";
import type { DirectoryScope } from "./snapshot.ts";

export async function upsertConnection(
  { tx, seal }: { readonly tx: DatabaseTransaction; readonly seal: Seal },
  scope: DirectoryScope,
  { id, kind, apiKey, baseUrl, ...settings }: ConnectionConfiguration,
  managedBy: ManagedBy,
): Promise<void> {
  const name = { scope, id };
  await putConnection(tx, name, {
    kind,
    base_url: baseUrl,
    credential: apiKey === null ? null : await sealCredential(tx, seal, name, apiKey),
    credential_last4: apiKey === null ? null : lastFour(apiKey),
    settings: JSON.stringify(settings),
    managed_by: managedBy,
  });
}
