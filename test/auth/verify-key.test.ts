// From an Authorization header to a look-up, or to none: a cheap shield against floods of guessed keys.
import assert from "node:assert/strict";
import { test } from "node:test";
import { generateKey, hashKey } from "../../src/auth/key-format.ts";
import { createKeyVerifier } from "../../src/auth/verify-key.ts";
import type { StoredKey } from "../../src/auth/principal.ts";
import { GatewayError } from "../../src/contract/errors.ts";
import { setImmediate as turn } from "node:timers/promises";

const PEPPER = Buffer.alloc(32, 7);

async function refusalOf(authorization: string | undefined) {
  let lookUps = 0;
  const findKeys = async () => {
    lookUps += 1;
    return new Map<string, StoredKey>();
  };
  const verifier = createKeyVerifier({ pepper: PEPPER, findKeys, nowMs: () => 0 });
  const error: unknown = await Promise.resolve(verifier.verify(authorization)).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof GatewayError);
  return { lookUps, refusal: [error.code, error.message, error.details] };
}

const key = generateKey("live");
const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;

test("keys.checksum, keys.one-401: an impossible key is refused without a look-up, with the answer of an unknown one", async () => {
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
    assert.deepEqual(
      await refusalOf(authorization),
      { lookUps: 0, refusal: unknown.refusal },
      authorization?.slice(0, 60),
    );
});

test("keys.bearer: between the scheme, in any case, and the key are one or more blanks (RFC 6750)", async () => {
  for (const authorization of [`Bearer  ${key}`, `bearer   ${key}`])
    assert.equal((await refusalOf(authorization)).lookUps, 1, authorization);
  for (const authorization of [`Bearer\t${key}`, `Bearer${key}`, `Bearer ${key} `])
    assert.equal((await refusalOf(authorization)).lookUps, 0, authorization);
});

/** One key whose look-ups are answered by hand. */
function lookedUpByHand() {
  const asked: PromiseWithResolvers<StoredKey | null>[] = [];
  let ageMs = 0;
  const verifier = createKeyVerifier({
    pepper: PEPPER,
    findKeys: async (hashes) => {
      const answer = Promise.withResolvers<StoredKey | null>();
      asked.push(answer);
      const found = await answer.promise;
      return new Map(found === null ? [] : hashes.map((hash) => [hash.toString("base64"), found]));
    },
    nowMs: () => 0,
    monotonicMs: () => ageMs,
  });
  const verify = async () => verifier.verify(`Bearer ${key}`);
  return {
    asked,
    setClock: (ms: number) => {
      ageMs = ms;
    },
    forget: () => verifier.forget(),
    verify,
    rememberFirst: async () => {
      const first = verify();
      await turn();
      asked[0]?.resolve(principal("first"));
      await first;
    },
  };
}

const principal = (id: string) => ({ key: { id, expiresAt: null } }) as unknown as StoredKey;

test("keys.shared-look-up: concurrent requests with one key share its look-up and its verdict", async () => {
  const { asked, verify } = lookedUpByHand();
  const waiting = Array.from({ length: 100 }, verify);
  await turn();
  assert.equal(asked.length, 1);
  asked[0]?.resolve(principal("first"));
  assert.deepEqual(new Set((await Promise.all(waiting)).map((each) => each.key.id)), new Set(["first"]));
  await verify();
  assert.equal(asked.length, 1);
});

test("keys.shared-look-up: a look-up that fails fails those that wait for it, and the next request looks again", async () => {
  const { asked, verify } = lookedUpByHand();
  const waiting = [verify(), verify()];
  await turn();
  asked[0]?.reject(new Error("the database is unavailable"));
  for (const each of waiting) await assert.rejects(each, /the database is unavailable/u);
  const next = verify();
  await turn();
  asked[1]?.resolve(principal("second"));
  assert.equal((await next).key.id, "second");
});

test("keys.cache: a key in use is looked up again in the background before its time is over", async () => {
  const { asked, rememberFirst, setClock, verify } = lookedUpByHand();
  await rememberFirst();
  setClock(2_999);
  await verify();
  assert.equal(asked.length, 1);
  setClock(3_000);
  for (let request = 0; request < 10; request += 1) assert.equal((await verify()).key.id, "first");
  await turn();
  assert.equal(asked.length, 2, "once");
  asked[1]?.resolve(principal("renewed"));
  await turn();
  setClock(5_999);
  assert.equal((await verify()).key.id, "renewed");
});

