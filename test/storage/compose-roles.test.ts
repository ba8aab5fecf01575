// The roles that the compose file's database is created with (compose/roles.sql): a gateway starts on them, and neither is a superuser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { Client } from "pg";
import { newId } from "../../src/contract/ids.ts";
import { createQueue } from "../../src/queue/queue.ts";
import { openSystemDatabase, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

const SCRIPT = join(import.meta.dirname, "../../compose/roles.sql");
const NAME = "patchbay_compose";
const ROLES = [
  "patchbay_owner",
  "patchbay_runtime",
  "patchbay_tenant_of_patchbay_owner",
  "patchbay_system_of_patchbay_owner",
];

let server: TestDatabase;
before(async () => {
  server = await openTestDatabase();
});
after(() => server.close());

test("storage.roles: a gateway runs as a role that owns nothing and migrates as the owner, by the roles of the compose file's database", async (context) => {
  const urlOf = (user: string | null): string => {
    const url = new URL(process.env["DATABASE_URL"] ?? "");
    if (user !== null) Object.assign(url, { username: user, password: `password-of-${user}` });
    return Object.assign(url, { pathname: `/${NAME}` }).href;
  };
  const drop = async (): Promise<void> => {
    await sql`drop database if exists ${sql.id(NAME)} with (force)`.execute(server.db);
    for (const role of ROLES) await sql`drop role if exists ${sql.id(role)}`.execute(server.db);
  };
  await drop();
  context.after(drop);
  await sql`create database ${sql.id(NAME)}`.execute(server.db);
  const client = new Client({ connectionString: urlOf(null) });
  await client.connect();
  await client.query(asPsqlReadsIt(readFileSync(SCRIPT, "utf8")));
  await client.end();

  const database = await openSystemDatabase({
    databaseUrl: urlOf("patchbay_runtime"),
    migrateUrl: urlOf("patchbay_owner"),
    poolSize: 3,
  });
  try {
    assert.equal(database.tenantRole, "patchbay_tenant_of_patchbay_owner");
    const { rows } = await sql<{ name: string }>`
      select rolname as name from pg_roles where rolname = any(${ROLES}::text[])
        and (rolsuper or rolcreaterole or rolcreatedb or rolbypassrls or rolreplication)`.execute(server.db);
    assert.deepEqual(rows, []);
    await assert.rejects(sql`alter table jobs add column x int`.execute(database.db), /must be owner/u);
    await assert.rejects(sql`create table t (x int)`.execute(database.db), /permission denied/u);
    await assert.rejects(sql`create role r`.execute(database.db), /permission denied/u);
    const queues = { mail: { retryLimit: 0, expireSeconds: 60 } };
    const queue = createQueue({ database, queues, onError: assert.ifError });
    await queue.start();
    await database.inWorkspace(newId("workspace"), (tx) => queue.send("mail", { id: 1 }, {}, tx));
    await queue.stop();
  } finally {
    await database.close();
  }
  // A later start finds everything as it left it.
  const again = await openSystemDatabase({
    databaseUrl: urlOf("patchbay_runtime"),
    migrateUrl: urlOf("patchbay_owner"),
    poolSize: 1,
  });
  await again.close();
});

/** psql's own words: variables out of the environment, quoted as a literal or as a name. */
function asPsqlReadsIt(script: string): string {
  const variables = new Map([["DBNAME", NAME]]);
  const environment: Readonly<Record<string, string>> = {
    PATCHBAY_OWNER_PASSWORD: "password-of-patchbay_owner",
    PATCHBAY_RUNTIME_PASSWORD: "password-of-patchbay_runtime",
  };
  const statements = script.replaceAll(/^\\getenv (\w+) (\w+)$/gmu, (_, variable: string, name: string) => {
    variables.set(variable, environment[name] ?? "");
    return "";
  });
  return statements.replaceAll(
    /:(['"])(\w+)\1/gu,
    (_, quote: string, name: string) => `${quote}${variables.get(name)}${quote}`,
  );
}
