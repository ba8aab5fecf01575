// Checks that a data directory is complete. Secrets or objects without their database, or a database of version 0.1.0, are refused instead of
// being replaced by a new installation.
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasEmbeddedDatabase } from "./server.ts";

/** Exists from before an installation's first file is created until its first start is complete. */
export const CREATION_MARKER = "first-start.json";
/** Folder of the embedded engine of version 0.1.0. */
export const FORMER_DATABASE = "pglite";
const SECRETS = ["key-pepper", "encryption-key"] as const;

export type InstallationState =
  | { readonly kind: "whole" | "new" }
  | { readonly kind: "refused"; readonly message: string; readonly hints: readonly string[] };

/** `isNewDatabase` is `--new-database`: the operator accepts an empty database. */
export async function beginInstallation(dataDir: string, isNewDatabase: boolean): Promise<InstallationState> {
  if (await hasEmbeddedDatabase(dataDir)) return { kind: (await isBeingCreated(dataDir)) ? "new" : "whole" };
  if (!(await isBeingCreated(dataDir)) && !isNewDatabase) {
    if (await exists(join(dataDir, FORMER_DATABASE)))
      return {
        kind: "refused",
        message: `${dataDir} contains the embedded database of version 0.1.0, which this version cannot open.`,
        hints: [
          "move it with version 0.1.0: patchbay migrate-storage --to postgres://…, then set DATABASE_URL for this version",
          "or start with an empty database: patchbay up --new-database",
        ],
      };
    const remains = await remainsOf(dataDir);
    if (remains.length > 0)
      return {
        kind: "refused",
        message: `${dataDir} contains ${remains.join(" and ")} of an installation, but not its database.`,
        hints: [
          "restore the last backup: patchbay restore FILE --force",
          "or set DATABASE_URL, if its database is on a server",
          "or start with an empty database, without the existing keys and objects: patchbay up --new-database",
        ],
      };
  }
  await writeFile(join(dataDir, CREATION_MARKER), `${JSON.stringify({ since: new Date().toISOString() })}\n`, {
    mode: 0o600,
  });
  return { kind: "new" };
}

export async function completeInstallation(dataDir: string): Promise<void> {
  await rm(join(dataDir, CREATION_MARKER), { force: true });
}

/** True after an interrupted first start, which may leave any part of an installation. The next start continues it. */
export async function isBeingCreated(dataDir: string): Promise<boolean> {
  return exists(join(dataDir, CREATION_MARKER));
}

async function remainsOf(dataDir: string): Promise<readonly string[]> {
  const secrets = await Promise.all(SECRETS.map((name) => exists(join(dataDir, name))));
  const hasObjects =
    (await holdsFiles(join(dataDir, "objects", "results"))) || (await holdsFiles(join(dataDir, "objects", "audio")));
  return [...(secrets.includes(true) ? ["secrets"] : []), ...(hasObjects ? ["objects"] : [])];
}

async function holdsFiles(directory: string): Promise<boolean> {
  return (await readdir(directory).catch(() => [])).length > 0;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
