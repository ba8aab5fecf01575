// Keys that were looked up are remembered, and forgotten everywhere when a change is announced, within 5 s.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { sql } from "kysely";
import { replaceApp } from "../../src/admin/apps.ts";
import { replaceKey, revokeKey, rotateKey } from "../../src/admin/keys/keys.ts";
import { replaceWorkspace } from "../../src/admin/workspaces.ts";
import { hashKey, visibleParts } from "../../src/auth/key-format.ts";
import { createKeyVerifier, type KeyVerifier, type VerifyKeyServices } from "../../src/auth/verify-key.ts";
import { brand, newId } from "../../src/contract/ids.ts";
import { applyConfiguration } from "../../src/directory/apply-configuration.ts";
import { findKeys } from "../../src/directory/find-key.ts";
import { announceChange } from "../../src/storage/connection/announce.ts";
import { type Changes, listenForChanges } from "../../src/storage/connection/changes.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { makeTenant, type OpenDatabase, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { configurationOf, ENCRYPTION_KEY, KEY, PEPPER, standardFile, startGateway } from "../harness/gateway.ts";
import { get } from "../harness/client.ts";

let database: TestDatabase;
/** As another process has it. */
let elsewhere: OpenDatabase;
const open: Changes[] = [];
before(async () => {
  database = await openTestDatabase();
  elsewhere = await database.openSecond();
});
after(async () => {
  await elsewhere.close();
  await database.close();
});
afterEach(async () => {
  for (const changes of open.splice(0)) await changes.close();
});

test("keys.revoke-announced: a revoked key is refused on another process once the change was announced, with no time passing", async () => {
  const key = await makeKey();
  const { verifier, next } = await startProcess();
  await verifier.verify(key.header);
  const heard = next();
  await revoke(key, { announced: true });
  assert.equal(await heard, key.id);
  await assert.rejects(async () => verifier.verify(key.header), { code: "UNAUTHENTICATED" });
});

test("keys.revoke-local: a revocation is answered when the key no longer works on that process, announced or not", async () => {
  const verifier = createKeyVerifier({ ...LOOK_UPS, nowMs: Date.now });
  const services = { database, pepper: PEPPER, forgetKeys: () => verifier.forget() };
  const revoked = await makeKey();
  await verifier.verify(revoked.header);
  await revokeKey(services, revoked, null);
  await assert.rejects(async () => verifier.verify(revoked.header), { code: "UNAUTHENTICATED" });

  const rotated = await makeKey();
  await verifier.verify(rotated.header);
  await rotateKey(services, rotated, null, 0);
  await assert.rejects(async () => verifier.verify(rotated.header), { code: "UNAUTHENTICATED" });
});

test("keys.change-in-force: a change of a key, its app or its workspace is answered when it is in force on that process", async () => {
  const verifier = createKeyVerifier({ ...LOOK_UPS, nowMs: Date.now });
  const services = { database, pepper: PEPPER, forgetKeys: () => verifier.forget() };
  const key = await makeKey();
  const { workspaceId, appId, actor } = key;
  assert.deepEqual((await verifier.verify(key.header)).scopes, ["transcribe"]);
  const settings = { route: null, audio_input_override: null, audio_purpose_policy: null, purposes: [], quota: {} };
  const plain = { ...settings, name: "key", expires_at: null };
  await replaceKey(services, key, "any", { ...plain, scopes: ["chat"] });
  assert.deepEqual((await verifier.verify(key.header)).scopes, ["chat"]);
  await replaceApp(services, { workspaceId, actor, app: appId }, "any", { ...settings, name: "Renamed" });
  assert.equal((await verifier.verify(key.header)).app?.name, "Renamed");
  await database.db
    .insertInto("plans")
    .values({ id: "team", monthly_chat_tokens: 1n, credits_nano_usd: 0n, managed_by: "test" })
    .execute();
  await replaceWorkspace(services, { workspaceId, actor, precondition: "any", plan: "team" });
  assert.equal((await verifier.verify(key.header)).workspace.plan, "team");
});

test("keys.revoke-bound: where the announcement is lost, a revoked key is refused within 5 s", async () => {
  const key = await makeKey();
  let monotonicMs = 1_000_000;
  const { verifier } = await startProcess({ monotonicMs: () => monotonicMs });
  await verifier.verify(key.header);
  await revoke(key, { announced: false });
  monotonicMs += 3_999;
  await verifier.verify(key.header);
  monotonicMs += 1;
  await assert.rejects(async () => verifier.verify(key.header), { code: "UNAUTHENTICATED" });
});

test("keys.revoke-bound: a clock that is set, far or by as much as has passed, prolongs no revoked key's life", async () => {
  for (const setMs of [-3_600_000, -2_900, 2_900]) {
    const key = await makeKey();
    let [nowMs, monotonicMs] = [1_000_000_000, 0];
    const { verifier } = await startProcess({ nowMs: () => nowMs, monotonicMs: () => monotonicMs });
    await verifier.verify(key.header);
    await revoke(key, { announced: false });
    nowMs += 2_900 + setMs;
    monotonicMs += 2_900;
    await verifier.verify(key.header);
    nowMs += 1_100;
    monotonicMs += 1_100;
    await assert.rejects(async () => verifier.verify(key.header), { code: "UNAUTHENTICATED" }, `set by ${setMs} ms`);
  }
});

