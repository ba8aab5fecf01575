// GET /admin/v1/audit and GET /workspace/{tenant_id}/audit: filters, pages, and whose entries are seen.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { auditEntryView, auditVerification } from "../../../src/contract/admin/audit.ts";
import { workspaceView } from "../../../src/contract/admin/workspaces.ts";
import { KEY, type TestGateway } from "../../harness/gateway.ts";
import { ADMIN_KEY, call, OPERATOR_KEY, OTHER_ADMIN_KEY, startAdminGateway, viewOf } from "./admin.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startAdminGateway();
});
after(() => gateway.close());

const list = listOf(auditEntryView);
const entries = async (path: string, key?: string) =>
  viewOf(list, await call(gateway, "GET", path, key === undefined ? {} : { key }));
const putDomains = (tenant: string, key: string, domains: readonly string[]) =>
  call(gateway, "PUT", `/workspace/${tenant}/audio-url-domains`, { key, body: { domains } });

test("tenancy.audit-read: the operator reads all entries, filtered by workspace, action, key, object and time", async () => {
  await putDomains("acme", ADMIN_KEY, ["a.example.com"]);
  await putDomains("other", OTHER_ADMIN_KEY, ["b.example.com"]);
  const { id } = viewOf(workspaceView, await call(gateway, "GET", "/admin/v1/workspaces/acme"));
  const [latest] = (await entries("/admin/v1/audit?workspace=acme")).data;
  assert.deepEqual(
    [latest?.workspace_id, latest?.action, latest?.target, latest?.after],
    [id, "audio_url_domains.replaced", id, { domains: ["a.example.com"] }],
  );
  assert.deepEqual((await entries(`/admin/v1/audit?workspace=${id}`)).data[0], latest);
  const actor = latest?.actor_key_id ?? "";
  assert.deepEqual((await entries(`/admin/v1/audit?actor=${actor}`)).data, [latest]);
  const seeded = (await entries("/admin/v1/audit?action=audio_url_domains.replaced&workspace=platform")).data;
  assert(
    seeded.length > 0 &&
      seeded.every(({ workspace_id, actor_key_id }) => workspace_id === null && actor_key_id === null),
  );
  assert.deepEqual((await entries(`/admin/v1/audit?target=${id}&from=${latest?.at ?? ""}`)).data, [latest]);
  assert.deepEqual((await entries(`/admin/v1/audit?target=${id}&to=2020-01-01T00:00:00Z`)).data, []);
  assert.equal((await call(gateway, "GET", "/admin/v1/audit?workspace=unknown")).code, "NOT_FOUND");
});

test("tenancy.audit-read, admin.mirrored: a workspace's administrator reads its own entries on the public listener, the operator the same on the admin listener", async () => {
  const own = await entries("/workspace/acme/audit");
  assert(own.data.length > 0);
  assert.equal(new Set(own.data.map(({ workspace_id }) => workspace_id)).size, 1);
  assert.deepEqual(await entries("/admin/v1/workspaces/acme/audit"), own);
  assert.deepEqual(await entries("/workspace/acme/audit", OPERATOR_KEY), own);
});

test("tenancy.workspace-admin: a member is refused, and another workspace's audit log is the 404 of one that does not exist", async () => {
  assert.equal((await call(gateway, "GET", "/workspace/acme/audit", { key: KEY })).code, "FORBIDDEN");
  const strip = (text: string) => text.replaceAll(/req_[0-9a-z]{26}/g, "req");
  const foreign = await call(gateway, "GET", "/workspace/acme/audit", { key: OTHER_ADMIN_KEY });
  const missing = await call(gateway, "GET", "/workspace/unknown/audit", { key: OTHER_ADMIN_KEY });
  assert.deepEqual([foreign.status, strip(foreign.text)], [404, strip(missing.text)]);
});

test("tenancy.audit-removed: a removed workspace's chain is verified by its id; an unknown name is 404, and never a log without findings", async () => {
  const verify = (workspace: string) => call(gateway, "GET", `/admin/v1/audit/verification?workspace=${workspace}`);
  const body = { slug: "gone" };
  const { id } = viewOf(workspaceView, await call(gateway, "POST", "/admin/v1/workspaces", { body }));
  assert.equal((await call(gateway, "DELETE", "/admin/v1/workspaces/gone")).status, 200);
  const removed = viewOf(auditVerification, await verify(id));
  assert.deepEqual([removed.ok, removed.chains, removed.entries], [true, 1, 2]);
  for (const unknown of ["gone", "acmee", "ws_unknown"])
    assert.equal((await verify(unknown)).code, "NOT_FOUND", unknown);
});

test("tenancy.audit-pages: the log is read page by page while it grows", async () => {
  for (const at of [1, 2, 3, 4]) await putDomains("other", OTHER_ADMIN_KEY, [`n${at}.example.com`]);
  const path = "/workspace/other/audit?limit=2";
  const first = await entries(path, OTHER_ADMIN_KEY);
  await putDomains("other", OTHER_ADMIN_KEY, ["n5.example.com"]);
  const second = await entries(`${path}&cursor=${first.next_cursor ?? ""}`, OTHER_ADMIN_KEY);
  assert.deepEqual(
    [...first.data, ...second.data].map(({ after: is }) => is?.["domains"]),
    [["n4.example.com"], ["n3.example.com"], ["n2.example.com"], ["n1.example.com"]],
  );
});
