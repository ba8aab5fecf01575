// Secrets under keys of their own workspaces [tenancy.data-keys]: what is sealed opens in its place only, and the key that wraps is changed
// while it is used [tenancy.rotate].
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { isSealedByRing, readDataKeys, sealSecret } from "../../src/storage/secrets/data-keys.ts";
import { countKeyUse, rewrapDataKeys, sealUnderDataKeys } from "../../src/storage/secrets/rotate-keys.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { credentialPlace, type SecretPlace, webhookSecretPlace } from "../../src/storage/secrets/secret-places.ts";
import type { Handle } from "../../src/storage/system.ts";
import { makeTenant, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

const old = randomBytes(32);
const fresh = randomBytes(32);
const ring = createSeal({ keys: [old] });

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const sealed = (workspaceId: WorkspaceId, place: SecretPlace, text: string) =>
  database.inWorkspace(workspaceId, (tx) => sealSecret(tx, ring, place, text));

test("tenancy.sealed-place: a secret swapped between tenants, objects, fields or versions does not open: all of 360 pairs", async () => {
  const workspaces = [newId("workspace"), newId("workspace"), newId("workspace")];
  const places = workspaces.flatMap((id) => [
    credentialPlace(id, "dg"),
    credentialPlace(id, "oa"),
    credentialPlace(id, "secret"),
    webhookSecretPlace(id, "secret"),
    webhookSecretPlace(id, "previous_secret"),
    webhookSecretPlace(id, "sealed_url"),
  ]);
  const kept = [];
  for (const place of places)
    kept.push({ place, bytes: await sealed(place.scope as WorkspaceId, place, `secret of ${place.object}`) });
  // A later version of each data key, as a change of it would leave.
  for (const scope of workspaces) await addVersion(scope);
  const keys = await readDataKeys(database.db, ring, null);
  let refused = 0;
  for (const { place, bytes } of kept) {
    assert.equal(keys.open(bytes, place), `secret of ${place.object}`);
    assert.ok(!isSealedByRing(bytes));
    for (const other of places) {
      if (other === place) continue;
      assert.throws(() => keys.open(bytes, other));
      refused += 1;
    }
    for (const version of [0, 2, 3]) {
      const moved = Buffer.from(bytes);
      moved.writeUInt16BE(version, 1);
      assert.throws(() => keys.open(moved, place));
      refused += 1;
    }
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
      assert.throws(() => keys.open(changed, place), `byte ${at}`);
    }
    assert.throws(() => keys.open(bytes.subarray(0, 20), place));
  }
  assert.equal(refused, 18 * 17 + 18 * 3);
});

test("tenancy.data-keys: two workspaces have different data keys, wrapped; neither reads the other's", async () => {
  const [first, second] = [newId("workspace"), newId("workspace")];
  for (const id of [first, second]) await sealed(id, credentialPlace(id, "dg"), "credential");
  const rows = await database.inWorkspace(first, (tx) => tx.selectFrom("data_keys").select("scope").execute());
  assert.deepEqual(rows, [{ scope: first }]);
  const foreign = await database.inWorkspace(first, (tx) => readDataKeys(tx, ring, second));
  const bytes = await sealed(second, credentialPlace(second, "dg"), "credential");
  assert.throws(() => foreign.open(bytes, credentialPlace(second, "dg")), /no data key/u);
});

test("tenancy.data-keys: two first secrets of a workspace at once are sealed with one data key", async () => {
  const id = newId("workspace");
  const place = credentialPlace(id, "dg");
  const all = await Promise.all(Array.from({ length: 6 }, (_, at) => sealed(id, place, `secret ${at}`)));
  const keys = await readDataKeys(database.db, ring, id);
  assert.deepEqual(
    all.map((bytes) => keys.open(bytes, place)),
    all.map((_, at) => `secret ${at}`),
  );
});

test("tenancy.data-keys, tenancy.rls-shared-rows: a transaction bound to a workspace can name the shared account, and its credential does not open", async () => {
  const place = credentialPlace("platform", "shared");
  const credential = await database.transaction((tx) => sealSecret(tx, ring, place, "the platform's"));
  await database.db
    .insertInto("connections")
    .values({ scope: "platform", id: "shared", kind: "deepgram", credential, managed_by: "test" })
    .execute();
  const open = async (db: Handle) => {
    const row = await db.selectFrom("connections").selectAll().where("id", "=", "shared").executeTakeFirstOrThrow();
    return (await readDataKeys(db, ring, "platform")).open(row.credential ?? Buffer.alloc(0), place);
  };
  assert.equal(await open(database.db), "the platform's");
  await assert.rejects(database.inWorkspace(newId("workspace"), open), /There is no data key/u);
});

