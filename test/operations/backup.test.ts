// `patchbay backup` and `patchbay restore`: all of an embedded installation or nothing, checked to the byte [storage.backup-verified].
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as fc from "fast-check";
import { readArchive, writeArchive } from "../../src/operations/backup/backup-archive.ts";
import { unpackFault } from "../../src/operations/backup/restore.ts";
import { run } from "../cli/fake-gateway.ts";
import { envelopeOf, get, postForm } from "../harness/client.ts";
import { JOBS, submit, ended } from "../http/jobs/jobs.ts";
import { openEmbedded } from "../harness/postgres/embedded-data.ts";
import { startGateway } from "../harness/gateway.ts";
import { jobsFile } from "../jobs/setting.ts";
import { bareConfiguration, type Installation, makeInstallation } from "./installation.ts";

let installation: Installation;
let archive: string;
let answered: string;
let jobId: string;
const headers = { "idempotency-key": "before-the-backup" };

before(async () => {
  installation = await makeInstallation();
  const gateway = await installation.start({ file: jobsFile });
  const answer = await postForm(gateway.origin, { headers });
  answered = envelopeOf(answer).id;
  // Large enough to be an object, not a column.
  jobId = (await submit(gateway.origin)).job_id;
  await ended(gateway.origin, jobId);
  await gateway.close();

  const folder = join(installation.dataDir, "..", "backups");
  mkdirSync(folder);
  // An object, whatever the size from which results become one.
  mkdirSync(join(installation.dataDir, "objects/results"), { recursive: true });
  writeFileSync(join(installation.dataDir, "objects/results/an-object"), randomBytes(300_000));
  const made = await installation.patchbay("backup", folder);
  assert.equal(made.exitCode, 0, made.stderr);
  archive = made.stdout.trim();
});
after(() => installation.close());

/** Another machine: an empty data directory. */
async function elsewhere(): Promise<{ readonly dataDir: string; readonly config: string }> {
  const dataDir = join(installation.dataDir, "..", `elsewhere-${randomBytes(4).toString("hex")}`);
  mkdirSync(dataDir, { mode: 0o700 });
  return { dataDir, config: await bareConfiguration(dataDir) };
}

/** Without the file of the lock, which stays. */
function contentsOf(dataDir: string): readonly string[] {
  return readdirSync(dataDir)
    .filter((name) => name !== "owner.lock")
    .toSorted();
}

test("storage.backup-consistent, storage.backup-verified: one file for its owner only, with every row, object and secret; no upload in progress, no lock", () => {
  assert.equal(statSync(archive).mode & 0o777, 0o600);
  const names = execFileSync("tar", ["-tf", archive], { encoding: "utf8" }).split("\n");
  for (const name of [
    "key-pepper",
    "encryption-key",
    "objects/results/an-object",
    "database/jobs.jsonl",
    "manifest.json",
  ])
    assert.ok(names.includes(name), name);
  assert.deepEqual(
    names.filter((name) => /^(spool|owner\.|postgres|patchbay\.yaml)/u.test(name)),
    [],
  );
  assert.deepEqual(readdirSync(join(archive, "..")), [archive.split("/").at(-1)]);
});

test("storage.restore-equal: a restored installation replays what was answered, finds the jobs and opens sealed values", async () => {
  const { dataDir, config } = await elsewhere();
  const restored = await run(["restore", archive, "--config", config]);
  assert.equal(restored.exitCode, 0, restored.stderr);
  const parts = ["encryption-key", "key-pepper", "objects", "postgres", "postgres-password"];
  assert.deepEqual(contentsOf(dataDir), parts);
  const original = join(installation.dataDir, "objects/results/an-object");
  assert.deepEqual(readFileSync(join(dataDir, "objects/results/an-object")), readFileSync(original));

  const database = await openEmbedded(dataDir);
  const gateway = await startGateway({
    file: jobsFile,
    existing: { dataDir, sandbox: installation.sandbox, database },
  });
  try {
    const again = await postForm(gateway.origin, { headers });
    assert.equal(envelopeOf(again).id, answered);
    assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
    assert.equal((await get(gateway.origin, `${JOBS}/${jobId}`)).status, 200);
  } finally {
    await gateway.close();
    await database.close();
  }
  const refused = await run(["restore", archive, "--config", config]);
  assert.equal(refused.exitCode, 5);
  assert.match(refused.stderr, /is not empty/u);
  assert.equal((await run(["restore", archive, "--config", config, "--force"])).exitCode, 0);
  assert.ok(!readdirSync(dataDir).some((name) => name.startsWith(".")), "nothing is left of what was replaced");
});

