// The embedded engine on its thread (architecture "Engines"): the same face as a server's, and no request waits for it.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Client } from "pg";
import { lockDataDir } from "../../src/storage/data-dir-lock.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { EMBEDDED_FOLDER, type EmbeddedEngine, startInDirectory, startInMemory } from "../../src/storage/pglite.ts";
import { isAway } from "../../src/storage/transact.ts";

let engine: EmbeddedEngine;

before(async () => {
  engine = await startInMemory();
});
after(() => engine.close());

async function connected(to = engine): Promise<Client> {
  const client = new Client({ user: "postgres", database: "postgres", ssl: false, pipeline: true, stream: to.connect });
  await client.connect();
  return client;
}

test("a statement that works for long leaves the process its turns", async () => {
  const client = await connected();
  let turns = 0;
  const answered = new AbortController();
  const working = client.query("select count(*) from generate_series(1, 1000000)").then((answer) => {
    answered.abort();
    return answer;
  });
  while (!answered.signal.aborted) {
    await turn();
    turns += 1;
  }
  assert.deepEqual((await working).rows, [{ count: "1000000" }]);
  // Where the engine has the thread of whoever asks there are two.
  assert.ok(turns > 50, `${turns} turns`);
  await client.end();
});

test("a connection finds nothing of the one before: no transaction, setting, prepared statement, lock or channel", async () => {
  const first = await connected();
  await first.query("set statement_timeout = 12345");
  await first.query({ name: "same", text: "select 1 as is" });
  await first.query("listen somewhere");
  await first.query("begin");
  await first.query("create table undone (n int)");
  await first.query("select pg_advisory_lock(7)");
  await first.end();

  const second = await connected();
  const { rows } = await second.query({
    name: "same",
    text: `select to_regclass('undone') as made, current_setting('statement_timeout') as setting,
      (select count(*) from pg_locks where locktype = 'advisory') as locks, (select count(*) from pg_listening_channels()) as channels`,
  });
  assert.deepEqual(rows, [{ made: null, setting: "0", locks: "0", channels: "0" }]);
  await second.end();
});

test("a statement that fails in the middle of several says why, and those behind it are heard", async () => {
  const client = await connected();
  const answers = await Promise.allSettled([
    client.query("select 1 as n"),
    client.query("select 1 / 0"),
    client.query("select $1::text as n", ["three"]),
  ]);
  assert.deepEqual(
    answers.map((answer) =>
      answer.status === "fulfilled" ? answer.value.rows : (answer.reason as { code: string }).code,
    ),
    [[{ n: 1 }], "22012", [{ n: "three" }]],
  );
  await client.end();
});

test("what speaks to servers in the environment says nothing to the embedded engine", async (t) => {
  const elsewhere = { PGSSLMODE: "require", PGHOST: "db.example", PGPORT: "1", PGUSER: "nobody", PGDATABASE: "none" };
  const kept = { ...process.env };
  Object.assign(process.env, elsewhere);
  t.after(() => {
    for (const name of Object.keys(elsewhere)) delete process.env[name];
    Object.assign(process.env, kept);
  });
  const database = await openDatabase({ embedded: await startInMemory(await engine.dump()), asItIs: true });
  await database.ping();
  await database.close();
});

test("closed, it fails whoever asks, and says so", async () => {
  const other = await startInMemory(await engine.dump());
  const client = new Client({ user: "postgres", database: "postgres", ssl: false, stream: other.connect });
  client.on("error", () => undefined);
  await client.connect();
  await other.close();
  await other.close();
  await assert.rejects(client.query("select 1"), { message: /the embedded database has ended/u });
  const late = new Client({ user: "postgres", database: "postgres", ssl: false, stream: other.connect });
  late.on("error", () => undefined);
  await assert.rejects(late.connect(), { message: /the embedded database has ended/u });
});

test("a statement that needs more stack than there is fails as on a server, and the engine works on", async () => {
  const client = await connected();
  const tooDeep = { code: "54001" };
  const nested = "[".repeat(100_000) + "]".repeat(100_000);
  await assert.rejects(client.query("select $1::jsonb", [nested]), tooDeep);
  await client.query("create function again(n int) returns int language plpgsql as 'begin return again(n + 1); end'");
  await assert.rejects(client.query("select again(1)"), tooDeep);
  assert.deepEqual((await client.query("select 1 as n")).rows, [{ n: 1 }]);
  await client.end();
});

test("an engine that fails answers nobody as if it worked: all are told, and its directory is free for another", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "patchbay-embedded-"));
  try {
    const failing = await startInDirectory(dataDir);
    const client = await connected(failing);
    client.on("error", () => undefined);
    await client.query("create table copied (n int)");
    // Rows by COPY are nothing that PGlite takes from a connection: it breaks on it.
    const answers = await Promise.allSettled([client.query("copy copied from stdin"), client.query("select 1")]);
    for (const answer of answers) {
      assert.equal(answer.status, "rejected");
      assert.match(String(answer.reason), /the embedded database failed/u);
      assert.ok(isAway(answer.reason));
    }
    await assert.rejects(connected(failing), isAway);
    // By which `/readyz` knows.
    await assert.rejects((await openDatabase({ embedded: failing, asItIs: true })).ping(), isAway);
    await failing.close();
    const another = await startInDirectory(dataDir);
    await another.close();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test("a directory in which it cannot start is told as a fault, and is free again", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "patchbay-embedded-"));
  try {
    await mkdir(join(dataDir, EMBEDDED_FOLDER));
    await writeFile(join(dataDir, EMBEDDED_FOLDER, "PG_VERSION"), "1\n");
    await assert.rejects(startInDirectory(dataDir), Error);
    await (await lockDataDir(dataDir)).release();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
