// The format of API keys and of their stored form [keys.format]: a typed prefix, 190 random bits, and a checksum that rejects a mistyped key without a
// database query. Only an HMAC, the prefix and the last four characters are stored.
import { createHmac, type KeyObject, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

export const KEY_PREFIXES = { live: "svc_live_", test: "svc_test_", admin: "svc_admin_", root: "svc_root_" } as const;
export type KeyKind = keyof typeof KEY_PREFIXES;

/** Finds Patchbay keys in text, for secret scanners. */
export const KEY_PATTERN = /svc_(?:live|test|admin|root)_[0-9A-Za-z]{38}/u;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_DIGITS = 32;
const CHECKSUM_DIGITS = 6;
const WHOLE_KEY = new RegExp(`^${KEY_PATTERN.source}$`, "u");

export type KeyFormat = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export function generateKey(kind: KeyKind): string {
  let body: string = KEY_PREFIXES[kind];
  for (let digit = 0; digit < RANDOM_DIGITS; digit += 1) body += BASE62.charAt(randomInt(BASE62.length));
  return body + checksum(body);
}

/** Whether a key is well-formed. A key chosen by the operator has no `svc_` prefix and 24 to 128 visible ASCII characters. */
export function checkFormat(key: string): KeyFormat {
  if (key.startsWith("svc_")) {
    if (!WHOLE_KEY.test(key))
      return { ok: false, reason: "is not svc_live_, svc_test_, svc_admin_ or svc_root_ and 38 letters and digits" };
    const body = key.slice(0, -CHECKSUM_DIGITS);
    return checksum(body) === key.slice(-CHECKSUM_DIGITS)
      ? { ok: true }
      : { ok: false, reason: "has a wrong checksum: a character is mistyped or missing" };
  }
  return /^[\x21-\x7e]{24,128}$/u.test(key)
    ? { ok: true }
    : { ok: false, reason: "is not 24 to 128 visible ASCII characters" };
}

/**
 * The hash that is stored and looked up. Keys are long and random, so a slow hash would only help attackers who flood the gateway. A `KeyObject` takes 2 µs, a
 * buffer 11, because Node.js makes a key of it each time.
 */
export function hashKey(pepper: Buffer | KeyObject, key: string): Buffer {
  return createHmac("sha256", pepper).update(key, "utf8").digest();
}

/** What may be shown of a key later: its typed prefix (none for the operator's own keys) and its last four characters. */
export function visibleParts(key: string): { readonly prefix: string; readonly last4: string } {
  const prefix = Object.values(KEY_PREFIXES).find((candidate) => key.startsWith(candidate)) ?? "";
  return { prefix, last4: key.slice(-4) };
}

function checksum(body: string): string {
  let digits = "";
  for (
    let remainder = crc32(body);
    digits.length < CHECKSUM_DIGITS;
    remainder = Math.floor(remainder / BASE62.length)
  ) {
    digits = BASE62.charAt(remainder % BASE62.length) + digits;
  }
  return digits;
}
