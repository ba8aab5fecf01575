// A PostgreSQL server that cannot be used [storage.server-unreachable]: what an operator reads of it, and never its password.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, before, test } from "node:test";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { openDatabase } from "../../src/storage/connection/open-database.ts";
import { ServerUnavailable } from "../../src/storage/connection/server-fault.ts";
import { run } from "../cli/fake-gateway.ts";
import { openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

const PASSWORD = "hush-hush";
let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

async function whyNot(databaseUrl: string, more: Partial<Parameters<typeof openDatabase>[0]> = {}): Promise<string> {
  const error: unknown = await openDatabase({ databaseUrl, poolSize: 1, ...more }).catch((caught: unknown) => caught);
  assert.ok(error instanceof ServerUnavailable, String(error));
  assert.doesNotMatch(`${error.message} ${error.check}`, new RegExp(PASSWORD, "u"));
  return error.message;
}

/** A port that is closed again. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("storage.server-unreachable: an unreachable server is named by host and port, with the reason, on either listener of a name", async () => {
  const port = await freePort();
  for (const host of ["127.0.0.1", "localhost"]) {
    const message = `The PostgreSQL server at ${host}:${port} cannot be reached: nothing listens there (ECONNREFUSED).`;
    const url = `postgres://u:${PASSWORD}@${host}:${port}/x`;
    assert.equal(await whyNot(url), message);
    assert.equal(await whyNot(url, { asItIs: true }), message, "also by who only looks");
  }
  assert.match(
    await whyNot(`postgres://u:${PASSWORD}@/x?host=/nowhere/at/all`),
    /^The PostgreSQL server at \/nowhere\/at\/all cannot be reached: .*ENOENT/u,
  );
  await using closing = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(closing, "listening");
  const { port: taken } = closing.address() as AddressInfo;
  assert.match(
    await whyNot(`postgres://u:${PASSWORD}@127.0.0.1:${taken}/x`),
    new RegExp(`^The PostgreSQL server at 127\\.0\\.0\\.1:${taken} cannot be reached: `, "u"),
  );
});

test("storage.server-reason: an address that the driver does not accept is reported with the reason, as its options are the operator's as well", async () => {
  const refusals = [
    [
      "x?sslrootcert=/nowhere/ca.pem",
      /^The address of the PostgreSQL server cannot be used: ENOENT.*\/nowhere\/ca\.pem/u,
    ],
    ["x?sslmode=verify-ca&uselibpqcompat=true", /^The address of the PostgreSQL server cannot be used: .*[^.]\.$/u],
  ] as const;
  for (const [rest, message] of refusals) {
    assert.match(await whyNot(`postgres://u:${PASSWORD}@127.0.0.1:1/${rest}`), message);
    assert.match(await whyNot(`postgres://u:${PASSWORD}@127.0.0.1:1/${rest}`, { asItIs: true }), message);
  }
  assert.match(await whyNot(`postgres://u:${PASSWORD}%E0@127.0.0.1:1/x`), /cannot be used: URI malformed\.$/u);
});

test("storage.server-reason: a refused login, a missing database and a failed login of the owner have their own messages", async () => {
  const { direct } = database;
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(direct.databaseUrl);
    change(url);
    return url.href;
  };
  const { host } = new URL(direct.databaseUrl);
  const wrong = changed((url) => {
    url.username = "unknown_user";
    url.password = PASSWORD;
  });
  assert.match(
    await whyNot(wrong),
    new RegExp(`^The PostgreSQL server at ${host} does not let the user "unknown_user" in: `, "u"),
  );
  assert.match(await whyNot(direct.databaseUrl, { migrateUrl: wrong }), /does not let the user "unknown_user" in/u);
  const missing = changed((url) => {
    url.pathname = "/none_of_ours";
  });
  assert.equal(await whyNot(missing), `The PostgreSQL server at ${host} has no database "none_of_ours".`);
});

test("storage.server-unreachable: commands of the operator end with exit code 7 then, and say what to check", async () => {
  const env = {
    DATABASE_URL: `postgres://u:${PASSWORD}@127.0.0.1:${await freePort()}/x`,
    PATCHBAY_KEY_PEPPER: "c3VjaCBhIHBlcHBlciBhcyBub2JvZHkgZ3Vlc3Nlcw",
    PATCHBAY_ENCRYPTION_KEY: "uPZ0b1yYtC5mJ9x3QwE7rKdVhLs2NfGaTiOz8BvXcM4=",
  };
  for (const command of [
    ["audit", "verify"],
    ["secrets", "rotate"],
    ["route", "explain", "--app", "acme/notes"],
  ]) {
    const { exitCode, stderr } = await run(command, { env });
    assert.equal(exitCode, EXIT.upstream, stderr);
    assert.match(stderr, /The PostgreSQL server at 127\.0\.0\.1:\d+ cannot be reached[^]*check host and port/u);
  }
  const { exitCode, stdout } = await run(["doctor", "--json"], { env });
  assert.equal(exitCode, EXIT.unexpected);
  assert.match(stdout, /The PostgreSQL server at 127\.0\.0\.1:\d+ cannot be reached/u);
});
