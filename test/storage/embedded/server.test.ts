// The embedded PostgreSQL server: one owner, durable settings, private files, and no server left behind or lost, whichever process is killed.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "pg";
import { findBinaries } from "../../../src/storage/embedded/binaries.ts";
import { giveTree } from "../../../src/storage/embedded/give-tree.ts";
import { majorOf } from "../../../src/storage/embedded/initialize.ts";
import { InstallationInUse, lockInstallation, ownerOf } from "../../../src/storage/embedded/installation-lock.ts";
import { completeNpmBinaries } from "../../../src/storage/embedded/npm-binaries.ts";
import { readPlacement } from "../../../src/storage/embedded/placement.ts";
import { embeddedUrl, EmbeddedUnavailable, startEmbeddedServer } from "../../../src/storage/embedded/server.ts";
import { postgresBin } from "../../harness/postgres/embedded-data.ts";
import { nativeFolder } from "../../harness/postgres/npm-programs.ts";
import { guardsOn, postmasterOf, processesOn, startOwner, until } from "./processes.ts";

const root = mkdtempSync(join(tmpdir(), "patchbay-embedded-"));
// The server's account has to pass.
chmodSync(root, 0o711);
after(() => rmSync(root, { recursive: true, force: true }));
const isRoot = process.getuid?.() === 0;

function directory(name: string): string {
  const path = join(root, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

async function start(dataDir: string, bin?: string) {
  return startEmbeddedServer({
    dataDir,
    postgresBin: bin ?? (await postgresBin()),
    runAs: null,
    path: process.env["PATH"],
  });
}

async function ask(url: string, text: string): Promise<Readonly<Record<string, unknown>>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows[0] ?? {};
  } finally {
    await client.end();
  }
}

async function answers(url: string): Promise<boolean> {
  return ask(url, "select 1").then(
    () => true,
    () => false,
  );
}

