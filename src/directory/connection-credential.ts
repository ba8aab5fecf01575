// A provider account's credential at rest (contract 10): sealed where it is written, opened where it is used, shown nowhere.
import type { Seal, SealPlace } from "../storage/seal.ts";
import type { ConnectionRow } from "../storage/tables.ts";
import type { DirectoryScope } from "./snapshot.ts";

export function sealCredential(seal: Seal, scope: DirectoryScope, id: string, credential: string): Buffer {
  return seal.seal(Buffer.from(credential), credentialPlace(scope, id));
}

export function openCredential(
  seal: Seal,
  { scope, id, credential }: Pick<ConnectionRow, "scope" | "id" | "credential">,
): string | null {
  return credential === null ? null : seal.open(credential, credentialPlace(scope, id)).toString();
}

/** Enough to tell two credentials apart; nothing of a short one, nor of a key file, whose end is a bracket. */
export function lastFour(credential: string): string | null {
  return credential.length >= 12 && !credential.trimStart().startsWith("{") ? credential.slice(-4) : null;
}

/** What a sealed credential is bound to: moved to another connection it does not open. */
function credentialPlace(scope: DirectoryScope, id: string): SealPlace {
  return ["connection", scope, id];
}
