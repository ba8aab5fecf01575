// A place for a database that outlives the process using it: a folder for the embedded engine, a database on the server of
// DATABASE_URL otherwise.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { TEST_ENGINE } from "../harness/database.ts";

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
  if (TEST_ENGINE === "pglite") return { engine: TEST_ENGINE, dataDir, databaseUrl: null, remove: removeFolder };
  const name = `patchbay_faults_${randomBytes(8).toString("hex")}`;
  await onServer(`create database ${name}`);
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return {
    engine: TEST_ENGINE,
    dataDir,
    databaseUrl: url.href,
    remove: async () => {
      await onServer(`drop database if exists ${name} with (force)`);
      await removeFolder();
    },
  };
}

async function onServer(statement: string): Promise<void> {
  const admin = new Client({ connectionString: serverUrl() });
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}

function serverUrl(): string {
  const url = process.env["DATABASE_URL"];
  if (url === undefined || url === "") throw new Error("PATCHBAY_TEST_ENGINE=postgres needs DATABASE_URL.");
  return url;
}
