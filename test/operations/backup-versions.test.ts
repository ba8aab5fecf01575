// Backups of other versions: an older one is brought up to date while it is restored, a newer one and one of another format are refused.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { Migrator } from "kysely/migration";
import { packTar } from "modern-tar";
import { migrationState } from "../../src/storage/schema/migrate.ts";
import { MIGRATIONS } from "../../src/storage/migrations/list.ts";
import { run } from "../cli/fake-gateway.ts";
import { fillDataDir, makeTemporary, openEmbedded, removeDataDir } from "../harness/postgres/embedded-data.ts";
import { makeTenant } from "../harness/postgres/database.ts";
import { bareConfiguration, writeSecrets } from "./installation.ts";

/** Fewer than the newest version has. */
const OLDER = new Set(Object.keys(MIGRATIONS).slice(0, -3));
let folder: string;
before(async () => {
  folder = await makeTemporary("patchbay-versions-");
});
after(() => removeDataDir(folder));

async function directory(name: string): Promise<{ readonly dataDir: string; readonly config: string }> {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { mode: 0o700 });
  return { dataDir, config: await bareConfiguration(dataDir) };
}

/** Of an installation whose database is changed before. */
async function backupOf(
  name: string,
  change: (database: Awaited<ReturnType<typeof openEmbedded>>) => Promise<unknown>,
): Promise<string> {
  const { dataDir, config } = await directory(name);
  await fillDataDir(dataDir);
  writeSecrets(dataDir);
  const database = await openEmbedded(dataDir, "own", { asItIs: true });
  try {
    await change(database);
  } finally {
    await database.close();
  }
  const archive = join(folder, `${name}.tar`);
  const made = await run(["backup", archive, "--config", config]);
  assert.equal(made.exitCode, 0, made.stderr);
  return archive;
}

test("storage.restore-versions: a backup of an older version is restored with its rows, and its schema brought up to date", async () => {
  let workspaceId = "";
  const archive = await backupOf("older", async (database) => {
    await sql`drop schema public cascade`.execute(database.db);
    await sql`create schema public`.execute(database.db);
    const provider = {
      getMigrations: async () => Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => OLDER.has(name))),
    };
    assert.equal((await new Migrator({ db: database.db, provider }).migrateToLatest()).error, undefined);
    ({ workspaceId } = await makeTenant(database));
  });
  const { dataDir, config } = await directory("older-restored");
  const restored = await run(["restore", archive, "--config", config]);
  assert.equal(restored.exitCode, 0, restored.stderr);
  const database = await openEmbedded(dataDir, "own", { asItIs: true });
  try {
    const { applied, pending } = await migrationState(database.db);
    assert.deepEqual([applied, pending], [Object.keys(MIGRATIONS).toSorted(), []]);
    const workspaces = await database.db.selectFrom("workspaces").select("id").execute();
    assert.deepEqual(workspaces, [{ id: workspaceId }]);
  } finally {
    await database.close();
  }
});

test("storage.restore-versions: a backup of a newer version is refused with what to do, and the data directory is as it was", async () => {
  const archive = await backupOf("newer", ({ db }) =>
    sql`insert into kysely_migration (name, timestamp) values ('9999-of-a-later-version', '2027-01-01')`.execute(db),
  );
  const { dataDir, config } = await directory("newer-restored");
  const refused = await run(["restore", archive, "--config", config]);
  assert.equal(refused.exitCode, 5, refused.stderr);
  assert.match(
    refused.stderr,
    /created by a newer version[^]*does not support 9999-of-a-later-version[^]*with that version/u,
  );
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name !== "owner.lock"),
    [],
  );
});

test("storage.former-version: a backup of version 0.1.0, which contains the files of another engine, is refused by its name", async () => {
  const archive = join(folder, "former.tar");
  const header = { name: "pglite/PG_VERSION", size: 3 };
  writeFileSync(archive, await packTar([{ header, body: "18\n" }]));
  const { config } = await directory("former-restored");
  const refused = await run(["restore", archive, "--config", config]);
  assert.equal(refused.exitCode, 5, refused.stderr);
  assert.match(refused.stderr, /the embedded database of version 0\.1\.0\.[^]*restore it with the version/u);
});
