// What an installation puts into its data directory, by the names at its top, and how to look at what is there (contract 10).
import { stat } from "node:fs/promises";
import { errorCode } from "../lib/error-code.ts";
import { RUNNING_FILE } from "../config/running-gateway.ts";
import { LOCK_FILE } from "../storage/data-dir-lock.ts";
import { MOVED_FILE } from "../storage/moved-database.ts";
import { EMBEDDED_FOLDER } from "../storage/pglite.ts";

/** Without these a database opens nothing that is sealed and knows no key; elsewhere where the configuration gives them. */
export const NEEDED_SECRETS = ["key-pepper", "encryption-key"] as const;
/** What only the owner may read: whoever has them opens what is sealed, or calls as an app. */
export const SECRET_FILES = [...NEEDED_SECRETS, "cli-key", "operator-key"] as const;
/** Of a restore: what it unpacks, and what it puts aside until it is done. One that was killed leaves either. */
export const STAGED = ".restore-";
export const REPLACED = ".replaced-";

/** What belongs to a backup; uploads in flight and locks do not. */
export function partsOf(hasSecrets: boolean): readonly string[] {
  return [EMBEDDED_FOLDER, "objects", ...(hasSecrets ? SECRET_FILES : [])];
}

export function isLock(name: string): boolean {
  return name.startsWith(LOCK_FILE);
}

export function isLeftByRestore(name: string): boolean {
  return name.startsWith(STAGED) || name.startsWith(REPLACED);
}

/** Whatever we put there but for locks, which a running process holds. */
export function isOurs(name: string): boolean {
  return partsOf(true).includes(name) || [RUNNING_FILE, MOVED_FILE, "spool"].includes(name) || isLeftByRestore(name);
}

/** Null: there is nothing of that name. */
export async function statOrNull(path: string) {
  return stat(path).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  });
}
