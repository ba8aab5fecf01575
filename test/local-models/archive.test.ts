// Unpacking: the content, what is refused, and the bounds.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { TarEntry } from "modern-tar";
import { ModelFault } from "../../src/local-models/model-fault.ts";
import { archiveFormat, unpackArchive, type UnpackOptions } from "../../src/local-models/unpack-archive.ts";
import { CONTENTS, demoTar, entryOf, FOLDER, sha256, tarOf } from "./demo-model.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/local-models");
const BZIP2 = join(FIXTURES, "demo-model.tar.bz2");

function makeDirectory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "patchbay-archive-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Unpacks everything into one directory, and returns the SHA-256 of each path. */
async function unpack(t: TestContext, archive: string | Buffer, options: Partial<UnpackOptions> = {}) {
  const dir = makeDirectory(t);
  const path = typeof archive === "string" ? archive : join(dir, "archive");
  if (typeof archive !== "string") writeFileSync(path, archive);
  const format = await archiveFormat(path);
  if (format === null) throw new Error("not an archive");
  const out = join(dir, "out");
  const placed = new Map<string, string>();
  const placeFor = (name: string): string => {
    const place = join(dir, `unpacked-${placed.size}`);
    placed.set(name, place);
    return place;
  };
  try {
    await unpackArchive(path, format, { placeFor, ...options });
  } finally {
    assert.deepEqual(
      readdirSync(dir).filter((name) => !name.startsWith("unpacked-") && name !== "archive"),
      [],
      out,
    );
  }
  return Object.fromEntries([...placed].map(([name, place]) => [name, sha256(readFileSync(place))]));
}

async function assertRefused(work: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ModelFault, String(error));
    assert.equal(error.kind, "archive");
    assert.match(error.message, message);
    return true;
  });
}

const WHOLE = {
  ...Object.fromEntries(Object.entries(CONTENTS).map(([path, content]) => [`${FOLDER}/${path}`, sha256(content)])),
  [`${FOLDER}/README.md`]: sha256(Buffer.from("not needed\n")),
};

test("local-models.archive: bzip2 of one and of two streams, gzip and plain tar are unpacked byte for byte", async (t) => {
  const tar = await demoTar();
  for (const archive of [BZIP2, join(FIXTURES, "demo-model-two-streams.tar.bz2"), gzipSync(tar), tar])
    assert.deepEqual(await unpack(t, archive), WHOLE);
});

test("local-models.archive: what is truncated or damaged is refused", async (t) => {
  const bzip2 = readFileSync(BZIP2);
  const tar = await demoTar();
  const flipped = Buffer.from(bzip2);
  flipped[bzip2.length >> 1] = (flipped[bzip2.length >> 1] ?? 0) ^ 0x10;
  const cases = [
    bzip2.subarray(0, bzip2.length - 3),
    bzip2.subarray(0, bzip2.length >> 1),
    flipped,
    Buffer.concat([bzip2, Buffer.from("more")]),
    tar.subarray(0, tar.length - 700),
    tar.subarray(0, 5_000),
    gzipSync(tar).subarray(0, 2_000),
    Buffer.concat([Buffer.from("BZh9"), Buffer.alloc(100, 7)]),
  ];
  for (const archive of cases) await assertRefused(unpack(t, archive), /is damaged/u);
});

test("local-models.archive: the content decides the format", async (t) => {
  const dir = makeDirectory(t);
  const path = join(dir, "model.tar.bz2");
  writeFileSync(path, "not an archive");
  assert.equal(await archiveFormat(path), null);
  writeFileSync(path, "");
  assert.equal(await archiveFormat(path), null);
});

test("local-models.archive-paths: links, devices and paths that lead outside are refused, wanted or not", async (t) => {
  const content = Buffer.from("x");
  const link = (name: string, type: "symlink" | "link", linkname: string): TarEntry => ({
    header: { name, size: 0, type, linkname },
  });
  const cases: readonly (readonly [TarEntry, RegExp])[] = [
    [entryOf("../outside", content), /"\.\.\/outside" is not a path inside/u],
    [entryOf("demo/../../outside", content), /not a path inside/u],
    [entryOf("/etc/passwd", content), /not a path inside/u],
    [entryOf("demo//x", content), /not a path inside/u],
    [entryOf("demo/./x", content), /not a path inside/u],
    [entryOf("demo\\..\\x", content), /not a path inside/u],
    [entryOf("C:evil", content), /not a path inside/u],
    [entryOf("demo/\u0007x", content), /not a path inside/u],
    [link("demo/x", "symlink", "/etc/passwd"), /neither a file nor a folder/u],
    [link("demo/x", "link", "demo/y"), /neither a file nor a folder/u],
    [{ header: { name: "demo/x", size: 0, type: "character-device" } }, /neither a file nor a folder/u],
    [{ header: { name: "demo/x", size: 0, type: "fifo" } }, /neither a file nor a folder/u],
    [{ header: { name: "../demo/", size: 0, type: "directory" } }, /not a path inside/u],
  ];
  for (const [entry, message] of cases) {
    const tar = await tarOf([entryOf("demo/first", content), entry]);
    await assertRefused(unpack(t, tar), message);
    await assertRefused(unpack(t, tar, { placeFor: () => null }), message);
  }
});

test("local-models.archive-paths: `./` before a path is common and allowed, a path twice is not", async (t) => {
  const content = Buffer.from("x");
  const tar = await tarOf([{ header: { name: "./", size: 0, type: "directory" } }, entryOf("./demo/x", content)]);
  assert.deepEqual(Object.keys(await unpack(t, tar)), ["demo/x"]);
  const dir = makeDirectory(t);
  const twice = await tarOf([entryOf("x", content), entryOf("x", content)]);
  await assertRefused(unpack(t, twice, { placeFor: (name) => join(dir, name) }), /is damaged/u);
});

test("local-models.archive-bounds: too many bytes and too many entries are refused before they are written", async (t) => {
  const tar = await demoTar();
  await assertRefused(unpack(t, tar, { maxBytes: 10_000 }), /is larger than 10000 bytes when unpacked/u);
  await assertRefused(unpack(t, BZIP2, { maxBytes: 10_000 }), /is larger than 10000 bytes when unpacked/u);
  await assertRefused(unpack(t, tar, { maxEntries: 2 }), /more than 2 entries/u);
});

test("local-models.archive-bounds: 400 MB of zeros in 300 bytes end at the bound", async (t) => {
  let most = 0;
  const onBytes = (bytes: number): void => void (most = bytes);
  await assertRefused(
    unpack(t, join(FIXTURES, "zeros.bz2"), { maxBytes: 20_000_000, onBytes }),
    /is larger than 20000000 bytes|is damaged/u,
  );
  assert.ok(most <= 20_000_000);
});

test("local-models.archive: an aborted signal ends the thread", async (t) => {
  const controller = new AbortController();
  const work = unpack(t, BZIP2, { signal: controller.signal, onBytes: () => controller.abort(new Error("stop")) });
  await assert.rejects(work, /stop/u);
});
