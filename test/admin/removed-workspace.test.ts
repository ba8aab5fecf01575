// What is created in a workspace that is removed at the same moment: the 404 of one that does not exist, and nothing is left.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { createApp } from "../../src/admin/apps.ts";
import { replaceDomains } from "../../src/admin/audio-url-domains.ts";
import { createKey } from "../../src/admin/keys/keys.ts";
import { deleteWorkspace } from "../../src/admin/workspaces.ts";
import { GatewayError } from "../../src/contract/errors.ts";
import { brand, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { configureWebhook } from "../../src/webhooks/configure.ts";
import { openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const actor = newId("key");
const forgetKeys = () => undefined;
const NONE = { route: null, audio_input_override: null, audio_purpose_policy: null, purposes: [], quota: {} } as const;
const seal = createSeal({ keys: [Buffer.alloc(32, 7)] });

type Making = (workspaceId: WorkspaceId) => Promise<unknown>;
const MAKINGS: Readonly<Record<string, Making>> = {
  "an app": (workspaceId) => createApp({ database }, { workspaceId, actor }, { ...NONE, slug: "notes", name: null }),
  "an administrator's key": (workspaceId) =>
    createKey(
      { database, pepper: Buffer.alloc(32, 9), forgetKeys },
      { workspaceId, actor },
      { ...NONE, app: null, role: "admin", mode: "live", name: null, scopes: [], expires_at: null },
    ),
  "a list of domains": (workspaceId) =>
    replaceDomains(
      { database, maxDomains: 20 },
      { workspaceId, actor, precondition: null, domains: ["media.example.com"] },
    ),
  "a webhook": (workspaceId) =>
    configureWebhook(
      { database, seal, receivers: { refusal: async () => null } as never },
      {
        workspaceId,
        actor,
        precondition: null,
        wanted: { url: "https://media.example.com/", enabled: true, rotate_secret: false, revoke_previous: false },
      },
    ),
};

async function makeWorkspace(): Promise<WorkspaceId> {
  const id = newId("workspace");
  const row = { id, slug: id.replaceAll("_", "-"), plan: null, managed_by: "api" };
  await database.db.insertInto("workspaces").values(row).execute();
  return brand("workspace", id);
}

const remove = (workspaceId: WorkspaceId) =>
  deleteWorkspace({ database, forgetKeys }, { workspaceId, actor, precondition: null });

/** How many rows of any table name the workspace, but for the audit log's own. */
async function leftOf(workspaceId: WorkspaceId): Promise<number> {
  const { rows } = await sql<{ left: number }>`select
    (select count(*) from apps where workspace_id = ${workspaceId})::int
    + (select count(*) from api_keys where workspace_id = ${workspaceId})::int
    + (select count(*) from audio_url_domains where scope = ${workspaceId})::int
    + (select count(*) from data_keys where scope = ${workspaceId})::int
    + (select count(*) from webhooks where workspace_id = ${workspaceId})::int as left`.execute(database.db);
  return rows[0]?.left ?? -1;
}

const isNotFound = (error: unknown) => error instanceof GatewayError && error.code === "NOT_FOUND";

for (const [what, make] of Object.entries(MAKINGS)) {
  test(`admin.removal-race: ${what} in a workspace that has just been removed is 404, and nothing of it is left`, async () => {
    const workspaceId = await makeWorkspace();
    await remove(workspaceId);
    await assert.rejects(make(workspaceId), isNotFound);
    assert.equal(await leftOf(workspaceId), 0);
  });

  test(`admin.removal-race: ${what} in a workspace whose removal is not committed yet waits for it, and is 404`, async () => {
    const workspaceId = await makeWorkspace();
    const other = await database.openSecond();
    const removed = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    const removing = other.transaction(async (tx) => {
      await sql`select id from workspaces where id = ${workspaceId} for update`.execute(tx);
      await tx.deleteFrom("workspaces").where("id", "=", workspaceId).execute();
      removed.resolve();
      await commit.promise;
    });
    try {
      await removed.promise;
      const making = make(workspaceId).then(
        () => null,
        (error: unknown) => error,
      );
      await someoneWaits();
      commit.resolve();
      await removing;
      assert(isNotFound(await making));
      assert.equal(await leftOf(workspaceId), 0);
    } finally {
      commit.resolve();
      await other.close();
    }
  });
}

async function someoneWaits(): Promise<void> {
  for (;;) {
    const { rows } = await sql<{
      waiting: number;
    }>`select count(*)::int as waiting from pg_locks where not granted`.execute(database.db);
    if ((rows[0]?.waiting ?? 0) > 0) return;
  }
}