test("storage.embedded-durable: a commit reaches the disk before it is acknowledged, the log is bounded, and no TCP port is open", async () => {
  const dataDir = directory("settings");
  const server = await start(dataDir);
  try {
    const settings = await ask(
      server.url,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commits, current_setting('full_page_writes') as pages,
         current_setting('jit') as jit, current_setting('max_wal_size') as wal, current_setting('autovacuum') as autovacuum,
         current_setting('listen_addresses') as tcp, (select rolsuper from pg_roles where rolname = current_user) as super`,
    );
    assert.deepEqual(settings, {
      fsync: "on",
      commits: "on",
      pages: "on",
      jit: "off",
      wal: "256MB",
      autovacuum: "on",
      tcp: "",
      super: false,
    });
  } finally {
    await server.stop();
  }
});

test("storage.embedded-files: its files are for their owner only, also in a directory that existed with wider modes", async () => {
  const dataDir = directory("modes");
  chmodSync(dataDir, 0o777);
  const server = await start(dataDir);
  await server.stop();
  for (const name of readdirSync(dataDir)) {
    const { mode } = statSync(join(dataDir, name));
    assert.equal(mode & 0o077, 0, `${name} ${(mode & 0o777).toString(8)}`);
  }
});

test("storage.one-owner: a second owner is refused with the holder's host, process and age, also from another PID namespace", async (t) => {
  const dataDir = directory("owners");
  const owner = await startOwner(dataDir);
  try {
    await assert.rejects(start(dataDir), (error) => {
      assert.ok(error instanceof InstallationInUse);
      assert.match(
        error.message,
        new RegExp(`in use by process ${owner.child.pid} on host \\S+, since 20\\S+Z \\(\\d+ s\\)`, "u"),
      );
      return true;
    });
    assert.equal((await ownerOf(dataDir))?.pid, owner.child.pid);
    if (!isRoot) t.diagnostic("PID namespaces need root: skipped");
    else
      await assert.rejects(startOwner(dataDir, ["unshare", "--pid", "--fork", "--mount-proc"]), /in use by process/u);
    assert.ok(await answers(owner.url), "the first one is untouched");
  } finally {
    await owner.stop();
  }
  assert.equal(await ownerOf(dataDir), null);
  const lock = await lockInstallation(dataDir);
  await lock.release();
});

test("storage.embedded-stops: an owner killed with SIGKILL leaves no server, and the next start has every commit", async () => {
  const dataDir = directory("killed-owner");
  const owner = await startOwner(dataDir);
  const { data } = await readPlacement(dataDir);
  await ask(owner.url, "create table kept (n int)");
  await ask(owner.url, "insert into kept values (7)");
  owner.child.kill("SIGKILL");
  await until(() => processesOn(data).length === 0);
  const next = await start(dataDir);
  try {
    assert.deepEqual(await ask(next.url, "select n from kept"), { n: 7 });
  } finally {
    await next.stop();
  }
});

test("storage.embedded-stops: after owner and guard were killed together, the next start stops the remaining server and starts its own", async () => {
  const dataDir = directory("killed-guard");
  const owner = await startOwner(dataDir);
  const { data } = await readPlacement(dataDir);
  const left = postmasterOf(data);
  for (const pid of guardsOn(data)) process.kill(pid, "SIGKILL");
  owner.child.kill("SIGKILL");
  await once(owner.child, "exit");
  assert.ok(processesOn(data).includes(left));
  const next = await start(dataDir);
  try {
    assert.notEqual(postmasterOf(data), left);
    assert.ok(!processesOn(data).includes(left));
  } finally {
    await next.stop();
  }
  assert.deepEqual(processesOn(data), []);
});

test("storage.embedded-restart: a server that is killed is started again, and so is one whose guard is killed", async () => {
  const dataDir = directory("killed-server");
  const owner = await startOwner(dataDir);
  const { data } = await readPlacement(dataDir);
  try {
    process.kill(postmasterOf(data), "SIGKILL");
    await owner.restarted;
    await until(() => answers(owner.url));
    const before = postmasterOf(data);
    for (const pid of guardsOn(data)) process.kill(pid, "SIGKILL");
    await until(async () => isReplaced(data, before) && (await answers(owner.url)));
    assert.equal(processesOn(data).filter((pid) => !guardsOn(data).includes(pid)).length >= 1, true);
  } finally {
    await owner.stop();
  }
  assert.deepEqual(processesOn(data), []);
});

/** Between two servers there is no file with a process id. */
function isReplaced(data: string, before: number): boolean {
  return existsSync(join(data, "postmaster.pid")) && ![before, Number.NaN].includes(postmasterOf(data));
}

test("storage.first-start-resumes: a first start that was killed leaves nothing that stops the next one", async () => {
  const dataDir = directory("killed-creation");
  const unfinished = join(dataDir, "postgres.new-0b54");
  mkdirSync(unfinished);
  writeFileSync(join(unfinished, "PG_VERSION"), "18\n");
  assert.equal(await majorOf(join(dataDir, "postgres")), null);
  const server = await start(dataDir);
  await server.stop();
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.includes(".new-")),
    [],
  );
});

test("storage.embedded-files: a path that is too long for a socket moves the socket alone", async () => {
  const dataDir = directory("long".repeat(30));
  const server = await start(dataDir);
  try {
    assert.ok(await answers(server.url));
    assert.ok(server.placement.sockets.startsWith(tmpdir()));
    assert.equal(await embeddedUrl(dataDir), server.url);
  } finally {
    await server.stop();
    rmSync(server.placement.sockets, { recursive: true, force: true });
  }
});

test("storage.embedded-root: where root's server account cannot enter the data directory, the files are in /var/lib/patchbay", {
  skip: !isRoot,
}, async () => {
  const closed = directory("closed");
  const dataDir = join(closed, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  const server = await start(dataDir);
  const { placement } = server;
  try {
    assert.match(placement.home, /^\/var\/lib\/patchbay\/[0-9a-f]{12}$/u);
    assert.ok(await answers(server.url));
    assert.equal(statSync(placement.data).mode & 0o777, 0o700);
  } finally {
    await server.stop();
  }
  const copy = join(root, "copy");
  cpSync(dataDir, copy, { recursive: true });
  await assert.rejects(start(copy), /was copied or moved from/u);
  const again = await start(dataDir);
  assert.equal(again.placement.home, placement.home);
  await again.stop();
  rmSync(placement.home, { recursive: true, force: true });
});

/** What a container without an entry for its user in /etc/passwd runs as. */
const UNNAMED = { uid: 54_321, gid: 54_322 };
const AS_UNNAMED = ["setpriv", "--reuid", `${UNNAMED.uid}`, "--regid", `${UNNAMED.gid}`, "--clear-groups"];

test("storage.embedded-root: files are given to another account without following links", (t) => {
  if (!isRoot) return t.skip("only root changes the owner of files");
  return checkLinksStay();
});

async function checkLinksStay(): Promise<void> {
  const tree = directory("given-tree");
  mkdirSync(join(tree, "below"));
  writeFileSync(join(tree, "below/file"), "");
  const outside = join(root, "not-of-the-tree");
  writeFileSync(outside, "");
  symlinkSync(outside, join(tree, "below/link"));
  await giveTree(tree, UNNAMED);
  const owners = ["", "below", "below/file", "below/link"].map((name) => lstatSync(join(tree, name)).uid);
  assert.deepEqual(
    owners,
    owners.map(() => UNNAMED.uid),
  );
  assert.equal(statSync(outside).uid, 0);
}

test("storage.embedded-root: a user id without a name creates its database, as root's server account or by itself", async (t) => {
  if (!isRoot) return t.skip("only root can act as another user");
  const given = directory("unnamed-root");
  chownSync(given, UNNAMED.uid, UNNAMED.gid);
  const server = await start(given);
  assert.ok(await answers(server.url));
  assert.equal(statSync(server.placement.data).uid, UNNAMED.uid);
  await server.stop();
  // In a checkout below /root such a user runs nothing, and some containers forbid user namespaces.
  const [setpriv = "", ...options] = AS_UNNAMED;
  const tried = spawnSync(setpriv, [...options, "unshare", "--user", process.execPath, "--version"]);
  if (tried.status !== 0) return t.diagnostic("by itself: skipped, no user namespaces or no way to this checkout");
  const own = directory("unnamed-user");
  chownSync(own, UNNAMED.uid, UNNAMED.gid);
  const owner = await startOwner(own, AS_UNNAMED);
  assert.ok(await answers(owner.url));
  await owner.stop();
});

test("storage.embedded-programs: npm's binaries work without their install script: links and execute bits are created", async () => {
  const native = join(root, "native");
  cpSync(nativeFolder(), native, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as readonly { target: string }[];
  for (const { target } of links) rmSync(join(native, target.replace(/^native\//u, "")), { force: true });
  chmodSync(join(native, "bin/initdb"), 0o644);
  await completeNpmBinaries(native);
  assert.match(execFileSync(join(native, "bin/initdb"), ["--version"], { encoding: "utf8" }), /PostgreSQL/u);
  assert.match(execFileSync(join(native, "bin/postgres"), ["--version"], { encoding: "utf8" }), /PostgreSQL/u);
});

test("storage.embedded-programs, storage.embedded-version: without suitable binaries the message names what was found, and lists the alternatives", async () => {
  const named = await findBinaries({ configured: root, major: null, path: "" });
  assert.equal(named.ok ? "" : named.message, `storage.postgres_bin: ${root} has no initdb and postgres that run.`);
  const other = await findBinaries({ configured: null, major: 9, path: "" });
  assert.match(other.ok ? "" : other.message, /^The data files belong to PostgreSQL 9, and its programs are needed/u);
  const dataDir = directory("no-binaries");
  await assert.rejects(start(dataDir, root), (error) => {
    assert.ok(error instanceof EmbeddedUnavailable);
    assert.equal(error.hints.length, 3);
    return true;
  });
});

test("storage.embedded-damaged: damaged files are reported in words, with the way to restore", async () => {
  const dataDir = directory("damaged");
  const server = await start(dataDir);
  const { data } = server.placement;
  await server.stop();
  rmSync(join(data, "global/pg_control"));
  await assert.rejects(start(dataDir), (error) => {
    assert.ok(error instanceof EmbeddedUnavailable);
    assert.match(error.message, /^The embedded database does not start: .*pg_control/u);
    assert.match(error.hints.join("\n"), /patchbay restore FILE --force/u);
    return true;
  });
  assert.equal(await ownerOf(dataDir), null);
});
