// Opens the installation's secrets: from the configuration, else (embedded storage only) from the data directory [tenancy.secrets-created].
import { weaknessOf, weaknessOfKey } from "../../lib/weak-secret.ts";
import { isBeingCreated } from "../embedded/installation-state.ts";
import { hasEmbeddedDatabase } from "../embedded/server.ts";
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
/** Prefix for the content of a data directory's file `key-pepper`. */
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
  const isShort = keyPepper !== null && keyPepper.length < MIN_PEPPER_CHARACTERS;
  const weakness = keyPepper === null || isShort ? null : weaknessOfPepper(keyPepper);
  if (isShort || weakness !== null) {
    const reason = weakness === null ? "" : ` (it ${weakness})`;
    faults.push(
      `secrets.key_pepper: must be at least ${MIN_PEPPER_CHARACTERS} unguessable characters${reason}; ${MAKE_ONE}`,
    );
  }
  if (databaseUrl !== null) {
    // Several processes share a server database, so a secret that one of them created would lock out the others.
    if (keyPepper === null) faults.push("secrets.key_pepper: is required with a server database");
    if (keys.length === 0) faults.push("secrets.encryption_keys: at least one is required with a server database");
  }
  // New secrets could not open what is sealed there and would match no key. An interrupted first start has sealed nothing.
  const isUsed = (await hasEmbeddedDatabase(dataDir)) && !(await isBeingCreated(dataDir));
  const lostSecrets = isUsed ? await missingSecrets(settings) : [];
  for (const name of lostSecrets)
    faults.push(`${dataDir} contains a database, but not ${name}, which it depends on; restore it from the backup`);
  if (faults.length > 0) return { ok: false, faults };
  const configuredKeys = keys.filter((key) => key !== null);
  if (keyPepper !== null && configuredKeys.length > 0)
    return { ok: true, pepper: pepperOf(keyPepper), encryptionKeys: configuredKeys, where: "from the configuration" };
  return {
    ok: true,
    pepper: keyPepper === null ? await loadOrCreateSecret(dataDir, "key-pepper") : pepperOf(keyPepper),
    encryptionKeys: configuredKeys.length > 0 ? configuredKeys : [await loadOrCreateSecret(dataDir, "encryption-key")],
    where: `in ${dataDir}, readable by their owner only`,
  };
}

/** Secret files that embedded storage needs and lacks, because the configuration does not set them. Throws if a file is damaged. */
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

/** Bytes of the text, or with `base64:` the bytes of an embedded installation's pepper file, so that its keys stay valid after a move. */
function pepperOf(text: string): Buffer {
  const decoded = text.startsWith(MADE_PEPPER) ? parseEncryptionKey(text.slice(MADE_PEPPER.length)) : null;
  return decoded ?? Buffer.from(text);
}
