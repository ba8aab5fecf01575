// The data directory as a start finds it [storage.data-dir]: created where it is missing, and never waited for where it cannot be.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeDirectory } from "../../src/lib/make-directory.ts";
import { createDataDir } from "../../src/storage/connection/make-data-dir.ts";

const folder = mkdtempSync(join(tmpdir(), "patchbay-place-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const NO_DIRECTORIES = {
  skip: process.platform === "linux" ? false : "a file system that takes no directories is /proc",
  // `mkdir` with `recursive` tries for ever there.
  timeout: 120_000,
};

test("storage.data-dir: a data directory is created with its missing parents, for its owner only, and the topmost new one is named", async () => {
  const place = join(folder, "a", "b", "data");
  assert.deepEqual(await createDataDir(place), { ok: true, made: join(folder, "a") });
  assert.equal(statSync(place).mode & 0o777, 0o700);
  assert.deepEqual(await createDataDir(place), { ok: true, made: null });
  assert.deepEqual(await createDataDir(join(folder, "data")), { ok: true, made: join(folder, "data") });
});

test(
  "storage.data-dir: a data directory below a file system that accepts no directories is refused with its place, and not tried for ever",
  NO_DIRECTORIES,
  async () => {
    assert.deepEqual(await createDataDir("/proc/patchbay/data"), {
      ok: false,
      fault:
        "storage.data_dir: /proc/patchbay/data cannot be created: /proc does not accept directories (ENOENT); choose another place",
    });
    await assert.rejects(makeDirectory("/proc/patchbay/data"), { code: "ENOENT" });
  },
);

test("storage.data-dir: a data directory that is a file, or below one, is refused with the file's name", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  assert.deepEqual(await createDataDir(file), {
    ok: false,
    fault: `storage.data_dir: ${file} is not a directory; choose another place`,
  });
  assert.deepEqual(await createDataDir(join(file, "data")), {
    ok: false,
    fault: `storage.data_dir: ${join(file, "data")} cannot be created: ${file} is not a directory; choose another place`,
  });
});

test("storage.data-dir: a data directory that this user may not write into is refused before anything is stored in it", {
  skip: process.getuid?.() === 0 ? "root may write everywhere" : false,
}, async () => {
  const shut = join(folder, "shut");
  mkdirSync(shut, { mode: 0o500 });
  const because = `${shut} is not writable for this user; choose another place`;
  assert.deepEqual(await createDataDir(shut), { ok: false, fault: `storage.data_dir: ${because}` });
  const below = join(shut, "data");
  assert.deepEqual(await createDataDir(below), {
    ok: false,
    fault: `storage.data_dir: ${below} cannot be created: ${because}`,
  });
  assert.deepEqual(readdirSync(shut), []);
});

test("storage.data-dir: several processes that create one data directory at once all succeed", async () => {
  const place = join(folder, "shared", "by", "many");
  const made = await Promise.all(Array.from({ length: 8 }, () => makeDirectory(place)));
  assert.ok(made.includes(join(folder, "shared")));
});