test("storage.restore-owner: what root restores into a directory of another account belongs to that account", {
  skip: process.getuid?.() === 0 ? false : "only root can write as another account",
}, async () => {
  const { dataDir, config } = await elsewhere();
  const [uid, gid] = [54_321, 54_322];
  chownSync(dataDir, uid, gid);
  const restored = await run(["restore", archive, "--config", config]);
  assert.equal(restored.exitCode, 0, restored.stderr);
  const names = readdirSync(dataDir, { recursive: true }).map(String);
  assert.ok(names.includes("key-pepper") && names.includes("owner.lock") && names.includes("postgres/PG_VERSION"));
  const others = names.filter((name) => lstatSync(join(dataDir, name)).uid !== uid);
  assert.deepEqual(others, []);
});

test("storage.restore-owner: an archive may come from a pipe, such as one that is decrypted on the way; a folder is refused", async () => {
  const { dataDir, config } = await elsewhere();
  const pipe = `${dataDir}.pipe`;
  execFileSync("mkfifo", [pipe]);
  const writer = spawn("sh", ["-c", 'cat "$0" > "$1"', archive, pipe]);
  const restored = await run(["restore", pipe, "--config", config]);
  writer.kill();
  assert.equal(restored.exitCode, 0, restored.stderr);
  const folder = await run(["restore", dataDir, "--config", config, "--force"]);
  assert.equal(folder.exitCode, 4, folder.stderr);
});

test("storage.restore-refuses: an archive that was cut or changed anywhere is refused, and nothing is replaced", async () => {
  const whole = await smallArchive();
  const broken = join(archive, "..", "broken.tar");
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.integer({ min: 0, max: whole.length - 1 }), async (isCut, at) => {
      writeFileSync(broken, isCut ? whole.subarray(0, at) : flipped(whole, at));
      await assert.rejects(readArchive(broken, null));
    }),
    { numRuns: 100, seed: 20261121 },
  );
  writeFileSync(broken, whole);
  await readArchive(broken, null);
  const { dataDir, config } = await elsewhere();
  const real = readFileSync(archive);
  writeFileSync(broken, flipped(real, Math.floor(real.length / 2)));
  const ran = await run(["restore", broken, "--config", config]);
  assert.equal(ran.exitCode, 1);
  assert.match(ran.stderr, /is not a complete backup/u);
  assert.deepEqual(contentsOf(dataDir), []);
});

/** Of a data directory of all kinds of entries, which is read in no time. */
async function smallArchive(): Promise<Buffer> {
  const dataDir = join(archive, "..", "small");
  for (const folder of ["database", "objects/results"]) mkdirSync(join(dataDir, folder), { recursive: true });
  writeFileSync(join(dataDir, "key-pepper"), randomBytes(32).toString("base64"));
  writeFileSync(join(dataDir, "encryption-key"), randomBytes(32).toString("base64"));
  writeFileSync(join(dataDir, "database/jobs.jsonl"), '{"columns":[],"sequences":{}}\n');
  writeFileSync(join(dataDir, "database/apps.jsonl"), "");
  writeFileSync(join(dataDir, "objects/results/an-object"), randomBytes(5_000));
  const path = join(archive, "..", "small.tar");
  const file = await open(path, "wx");
  const about = { created_at: new Date().toISOString(), patchbay: "0", migrations: [], tables: [], has_secrets: true };
  await writeArchive(file, dataDir, { ...about, objects: "included" });
  await file.close();
  return readFileSync(path);
}

