// An embedded installation whose pepper is lost or another one [tenancy.pepper]: what commands say, and
// `patchbay secrets replace-pepper`. test/directory/own-secrets.test.ts has the rule.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { ownerOf } from "../../src/storage/embedded/installation-lock.ts";
import { type Installation, makeInstallation } from "./installation.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
let installation: Installation;
before(async () => {
  installation = await makeInstallation();
  await (await installation.start()).close();
});
after(() => installation.close());

const pepperFile = () => join(installation.dataDir, "key-pepper");

test("storage.no-silent-secrets: next to a database a lost pepper is asked for, and none is created", async () => {
  rmSync(pepperFile());
  const before = readdirSync(installation.dataDir);
  const { exitCode, stderr } = await installation.patchbay("apply");
  assert.equal(exitCode, 9);
  assert.match(stderr, /contains a database, but not key-pepper, which it depends on; restore it from the backup/u);
  assert.deepEqual(readdirSync(installation.dataDir), before);
});

test("tenancy.pepper: what is in the pepper's place and is none is refused by name, exit 9; a backup with secrets says that it fixes nothing", async () => {
  writeFileSync(pepperFile(), "");
  const refused = await installation.patchbay("apply");
  assert.equal(refused.exitCode, 9);
  assert.match(refused.stderr, /key-pepper does not hold a secret/u);
  const copy = join(installation.dataDir, "..", "copy.tar");
  const backup = await installation.patchbay("backup", copy);
  assert.equal(backup.exitCode, 0, backup.stderr);
  assert.match(backup.stderr, /The secrets have errors, which are part of the backup too: .*key-pepper/u);
  rmSync(copy);
  const without = await installation.patchbay("backup", copy, "--no-secrets");
  assert.match(without.stderr, /It contains no secrets/u);
  assert.doesNotMatch(without.stderr, /errors/u);
  rmSync(copy);
});

test("tenancy.pepper: another pepper is refused by name, with the way out; doctor reports the same", async () => {
  writeFileSync(pepperFile(), `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
  const { exitCode, stderr } = await installation.patchbay("apply");
  assert.equal(exitCode, 9);
  assert.match(stderr, /secrets\.key_pepper is not the one.*\n.*patchbay secrets replace-pepper/u);
  const doctor = await installation.patchbay("doctor");
  assert.equal(doctor.exitCode, 9);
  assert.match(doctor.stdout, /^fail +secrets +secrets\.key_pepper is not the one/mu);
});

test("tenancy.pepper: a start with another pepper changes nothing, seals nothing and leaves the database in good order", async () => {
  const database = await installation.open();
  const { id } = await database.db.selectFrom("workspaces").select("id").limit(1).executeTakeFirstOrThrow();
  const unsealed = {
    workspace_id: id,
    url: "https://hooks.acme.example/x",
    secret: Buffer.of(2),
    secret_last4: "0000",
  };
  await database.db
    .insertInto("webhooks")
    .values({ ...unsealed, enabled: true })
    .execute();
  await database.close();
  const file = join(installation.dataDir, "patchbay.yaml");
  const started = await promisify(execFile)(process.execPath, [MAIN, "up", "--port", "0", "--config", file]).catch(
    (error: unknown) => error as { readonly code: number; readonly stderr: string },
  );
  assert("code" in started, "refused");
  assert.equal(started.code, 9, started.stderr);
  assert.equal(await ownerOf(installation.dataDir), null);
  const after = await installation.open();
  const kept = await after.db.selectFrom("webhooks").select("url").executeTakeFirstOrThrow();
  await after.db.deleteFrom("webhooks").execute();
  await after.close();
  assert.equal(kept.url, unsealed.url);
});

test("tenancy.pepper-replace: replaced only when confirmed; every key ends, the saved ones go, and a second time changes nothing", async () => {
  const saved = join(installation.dataDir, "cli-key");
  writeFileSync(saved, "of the old pepper", { mode: 0o600 });
  assert.equal((await installation.patchbay("secrets", "replace-pepper")).exitCode, 2);
  assert(existsSync(saved));
  const replaced = await installation.patchbay("secrets", "replace-pepper", "--yes", "--json");
  assert.equal(replaced.exitCode, 0, replaced.stderr);
  const answer = JSON.parse(replaced.stdout) as { revoked_keys: number };
  assert(answer.revoked_keys > 0);
  assert.deepEqual(answer, { object: "pepper_replaced", is_new: true, revoked_keys: answer.revoked_keys });
  assert(!existsSync(saved));
  const applied = await installation.patchbay("apply");
  assert.equal(applied.exitCode, 0, applied.stderr);
  assert.match(applied.stdout, /^\+ key /mu);
  const again = await installation.patchbay("secrets", "replace-pepper", "--yes");
  assert.deepEqual([again.exitCode, again.stdout], [0, ""]);
  assert.match(again.stderr, /nothing was changed/u);
});
