// The installation's own secrets on embedded storage: made once in the data directory, readable by its owner only (contract 10).
import { randomBytes, randomUUID } from "node:crypto";
import { link, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../lib/error-code.ts";
import { makeDirectory } from "../lib/make-directory.ts";

export interface InstallationSecrets {
  /** API keys are hashed with it. */
  readonly pepper: Buffer;
  readonly encryptionKey: Buffer;
}

const SECRET_BYTES = 32;

/** Reads `key-pepper` and `encryption-key`, and makes those that are missing. */
export async function loadOrMakeSecrets(dataDir: string): Promise<InstallationSecrets> {
  await makeDirectory(dataDir);
  return {
    pepper: await loadOrMake(join(dataDir, "key-pepper")),
    encryptionKey: await loadOrMake(join(dataDir, "encryption-key")),
  };
}

/** 32 bytes written as base64, base64url or hexadecimal; null when it is anything else. */
export function parseEncryptionKey(text: string): Buffer | null {
  if (/^[0-9a-f]{64}$/iu.test(text)) return Buffer.from(text, "hex");
  if (!/^[A-Za-z0-9+/_-]{43}=?$/u.test(text)) return null;
  return Buffer.from(text, "base64");
}

async function loadOrMake(path: string): Promise<Buffer> {
  return (await read(path)) ?? (await make(path));
}

async function read(path: string): Promise<Buffer | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  const secret = parseEncryptionKey(text.trim());
  // A new one would lock everybody out and make what is sealed unreadable: better to stop.
  if (secret === null)
    throw new Error(`${path} does not hold a secret (32 bytes in base64). Restore it from a backup.`);
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
