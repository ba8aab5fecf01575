// A process whose secrets are not those of its database changes nothing there: with another pepper it would create the file's keys again,
// and revoke them for all other processes.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { applyFile } from "../../src/admin/apply-file.ts";
import { hashKey } from "../../src/auth/key-format.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { applyConfiguration } from "../../src/directory/apply-configuration.ts";
import { findKey } from "../../src/directory/find-key.ts";
import { replacePepper } from "../../src/storage/secrets/key-pepper.ts";
import { OtherSecrets } from "../../src/storage/secrets/verify-secrets.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { configurationOf, ENCRYPTION_KEY, PEPPER } from "../harness/gateway.ts";

const OTHER_PEPPER = randomBytes(32);
const OTHER_KEY = randomBytes(32);
const SECRET = "a-key-that-an-operator-chose-0001";
const file: ConfigurationFile = {
  connections: [{ id: "dg", kind: "deepgram", api_key: "dg-secret-0001" }],
  routes: [{ id: "speech", targets: [{ connection: "dg", model: "nova-3" }] }],
  workspaces: [
    {
      id: "acme",
      apps: [{ id: "web", route: "speech", keys: [{ id: "first", secret: SECRET, scopes: ["transcribe"] }] }],
    },
  ],
};

let database: TestDatabase;
let dataDir: string;
before(async () => {
  database = await openTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), "patchbay-test-"));
});
after(async () => {
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
});

const services = (pepper: Buffer, ...keys: readonly Buffer[]) => ({ database, pepper, seal: createSeal({ keys }) });
const apply = async (own: ReturnType<typeof services>, given = file) =>
  applyConfiguration(own, await configurationOf(given, dataDir), { isFile: true });
const knows = async (pepper: Buffer) => (await findKey(database, hashKey(pepper, SECRET), false)) !== null;
const refused = (what: RegExp) => (error: unknown) => error instanceof OtherSecrets && what.test(error.message);

test("tenancy.pepper: until there is a key any pepper may become the database's", async () => {
  await apply(services(OTHER_PEPPER, ENCRYPTION_KEY), { connections: file.connections, routes: file.routes });
  await apply(services(PEPPER, ENCRYPTION_KEY));
  assert.equal(await knows(PEPPER), true);
});

test("tenancy.pepper: a start with another pepper is refused, and every key stays in force", async () => {
  const before = await database.db.selectFrom("api_keys").selectAll().execute();
  await assert.rejects(apply(services(OTHER_PEPPER, ENCRYPTION_KEY)), refused(/^secrets\.key_pepper is not the one/u));
  assert.deepEqual(await database.db.selectFrom("api_keys").selectAll().execute(), before);
  await apply(services(PEPPER, ENCRYPTION_KEY));
});

test("tenancy.rotate-needed: a start without the encryption key that data keys are sealed with is refused, with that key's name", async () => {
  const [needed] = createSeal({ keys: [ENCRYPTION_KEY] }).keyIds;
  await assert.rejects(
    apply(services(PEPPER, OTHER_KEY)),
    refused(new RegExp(`lacks the key ${needed}, which seals 1 `, "u")),
  );
  await apply(services(PEPPER, OTHER_KEY, ENCRYPTION_KEY));
});

test("tenancy.pepper-replace: a replaced pepper ends every key in one audited step; the next start creates the file's again", async () => {
  assert.equal(await replacePepper(database, PEPPER), null);
  assert.deepEqual(await replacePepper(database, OTHER_PEPPER), { revokedKeys: 1 });
  assert.equal(await knows(PEPPER), false);
  const audited = await database.db
    .selectFrom("audit_log")
    .select(["workspace_id", "after"])
    .where("action", "=", "key_pepper.replaced")
    .execute();
  assert.deepEqual(audited, [{ workspace_id: null, after: { revoked_keys: 1 } }]);

  // One that still runs with the old one neither takes it back nor hides why.
  await assert.rejects(apply(services(PEPPER, ENCRYPTION_KEY)), OtherSecrets);
  const ownFile = {
    path: "/etc/patchbay.yaml",
    load: () => ({ ok: true, configuration: loaded, warnings: [], file: null }) as const,
  };
  const loaded = await configurationOf(file, dataDir);
  const running = {
    ...services(PEPPER, ENCRYPTION_KEY),
    ownFile,
    refreshDirectory: async () => undefined,
    forgetKeys: () => undefined,
  };
  await assert.rejects(applyFile(running, { file: null, dryRun: false }), {
    code: "CONFLICT",
    details: { reason: "other_secrets" },
  });

  await apply(services(OTHER_PEPPER, ENCRYPTION_KEY));
  assert.equal(await knows(OTHER_PEPPER), true);
});

test("tenancy.pepper-replace: keys from before the pepper's mark end as well, whichever pepper made them", async () => {
  await database.db.deleteFrom("key_pepper").execute();
  assert.deepEqual(await replacePepper(database, PEPPER), { revokedKeys: 1 });
  assert.equal(await knows(OTHER_PEPPER), false);
  assert.equal(await replacePepper(database, PEPPER), null);
  await assert.rejects(apply(services(OTHER_PEPPER, ENCRYPTION_KEY)), OtherSecrets);
});