test("keys.look-up-order: a look-up that began before a change is not remembered after it", async () => {
  const key = await makeKey();
  const read = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const { verifier } = await startProcess({
    findKeys: async (hashes) => {
      const found = await findKeys(database, hashes);
      read.resolve();
      await answer.promise;
      return found;
    },
  });
  const first = verifier.verify(key.header);
  await read.promise;
  await revoke(key, { announced: false });
  verifier.forget();
  answer.resolve();
  await first;
  await assert.rejects(async () => verifier.verify(key.header), { code: "UNAUTHENTICATED" });
});

test("keys.cache: a known key costs no look-up until something changes", async () => {
  const key = await makeKey();
  let lookUps = 0;
  const { verifier, next } = await startProcess({
    findKeys: (hashes) => {
      lookUps += 1;
      return findKeys(database, hashes);
    },
  });
  for (let count = 0; count < 5; count += 1) await verifier.verify(key.header);
  assert.equal(lookUps, 1);
  const heard = next();
  await elsewhere.transaction((tx) => announceChange(tx, "keys", "something"));
  await heard;
  await verifier.verify(key.header);
  assert.equal(lookUps, 2);
});

test("keys.revoke-announced: an announcement of a transaction that rolled back is never heard", async () => {
  const { next } = await startProcess();
  const heard = next();
  await assert.rejects(
    elsewhere.transaction(async (tx) => {
      await announceChange(tx, "keys", "rolled back");
      throw new Error("changed my mind");
    }),
  );
  await elsewhere.transaction((tx) => announceChange(tx, "keys", "committed"));
  assert.equal(await heard, "committed");
});

test("keys.listener-reconnects: a listener whose connection was cut reconnects, and reports that it may have missed a change", async () => {
  const { next } = await startProcess();
  const missed = next();
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'patchbay-changes' and datname = current_database()`.execute(elsewhere.db);
  assert.equal(await missed, null);
  const heard = next();
  await elsewhere.transaction((tx) => announceChange(tx, "keys", "again"));
  assert.equal(await heard, "again");
});

test("configuration.removed-keys: a key that is removed from the file stops working on a running gateway", async (t) => {
  const gateway = await startGateway();
  try {
    assert.equal((await get(gateway.origin, "/v1/me")).status, 200);
    const file = standardFile(gateway.sandbox);
    const [first, ...others] = file.workspaces ?? [];
    assert(first !== undefined);
    // The clock is stopped, so the entry does not expire: the process is notified of the change.
    const nowMs = performance.now();
    t.mock.method(performance, "now", () => nowMs);
    const without = { ...file, workspaces: [{ ...first, apps: [] }, ...others] };
    await applyConfiguration(
      { database: gateway.database, seal: createSeal({ keys: [ENCRYPTION_KEY] }), pepper: PEPPER },
      await configurationOf(without, gateway.dataDir),
      { isFile: true },
    );
    while ((await get(gateway.origin, "/v1/me", KEY)).status !== 401);
  } finally {
    await gateway.close();
  }
});

const LOOK_UPS: Pick<VerifyKeyServices, "pepper" | "findKeys"> = {
  pepper: PEPPER,
  findKeys: (hashes) => findKeys(database, hashes),
};

function nextOf(changes: Changes): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const stop = changes.onChange("keys", (detail) => {
    stop();
    resolve(detail);
  });
  return promise;
}

interface Process {
  readonly verifier: KeyVerifier;
  /** The next change of keys, once the verifier has been notified of it. */
  readonly next: () => Promise<string | null>;
}

async function startProcess(options: Partial<VerifyKeyServices> = {}): Promise<Process> {
  const verifier = createKeyVerifier({ ...LOOK_UPS, nowMs: Date.now, ...options });
  const changes = await listenForChanges(database, { onError: () => undefined, keyIds: [] });
  open.push(changes);
  changes.onChange("keys", () => verifier.forget());
  return { verifier, next: () => nextOf(changes) };
}

async function makeKey() {
  const { workspaceId, appId } = await makeTenant(database);
  const id = newId("key");
  const secret = `secret-of-the-test-${id}`;
  await database.db
    .insertInto("api_keys")
    .values({
      id,
      workspace_id: workspaceId,
      app_id: appId,
      secret_hash: hashKey(PEPPER, secret),
      ...visibleParts(secret),
      name: "key",
      role: "member",
      scopes: ["transcribe"],
      settings: JSON.stringify({}),
      managed_by: "test",
    })
    .execute();
  return { id: brand("key", id), key: id, workspaceId, appId, actor: newId("key"), header: `Bearer ${secret}` };
}

async function revoke({ id }: { readonly id: string }, { announced }: { readonly announced: boolean }): Promise<void> {
  await elsewhere.transaction(async (tx) => {
    await tx.updateTable("api_keys").set({ revoked_at: sql`patchbay_now()` }).where("id", "=", id).execute();
    if (announced) await announceChange(tx, "keys", id);
  });
}
