// A database that outlives the process using it: in a folder for a gateway with embedded storage, or on the server of DATABASE_URL.
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStorage } from "../../src/storage/connection/open-storage.ts";
import { type OpenDatabase, TEMPLATE, withSystemAccess } from "../harness/postgres/database.ts";
import { borrowCopy } from "../harness/postgres/server-databases.ts";

export interface SurvivingDatabase {
  readonly engine: "embedded" | "postgres";
  readonly dataDir: string;
  /** Null: embedded storage in `dataDir`. */
  readonly databaseUrl: string | null;
  remove(): Promise<void>;
}

export async function makeFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "patchbay-faults-"));
  // As root, the embedded server runs under another account, which must be able to enter.
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export async function makeSurvivingDatabase(): Promise<SurvivingDatabase> {
  const { path: dataDir, remove: removeFolder } = await makeFolder();
  if ((process.env["DATABASE_URL"] ?? "") === "")
    return { engine: "embedded", dataDir, databaseUrl: null, remove: removeFolder };
  const { databaseUrl, giveBack } = await borrowCopy(TEMPLATE);
  const remove = async () => {
    await giveBack();
    await removeFolder();
  };
  return { engine: "postgres", dataDir, databaseUrl, remove };
}

/** Called in the process that is killed: opens it as a gateway does. */
export async function openSurvivingDatabase(
  { dataDir, databaseUrl }: Pick<SurvivingDatabase, "dataDir" | "databaseUrl">,
  poolSize?: number,
): Promise<OpenDatabase> {
  const database = await openStorage(
    { databaseUrl, migrateUrl: null, listenUrl: null, dataDir, postgresBin: null, runAs: null },
    { embedded: "own", path: process.env["PATH"], poolSize },
  );
  return withSystemAccess(database);
}
