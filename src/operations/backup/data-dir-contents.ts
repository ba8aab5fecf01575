// The names of all files and folders that an installation puts into its data directory.
import { stat } from "node:fs/promises";
import { errorCode } from "../../lib/error-code.ts";
import { MODELS_FOLDER } from "../../config/parse-configuration.ts";
import { RUNNING_FILE } from "../../config/running-gateway.ts";
import { MOVED_FILE } from "../../storage/connection/moved-database.ts";
import { ENDPOINT_FILE } from "../../storage/embedded/connection.ts";
import { CREATION_MARKER } from "../../storage/embedded/installation-state.ts";
import { PASSWORD_FILE } from "../../storage/embedded/initialize.ts";
import { LOCK_FILE, OWNER_FILE } from "../../storage/embedded/installation-lock.ts";
import { DATA_FOLDER, POINTER_FILE, SOCKET_FOLDER } from "../../storage/embedded/placement.ts";
import { LOG_FILE } from "../../storage/embedded/server-log.ts";

/** Without these, sealed data cannot be opened and no API key is valid. Files of the data directory, unless the configuration sets them. */
export const NEEDED_SECRETS = ["key-pepper", "encryption-key"] as const;
/** Readable by the owner only, because they open sealed data and authenticate as an app. */
export const SECRET_FILES = [...NEEDED_SECRETS, "cli-key", "operator-key"] as const;
/** Prefixes of a restore's folders: what it unpacks, and what it replaces. A killed restore may leave either. */
export const STAGED = ".restore-";
export const REPLACED = ".replaced-";
/** Prefix of a backup's folder with the table dump and links to objects. */
export const COLLECTED = ".backup-";
/** Folder in a backup with one file per table. */
export const DUMP_FOLDER = "database";
/** The embedded server's files, which move together. */
export const DATABASE_PARTS = [DATA_FOLDER, PASSWORD_FILE, POINTER_FILE] as const;

/** The top-level parts of a backup. Uploads in progress, locks and logs are not included. */
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
  MODELS_FOLDER,
  "objects",
  "spool",
]);

/** Whether an installation created the file. False for its lock, which a running process holds. */
export function isOurs(name: string): boolean {
  return (
    OTHER_PARTS.has(name) ||
    isLeftByRestore(name) ||
    name.startsWith(COLLECTED) ||
    name.startsWith(`${DATA_FOLDER}.new-`) ||
    /^postgresql-[\d.]+(?:\.partial)?$/u.test(name)
  );
}

/** Null if there is no such file. */
export async function statOrNull(path: string) {
  return stat(path).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  });
}
