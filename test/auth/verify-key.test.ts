// From an Authorization header to a look-up, or to none (contract 2; reliability 6: a cheap shield against floods of guessed keys).
import assert from "node:assert/strict";
import { test } from "node:test";
import { generateKey } from "../../src/auth/key-format.ts";
import { createKeyVerifier } from "../../src/auth/verify-key.ts";
import { GatewayError } from "../../src/contract/errors.ts";

const PEPPER = Buffer.alloc(32, 7);

async function refusalOf(authorization: string | undefined) {
  let lookUps = 0;
  const findKey = async () => {
    lookUps += 1;
    return null;
  };
  const verifier = createKeyVerifier({ pepper: PEPPER, findKey, nowMs: () => 0 });
  const error = await verifier.verify(authorization).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof GatewayError);
  return { lookUps, told: [error.code, error.message, error.details] };
}

const key = generateKey("live");
const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;

test("contract 2: a key that cannot exist is refused without a look-up, and told what an unknown one is told", async () => {
  const unknown = await refusalOf(`Bearer ${key}`);
  assert.equal(unknown.lookUps, 1);
  for (const authorization of [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    `Basic ${key}`,
    `Bearer ${mistyped}`,
    `Bearer ${key.replace("live", "prod")}`,
    `Bearer ${key} ${key}`,
    "Bearer a-short-key",
    `Bearer ${"a".repeat(100_000)}`,
  ])
    assert.deepEqual(await refusalOf(authorization), { lookUps: 0, told: unknown.told }, authorization?.slice(0, 60));
});