test("keys.revoke-bound: a key that was revoked without an announcement is refused as soon as it is looked up again, after 4 s at the latest", async () => {
  const { asked, rememberFirst, setClock, verify } = lookedUpByHand();
  await rememberFirst();
  setClock(3_000);
  await verify();
  await turn();
  asked[1]?.resolve(null);
  await turn();
  const refused = verify();
  asked[2]?.resolve(null);
  await assert.rejects(refused, { code: "UNAUTHENTICATED" });
});

test("keys.database-unavailable: while the database is unavailable a remembered key works until its time is over, and not longer", async () => {
  const { asked, rememberFirst, setClock, verify } = lookedUpByHand();
  await rememberFirst();
  setClock(3_500);
  await verify();
  await turn();
  asked[1]?.reject(new Error("the database is unavailable"));
  await turn();
  setClock(3_999);
  assert.equal((await verify()).key.id, "first");
  await turn();
  asked[2]?.reject(new Error("the database is unavailable"));
  await turn();
  setClock(4_000);
  const late = verify();
  await turn();
  asked[3]?.reject(new Error("the database is unavailable"));
  await assert.rejects(late, /the database is unavailable/u);
});

test("keys.look-up-order: a request after an announced change does not share a look-up that began before it, nor is that remembered", async () => {
  const { asked, forget, verify } = lookedUpByHand();
  const before = verify();
  await turn();
  forget();
  const behind = verify();
  asked[0]?.resolve(principal("before"));
  assert.equal((await before).key.id, "before");
  await turn();
  assert.equal(asked.length, 2);
  asked[1]?.resolve(null);
  await assert.rejects(behind, { code: "UNAUTHENTICATED" });
  await assert.rejects(verify(), { code: "UNAUTHENTICATED" });
});

/** A crowd that guesses keys, on a clock and a timer that the test moves. */
function guessedAt() {
  const batches: { readonly hashes: readonly Buffer[]; readonly answer: () => void }[] = [];
  const timers: { readonly atMs: number; readonly run: () => void }[] = [];
  let nowMs = 0;
  const known = new Map<string, StoredKey>();
  const entryOf = (hash: Buffer): readonly (readonly [string, StoredKey])[] => {
    const found = known.get(hash.toString("base64"));
    return found === undefined ? [] : [[hash.toString("base64"), found]];
  };
  const verifier = createKeyVerifier({
    pepper: PEPPER,
    findKeys: (hashes) =>
      new Promise((resolve) => {
        batches.push({ hashes, answer: () => resolve(new Map(hashes.flatMap((hash) => entryOf(hash)))) });
      }),
    nowMs: () => 0,
    monotonicMs: () => nowMs,
    schedule: (run, ms) => void timers.push({ atMs: nowMs + ms, run }),
  });
  return {
    batches,
    verifier,
    guess: (count: number) =>
      Array.from({ length: count }, async () => {
        const error: unknown = await Promise.resolve(verifier.verify(`Bearer ${generateKey("live")}`)).catch(
          (thrown: unknown) => thrown,
        );
        return error instanceof GatewayError ? error.code : "valid";
      }),
    create: (secret: string) => known.set(hashKey(PEPPER, secret).toString("base64"), principal("new")),
    pass: async (ms: number) => {
      nowMs += ms;
      for (const timer of timers.splice(0)) {
        if (timer.atMs <= nowMs) timer.run();
        else timers.push(timer);
      }
      await turn();
    },
  };
}

function sizesOf(batches: readonly { readonly hashes: readonly Buffer[] }[]): readonly number[] {
  return batches.map(({ hashes }) => hashes.length);
}

test("keys.look-up-batched: keys that are not cached share a query, and those that arrive while it runs share the next one", async () => {
  const { batches, verifier, create } = guessedAt();
  const use = (count: number) =>
    Array.from({ length: count }, async () => {
      const secret = generateKey("live");
      create(secret);
      return (await verifier.verify(`Bearer ${secret}`)).key.id;
    });
  const first = use(16);
  await turn();
  const behind = use(3);
  await turn();
  behind.push(...use(4));
  await turn();
  assert.deepEqual(sizesOf(batches), [16]);
  batches[0]?.answer();
  assert.deepEqual(new Set(await Promise.all(first)), new Set(["new"]));
  await turn();
  assert.deepEqual(sizesOf(batches), [16, 7]);
  batches[1]?.answer();
  assert.deepEqual(new Set(await Promise.all(behind)), new Set(["new"]));
});

