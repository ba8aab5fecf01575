// Who may change a workspace's settings.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Principal, Role } from "../../src/auth/principal.ts";
import { requireWorkspaceAdmin } from "../../src/auth/require-workspace-admin.ts";
import { brand, newId } from "../../src/contract/ids.ts";
import { GatewayError } from "../../src/contract/errors.ts";
import { openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

async function makeWorkspace(slug: string) {
  const id = newId("workspace");
  await database.db.insertInto("workspaces").values({ id, slug, managed_by: "test" }).execute();
  return { id, slug };
}

function caller(role: Role, workspace: { readonly id: string; readonly slug: string }): Principal {
  const none = { requestsPerMinute: null, concurrent: null, audioSecondsPerHour: null, tokensPerMinute: null };
  const routing = {
    route: null,
    audioInputOverride: null,
    defaultPurpose: null,
    audioPurposePolicy: null,
    purposes: [],
  };
  return {
    key: {
      id: newId("key"),
      prefix: "",
      last4: "0000",
      name: "key",
      role,
      createdAt: new Date(),
      expiresAt: null,
      quota: none,
      routing,
    },
    workspace: { id: brand("workspace", workspace.id), slug: workspace.slug, plan: null },
    app: null,
    scopes: [],
    testMode: false,
  };
}

async function refusal(principal: Principal, tenantId: string) {
  const error: unknown = await requireWorkspaceAdmin(database, principal, tenantId).catch((caught: unknown) => caught);
  assert(error instanceof GatewayError, `${tenantId} was let in`);
  return { code: error.code, message: error.message, param: error.param, details: error.details };
}

test("tenancy.workspace-admin: the operator and the workspace's administrators pass, by slug or id; its members get 403, all others one 404", async () => {
  const own = await makeWorkspace("own-workspace");
  const other = await makeWorkspace("other-workspace");
  for (const tenantId of [own.id, own.slug]) {
    assert.equal(await requireWorkspaceAdmin(database, caller("admin", own), tenantId), own.id);
    assert.equal(await requireWorkspaceAdmin(database, caller("operator", other), tenantId), own.id);
    assert.equal((await refusal(caller("member", own), tenantId)).code, "FORBIDDEN");
  }
  const missing = await refusal(caller("operator", other), "no-such-workspace");
  assert.equal(missing.code, "NOT_FOUND");
  for (const role of ["member", "admin"] as const) {
    for (const tenantId of [own.id, own.slug, "no-such-workspace", ""])
      assert.deepEqual(await refusal(caller(role, other), tenantId), missing, `${role} of another, ${tenantId}`);
  }
});

test("tenancy.slug-like-id: a slug that looks like another workspace's id does not take its place", async () => {
  const named = await makeWorkspace("named");
  await makeWorkspace(named.id);
  const operator = caller("operator", named);
  assert.equal(await requireWorkspaceAdmin(database, operator, named.id), named.id);
});
