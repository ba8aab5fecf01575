// A place for a database that outlives the process using it: a folder for the embedded engine, a database on the server of
// DATABASE_URL otherwise. Migrated already: what a first start does is tried elsewhere.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillDataDir, TEMPLATE, TEST_ENGINE } from "../harness/database.ts";
import { borrowCopy } from "../harness/server-databases.ts";

export interface SurvivingDatabase {
  readonly engine: typeof TEST_ENGINE;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  remove(): Promise<void>;
}

export async function makeFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "patchbay-faults-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export async function makeSurvivingDatabase(): Promise<SurvivingDatabase> {
  const { path: dataDir, remove: removeFolder } = await makeFolder();
  if (TEST_ENGINE === "pglite") {
    await fillDataDir(dataDir);
    return { engine: TEST_ENGINE, dataDir, databaseUrl: null, remove: removeFolder };
  }
  const { databaseUrl, giveBack } = await borrowCopy(TEMPLATE);
  const remove = async () => {
    await giveBack();
    await removeFolder();
  };
  return { engine: TEST_ENGINE, dataDir, databaseUrl, remove };
}
