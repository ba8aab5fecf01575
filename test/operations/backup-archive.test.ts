// The tar file of a backup: readable by tar(1), as former versions wrote it, and with nothing in it that a backup does not have
// [storage.backup-verified].
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import * as fc from "fast-check";
import { createTarPacker, packTar, type TarHeader } from "modern-tar";
import { readArchive, writeArchive } from "../../src/operations/backup/backup-archive.ts";
import { makeTemporary, removeDataDir } from "../harness/postgres/embedded-data.ts";

let folder: string;
before(async () => {
  folder = await makeTemporary("patchbay-archive-");
});
after(() => removeDataDir(folder));

const ABOUT = { patchbay: "0.2.0", migrations: [], tables: [], has_secrets: true, objects: "included" } as const;
const CREATED_AT = "2026-11-26T00:00:00.000Z";

async function archiveOf(dataDir: string): Promise<string> {
  const path = `${dataDir}.tar`;
  const file = await open(path, "w", 0o600);
  await writeArchive(file, dataDir, { ...ABOUT, migrations: [], tables: [], created_at: CREATED_AT });
  await file.close();
  return path;
}

function emptyFolder(name: string): string {
  const path = join(folder, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  return path;
}

/** Names and contents of all files; null: a folder. */
function contentsOf(root: string): Readonly<Record<string, string | null>> {
  const names = readdirSync(root, { recursive: true }).map(String);
  const contentOf = (path: string) => (statSync(path).isDirectory() ? null : readFileSync(path).toString("base64"));
  return Object.fromEntries(names.toSorted().map((name) => [name, contentOf(join(root, name))]));
}

test("storage.backup-verified: names and sizes of every kind are read back from an archive, and by tar(1)", async () => {
  const part = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,59}$/u);
  const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(path, fc.uint8Array({ maxLength: 2_000 }), { maxKeys: 6 }), async (files) => {
      const dataDir = emptyFolder("written");
      for (const [name, bytes] of Object.entries(files)) {
        const file = join(dataDir, "objects", name);
        // One name may be the folder of another.
        if (existsSync(file) || !makesFolder(join(file, ".."))) continue;
        writeFileSync(file, bytes);
      }
      const archive = await archiveOf(dataDir);
      const restored = emptyFolder("restored");
      await readArchive(archive, restored);
      assert.deepEqual(contentsOf(restored), contentsOf(dataDir));
      const extracted = emptyFolder("extracted");
      execFileSync("tar", ["-xf", archive, "-C", extracted]);
      for (const name of ["manifest.json", "manifest.sha256"]) rmSync(join(extracted, name));
      assert.deepEqual(contentsOf(extracted), contentsOf(dataDir));
    }),
    { numRuns: 40, seed: 7 },
  );
});

function makesFolder(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

test("storage.restore-versions: an archive of version 0.2.0 is restored, also with names above 100 bytes", async () => {
  const archive = join(folder, "0.2.0.tar");
  writeFileSync(archive, gunzipSync(readFileSync("test/fixtures/backup/0.2.0.tar.gz")));
  const restored = emptyFolder("former");
  const manifest = await readArchive(archive, restored);
  assert.equal(manifest.patchbay, "0.2.0");
  const long = "n".repeat(90);
  const texts = {
    "database/jobs.jsonl": '{"columns":[],"sequences":{}}\n',
    "encryption-key": "a-key",
    "key-pepper": "a-pepper",
    "objects/audio/job_1": "a recording",
    [`objects/audio/${long}`]: "a long name",
    [`objects/${long}/file`]: "longer",
    "objects/results/job_1/1": "x".repeat(700),
    "database/apps.jsonl": "",
  };
  const files = Object.entries(contentsOf(restored)).filter(([, content]) => content !== null);
  assert.deepEqual(
    Object.fromEntries(files),
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")])),
  );
});

const file = (header: Partial<TarHeader>): TarHeader => ({ name: "objects/file", size: 0, ...header });

test("storage.restore-refuses: links, devices, names outside and sizes beyond the limit are refused, and nothing of them is written", async () => {
  const cases: readonly (readonly [header: TarHeader, body: string, reason: RegExp])[] = [
    [file({ type: "symlink", linkname: "/etc/passwd" }), "", /neither a file nor a folder/u],
    [file({ type: "link", linkname: "key-pepper" }), "", /neither a file nor a folder/u],
    [file({ type: "fifo" }), "", /neither a file nor a folder/u],
    [file({ type: "character-device" }), "", /neither a file nor a folder/u],
    [file({ name: "../outside" }), "", /not a valid location/u],
    [file({ name: "/objects/file" }), "", /not a valid location/u],
    [file({ name: "objects/../../outside" }), "", /not a valid location/u],
    [file({ name: "objects//file" }), "", /not a valid location/u],
    [file({ name: "postgres/PG_VERSION" }), "", /not a valid location/u],
    [file({ pax: { path: "../outside" } }), "", /not a valid location/u],
    [file({ name: `objects/${"n".repeat(300)}/../../outside` }), "", /not a valid location/u],
    [file({ name: "manifest.sha256", size: 4_096 }), "0".repeat(4_096), /the manifest's hash is malformed/u],
    [file({}), "", /has no manifest/u],
  ];
  const archive = join(folder, "hostile.tar");
  for (const [header, body, reason] of cases) {
    writeFileSync(archive, await packTar([{ header, body }]));
    const root = emptyFolder("hostile");
    mkdirSync(join(root, "objects"));
    await assert.rejects(readArchive(archive, root), reason, JSON.stringify(header));
    const written = readdirSync(root, { recursive: true }).filter((name) => !/^objects(\/file)?$/u.test(String(name)));
    assert.deepEqual(written, [], JSON.stringify(header));
    assert.ok(!existsSync(join(folder, "outside")));
  }
});

test("storage.restore-refuses: a manifest beyond its limit is refused before it is read", async () => {
  const archive = join(folder, "manifest.tar");
  const { readable, controller } = createTarPacker();
  controller.add(file({ name: "manifest.json", size: 2 ** 28 + 1 }));
  const { value } = await readable.getReader().read();
  assert.ok(value !== undefined);
  writeFileSync(archive, value);
  await assert.rejects(readArchive(archive, null), /the manifest is too large/u);
});
