// Secrets that can be guessed stop the start, and random ones never do.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { weaknessOf, weaknessOfKey } from "../../src/lib/weak-secret.ts";
import { unsafeEnvironment } from "../../src/start/prepare.ts";
import { openSecrets } from "../../src/storage/secrets/open-secrets.ts";

const N = 2_000;

test("configuration.weak-secrets: short, repeated, sequential and well-known secrets are refused, with how to create a good one", async () => {
  const strong = { pepper: randomBytes(32).toString("base64"), key: randomBytes(32).toString("base64") };
  const open = (keyPepper: string, key: string) =>
    openSecrets({ databaseUrl: "postgres://x", dataDir: "/nowhere", keyPepper, encryptionKeys: [key] });
  for (const pepper of [
    "",
    "short",
    "a".repeat(40),
    "abcabcabcabcabcabcabcabcabcabcabcabc",
    "changeme-changeme-1234567890-qwertz",
    "please-change-me-before-production-1",
    "my-password-is-correct-horse-battery",
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "your-pepper-of-at-least-32-characters",
    "qX9!qX9!qX9!qX9!qX9!qX9!qX9!qX9!",
    `base64:${Buffer.alloc(32, 1).toString("base64")}`,
  ]) {
    const opened = await open(pepper, strong.key);
    assert.ok(!opened.ok, pepper);
    assert.match(opened.faults.join(), /secrets\.key_pepper.*openssl rand -base64 32/u);
    if (pepper.length > 8) assert.ok(!opened.faults.join().includes(pepper), "the secret itself is not shown");
  }
  for (const key of [
    Buffer.alloc(32),
    Buffer.alloc(32, 9),
    Buffer.from(Array.from({ length: 32 }, (_, at) => at)),
    Buffer.from("correct horse battery staple 123"),
    Buffer.from("0123456789abcdef0123456789abcdef"),
  ]) {
    const opened = await open(strong.pepper, key.toString("base64"));
    assert.ok(!opened.ok, key.toString("hex"));
    assert.match(opened.faults.join(), /secrets\.encryption_keys\[0\].*openssl rand -base64 32/u);
  }
  assert.ok((await open(strong.pepper, strong.key)).ok);
});

test(`configuration.weak-secrets: ${N} random secrets in each spelling pass`, () => {
  for (let at = 0; at < N; at += 1) {
    const bytes = randomBytes(32);
    assert.equal(weaknessOfKey(bytes), null, bytes.toString("hex"));
    for (const text of [bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex")])
      assert.equal(weaknessOf(text), null, text);
  }
});

test("configuration.weak-secrets: what a start creates in the data directory passes too", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "patchbay-weak-"));
  const settings = { databaseUrl: null, dataDir, keyPepper: null, encryptionKeys: [] };
  assert.ok((await openSecrets(settings)).ok);
  rmSync(dataDir, { recursive: true });
});

test("configuration.tls-verification: a process that checks no certificate does not start", () => {
  assert.match(unsafeEnvironment({ NODE_TLS_REJECT_UNAUTHORIZED: "0" }) ?? "", /NODE_EXTRA_CA_CERTS/u);
  for (const env of [{}, { NODE_TLS_REJECT_UNAUTHORIZED: "1" }]) assert.equal(unsafeEnvironment(env), null);
});
