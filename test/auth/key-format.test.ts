// The format of API keys.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import {
  checkFormat,
  generateKey,
  hashKey,
  KEY_PATTERN,
  KEY_PREFIXES,
  type KeyKind,
  visibleParts,
} from "../../src/auth/key-format.ts";

const KINDS = Object.keys(KEY_PREFIXES) as KeyKind[];

test("keys.format: 1,000 keys are all well formed, all different, all found in text by the scanner's pattern", () => {
  const keys = Array.from({ length: 1_000 }, (_, index) => generateKey(KINDS[index % KINDS.length] ?? "live"));
  assert.equal(new Set(keys).size, 1_000);
  assert.equal(new Set(keys.map((key) => key.slice(0, -6).slice(-32))).size, 1_000);
  for (const key of keys) {
    assert.deepEqual(checkFormat(key), { ok: true });
    assert.match(key, /^svc_(live|test|admin|root)_[0-9A-Za-z]{38}$/u);
    assert.equal(KEY_PATTERN.exec(`token="${key}";`)?.[0], key);
  }
});

test("keys.checksum: any one changed, missing or added character of a key with an svc_ prefix is refused", () => {
  const key = generateKey("live");
  for (let index = "svc_".length; index < key.length; index += 1) {
    for (const other of ["a", "Z", "0", "_", "é", " "]) {
      if (key[index] === other) continue;
      const changed = key.slice(0, index) + other + key.slice(index + 1);
      assert.equal(checkFormat(changed).ok, false, changed);
    }
    assert.equal(checkFormat(key.slice(0, index) + key.slice(index + 1)).ok, false);
  }
  for (const wrong of [
    `${key}0`,
    `${key}\n`,
    "svc_",
    "svc_live_",
    "svc_prod_".padEnd(47, "0"),
    key.replace("live", "test"),
  ])
    assert.equal(checkFormat(wrong).ok, false, wrong);
});

test("keys.chosen: a key of the operator's choice has 24 to 128 visible ASCII characters", () => {
  for (const good of ["k".repeat(24), "~!".repeat(64)]) assert.deepEqual(checkFormat(good), { ok: true });
  for (const bad of [
    "",
    "k".repeat(23),
    "k".repeat(129),
    `${"k".repeat(24)} `,
    `${"k".repeat(24)}é`,
    `${"k".repeat(24)}\n`,
  ])
    assert.equal(checkFormat(bad).ok, false, bad);
});

test("keys.stored-form: an HMAC under the pepper, the prefix and the last four characters are stored", () => {
  const key = generateKey("admin");
  const pepper = randomBytes(32);
  const hash = hashKey(pepper, key);
  assert.equal(hash.length, 32);
  assert.deepEqual(hashKey(pepper, key), hash);
  assert.notDeepEqual(hashKey(randomBytes(32), key), hash);
  assert.notDeepEqual(hashKey(pepper, generateKey("admin")), hash);
  assert.deepEqual(visibleParts(key), { prefix: "svc_admin_", last4: key.slice(-4) });
  assert.deepEqual(visibleParts("an-operators-own-key-of-24"), { prefix: "", last4: "f-24" });
});
