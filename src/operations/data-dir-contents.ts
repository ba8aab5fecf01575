// What an installation puts into its data directory, by the names at its top, and how to look at what is there.
import { stat } from "node:fs/promises";
import { errorCode } from "../lib/error-code.ts";
import { RUNNING_FILE } from "../config/running-gateway.ts";
import { MOVED_FILE } from "../storage/moved-database.ts";
import { ENDPOINT_FILE } from "../storage/embedded/connection.ts";
import { CREATION_MARKER } from "../storage/embedded/installation-state.ts";
import { PASSWORD_FILE } from "../storage/embedded/initialize.ts";
import { LOCK_FILE, OWNER_FILE } from "../storage/embedded/installation-lock.ts";
import { DATA_FOLDER, POINTER_FILE, SOCKET_FOLDER } from "../storage/embedded/placement.ts";
import { LOG_FILE } from "../storage/embedded/server-log.ts";

/** Without these a database opens nothing that is sealed and accepts no key; elsewhere where the configuration gives them. */
export const NEEDED_SECRETS = ["key-pepper", "encryption-key"] as const;
/** What only the owner may read: with them, what is sealed can be opened, and calls can be made as an app. */
export const SECRET_FILES = [...NEEDED_SECRETS, "cli-key", "operator-key"] as const;
/** Of a restore: what it unpacks, and what it puts aside until it is done. One that was killed leaves either. */
export const STAGED = ".restore-";
export const REPLACED = ".replaced-";
/** Of a backup: the dump of the tables and links to the objects. */
export const COLLECTED = ".backup-";
/** In a backup: a file for each table. */
export const DUMP_FOLDER = "database";
/** The files of the embedded server that move together. */
export const DATABASE_PARTS = [DATA_FOLDER, PASSWORD_FILE, POINTER_FILE] as const;

/** What a backup contains; uploads in flight, locks and logs do not belong to it. */
export function partsOf(hasSecrets: boolean): readonly string[] {
  return [DUMP_FOLDER, "objects", ...(hasSecrets ? SECRET_FILES : [])];
}

export function isLock(name: string): boolean {
  return name.startsWith(LOCK_FILE) || name === OWNER_FILE;
}

export function isLeftByRestore(name: string): boolean {
  return name.startsWith(STAGED) || name.startsWith(REPLACED);
}

const OTHER_PARTS: ReadonlySet<string> = new Set([
  ...DATABASE_PARTS,
  ...SECRET_FILES,
  SOCKET_FOLDER,
  ENDPOINT_FILE,
  CREATION_MARKER,
  RUNNING_FILE,
  MOVED_FILE,
  LOG_FILE,
  `${LOG_FILE}.1`,
  "objects",
  "spool",
]);

/** Everything that an installation creates except its lock, which a running process holds. */
export function isOurs(name: string): boolean {
  return (
    OTHER_PARTS.has(name) ||
    isLeftByRestore(name) ||
    name.startsWith(COLLECTED) ||
    name.startsWith(`${DATA_FOLDER}.new-`) ||
    /^postgresql-[\d.]+(?:\.partial)?$/u.test(name)
  );
}

/** Null: there is nothing of that name. */
export async function statOrNull(path: string) {
  return stat(path).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  });
}
