// One suite for every object store: a directory, and a real S3 server over its API [storage.objects-whole].
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { ObjectMissing, type ObjectStore, objectStoreSettings, openObjectStore } from "../../src/objects/store.ts";
import { startS3Server } from "./s3-server.ts";

const MIB = 1_048_576;
const dataDir = mkdtempSync(join(tmpdir(), "patchbay-objects-"));
const directory = join(dataDir, "objects");
const s3 = await startS3Server();
const settings = {
  directory: objectStoreSettings({ dataDir, objects: { kind: "file" } }),
  "s3 server": objectStoreSettings({ dataDir, objects: { kind: "s3", ...s3.settings } }),
  "s3 server with a prefix": objectStoreSettings({ dataDir, objects: { kind: "s3", ...s3.settings, prefix: "/a/b/" } }),
};
after(async () => {
  await s3.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

for (const [name, chosen] of Object.entries(settings)) {
  describe(`objects in a ${name}`, async () => {
    const store = await openObjectStore(chosen);
    const second = await openObjectStore(chosen);
    after(() => {
      store.close();
      second.close();
    });

    test("storage.objects-whole: an object is read back by another process, byte for byte, whatever its size and pieces", async () => {
      for (const [index, sizeBytes] of [0, 1, 65_535, 65_536, 65_537, 3 * MIB + 17].entries()) {
        const bytes = randomBytes(sizeBytes);
        await store.put(`audio/size_${index}`, pieces(bytes, 10_007), sizeBytes);
        assert.ok(bytes.equals(await read(second, `audio/size_${index}`)), `${sizeBytes} bytes`);
      }
    });

    test("storage.objects-whole: a file becomes an object of its own, which outlives the file, and is refused in another size", async () => {
      const bytes = randomBytes(3 * MIB + 17);
      const path = join(dataDir, "upload");
      writeFileSync(path, bytes, { mode: 0o600 });
      const file = { path, open: () => pieces(bytes, 65_536) };
      await assert.rejects(store.put("audio/file_not", file, bytes.length - 1), /was to have/u);
      await store.put("audio/file", file, bytes.length);
      await store.put("audio/file", file, bytes.length);
      rmSync(path);
      assert.ok(bytes.equals(await read(second, "audio/file")));
    });

    test("storage.objects-whole: bytes in memory become an object, are replaced by others, and are refused in another size", async () => {
      for (const sizeBytes of [0, 1, 64_044, 3 * MIB + 17]) {
        const bytes = randomBytes(sizeBytes);
        const body = { bytes, open: () => pieces(bytes, 65_536) };
        await assert.rejects(store.put("audio/bytes_not", body, sizeBytes + 1), /was to have/u);
        await store.put("audio/bytes", body, sizeBytes);
        assert.ok(bytes.equals(await read(second, "audio/bytes")), `${sizeBytes} bytes`);
      }
      await assert.rejects(store.open("audio/bytes_not"), ObjectMissing);
    });

    test("storage.objects-whole: a second put replaces the first, and a reader of the first reads it to its end", async () => {
      await put(store, "results/replaced", Buffer.alloc(4 * MIB, 1));
      const reader = (await store.open("results/replaced"))[Symbol.asyncIterator]();
      assert.equal((await reader.next()).done, false);
      await put(store, "results/replaced", Buffer.from("second"));
      await reader.return?.();
      assert.equal((await read(store, "results/replaced")).toString(), "second");
    });

    test("storage.objects-missing: a missing object is reported as missing, and removing it is no error", async () => {
      await assert.rejects(store.open("audio/nothing"), ObjectMissing);
      await store.remove("audio/nothing");
      await put(store, "audio/removed", Buffer.from("x"));
      await store.remove("audio/removed");
      await store.remove("audio/removed");
      await assert.rejects(store.open("audio/removed"), ObjectMissing);
    });

    test("storage.objects-whole: a body that breaks off, or has another size than declared, is refused with its own error", async () => {
      const broken = async function* () {
        yield Buffer.alloc(200_000);
        throw new Error("the uploader hung up");
      };
      await assert.rejects(store.put("audio/broken", broken(), 400_000), /the uploader hung up/u);
      for (const declared of [99_999, 100_001])
        await assert.rejects(store.put("audio/wrong", pieces(Buffer.alloc(100_000), 1_000), declared), /was to have/u);
      await assert.rejects(store.put("audio/wrong", pieces(Buffer.alloc(1), 1), 0), /was to have/u);
    });

    test("storage.objects-whole: a put that failed leaves the object that was there as it was, and the store working", async () => {
      await put(store, "audio/kept", Buffer.from("kept"));
      const broken = async function* () {
        yield Buffer.from("half");
        throw new Error("broken");
      };
      await assert.rejects(store.put("audio/kept_not", broken(), 8), /broken/u);
      await put(store, "audio/after", Buffer.from("after"));
      assert.equal((await read(store, "audio/kept")).toString(), "kept");
      assert.equal((await read(store, "audio/after")).toString(), "after");
    });

    test("storage.objects-names: keys are names, never paths: anything else is refused before the store is asked", async () => {
      for (const key of [
        "",
        "/",
        "a/",
        "/a",
        "..",
        "a/../b",
        "a/./b",
        ".incoming/x",
        "a//b",
        "a\\b",
        "a b",
        "a/b/c/d/e",
        "ü",
      ]) {
        await assert.rejects(put(store, key, Buffer.from("x")), /key/u, key);
        await assert.rejects(store.open(key), /key/u, key);
        await assert.rejects(async () => store.remove(key), /key/u, key);
      }
    });

    test("storage.objects-listing: objects older than a moment are listed below their prefix, every one of them", async () => {
      const keys = Array.from({ length: 25 }, (_, index) => `older/key_${String(index).padStart(2, "0")}`);
      for (const key of keys) await put(store, key, Buffer.from("x"));
      await put(store, "older_not/key", Buffer.from("x"));
      const list = async (before: Date) => (await Array.fromAsync(store.listOlder("older", before))).toSorted();
      assert.deepEqual(await list(new Date(Date.now() + 60_000)), keys);
      assert.deepEqual(await list(new Date(Date.now() - 60_000)), []);
      assert.deepEqual(await Array.fromAsync(store.listOlder("nowhere", new Date())), []);
    });

    test("storage.objects-whole: a large object goes in and comes out in pieces, whole", async () => {
      const count = 64;
      const piece = randomBytes(MIB);
      const written = createHash("sha256");
      const body = async function* () {
        for (let index = 0; index < count; index += 1) {
          written.update(piece);
          yield piece;
        }
      };
      await store.put("audio/large", body(), count * MIB);
      const seen = createHash("sha256");
      let largest = 0;
      for await (const chunk of await store.open("audio/large")) {
        largest = Math.max(largest, chunk.length);
        seen.update(chunk);
      }
      assert.equal(seen.digest("hex"), written.digest("hex"));
      assert.ok(largest <= MIB, `a piece of ${largest} bytes`);
      await store.remove("audio/large");
    });
  });
}

test("storage.objects-private: files and folders of a directory are for their owner only", async () => {
  const store = await openObjectStore(settings.directory);
  await put(store, "modes/deep/object", Buffer.from("x"));
  assert.equal(statSync(join(directory, "modes/deep/object")).mode & 0o777, 0o600);
  for (const folder of ["", "modes", "modes/deep", ".incoming"])
    assert.equal(statSync(join(directory, folder)).mode & 0o777, 0o700, folder);
});

test("storage.objects-listing: a folder that is removed while its directory is listed is skipped, and every other one is listed", async () => {
  const store = await openObjectStore(settings.directory);
  for (const folder of ["a", "b", "c"]) await put(store, `walked/${folder}/object`, Buffer.from("x"));
  const listing = store.listOlder("walked", new Date(Date.now() + 60_000))[Symbol.asyncIterator]();
  const first = await listing.next();
  const removed = ["walked/a/object", "walked/b/object", "walked/c/object"].find((key) => key !== first.value);
  await store.remove(removed ?? "");
  assert.equal((await listing.next()).done, false);
  assert.equal((await listing.next()).done, true);
});

test("storage.objects-listing: a listing of S3 reads every page", async () => {
  const pages = {
    first: "<NextContinuationToken>next</NextContinuationToken><IsTruncated>true</IsTruncated>",
    next: "<IsTruncated>false</IsTruncated>",
  };
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://store");
    const page = searchParams.get("continuation-token") === "next" ? "next" : "first";
    const object = `<Contents><Key>a/b/older/${page}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`;
    response.setHeader("content-type", "application/xml");
    response.end(`<ListBucketResult>${object}${pages[page]}</ListBucketResult>`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const store = await openObjectStore({ kind: "s3", ...s3.settings, endpoint, prefix: "a/b" });
  assert.deepEqual(await Array.fromAsync(store.listOlder("older", new Date())), ["older/first", "older/next"]);
  store.close();
  server.closeAllConnections();
  server.close();
});

test("storage.objects-whole: in a directory nothing appears under a key before all of it is written, and a failed put leaves no file", async () => {
  const store = await openObjectStore(settings.directory);
  const looks: boolean[] = [];
  const body = async function* () {
    yield Buffer.alloc(100_000);
    looks.push(existsSync(join(directory, "atomic/object")), readdirSync(join(directory, ".incoming")).length === 1);
    yield Buffer.alloc(100_000);
    throw new Error("killed");
  };
  await assert.rejects(store.put("atomic/object", body(), 300_000), /killed/u);
  assert.deepEqual(looks, [false, true]);
  assert.equal(existsSync(join(directory, "atomic/object")), false);
  assert.deepEqual(readdirSync(join(directory, ".incoming")), []);
});

test("jobs.upload-linked: a directory links a file of its own file system as it is, without reading it, and leaves no temporary file", async () => {
  const store = await openObjectStore(settings.directory);
  const path = join(dataDir, "taken");
  writeFileSync(path, Buffer.alloc(200_000, 7), { mode: 0o600 });
  const unread = (): never => assert.fail("it was read");
  for (let turn = 0; turn < 2; turn += 1) await store.put("taken/object", { path, open: unread }, 200_000);
  assert.equal(statSync(join(directory, "taken/object")).ino, statSync(path).ino);
  await assert.rejects(store.put("taken/wrong", { path, open: unread }, 1), /was to have/u);
  await assert.rejects(store.put("taken/missing", { path: `${path}-not`, open: unread }, 1), /ENOENT/u);
  assert.deepEqual(readdirSync(join(directory, "taken")), ["object"]);
  assert.deepEqual(readdirSync(join(directory, ".incoming")), []);
});

test("jobs.accepted-durable: a directory writes bytes in memory as they are, for their owner only, and leaves no temporary file, whether it can or not", async () => {
  const store = await openObjectStore(settings.directory);
  const bytes = randomBytes(64_044);
  const body = { bytes, open: (): never => assert.fail("it was copied") };
  await store.put("written/object", body, bytes.length);
  assert.equal(statSync(join(directory, "written/object")).mode & 0o777, 0o600);
  // A folder of that name cannot become a file.
  await put(store, "written/folder/object", Buffer.from("x"));
  await assert.rejects(store.put("written/folder", body, bytes.length), /EISDIR|ENOTEMPTY|EEXIST|EPERM/u);
  assert.deepEqual(readdirSync(join(directory, ".incoming")), []);
});

test("storage.objects-private: a folder goes with its last object, although another object is put there at that moment", async () => {
  const stores = await Promise.all([openObjectStore(settings.directory), openObjectStore(settings.directory)]);
  await Promise.all(
    stores.map(async (store, index) => {
      for (let round = 0; round < 200; round += 1) {
        await put(store, `results/shared/${index}`, Buffer.from(`${round}`));
        assert.equal((await read(store, `results/shared/${index}`)).toString(), `${round}`);
        await store.remove(`results/shared/${index}`);
      }
    }),
  );
  assert.deepEqual(
    [existsSync(join(directory, "results")), existsSync(join(directory, "results", "shared"))],
    [true, false],
  );
  for (const store of stores) store.close();
});

test("storage.objects-private: what a killed process left goes a day later, at the next start; a running upload stays", async () => {
  const old = join(directory, ".incoming", "0123");
  const running = join(directory, ".incoming", "4567");
  for (const path of [old, running]) writeFileSync(path, "half");
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400;
  utimesSync(old, twoDaysAgo, twoDaysAgo);
  await openObjectStore(settings.directory);
  assert.deepEqual(readdirSync(join(directory, ".incoming")), ["4567"]);
  rmSync(running);
});

test("storage.objects-whole: an upload to S3 that breaks off closes its connection, so that the store cannot take half of it for the whole", async () => {
  const store = await openObjectStore(settings["s3 server"]);
  const connected = once(s3.http, "connection") as Promise<[Socket]>;
  let closed: Promise<unknown> = Promise.resolve();
  const body = async function* () {
    yield Buffer.alloc(100_000);
    const [socket] = await connected;
    closed = once(socket, "close");
    throw new Error("the uploader hung up");
  };
  await assert.rejects(store.put("audio/aborted", body(), 300_000), /the uploader hung up/u);
  await closed;
  store.close();
});

test("storage.objects-missing: a wrong secret, an unknown bucket and an unavailable store are faults, never a missing object", async () => {
  const strict = await startS3Server({ strictSignatures: true });
  const right = await openObjectStore({ kind: "s3", ...strict.settings });
  await put(right, "audio/x", Buffer.from("x"));
  assert.equal((await read(right, "audio/x")).toString(), "x");
  right.close();
  const stopped = await startS3Server();
  await stopped.stop();
  for (const wrong of [
    { ...strict.settings, secretAccessKey: "WRONG" },
    { ...strict.settings, bucket: "unknown" },
    { ...strict.settings, endpoint: stopped.settings.endpoint },
  ]) {
    const store = await openObjectStore({ kind: "s3", ...wrong });
    await assert.rejects(put(store, "audio/x", Buffer.from("x")));
    await assert.rejects(store.open("audio/x"), (error) => !(error instanceof ObjectMissing));
    store.close();
  }
  await strict.stop();
});

async function put(store: ObjectStore, key: string, bytes: Uint8Array): Promise<void> {
  await store.put(key, pieces(bytes, 65_536), bytes.length);
}

async function read(store: ObjectStore, key: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(await store.open(key)));
}

async function* pieces(bytes: Uint8Array, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sizeBytes) yield bytes.subarray(at, at + sizeBytes);
}

test("storage.objects-missing: a directory that is not mounted has lost nothing: what is not there now is not missing", async () => {
  const place = join(dataDir, "mounted");
  const store = await openObjectStore({ kind: "file", directory: place });
  await store.put("audio/kept", pieces(Buffer.from("x"), 1), 1);
  renameSync(place, `${place}-moved`);
  await assert.rejects(store.open("audio/kept"), (error) => !(error instanceof ObjectMissing));
  renameSync(`${place}-moved`, place);
  assert.equal((await read(store, "audio/kept")).toString(), "x");
  store.close();
});
