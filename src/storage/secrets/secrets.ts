// Creates the secrets of an embedded installation once, in the data directory, readable by their owner only [tenancy.secrets-created].
import { randomBytes, randomUUID } from "node:crypto";
import { link, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../lib/error-code.ts";
import { makeDirectory } from "../../lib/make-directory.ts";

/** The pepper for hashing API keys, and the key for sealing. */
export type SecretFile = "key-pepper" | "encryption-key";

const SECRET_BYTES = 32;

/** The file exists but does not contain a secret. */
export class DamagedSecret extends Error {}

export async function loadOrCreateSecret(dataDir: string, name: SecretFile): Promise<Buffer> {
  const path = join(dataDir, name);
  const storedSecret = await read(path);
  if (storedSecret !== null) return storedSecret;
  await makeDirectory(dataDir);
  return createSecret(path);
}

/** Null: there is no file. Throws if the file is damaged. */
export async function readSecret(dataDir: string, name: SecretFile): Promise<Buffer | null> {
  return read(join(dataDir, name));
}

/** Parses 32 bytes in base64, base64url or hexadecimal. Null: the text is something else. */
export function parseEncryptionKey(text: string): Buffer | null {
  if (/^[0-9a-f]{64}$/iu.test(text)) return Buffer.from(text, "hex");
  if (!/^[A-Za-z0-9+/_-]{43}=?$/u.test(text)) return null;
  return Buffer.from(text, "base64");
}

async function read(path: string): Promise<Buffer | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return null;
    throw new DamagedSecret(
      code === "EISDIR"
        ? `${path} is a directory, and no secret. Put the file back from the backup.`
        : `${path} cannot be read (${code ?? "unknown reason"}).`,
    );
  }
  const secret = parseEncryptionKey(text.trim());
  // A new secret would invalidate every API key and make sealed data unreadable, so it is better to stop.
  if (secret === null)
    throw new DamagedSecret(`${path} does not hold a secret (32 bytes in base64). Restore it from a backup.`);
  return secret;
}

/** Complete and on disk before it gets its name. If another process was faster, its secret is used. */
async function createSecret(path: string): Promise<Buffer> {
  const temporaryPath = `${path}.${randomUUID()}`;
  const file = await open(temporaryPath, "wx", 0o600);
  try {
    await file.writeFile(`${randomBytes(SECRET_BYTES).toString("base64")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(temporaryPath, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  } finally {
    await unlink(temporaryPath);
  }
  const secret = await read(path);
  if (secret === null) throw new Error(`${path} could not be made.`);
  return secret;
}