test("keys.look-up-batched: a query that is not answered delays other keys for 20 ms", async () => {
  const { batches, verifier, create, pass } = guessedAt();
  const use = async () => {
    const secret = generateKey("live");
    create(secret);
    return (await verifier.verify(`Bearer ${secret}`)).key.id;
  };
  void use();
  await turn();
  const found = use();
  await turn();
  await pass(19);
  assert.deepEqual(sizesOf(batches), [1]);
  await pass(1);
  assert.deepEqual(sizesOf(batches), [1, 1]);
  batches[1]?.answer();
  assert.equal(await found, "new");
});

test("keys.look-up-batched: keys in use share a query after a change was announced", async () => {
  const { batches, verifier, create } = guessedAt();
  const secrets = Array.from({ length: 5 }, () => generateKey("live"));
  for (const secret of secrets) create(secret);
  const useAll = () => Promise.all(secrets.map((secret) => verifier.verify(`Bearer ${secret}`)));
  const first = useAll();
  await turn();
  batches[0]?.answer();
  await first;
  verifier.forget();
  const again = useAll();
  await turn();
  assert.deepEqual(sizesOf(batches), [5, 5]);
  batches[1]?.answer();
  await again;
});

test("keys.guessing-batched: guessed keys are looked up together: whatever their number, one query each 100 ms", async () => {
  const { batches, guess, pass } = guessedAt();
  const first = guess(1);
  await turn();
  batches[0]?.answer();
  assert.deepEqual(await Promise.all(first), ["UNAUTHENTICATED"]);
  const crowd = guess(400);
  assert.equal(batches.length, 1);
  await pass(99);
  assert.equal(batches.length, 1);
  await pass(1);
  assert.deepEqual([batches.length, batches[1]?.hashes.length], [2, 400]);
  batches[1]?.answer();
  assert.deepEqual(new Set(await Promise.all(crowd)), new Set(["UNAUTHENTICATED"]));
});

test("keys.guessing-bounded: guessed keys beyond what may wait are refused as overload", async () => {
  const { batches, guess, pass } = guessedAt();
  const first = guess(1);
  await turn();
  batches[0]?.answer();
  await Promise.all(first);
  const crowd = guess(5_001);
  assert.equal(await crowd.at(-1), "OVERLOADED");
  for (let round = 0; round < 10; round += 1) {
    await pass(100);
    for (const { answer } of batches) answer();
    await turn();
  }
  assert.deepEqual(new Set(await Promise.all(crowd.slice(0, -1))), new Set(["UNAUTHENTICATED"]));
});

test("keys.guessing-isolated: while keys are guessed, a key in use whose change was announced is looked up at once, and alone", async () => {
  const { batches, guess, verifier, create } = guessedAt();
  create(key);
  const inUse = Promise.resolve(verifier.verify(`Bearer ${key}`));
  await turn();
  batches[0]?.answer();
  await inUse;
  const first = guess(1);
  await turn();
  batches[1]?.answer();
  await Promise.all(first);
  const crowd = guess(400);
  crowd.forEach((each) => void each.catch(() => undefined));
  verifier.forget();
  const again = Promise.resolve(verifier.verify(`Bearer ${key}`));
  await turn();
  assert.deepEqual([batches.length, batches[2]?.hashes.length], [3, 1]);
  batches[2]?.answer();
  assert.equal((await again).key.id, "new");
});

test("keys.unknown-remembered: an unknown key is remembered for a second, and no longer than until a key is announced", async () => {
  const { batches, verifier, create, pass } = guessedAt();
  const verify = async () => (await verifier.verify(`Bearer ${key}`)).key.id;
  const refused = verify();
  await turn();
  batches[0]?.answer();
  await assert.rejects(refused, { code: "UNAUTHENTICATED" });
  await pass(999);
  await assert.rejects(verify(), { code: "UNAUTHENTICATED" });
  assert.equal(batches.length, 1);
  // Created where its announcement is lost: one second later it works.
  create(key);
  await pass(1);
  const works = verify();
  await turn();
  batches[1]?.answer();
  assert.equal(await works, "new");

  const announced = generateKey("live");
  const unknown = Promise.resolve(verifier.verify(`Bearer ${announced}`));
  await turn();
  batches[2]?.answer();
  await assert.rejects(unknown, { code: "UNAUTHENTICATED" });
  create(announced);
  verifier.forget();
  const created = Promise.resolve(verifier.verify(`Bearer ${announced}`));
  await pass(100);
  batches[3]?.answer();
  assert.equal((await created).key.id, "new");
});
