// Encryption at rest [tenancy.sealed-place] and the installation's own secrets [tenancy.secrets-created].
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openSecrets } from "../../src/storage/secrets/open-secrets.ts";
import { createSeal, encrypt } from "../../src/storage/secrets/seal.ts";
import { loadOrCreateSecret, parseEncryptionKey } from "../../src/storage/secrets/secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "patchbay-secrets-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const place = ["connections", "ws_1", "dg", "credential"];
const plaintext = Buffer.from("provider credential");

test("tenancy.sealed-place: a sealed value opens in its place only: not elsewhere, not with parts run together, not changed", () => {
  const seal = createSeal({ keys: [randomBytes(32)] });
  const sealed = seal.seal(plaintext, place);
  assert.deepEqual(seal.open(sealed, place), plaintext);
  for (const other of [
    ["connections", "ws_2", "dg", "credential"],
    ["connections", "ws_1", "d", "gcredential"],
    ["connections", "ws_1", "dgcredential"],
    [],
  ]) {
    assert.throws(() => seal.open(sealed, other), other.join());
  }
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8((changed[index] ?? 0) ^ 1, index);
    assert.throws(() => seal.open(changed, place), `byte ${index}`);
  }
  for (const length of [0, 1, 32, sealed.length - 1]) assert.throws(() => seal.open(sealed.subarray(0, length), place));
});

test("tenancy.sealed: a transcript of 400 words with times is sealed in at most 8 kB, and what an older version sealed without compression still opens", async () => {
  const keys = [randomBytes(32)];
  const seal = createSeal({ keys });
  const words = Array.from({ length: 400 }, (_, index) => ({
    text: ["meeting", "quarter", "revenue", "customers", "tomorrow", "roadmap", "the"][(index * 5) % 7],
    start: index * 0.41,
    end: index * 0.41 + 0.37,
    confidence: 0.8 + ((index * 37) % 200) / 1000,
    speaker: `S${1 + (index % 3)}`,
    channel: 0,
  }));
  const result = Buffer.from(JSON.stringify({ envelope: { words }, kept: { words } }));
  assert.ok(result.length > 43_000, String(result.length));
  const sealed = await seal.sealCompressed(result, place);
  assert.ok(sealed.length <= 8_192, String(sealed.length));
  assert.deepEqual(seal.open(sealed, place), result);
  // Version 1: the ring's key, its id in front, nothing compressed.
  const [key = Buffer.alloc(0)] = keys;
  const id = createHash("sha256").update("patchbay-key-id").update(key).digest().subarray(0, 4);
  const head = Buffer.concat([Buffer.of(1), id]);
  const old = encrypt(key, head, result, Buffer.concat([head, Buffer.from(JSON.stringify(place))]));
  assert.deepEqual(seal.open(old, place), result);
});

test("tenancy.sealed: a sealed value shows nothing, and is different each time", () => {
  const seal = createSeal({ keys: [randomBytes(32)] });
  const [first, second] = [seal.seal(plaintext, place), seal.seal(plaintext, place)];
  assert.ok(!first.includes(plaintext));
  assert.ok(!first.equals(second));
  assert.deepEqual(seal.open(seal.seal(Buffer.alloc(0), place), place), Buffer.alloc(0));
});

test("tenancy.key-ring: a new first key seals, the old one still opens; without it the value stays closed", () => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const sealed = createSeal({ keys: [old] }).seal(plaintext, place);
  const ring = createSeal({ keys: [fresh, old] });
  assert.deepEqual(ring.open(sealed, place), plaintext);
  assert.deepEqual(createSeal({ keys: [fresh] }).open(ring.seal(plaintext, place), place), plaintext);
  const [needed] = createSeal({ keys: [old] }).keyIds;
  assert.throws(
    () => createSeal({ keys: [fresh] }).open(sealed, place),
    new RegExp(`key ${needed} that sealed this is not in secrets.encryption_keys`, "u"),
  );
});

test("tenancy.key-ring: keys of the wrong size, or none, are refused at start", () => {
  assert.throws(() => createSeal({ keys: [] }));
  assert.throws(() => createSeal({ keys: [randomBytes(32), randomBytes(16)] }));
  const key = randomBytes(32);
  for (const text of [key.toString("base64"), key.toString("base64url"), key.toString("hex")])
    assert.deepEqual(parseEncryptionKey(text), key);
  for (const bad of ["", "secret", "x".repeat(64), randomBytes(31).toString("base64")])
    assert.equal(parseEncryptionKey(bad), null);
});

test("tenancy.secrets-created: secrets are created once in the data directory, whole, for the owner only, also when two starts race", async () => {
  const dataDir = join(folder, "data");
  const load = () =>
    Promise.all([loadOrCreateSecret(dataDir, "key-pepper"), loadOrCreateSecret(dataDir, "encryption-key")]);
  const all = await Promise.all(Array.from({ length: 10 }, load));
  const again = await load();
  for (const secrets of all) assert.deepEqual(secrets, again);
  assert.notDeepEqual(again[0], again[1]);
  assert.deepEqual(
    again.map(({ length }) => length),
    [32, 32],
  );
  assert.deepEqual(readdirSync(dataDir).toSorted(), ["encryption-key", "key-pepper"]);
  for (const name of readdirSync(dataDir)) assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600);
});

test("tenancy.secrets-created: a damaged secret stops the start instead of being replaced", async () => {
  const dataDir = join(folder, "damaged");
  await loadOrCreateSecret(dataDir, "key-pepper");
  writeFileSync(join(dataDir, "key-pepper"), "short\n");
  await assert.rejects(loadOrCreateSecret(dataDir, "key-pepper"), /does not hold a secret/u);
  rmSync(join(dataDir, "key-pepper"));
  mkdirSync(join(dataDir, "key-pepper"));
  assert.deepEqual(await openSecrets({ databaseUrl: null, dataDir, keyPepper: null, encryptionKeys: [] }), {
    ok: false,
    faults: [`${join(dataDir, "key-pepper")} is a directory, and no secret. Put the file back from the backup`],
  });
});