function flipped(whole: Buffer, at: number): Buffer {
  const bytes = Buffer.from(whole);
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  return bytes;
}

test("storage.backup-secrets: a backup without secrets is reported as that, and a restore says what is missing", async () => {
  const bare = join(archive, "..", "bare.tar");
  writeFileSync(`${bare}.partial`, "somebody else's");
  const made = await installation.patchbay("backup", bare, "--no-secrets", "--json");
  assert.equal(made.exitCode, 0, made.stderr);
  assert.equal((JSON.parse(made.stdout) as { has_secrets: boolean }).has_secrets, false);
  assert.doesNotMatch(execFileSync("tar", ["-tf", bare], { encoding: "utf8" }), /key-pepper|encryption-key/u);
  assert.equal((await installation.patchbay("backup", bare)).exitCode, 5, "no backup replaces another");
  assert.equal(readFileSync(`${bare}.partial`, "utf8"), "somebody else's", "nor deletes anything");
  const { config } = await elsewhere();
  const restored = await run(["restore", bare, "--config", config]);
  assert.equal(restored.exitCode, 0);
  assert.match(restored.stderr, /contains no secrets/u);
});

test("storage.backup-verified: a backup inside what it copies is refused, also behind a link, and nothing is written", async () => {
  const { dataDir } = installation;
  const link = join(archive, "..", "by-a-link");
  symlinkSync(join(dataDir, "objects"), link);
  for (const target of [
    join(dataDir, "objects"),
    join(dataDir, "objects/results/x.tar"),
    join(dataDir, "postgres", "x.tar"),
    link,
  ]) {
    const refused = await installation.patchbay("backup", target);
    assert.equal(refused.exitCode, 2, target);
    assert.match(refused.stderr, /which belongs to the installation/u);
  }
  assert.deepEqual(readdirSync(join(dataDir, "objects/results")), ["an-object"]);
  rmSync(link);
});

test("storage.backup-verified: a file that grows while it is read ends the backup, however fast it grows", async () => {
  const dataDir = join(archive, "..", "growing");
  mkdirSync(dataDir);
  const file = await open(join(dataDir, "key-pepper"), "wx");
  // More than is packed ahead of what is written, so that the file has grown before its end is read.
  const sizeBytes = 20_000_000;
  await file.write(Buffer.alloc(sizeBytes, "begun, and as large as any file\n"));
  const about = { created_at: new Date().toISOString(), patchbay: "0", migrations: [], tables: [], has_secrets: true };
  // The archive itself, as if it were inside the directory that it copies.
  await assert.rejects(
    writeArchive(file, dataDir, { ...about, objects: "included" }),
    /key-pepper changed while it was read/u,
  );
  assert.ok((await file.stat()).size <= 2 * sizeBytes + 10_000);
  await file.close();
  rmSync(dataDir, { recursive: true });
});

