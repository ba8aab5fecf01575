// The embedded engine on its thread (architecture "Engines"): the same face as a server's, and no request waits for it.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { access, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Client } from "pg";
import { announceChange } from "../../src/storage/announce.ts";
import { listenForChanges } from "../../src/storage/changes.ts";
import { lockDataDir } from "../../src/storage/data-dir-lock.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { EMBEDDED_FOLDER, type EmbeddedEngine, startInDirectory, startInMemory } from "../../src/storage/pglite.ts";
import { isAway } from "../../src/storage/transact.ts";
import { fillDataDir } from "../harness/database.ts";
import { until } from "../harness/until.ts";

let engine: EmbeddedEngine;

before(async () => {
  engine = await startInMemory();
});
after(() => engine.close());

async function connected(to = engine): Promise<Client> {
  const client = new Client({ user: "postgres", database: "postgres", ssl: false, pipeline: true, stream: to.connect });
  client.on("error", () => undefined);
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

test("an engine that fails answers nobody as if it worked: all who ask it are told", async () => {
  const failing = await startInMemory(await engine.dump());
  const client = await connected(failing);
  await breakIt(client);
  await assert.rejects(connected(failing), isAway);
  // By which `/readyz` knows.
  await assert.rejects((await openDatabase({ embedded: failing, asItIs: true })).ping(), isAway);
  await failing.close();
});

/** Rows by COPY are nothing that PGlite takes from a connection: it breaks on it. */
async function breakIt(client: Client): Promise<void> {
  await client.query("create table if not exists copied (n int)");
  const answers = await Promise.allSettled([client.query("copy copied from stdin"), client.query("select 1")]);
  for (const answer of answers) {
    assert.equal(answer.status, "rejected");
    assert.match(String(answer.reason), /the embedded database failed/u);
    assert.ok(isAway(answer.reason));
  }
}

async function emptyDirectory(t: TestContext): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "patchbay-embedded-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

async function filledDirectory(t: TestContext): Promise<string> {
  const dataDir = await emptyDirectory(t);
  await fillDataDir(dataDir);
  return dataDir;
}

test("in a directory it is started anew for the next who connects, with all that was committed, and its directory stays held", async (t) => {
  const dataDir = await filledDirectory(t);
  const told: string[] = [];
  const failing = await startInDirectory(dataDir, { onRestart: (why) => told.push(why.message) });
  const client = await connected(failing);
  await client.query("create table kept as select 7 as n");
  const open = await connected(failing);
  await breakIt(client);
  await assert.rejects(open.query("select 1"), isAway, "a session is not carried on by another engine");
  const again = await connected(failing);
  assert.deepEqual((await again.query("select n from kept")).rows, [{ n: 7 }]);
  await assert.rejects(lockDataDir(dataDir), Error);
  await breakIt(again);
  await (await connected(failing)).end();
  assert.equal(told.length, 2);
  for (const why of told) assert.match(why, /^the embedded database failed/u);
  await failing.close();
  await (await lockDataDir(dataDir)).release();
});

test("a connection that asks nothing at the moment ends with its engine, and the first who asks then is answered by the next", async (t) => {
  const failing = await startInDirectory(await filledDirectory(t));
  const database = await openDatabase({ embedded: failing, asItIs: true });
  await database.ping();
  await breakIt(await connected(failing));
  await database.ping();
  await database.close();
});

test("one that cannot be started anew fails whoever connects, and closes", async (t) => {
  const dataDir = await filledDirectory(t);
  let restarts = 0;
  const failing = await startInDirectory(dataDir, { onRestart: () => (restarts += 1) });
  const client = await connected(failing);
  await breakIt(client);
  // It gives up and stays on its thread, as on a disk that is full.
  await writeFile(join(dataDir, EMBEDDED_FOLDER, "postgresql.conf"), "no_such_setting = 1\n");
  const asked = await Promise.allSettled([connected(failing), connected(failing), connected(failing)]);
  assert.equal(asked.length, 3);
  for (const each of asked)
    assert.match(String(each.status === "rejected" && each.reason), /the embedded database could not be started/u);
  assert.equal(restarts, 1, "once for all of them");
  await failing.close();
  await (await lockDataDir(dataDir)).release();
});

test("one whose directory is gone is not made anew, empty", async (t) => {
  const dataDir = await filledDirectory(t);
  const failing = await startInDirectory(dataDir);
  const client = await connected(failing);
  await breakIt(client);
  await rename(join(dataDir, EMBEDDED_FOLDER), join(dataDir, "elsewhere"));
  await assert.rejects(connected(failing), /the embedded database could not be started: .* is gone/u);
  await assert.rejects(access(join(dataDir, EMBEDDED_FOLDER)));
  await failing.close();
});

test("contract 2: who listens goes on listening when the engine was started anew, and hears that something may have been missed", async (t) => {
  const failing = await startInDirectory(await filledDirectory(t));
  const database = await openDatabase({ embedded: failing, asItIs: true });
  const changes = await listenForChanges(database, { onError: () => undefined, keyIds: [] });
  const heard: (string | null)[] = [];
  changes.onChange("leases", (detail) => heard.push(detail));
  await database.transaction((tx) => announceChange(tx, "leases", "one"));
  await until(() => heard.length === 1);
  await breakIt(await connected(failing));
  await until(() =>
    database.ping().then(
      () => true,
      () => false,
    ),
  );
  await until(() => heard.length === 2);
  await database.transaction((tx) => announceChange(tx, "leases", "two"));
  await until(() => heard.length === 3);
  assert.deepEqual(heard, ["one", null, "two"]);
  await changes.close();
  await database.close();
});

test("a directory that cannot be held is told as a fault, and by its name", async (t) => {
  const dataDir = join(await emptyDirectory(t), "a file");
  await writeFile(dataDir, "");
  await assert.rejects(startInDirectory(dataDir), ({ message }: Error) => message.includes(`(in ${dataDir})`));
});

test("a directory in which it cannot start is told as a fault, and is free again", async (t) => {
  const dataDir = await emptyDirectory(t);
  await mkdir(join(dataDir, EMBEDDED_FOLDER));
  await writeFile(join(dataDir, EMBEDDED_FOLDER, "PG_VERSION"), "1\n");
  await assert.rejects(startInDirectory(dataDir), ({ message }: Error) => {
    assert.match(message, /^the embedded database could not be started: /u);
    return message.includes(dataDir);
  });
  await (await lockDataDir(dataDir)).release();
});
