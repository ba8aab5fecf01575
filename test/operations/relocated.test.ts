// As root, where the server's account cannot enter the data directory, its files are outside of it: the operator's commands know them too.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readPlacement } from "../../src/storage/embedded/placement.ts";
import { run } from "../cli/fake-gateway.ts";
import { makeTenant } from "../harness/postgres/database.ts";
import { fillDataDir, openEmbedded, removeDataDir } from "../harness/postgres/embedded-data.ts";
import { bareConfiguration, writeSecrets } from "./installation.ts";

const skip = process.getuid?.() === 0 ? false : "only root starts the server as another account";
let closed: string;
let dataDir: string;
let config: string;
before(async () => {
  if (skip !== false) return;
  // Mode 0700: nothing below it can be reached by other accounts.
  closed = mkdtempSync(join(tmpdir(), "patchbay-closed-"));
  dataDir = join(closed, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  await fillDataDir(dataDir);
  writeSecrets(dataDir);
  const database = await openEmbedded(dataDir);
  await makeTenant(database);
  await database.close();
  config = await bareConfiguration(dataDir);
});
after(async () => {
  if (skip !== false) return;
  await removeDataDir(dataDir);
  await rm(closed, { recursive: true, force: true });
});

test("storage.embedded-root: doctor names the place of the relocated files", { skip }, async () => {
  const { home, isRelocated } = await readPlacement(dataDir);
  assert.ok(isRelocated);
  const { stdout } = await run(["doctor", "--config", config]);
  assert.match(
    stdout,
    new RegExp(`^ok +storage +its files are in ${home}: its account \\S+ cannot enter ${dataDir}$`, "mu"),
  );
});

test("storage.embedded-root: a restore replaces the relocated files, and leaves none of those that it replaced", {
  skip,
}, async () => {
  const former = await readPlacement(dataDir);
  const archive = join(closed, "backup.tar");
  const made = await run(["backup", archive, "--config", config]);
  assert.equal(made.exitCode, 0, made.stderr);
  const restored = await run(["restore", archive, "--force", "--config", config]);
  assert.equal(restored.exitCode, 0, restored.stderr);
  const { home } = await readPlacement(dataDir);
  assert.notEqual(home, former.home);
  assert.ok(!existsSync(former.home));
  const database = await openEmbedded(dataDir);
  assert.equal((await database.db.selectFrom("workspaces").select("id").execute()).length, 1);
  await database.close();
});

test("storage.embedded-root: `down --purge` lists the relocated files, and deletes them", { skip }, async () => {
  const { home } = await readPlacement(dataDir);
  const down = (...more: readonly string[]) => run(["down", "--purge", "--config", config, ...more]);
  const asked = await down();
  assert.equal(asked.exitCode, 2);
  assert.ok(asked.stderr.includes(home), asked.stderr);
  assert.ok(existsSync(home));
  const purged = await down("--yes", "--json");
  assert.equal(purged.exitCode, 0, purged.stderr);
  const { removed } = JSON.parse(purged.stdout) as { readonly removed: readonly string[] };
  assert.ok(removed.includes(home));
  assert.ok(!existsSync(home));
  assert.ok(!existsSync(dataDir));
});