test("tenancy.data-keys: what the ring itself sealed is readable, and sealed under data keys at a start, and so is an address that was not sealed", async () => {
  const { workspaceId } = await makeTenant(database);
  const credential = ring.seal(Buffer.from("dg-old"), ["connection", workspaceId, "dg"]);
  const secret = ring.seal(Buffer.from("whsec_old"), ["webhooks", workspaceId, "secret"]);
  await database.db
    .insertInto("connections")
    .values({ scope: workspaceId, id: "dg", kind: "deepgram", credential, managed_by: "test" })
    .execute();
  await database.db
    .insertInto("webhooks")
    .values({ workspace_id: workspaceId, url: "https://x.example", enabled: true, secret, secret_last4: "_old" })
    .execute();
  const opened = async () => {
    const connection = await database.db
      .selectFrom("connections")
      .select("credential")
      .where("scope", "=", workspaceId)
      .executeTakeFirstOrThrow();
    const webhook = await database.db
      .selectFrom("webhooks")
      .select("secret")
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirstOrThrow();
    const keys = await readDataKeys(database.db, ring, workspaceId);
    const both = [connection.credential ?? Buffer.alloc(0), webhook.secret] as const;
    return {
      texts: [
        keys.open(both[0], credentialPlace(workspaceId, "dg")),
        keys.open(both[1], webhookSecretPlace(workspaceId, "secret")),
      ],
      byRing: both.map(isSealedByRing),
    };
  };
  assert.deepEqual(await opened(), { texts: ["dg-old", "whsec_old"], byRing: [true, true] });
  assert.equal(await sealUnderDataKeys(database, ring), 3);
  assert.deepEqual(await opened(), { texts: ["dg-old", "whsec_old"], byRing: [false, false] });
  // The address was written in the clear.
  const { url, sealed_url: sealedUrl } = await database.db
    .selectFrom("webhooks")
    .select(["url", "sealed_url"])
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  const keys = await readDataKeys(database.db, ring, workspaceId);
  assert.equal(url, null);
  assert.equal(
    keys.open(sealedUrl ?? Buffer.alloc(0), webhookSecretPlace(workspaceId, "sealed_url")),
    "https://x.example",
  );
  assert.equal(await sealUnderDataKeys(database, ring), 0);
});

test("tenancy.rotate: rotated, every data key is wrapped again and opens without the old key; no secret was written", async () => {
  const place = credentialPlace(newId("workspace"), "dg");
  const bytes = await sealed(place.scope as WorkspaceId, place, "credential");
  const both = createSeal({ keys: [fresh, old] });
  const [freshId = "", oldId = ""] = both.keyIds;
  const before = await usesOf(both, oldId);
  assert.ok(before > 0);
  // Two at once, as two operators would.
  const counts = await Promise.all([rewrapDataKeys(database, both), rewrapDataKeys(database, both)]);
  assert.equal(counts[0] + counts[1], before);
  assert.equal(await usesOf(both, oldId), 0);
  assert.equal(await usesOf(both, freshId), before);
  const alone = createSeal({ keys: [fresh] });
  assert.equal((await readDataKeys(database.db, alone, place.scope)).open(bytes, place), "credential");
  assert.equal(await rewrapDataKeys(database, both), 0);
  await assert.rejects(
    rewrapDataKeys(database, createSeal({ keys: [randomBytes(32)] })),
    /not in secrets\.encryption_keys/u,
  );
});

async function usesOf(keys: ReturnType<typeof createSeal>, keyId: string): Promise<number> {
  return (await countKeyUse(database, keys)).find((use) => use.keyId === keyId)?.dataKeys ?? 0;
}

async function addVersion(scope: WorkspaceId): Promise<void> {
  await database.db
    .insertInto("data_keys")
    .values({ scope, version: 2, wrapped: ring.seal(randomBytes(32), ["data-key", scope, "2"]) })
    .execute();
}
