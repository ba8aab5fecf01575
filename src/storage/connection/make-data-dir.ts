// Creates the data directory if it is missing, before anything is stored in it. Reports the reason if it cannot be created [storage.data-dir].
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "../../lib/error-code.ts";
import { makeDirectory } from "../../lib/make-directory.ts";

export type MadeDataDir =
  /** `made` is the topmost directory that was created; null: all existed. */
  { readonly ok: true; readonly made: string | null } | { readonly ok: false; readonly fault: string };

export async function createDataDir(dataDir: string): Promise<MadeDataDir> {
  try {
    const made = await makeDirectory(dataDir);
    await access(dataDir, constants.W_OK | constants.X_OK);
    return { ok: true, made };
  } catch (error) {
    return {
      ok: false,
      fault: `storage.data_dir: ${await describeFault(dataDir, errorCode(error))}; choose another place`,
    };
  }
}

/** The path itself if it exists, else its nearest existing parent. */
export async function nearestExisting(path: string): Promise<string> {
  return (await exists(path)) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

async function describeFault(dataDir: string, code: string | null): Promise<string> {
  const place = await nearestExisting(dataDir);
  const reason = reasonAt(place, code, (await stat(place)).isDirectory());
  return place === dataDir ? reason : `${dataDir} cannot be created: ${reason}`;
}

function reasonAt(place: string, code: string | null, isDirectory: boolean): string {
  if (!isDirectory) return `${place} is not a directory`;
  if (code === "EACCES" || code === "EPERM") return `${place} is not writable for this user`;
  if (code === "EROFS") return `the file system of ${place} is read-only`;
  if (code === "ENOSPC" || code === "EDQUOT") return `the file system of ${place} is full`;
  return `${place} does not accept directories (${code ?? "unknown reason"})`;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
