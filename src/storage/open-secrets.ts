// The installation's secrets: from the configuration, else (embedded storage only) from the data directory [tenancy.secrets-created].
import { weaknessOf, weaknessOfKey } from "../lib/weak-secret.ts";
import { isBeingCreated } from "./embedded/installation-state.ts";
import { hasEmbeddedDatabase } from "./embedded/server.ts";
import { DamagedSecret, loadOrCreateSecret, parseEncryptionKey, readSecret, type SecretFile } from "./secrets.ts";

export interface SecretSettings {
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly keyPepper: string | null;
  readonly encryptionKeys: readonly string[];
}

export type OpenedSecrets =
  | { readonly ok: true; readonly pepper: Buffer; readonly encryptionKeys: readonly Buffer[]; readonly where: string }
  | { readonly ok: false; readonly faults: readonly string[] };

const MIN_PEPPER_CHARACTERS = 32;
const MAKE_ONE = "make one with `openssl rand -base64 32`";
/** Before the content of the file `key-pepper` of a data directory. */
export const MADE_PEPPER = "base64:";

export async function openSecrets(settings: SecretSettings): Promise<OpenedSecrets> {
  return open(settings).catch((error: unknown) => {
    if (error instanceof DamagedSecret) return { ok: false, faults: [error.message.replace(/\.$/u, "")] };
    throw error;
  });
}

async function open(settings: SecretSettings): Promise<OpenedSecrets> {
  const { databaseUrl, dataDir, keyPepper, encryptionKeys } = settings;
  const faults: string[] = [];
  const keys = encryptionKeys.map((text) => parseEncryptionKey(text));
  for (const [at, key] of keys.entries()) {
    if (key === null)
      faults.push(`secrets.encryption_keys[${at}]: must be 32 bytes in base64 or hexadecimal; ${MAKE_ONE}`);
    const weakness = key === null ? null : weaknessOfKey(key);
    if (weakness !== null) faults.push(`secrets.encryption_keys[${at}]: it ${weakness}; ${MAKE_ONE}`);
  }
  const short = keyPepper !== null && keyPepper.length < MIN_PEPPER_CHARACTERS;
  const weakness = keyPepper === null || short ? null : weaknessOfPepper(keyPepper);
  if (short || weakness !== null) {
    const why = weakness === null ? "" : ` (it ${weakness})`;
    faults.push(
      `secrets.key_pepper: must be at least ${MIN_PEPPER_CHARACTERS} characters that nobody could guess${why}; ${MAKE_ONE}`,
    );
  }
  if (databaseUrl !== null) {
    // Several processes share a server database: a secret that one of them made would lock the others out.
    if (keyPepper === null) faults.push("secrets.key_pepper: is required with a server database");
    if (keys.length === 0) faults.push("secrets.encryption_keys: at least one is required with a server database");
  }
  // New ones would open nothing that is sealed there, and match no key. A first start that was interrupted has sealed nothing.
  const isUsed = (await hasEmbeddedDatabase(dataDir)) && !(await isBeingCreated(dataDir));
  const lost = isUsed ? await missingSecrets(settings) : [];
  for (const name of lost)
    faults.push(`${dataDir} holds a database, but not ${name}, which it was used with; put it back from the backup`);
  if (faults.length > 0) return { ok: false, faults };
  const given = keys.filter((key) => key !== null);
  if (keyPepper !== null && given.length > 0)
    return { ok: true, pepper: pepperOf(keyPepper), encryptionKeys: given, where: "from the configuration" };
  return {
    ok: true,
    pepper: keyPepper === null ? await loadOrCreateSecret(dataDir, "key-pepper") : pepperOf(keyPepper),
    encryptionKeys: given.length > 0 ? given : [await loadOrCreateSecret(dataDir, "encryption-key")],
    where: `in ${dataDir}, readable by their owner only`,
  };
}

/** Of the files that embedded storage keeps its secrets in, where the configuration does not give them. Throws for a damaged one. */
export async function missingSecrets({
  databaseUrl,
  dataDir,
  keyPepper,
  encryptionKeys,
}: SecretSettings): Promise<readonly SecretFile[]> {
  if (databaseUrl !== null) return [];
  const missing: SecretFile[] = [];
  if (keyPepper === null && (await readSecret(dataDir, "key-pepper")) === null) missing.push("key-pepper");
  if (encryptionKeys.length === 0 && (await readSecret(dataDir, "encryption-key")) === null)
    missing.push("encryption-key");
  return missing;
}

function weaknessOfPepper(text: string): string | null {
  return text.startsWith(MADE_PEPPER) ? weaknessOfKey(pepperOf(text)) : weaknessOf(text);
}

/** The text's own bytes, or `base64:` and those of the file that an embedded installation made: its keys go on when it moves. */
function pepperOf(text: string): Buffer {
  const made = text.startsWith(MADE_PEPPER) ? parseEncryptionKey(text.slice(MADE_PEPPER.length)) : null;
  return made ?? Buffer.from(text);
}
