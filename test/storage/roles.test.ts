// What the process may do in its database [storage.roles]: a superuser, an ordinary owner that may or may not create roles, or a login that
// owns nothing. Row-level security holds for each of them [tenancy.rls-roles].
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import { createQueue } from "../../src/queue/queue.ts";
import {
  type OpenDatabase,
  openSystemDatabase,
  openTestDatabase,
  type TestDatabase,
} from "../harness/postgres/database.ts";
import { oldestServerBin } from "../harness/postgres/oldest-server.ts";

let server: TestDatabase;
before(async () => {
  server = await openTestDatabase();
});
after(() => server.close());

interface Login {
  readonly name: string;
  readonly url: (database: string) => string;
}

test("tenancy.rls-roles, tenancy.row-level-security: an ordinary owner without the right to create roles is bound too", async (context) => {
  const setting = await anInstallation(context, "");
  if (setting === null) return;
  await using opened = await open(setting.owner.url(setting.name));
  assert.equal(opened.database.tenantRole, null);
  await assertWall(opened.database);
});

test("tenancy.rls-roles, tenancy.row-level-security: an owner that may create roles binds by a role, and itself sees rows by membership alone: it is forced", async (context) => {
  const setting = await anInstallation(context, "createrole");
  if (setting === null) return;
  await using opened = await open(setting.owner.url(setting.name));
  const { database } = opened;
  assert.equal(database.tenantRole, `patchbay_tenant_of_${setting.owner.name}`);
  await assertWall(database);
  const seen = async () => (await database.db.selectFrom("workspaces").select("id").execute()).length;
  assert.equal(await seen(), 2);
  const system = sql.id(`patchbay_system_of_${setting.owner.name}`);
  await sql`alter table workspaces disable row level security`.execute(database.db);
  await sql`alter table workspaces enable row level security`.execute(database.db);
  await sql`drop policy system on workspaces`.execute(database.db);
  assert.equal(await seen(), 0);
  await sql`create policy system on workspaces to ${system} using (true)`.execute(database.db);
  assert.equal(await seen(), 2);
});

test("storage.roles: with storage.migrate_url the process's login owns nothing, and a bound transaction may send messages", async (context) => {
  const setting = await anInstallation(context, "createrole");
  if (setting === null) return;
  const login = await makeLogin("");
  await using opened = await open(login.url(setting.name), setting.owner.url(setting.name));
  const { database } = opened;
  await assertWall(database);
  await assert.rejects(sql`alter table jobs add column x int`.execute(database.db), /must be owner/u);
  await assert.rejects(sql`alter table jobs disable row level security`.execute(database.db), /must be owner/u);
  const queue = createQueue({
    database,
    queues: { mail: { retryLimit: 0, expireSeconds: 60 } },
    onError: assert.ifError,
  });
  await queue.start();
  await database.inWorkspace(newId("workspace"), (tx) => queue.send("mail", { id: 1 }, {}, tx));
  await queue.stop();
  const { rows } = await sql`select from pgboss.job where name = 'mail'`.execute(database.db);
  assert.equal(rows.length, 1);
});

test("storage.roles: a login that owns nothing and names no owner does not start", async (context) => {
  const setting = await anInstallation(context, "createrole");
  if (setting === null) return;
  await (await openSystemDatabase({ databaseUrl: setting.owner.url(setting.name) })).close();
  const login = await makeLogin("");
  await assert.rejects(openSystemDatabase({ databaseUrl: login.url(setting.name), poolSize: 1 }));
});

test("storage.roles, tenancy.rls-roles: two installations on one server share no role", async (context) => {
  const [one, other] = [await anInstallation(context, "createrole"), await anInstallation(context, "createrole")];
  if (one === null || other === null) return;
  await using first = await open(one.owner.url(one.name));
  await using second = await open(other.owner.url(other.name));
  assert.notEqual(first.database.tenantRole, second.database.tenantRole);
  await assert.rejects(openSystemDatabase({ databaseUrl: one.owner.url(other.name), poolSize: 1 }));
});

