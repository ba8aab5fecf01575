// Seals and opens the stored credential of a provider account, and extracts the part of it that may be shown [admin.connection-credential].
import type { DatabaseTransaction } from "../storage/database.ts";
import { readDataKeys, sealSecret } from "../storage/secrets/data-keys.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import { credentialPlace } from "../storage/secrets/secret-places.ts";
import type { ConnectionRow } from "../storage/schema/tables.ts";
import type { DirectoryScope } from "./snapshot.ts";

export async function sealCredential(
  tx: DatabaseTransaction,
  seal: Seal,
  { scope, id }: { readonly scope: DirectoryScope; readonly id: string },
  credential: string,
): Promise<Buffer> {
  return sealSecret(tx, seal, credentialPlace(scope, id), credential);
}

export async function openCredential(
  db: Parameters<typeof readDataKeys>[0],
  seal: Seal,
  { scope, id, credential }: Pick<ConnectionRow, "scope" | "id" | "credential">,
): Promise<string | null> {
  if (credential === null) return null;
  return (await readDataKeys(db, seal, scope)).open(credential, credentialPlace(scope, id));
}

/** Enough to distinguish two credentials. Null for a short one, and for a key file, which ends with a brace. */
export function lastFour(credential: string): string | null {
  return credential.length >= 12 && !credential.trimStart().startsWith("{") ? credential.slice(-4) : null;
}
