// GET /workspace/{tenant_id}/provider-deletions and its mirrors on the admin listener: what could not be deleted at a provider is
// listed by status, page by page, to its owners.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { brand, type WorkspaceId } from "../../../src/contract/ids.ts";
import { providerDeletionView } from "../../../src/contract/admin/provider-deletions.ts";
import { MAX_DELETION_ATTEMPTS } from "../../../src/gateway/store/provider-deletions.ts";
import { shiftClock } from "../../harness/postgres/database.ts";
import { KEY, type TestGateway } from "../../harness/gateway.ts";
import { ADMIN_KEY, call, OPERATOR_KEY, OTHER_ADMIN_KEY, startAdminGateway, viewOf } from "./admin.ts";

const PATH = "/workspace/acme/provider-deletions";
const list = listOf(providerDeletionView);
let gateway: TestGateway;
let acme: WorkspaceId;
/** Newest first; those of one millisecond come as their ids do. */
let failed: readonly string[];
before(async () => {
  gateway = await startAdminGateway();
  acme = await workspaceId("acme");
  const { deletions } = gateway.app.gateway;
  const duty = (of: WorkspaceId, subject: string, dueInSeconds: number) => ({
    workspaceId: of,
    appId: brand("app", "app_x"),
    subject,
    account: "platform/gone",
    provider: "assemblyai",
    testMode: false,
    run: { id: `run-of-${subject}`, details: {} },
    dueInSeconds,
  });
  for (const subject of ["req_1", "req_2", "req_3"]) await deletions.owe(duty(acme, subject, 0));
  await deletions.owe(duty(await workspaceId("other"), "req_theirs", 0));
  for (let attempt = 1; attempt <= MAX_DELETION_ATTEMPTS; attempt += 1) {
    await deletions.sweep();
    await shiftClock(gateway.database, attempt * 100_000);
  }
  failed = (await everySubject()).filter((subject) => subject !== "req_theirs");
  await deletions.owe(duty(acme, "req_4", 3_600));
});
after(() => gateway.close());

async function workspaceId(slug: string): Promise<WorkspaceId> {
  const row = gateway.database.db.selectFrom("workspaces").select("id").where("slug", "=", slug);
  return brand("workspace", (await row.executeTakeFirstOrThrow()).id);
}

async function everySubject(): Promise<readonly string[]> {
  const rows = gateway.database.db.selectFrom("provider_deletions").select("subject").orderBy("id", "desc");
  return (await rows.execute()).map(({ subject }) => subject);
}

const page = async (path: string, key?: string) =>
  viewOf(list, await call(gateway, "GET", path, key === undefined ? {} : { key }));
const subjects = async (path: string, key?: string) => (await page(path, key)).data.map(({ subject_id: id }) => id);

test("admin.deletions: what finally could not be deleted is listed with the provider's id and the reason", async () => {
  const { data } = await page(`${PATH}?status=failed`);
  const [latest] = data;
  assert.ok(latest);
  const { id, app_id: _app, created_at: created, finished_at: finished, ...rest } = latest;
  assert.match(id, /^del_/u);
  assert.ok(Date.parse(String(finished)) > Date.parse(created));
  assert.deepEqual(rest, {
    object: "provider_deletion",
    workspace_id: acme,
    subject_id: failed[0],
    connection: "gone",
    owner: "platform",
    provider: "assemblyai",
    provider_id: `run-of-${failed[0]}`,
    simulated: false,
    status: "failed",
    attempts: MAX_DELETION_ATTEMPTS,
    last_failure: "no_account",
    next_attempt_at: null,
  });
  assert.deepEqual(await subjects(`${PATH}?status=failed`), failed);
});

test("admin.deletions: without a status all deletions are listed; a waiting one has its next attempt", async () => {
  const { data } = await page(PATH);
  assert.deepEqual(
    data.map(({ subject_id: id, status }) => [id, status]),
    [["req_4", "pending"], ...failed.map((subject) => [subject, "failed"])],
  );
  assert.deepEqual([data[0]?.attempts, data[0]?.last_failure, data[0]?.finished_at], [0, null, null]);
  assert.match(String(data[0]?.next_attempt_at), /^\d{4}-.*Z$/u);
  assert.deepEqual(await subjects(`${PATH}?status=done`), []);
});

test("api.pages, api.cursor-own-list: deletions are read page by page, and a cursor of another list is refused", async () => {
  const first = await page(`${PATH}?status=failed&limit=2`);
  const second = await page(`${PATH}?status=failed&limit=2&cursor=${first.next_cursor ?? ""}`);
  assert.deepEqual(
    [...first.data, ...second.data].map(({ subject_id: id }) => id),
    failed,
  );
  assert.equal(second.next_cursor, null);
  for (const query of ["cursor=nonsense", "limit=0", "limit=101", "status=lost"]) {
    assert.equal((await call(gateway, "GET", `${PATH}?${query}`)).code, "INVALID_REQUEST", query);
  }
  await call(gateway, "PUT", "/workspace/acme/audio-url-domains", { body: { domains: ["a.example.com"] } });
  await call(gateway, "PUT", "/workspace/acme/audio-url-domains", { body: { domains: [] } });
  const audit = await call(gateway, "GET", "/workspace/acme/audit?limit=1");
  const { next_cursor: foreign } = audit.json as { next_cursor: string };
  assert.equal((await call(gateway, "GET", `${PATH}?cursor=${foreign}`)).code, "INVALID_REQUEST");
});

test("admin.work-scope: the operator reads one workspace's deletions on either listener, and all on the admin listener", async () => {
  assert.deepEqual(await subjects(PATH, OPERATOR_KEY), await subjects(PATH, ADMIN_KEY));
  assert.deepEqual(await subjects("/admin/v1/workspaces/acme/provider-deletions"), await subjects(PATH));
  assert.deepEqual(
    await subjects("/admin/v1/provider-deletions?status=failed"),
    (await everySubject()).filter((subject) => subject !== "req_4"),
  );
  assert.deepEqual(await subjects("/admin/v1/provider-deletions?workspace=other"), ["req_theirs"]);
  assert.equal((await call(gateway, "GET", "/admin/v1/provider-deletions?workspace=unknown")).code, "NOT_FOUND");
});

test("admin.work-scope: a member is refused, and another workspace's list is the 404 of one that does not exist", async () => {
  assert.equal((await call(gateway, "GET", PATH, { key: KEY })).code, "FORBIDDEN");
  const strip = (text: string) => text.replaceAll(/req_[0-9a-z]{26}/g, "req");
  const foreign = await call(gateway, "GET", PATH, { key: OTHER_ADMIN_KEY });
  const missing = await call(gateway, "GET", "/workspace/unknown/provider-deletions", { key: OTHER_ADMIN_KEY });
  assert.deepEqual([foreign.status, strip(foreign.text)], [404, strip(missing.text)]);
  assert.deepEqual(await subjects("/workspace/other/provider-deletions", OTHER_ADMIN_KEY), ["req_theirs"]);
});
