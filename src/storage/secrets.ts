// The installation's own secrets on embedded storage: created once in the data directory, for its owner only [tenancy.secrets-created].
import { randomBytes, randomUUID } from "node:crypto";
import { link, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../lib/error-code.ts";
import { makeDirectory } from "../lib/make-directory.ts";

/** What API keys are hashed with, and what seals. */
export type SecretFile = "key-pepper" | "encryption-key";

const SECRET_BYTES = 32;

/** In the place of a secret there is something else. */
export class DamagedSecret extends Error {}

export async function loadOrCreateSecret(dataDir: string, name: SecretFile): Promise<Buffer> {
  const path = join(dataDir, name);
  const kept = await read(path);
  if (kept !== null) return kept;
  await makeDirectory(dataDir);
  return make(path);
}

/** Null: there is none. Throws when there is something else in its place. */
export async function readSecret(dataDir: string, name: SecretFile): Promise<Buffer | null> {
  return read(join(dataDir, name));
}

/** 32 bytes written as base64, base64url or hexadecimal; null when it is anything else. */
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
  // A new one would lock everybody out and make what is sealed unreadable: better to stop.
  if (secret === null)
    throw new DamagedSecret(`${path} does not hold a secret (32 bytes in base64). Restore it from a backup.`);
  return secret;
}

/** Whole and on disk before it has its name; when another process was faster, its secret counts. */
async function make(path: string): Promise<Buffer> {
  const aside = `${path}.${randomUUID()}`;
  const file = await open(aside, "wx", 0o600);
  try {
    await file.writeFile(`${randomBytes(SECRET_BYTES).toString("base64")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(aside, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  } finally {
    await unlink(aside);
  }
  const secret = await read(path);
  if (secret === null) throw new Error(`${path} could not be made.`);
  return secret;
}