test("storage.backup-secrets: a newer encryption key of the configuration is not the one in the data directory, and so not in the backup", async () => {
  const { dataDir } = installation;
  const given = join(archive, "..", "rotated.yaml");
  const keys = [randomBytes(32).toString("base64"), readFileSync(join(dataDir, "encryption-key"), "utf8").trim()];
  const made = async (encryptionKeys: readonly string[]): Promise<string> => {
    const secrets = { encryption_keys: encryptionKeys };
    writeFileSync(given, JSON.stringify({ storage: { data_dir: dataDir }, secrets }));
    const target = join(archive, "..", `rotated-${encryptionKeys.length}.tar`);
    const { exitCode, stderr } = await run(["backup", target, "--config", given]);
    assert.equal(exitCode, 0, stderr);
    rmSync(target);
    return stderr;
  };
  assert.match(await made(keys), /configuration gives encryption-key, so the backup does not contain/u);
  assert.match(await made(keys.slice(1)), /It contains the installation's secrets/u, "given, and the same");
  rmSync(given);
});

test("storage.backup-secrets: secrets that the configuration provides are not in the backup; it says so, and so does its restore", async () => {
  const { dataDir } = installation;
  const given = join(archive, "..", "given.yaml");
  const read = (name: string) => readFileSync(join(dataDir, name), "utf8").trim();
  const secrets = { key_pepper: `base64:${read("key-pepper")}`, encryption_keys: [read("encryption-key")] };
  writeFileSync(given, JSON.stringify({ storage: { data_dir: dataDir }, secrets }));
  const names = ["key-pepper", "encryption-key"];
  const kept = names.map((name) => [name, readFileSync(join(dataDir, name))] as const);
  for (const name of names) rmSync(join(dataDir, name));
  const partial = join(archive, "..", "given.tar");
  try {
    const made = await run(["backup", partial, "--config", given]);
    assert.equal(made.exitCode, 0, made.stderr);
    assert.match(
      made.stderr,
      /configuration gives key-pepper and encryption-key, so the backup does not contain them/u,
    );
    assert.doesNotMatch(made.stderr, /contains the installation's secrets/u);
  } finally {
    for (const [name, bytes] of kept) writeFileSync(join(dataDir, name), bytes, { mode: 0o600 });
  }
  const restored = await run(["restore", partial, "--config", (await elsewhere()).config]);
  assert.equal(restored.exitCode, 0, restored.stderr);
  assert.match(restored.stderr, /contains no key-pepper and no encryption-key: before the next start/u);
});

test("storage.restore-refuses: where a backup cannot be unpacked the disk is reported, not the backup as bad", async () => {
  const { dataDir, config } = await elsewhere();
  assert.equal((await run(["restore", dataDir, "--config", config])).exitCode, 4, "a folder is no backup");
  const error = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  const fault = unpackFault(error, archive, dataDir);
  assert.match(fault.message, /could not be unpacked in .*: ENOSPC: no space left/u);
  assert.doesNotMatch(`${fault.message} ${fault.hints.join(" ")}`, /not a complete backup|another backup/u);
  assert.match(unpackFault(new Error("the archive ends early"), archive, dataDir).message, /is not a complete backup/u);
});

test("storage.leftovers: what a killed restore had unpacked is removed by the next; what it had put aside is named and kept", async () => {
  const { dataDir, config } = await elsewhere();
  for (const name of [".restore-0a", ".replaced-0b"]) {
    mkdirSync(join(dataDir, name, "postgres"), { recursive: true });
    writeFileSync(join(dataDir, name, "key-pepper"), "of a restore that was killed");
  }
  const restored = await run(["restore", archive, "--config", config]);
  assert.equal(restored.exitCode, 0, restored.stderr);
  assert.match(restored.stderr, /\.replaced-0b contains data replaced by an unfinished restore/u);
  const left = readdirSync(dataDir).filter((name) => name.startsWith("."));
  assert.deepEqual(left, [".replaced-0b"]);
});

test("storage.leftovers: what a killed backup left next to it is named and not deleted; partial files of other programs are not named", async () => {
  const folder = join(archive, "..", "left");
  mkdirSync(folder);
  const left = join(folder, "other.tar.0e3b2b1c-5d0f-4c39-9d3e-3a3f0c6f8a11.partial");
  writeFileSync(left, "half a backup");
  writeFileSync(join(folder, "film.partial"), "a download");
  const made = await installation.patchbay("backup", folder, "--json");
  assert.equal(made.exitCode, 0, made.stderr);
  assert.deepEqual(made.stderr.match(/^.*\.partial(?= was left by an unfinished backup)/gmu), [left]);
  assert.equal(readFileSync(left, "utf8"), "half a backup");
  JSON.parse(made.stdout);
});

test("storage.backup-embedded-only: a server database, no database, and a file that does not exist have their own answers", async () => {
  const { dataDir, config } = await elsewhere();
  assert.equal((await run(["backup", join(dataDir, "x.tar"), "--config", config])).exitCode, 4);
  assert.equal((await run(["restore", join(dataDir, "x.tar"), "--config", config])).exitCode, 4);
  const server = join(dataDir, "server.yaml");
  writeFileSync(
    server,
    JSON.stringify({
      storage: { database_url: "postgres://unknown@127.0.0.1:1/none" },
      secrets: { key_pepper: "p".repeat(32), encryption_keys: ["k".repeat(43)] },
    }),
  );
  const refused = await run(["backup", join(dataDir, "x.tar"), "--config", server]);
  assert.equal(refused.exitCode, 2, refused.stderr);
  assert.match(refused.stderr, /pg_dump/u);
});

/** A process that holds the directory as a gateway does, until Ctrl-C. */
async function holdElsewhere(dataDir: string) {
  const lockModule = JSON.stringify(pathToFileURL(resolve("src/storage/embedded/installation-lock.ts")).href);
  const program = `const lock = await (await import(${lockModule})).lockInstallation(${JSON.stringify(dataDir)});
    process.on("SIGINT", async () => { await lock.release(); process.exit(0); });
    setInterval(() => {}, 1000); console.log("held");`;
  const gateway = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(gateway.stdout, "data");
  return gateway;
}

test("storage.down, cli.confirmation: the gateway ends, and nothing of it is deleted unless that was requested and confirmed", async () => {
  const { dataDir, config } = await elsewhere();
  const gateway = await holdElsewhere(dataDir);
  writeFileSync(join(dataDir, "cli-key"), "a-key\n");
  writeFileSync(join(dataDir, "holiday.jpg"), "mine");
  // Of a restore that was killed: the whole of an installation, secrets included.
  mkdirSync(join(dataDir, ".replaced-0f/postgres"), { recursive: true });
  mkdirSync(join(dataDir, "objects/results"), { recursive: true });
  const down = (...more: readonly string[]) => run(["down", "--config", config, ...more]);
  const asked = await down("--purge");
  assert.equal(asked.exitCode, 2, "without a terminal there is no one to confirm");
  assert.match(asked.stderr, /permanently deletes[^]*cli-key\n[^]*objects\n[^]*--yes/u);
  assert.equal(gateway.exitCode, null, "nor was it stopped");
  const stopped = await down("--json");
  assert.deepEqual(JSON.parse(stopped.stdout), { object: "down", stopped: gateway.pid, removed: [], left: [] });
  assert.deepEqual(contentsOf(dataDir), [".replaced-0f", "cli-key", "holiday.jpg", "objects"]);
  const purged = await down("--purge", "--yes");
  assert.equal(purged.exitCode, 0, purged.stderr);
  const removed = [".replaced-0f", "cli-key", "objects"].map((name) => `${join(dataDir, name)}\n`);
  assert.equal(purged.stdout, removed.join(""));
  assert.match(purged.stderr, /No gateway is running on .*\n.*not created by Patchbay\): .*holiday\.jpg/u);
  assert.deepEqual(readdirSync(dataDir), ["holiday.jpg"]);
  rmSync(join(dataDir, "holiday.jpg"));
  assert.equal((await down("--purge", "--yes")).exitCode, 0, "what is not there is gone");
});

test("storage.down: a gateway is stopped without the variables that its configuration reads; --purge needs them", async () => {
  const { dataDir, config } = await elsewhere();
  const secret = '  - { id: root, secret: "${env:NOT_IN_THIS_TERMINAL}" }';
  writeFileSync(config, `storage: { data_dir: ${JSON.stringify(dataDir)} }\noperator_keys:\n${secret}\n`);
  const idle = await run(["down", "--config", config]);
  assert.equal(idle.exitCode, 9, "nothing runs, so the configuration is what is wrong");
  assert.match(idle.stderr, /NOT_IN_THIS_TERMINAL is not set/u);
  const gateway = await holdElsewhere(dataDir);
  assert.equal((await run(["down", "--purge", "--yes", "--config", config])).exitCode, 9);
  assert.equal(gateway.exitCode, null);
  const stopped = await run(["down", "--json", "--config", config]);
  assert.deepEqual(JSON.parse(stopped.stdout), { object: "down", stopped: gateway.pid, removed: [], left: [] });
});