test("storage.server-dump: the owner dumps every row with --enable-row-security and restores it, and is refused without", async (context) => {
  const { rows: versions } = await sql<{ major: number }>`
    select current_setting('server_version_num')::int / 10000 as major`.execute(server.db);
  const bin = await dumpPrograms(versions[0]?.major ?? 0);
  if (bin === null) return context.skip("there is no pg_dump that is new enough for this server");
  const setting = await anInstallation(context, "createrole");
  const url = setting.owner.url(setting.name);
  const opened = await open(url);
  await assertWall(opened.database);
  await opened.database.close();
  const programs = { dump: join(bin, "pg_dump"), restore: join(bin, "pg_restore") };
  const flags = ["--format=custom", "--no-owner", "--no-acl"];
  await assert.rejects(runProgram(programs.dump, [...flags, url]), /row-level security policy/u);
  const { stdout: dump } = await runProgram(programs.dump, [...flags, "--enable-row-security", url]);
  const copy = `${setting.name}_copy`;
  await sql`create database ${sql.id(copy)} owner ${sql.id(setting.owner.name)}`.execute(server.db);
  context.after(() => sql`drop database ${sql.id(copy)} with (force)`.execute(server.db));
  const file = join(mkdtempSync(join(tmpdir(), "patchbay-dump-")), "patchbay.dump");
  context.after(() => rmSync(dirname(file), { recursive: true }));
  writeFileSync(file, dump);
  await runProgram(programs.restore, ["--no-owner", "--no-acl", `--dbname=${setting.owner.url(copy)}`, file]);
  await using restored = await open(setting.owner.url(copy));
  const { length } = await restored.database.db.selectFrom("workspaces").select("id").execute();
  assert.equal(length, 2);
  await assertWall(restored.database);
});

const runProgram = (program: string, args: readonly string[]) =>
  promisify(execFile)(program, args, { encoding: "buffer", maxBuffer: 16 * 1_048_576 });

/** The folder of a `pg_dump` for servers of this major version: those of the oldest server, or of the PATH. Null: there is none. */
async function dumpPrograms(major: number): Promise<string | null> {
  for (const folder of [oldestServerBin() ?? "", ...(process.env["PATH"] ?? "").split(delimiter)]) {
    const version = await runProgram(join(folder, "pg_dump"), ["--version"]).catch(() => null);
    if (version !== null && Number(/\d+/u.exec(version.stdout.toString())?.[0]) >= major) return folder;
  }
  return null;
}

async function assertWall(database: OpenDatabase): Promise<void> {
  const [first, second] = [newId("workspace"), newId("workspace")];
  for (const id of [first, second])
    await database.inWorkspace(id, (tx) =>
      tx.insertInto("workspaces").values({ id, slug: id, managed_by: "test" }).execute(),
    );
  const own = await database.inWorkspace(first, (tx) => tx.selectFrom("workspaces").select("id").execute());
  assert.deepEqual(own, [{ id: first }]);
  const removed = await database.inWorkspace(first, (tx) =>
    tx.deleteFrom("workspaces").where("id", "=", second).execute(),
  );
  assert.equal(removed[0]?.numDeletedRows, 0n);
  const all = await database.db.selectFrom("workspaces").select("id").where("id", "in", [first, second]).execute();
  assert.equal(all.length, 2);
}

async function open(databaseUrl: string, migrateUrl?: string) {
  const database = await openSystemDatabase({ databaseUrl, migrateUrl, poolSize: 3 });
  return { database, [Symbol.asyncDispose]: () => database.close() };
}

/** A database and its owner, on the server of the tests. */
async function anInstallation(context: TestContext, rights: string) {
  const owner = await makeLogin(rights);
  const name = `patchbay_roles_${randomBytes(6).toString("hex")}`;
  await sql`create database ${sql.id(name)} owner ${sql.id(owner.name)}`.execute(server.db);
  context.after(() => sql`drop database ${sql.id(name)} with (force)`.execute(server.db));
  return { owner, name };
}

async function makeLogin(rights: string): Promise<Login> {
  const name = `login_${randomBytes(6).toString("hex")}`;
  const password = randomBytes(8).toString("hex");
  await sql.raw(`create role ${name} login ${rights} password '${password}'`).execute(server.db);
  return {
    name,
    url: (database) => {
      const url = new URL(process.env["DATABASE_URL"] ?? "");
      return Object.assign(url, { username: name, password, pathname: `/${database}` }).href;
    },
  };
}
