// A migrated database of its own for each test file, on the engine that PATCHBAY_TEST_ENGINE names: `pglite` (default, in
// memory, from a cached dump) or `postgres` (a copy of a migrated template on the server of DATABASE_URL).
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import { createQueue } from "../../src/queue/queue.ts";
import { type Database, type DatabaseOptions, openDatabase } from "../../src/storage/database.ts";
import { EMBEDDED_FOLDER, startInMemory } from "../../src/storage/pglite.ts";
import { borrowEngine } from "./embedded-engines.ts";
import { borrowCopy, type Template } from "./server-databases.ts";

export const TEST_ENGINE: Database["engine"] =
  process.env["PATCHBAY_TEST_ENGINE"] === "postgres" ? "postgres" : "pglite";

export interface TestDatabase extends Database {
  /** A second, independent handle as another process would have; the same one on the embedded engine. */
  readonly openSecond: () => Promise<Database>;
}

export type TestDatabaseOptions = Pick<DatabaseOptions, "nowMs" | "poolSize">;

export async function openTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  return TEST_ENGINE === "postgres" ? openCopyOfTemplate(options) : openFromDump(options);
}

/** Puts there what a first start leaves, which would take seconds to make it: an embedded database, migrated and empty. */
export async function fillDataDir(dataDir: string): Promise<void> {
  const folder = join(dataDir, EMBEDDED_FOLDER);
  await mkdir(folder, { mode: 0o700 });
  const unpacking = spawn("tar", ["-xf", "-", "-C", folder], { stdio: ["pipe", "ignore", "pipe"] });
  let complaint = "";
  unpacking.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const ended = once(unpacking, "close");
  unpacking.stdin.end(await cachedDump());
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`tar failed: ${complaint}`);
}

/** Moves this database's `patchbay_now()` by so many seconds against the real clock; 0 sets it right again. */
export async function shiftClock({ db }: Pick<Database, "db">, seconds: number): Promise<void> {
  await sql
    .raw(
      `create or replace function patchbay_now() returns timestamptz language sql stable parallel safe as $$ select now() + interval '${seconds} seconds' $$`,
    )
    .execute(db);
}

/** Stops the clock at a moment, for example `2026-03-31T23:59:59Z`. */
export async function setClock({ db }: Pick<Database, "db">, moment: string): Promise<void> {
  const at = new Date(moment).toISOString();
  await sql
    .raw(
      `create or replace function patchbay_now() returns timestamptz language sql stable parallel safe as $$ select '${at}'::timestamptz $$`,
    )
    .execute(db);
}

/** A workspace with one app, fresh for each test: tests share a database and never each other's rows. */
export async function makeTenant({ db }: Pick<Database, "db">) {
  const workspaceId = newId("workspace");
  const appId = newId("app");
  await db.insertInto("workspaces").values({ id: workspaceId, slug: workspaceId, managed_by: "test" }).execute();
  await db
    .insertInto("apps")
    .values({ id: appId, workspace_id: workspaceId, slug: "app", name: "App", managed_by: "test" })
    .execute();
  return { workspaceId, appId };
}

async function openFromDump(options: TestDatabaseOptions): Promise<TestDatabase> {
  const embedded = await borrowEngine(cachedDump);
  const database = await openDatabase({ ...options, embedded });
  if (database.direct.engine === "pglite") await embedded.remember(database.direct.pool);
  const sameHandle = { ...database, close: async () => undefined };
  return { ...database, openSecond: async () => sameHandle };
}

/** A fresh start takes seconds, a start from a migrated dump a fraction of one. Keyed by everything that makes it. */
async function cachedDump(): Promise<Uint8Array<ArrayBuffer>> {
  const cache = join(tmpdir(), `patchbay-test-${process.getuid?.() ?? 0}`);
  const path = join(cache, `${schemaHash()}.tar`);
  try {
    return new Uint8Array(await readFile(path));
  } catch {
    const database = await openDatabase({ embedded: await startInMemory() });
    await installQueue(database);
    if (database.direct.engine !== "pglite") throw new Error("an embedded database was asked for");
    const dump = await database.direct.dump();
    await database.close();
    await mkdir(cache, { recursive: true });
    const aside = `${path}.${randomBytes(6).toString("hex")}`;
    await writeFile(aside, dump);
    await rename(aside, path);
    return dump;
  }
}

/** pg-boss makes its own tables, which takes a second or two on the embedded engine. */
async function installQueue(database: Database): Promise<void> {
  const queue = createQueue({ database, queues: {}, onError: () => undefined });
  await queue.start();
  await queue.stop();
}

async function openCopyOfTemplate(options: TestDatabaseOptions): Promise<TestDatabase> {
  const { databaseUrl, giveBack } = await borrowCopy(TEMPLATE);
  const database = await openDatabase({ ...options, databaseUrl });
  const close = async () => {
    await database.close();
    await giveBack();
  };
  return { ...database, close, openSecond: () => openDatabase({ databaseUrl }) };
}

/** On the server of DATABASE_URL: migrated, and nothing in it. */
export const TEMPLATE: Template = {
  name: () => `patchbay_template_${schemaHash()}`,
  fill: async (databaseUrl) => {
    const database = await openDatabase({ databaseUrl, poolSize: 1 });
    await installQueue(database);
    await database.close();
  },
};

function schemaHash(): string {
  const root = new URL("../../", import.meta.url);
  const hash = createHash("sha256").update(readFileSync(new URL("package-lock.json", root)));
  for (const file of globSync("src/storage/{migrations/*,migrate,pglite*,protect,tenant-tables}.ts", {
    cwd: root,
  }).toSorted())
    hash.update(readFileSync(new URL(file, root)));
  return hash.digest("hex").slice(0, 16);
}
