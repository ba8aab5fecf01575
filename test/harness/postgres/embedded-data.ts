// Embedded storage for tests: PostgreSQL 18 from npm, and data directories with a migrated, empty database, copied from a cache because creating one takes
// seconds.
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Account, chooseAccount } from "../../../src/storage/embedded/account.ts";
import { PASSWORD_FILE } from "../../../src/storage/embedded/initialize.ts";
import { DATA_FOLDER, preparePlacement, readPlacement } from "../../../src/storage/embedded/placement.ts";
import { startEmbeddedServer } from "../../../src/storage/embedded/server.ts";
import {
  type EmbeddedMode,
  openStorage,
  type OpenStorageOptions,
} from "../../../src/storage/connection/open-storage.ts";
import { cached } from "../machine-cache.ts";
import { type OpenDatabase, withSystemAccess } from "./database.ts";
import { migrateEmpty, schemaHash } from "./migrated.ts";
import { npmPrograms, packageKey } from "./npm-programs.ts";

const run = promisify(execFile);

/** A directory that the server's account can enter, like the data directories of services. */
export async function makeTemporary(prefix: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), prefix));
  await chmod(path, 0o711);
  return path;
}

/** For `storage.postgres_bin`. */
export async function postgresBin(): Promise<string> {
  return join(await npmPrograms(), "bin");
}

/** The state after a first start: an embedded database, migrated and empty. The directory exists. */
export async function fillDataDir(dataDir: string): Promise<void> {
  const cached = await cachedCluster();
  const account = await chooseAccount(null, dataDir);
  const { data } = await preparePlacement(dataDir, account);
  await run("cp", ["-a", join(cached, DATA_FOLDER), data]);
  await giveTo(account, data);
  await copyFile(join(cached, PASSWORD_FILE), join(dataDir, PASSWORD_FILE));
}

/** Including files outside of it. */
export async function removeDataDir(dataDir: string): Promise<void> {
  const { home, isRelocated } = await readPlacement(dataDir);
  if (isRelocated) await rm(home, { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
}

/** Opens the embedded database in a directory as a process does. */
export async function openEmbedded(
  dataDir: string,
  embedded: EmbeddedMode = "own",
  options: Partial<OpenStorageOptions> = {},
): Promise<OpenDatabase> {
  const settings = { databaseUrl: null, migrateUrl: null, listenUrl: null, runAs: null };
  const database = await openStorage(
    { ...settings, dataDir, postgresBin: await postgresBin() },
    { embedded, path: process.env["PATH"], ...options },
  );
  return withSystemAccess(database);
}

function cachedCluster(): Promise<string> {
  return cached(`cluster-${schemaHash()}-${packageKey()}`, async (aside) => {
    await mkdir(aside);
    await chmod(aside, 0o711);
    const server = await startEmbeddedServer({
      dataDir: aside,
      postgresBin: await postgresBin(),
      runAs: null,
      path: process.env["PATH"],
    });
    try {
      await migrateEmpty(server.url);
    } finally {
      await server.stop();
    }
  });
}

async function giveTo(account: Account | null, path: string): Promise<void> {
  if (account !== null) await run("chown", ["-R", `${account.uid}:${account.gid}`, path]);
}
