// /admin/v1/workspaces: created, listed, changed, removed, and the rules that all lists and changes share.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { workspaceView } from "../../../src/contract/admin/workspaces.ts";
import { detailsOf } from "../../harness/client.ts";
import type { TestGateway } from "../../harness/gateway.ts";
import { auditRows, call, etagOf, refuses, startAdminGateway, viewOf } from "./admin.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startAdminGateway();
});
after(() => gateway.close());

const PATH = "/admin/v1/workspaces";
const make = async (slug: string, plan: string | null = null) =>
  viewOf(workspaceView, await call(gateway, "POST", PATH, { body: { slug, plan } }));
const budgetsOf = (id: string) =>
  gateway.database.db
    .selectFrom("budgets")
    .select(["kind", "limit_tokens", "limit_nano_usd"])
    .where("workspace_id", "=", id)
    .orderBy("kind")
    .execute();

test("admin.workspaces, admin.one-audit-entry: a workspace is created, read by slug and by id, put on a plan and removed, each with one audit entry", async () => {
  const before = (await auditRows(gateway)).length;
  const made = await make("team-a");
  assert.deepEqual([made.slug, made.plan, made.managed_by], ["team-a", null, "api"]);
  const bySlug = await call(gateway, "GET", `${PATH}/team-a`);
  const byId = await call(gateway, "GET", `${PATH}/${made.id}`);
  assert.deepEqual([bySlug.json, etagOf(bySlug)], [byId.json, etagOf(byId)]);

  const put = await call(gateway, "PUT", `${PATH}/team-a`, {
    body: { plan: "free" },
    headers: { "if-match": etagOf(byId) },
  });
  assert.equal(viewOf(workspaceView, put).plan, "free");
  assert.notEqual(etagOf(put), etagOf(byId));
  assert.deepEqual(await budgetsOf(made.id), [
    { kind: "allowance", limit_tokens: 1_000n, limit_nano_usd: null },
    { kind: "credits", limit_tokens: null, limit_nano_usd: 5_000_000_000n },
  ]);
  const again = await call(gateway, "PUT", `${PATH}/team-a`, {
    body: { plan: "free" },
    headers: { "if-match": etagOf(put) },
  });
  assert.deepEqual(again.json, put.json);

  assert.equal((await call(gateway, "DELETE", `${PATH}/team-a`, { headers: { "if-match": etagOf(put) } })).status, 200);
  assert.equal((await call(gateway, "GET", `${PATH}/${made.id}`)).code, "NOT_FOUND");
  const rows = (await auditRows(gateway)).slice(before);
  assert.deepEqual(
    rows.map(({ workspace_id, action, object, before: was, after: is }) => [workspace_id, action, object, was, is]),
    [
      [made.id, "workspace.created", made.id, null, { slug: "team-a", plan: null }],
      [made.id, "workspace.changed", made.id, { slug: "team-a", plan: null }, { slug: "team-a", plan: "free" }],
      [made.id, "workspace.deleted", made.id, { slug: "team-a", plan: "free" }, null],
    ],
  );
  const operator = await gateway.database.db
    .selectFrom("api_keys")
    .select("id")
    .where("role", "=", "operator")
    .executeTakeFirstOrThrow();
  assert(rows.every(({ actor_key_id }) => actor_key_id === operator.id));
});

test("admin.lost-update: of two changes from one state the second is refused with 412 and changes nothing", async () => {
  await make("racing");
  const etag = etagOf(await call(gateway, "GET", `${PATH}/racing`));
  const put = (plan: string | null, match: string) =>
    call(gateway, "PUT", `${PATH}/racing`, { body: { plan }, headers: { "if-match": match } });
  const answers = await Promise.all([put("free", etag), put("free", etag), put("free", etag)]);
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(answers.filter(({ status }) => status === 412).length, 2);
  await refuses(gateway, [412, "PRECONDITION_FAILED"], () => put(null, etag));
  await refuses(gateway, [412, "PRECONDITION_FAILED"], () =>
    call(gateway, "DELETE", `${PATH}/racing`, { headers: { "if-match": etag } }),
  );
  await refuses(gateway, [412, "PRECONDITION_FAILED"], () => put(null, `W/${etag}`));
  const current = etagOf(await call(gateway, "GET", `${PATH}/racing`));
  assert.equal((await put(null, `"other", ${current}`)).status, 200);
  assert.equal((await put("free", "*")).status, 200);
});

test("admin.if-match-required: a change that replaces an object without naming its state is refused", async () => {
  await make("unsaid");
  await refuses(gateway, [428, "PRECONDITION_REQUIRED"], () =>
    call(gateway, "PUT", `${PATH}/unsaid`, { body: { plan: "free" } }),
  );
  await refuses(gateway, [400, "INVALID_REQUEST"], () =>
    call(gateway, "PUT", `${PATH}/unsaid`, { body: {}, headers: { "if-match": "unquoted" } }),
  );
});

test("admin.managed-by-file: what the configuration file owns is read-only and says so", async () => {
  const acme = await call(gateway, "GET", `${PATH}/acme`);
  assert.equal(viewOf(workspaceView, acme).managed_by, "file");
  await refuses(gateway, [409, "MANAGED_BY_FILE"], () =>
    call(gateway, "PUT", `${PATH}/acme`, { body: { plan: "free" }, headers: { "if-match": etagOf(acme) } }),
  );
  await refuses(gateway, [409, "MANAGED_BY_FILE"], () => call(gateway, "DELETE", `${PATH}/acme`));
});

test("admin.all-faults: an invalid workspace is refused, and nothing is stored", async () => {
  await make("taken");
  const refused = async (body: unknown, param: string) => {
    const answer = await refuses(gateway, [400, "INVALID_REQUEST"], () => call(gateway, "POST", PATH, { body }));
    const issues = detailsOf(answer)["issues"] as readonly { readonly param: string }[];
    assert.equal(issues[0]?.param, param, answer.text);
  };
  await refused({}, "slug");
  await refused({ slug: "" }, "slug");
  await refused({ slug: "a b" }, "slug");
  await refused({ slug: "ws_01jd0000000000000000000000" }, "slug");
  await refused({ slug: "x".repeat(64) }, "slug");
  await refused({ slug: "fine", plan: "nowhere" }, "plan");
  await refused({ slug: "fine", extra: 1 }, "extra");
  const taken = await refuses(gateway, [409, "CONFLICT"], () =>
    call(gateway, "POST", PATH, { body: { slug: "taken" } }),
  );
  assert.deepEqual(detailsOf(taken), { reason: "exists" });
  assert.equal((await call(gateway, "GET", `${PATH}/fine`)).code, "NOT_FOUND");
});

test("admin.not-empty: a workspace with apps is not removed", async () => {
  const { id } = await make("full");
  const row = { id: "app_of_full", workspace_id: id, slug: "a", name: "A", managed_by: "api" };
  await gateway.database.db.insertInto("apps").values(row).execute();
  const answer = await refuses(gateway, [409, "CONFLICT"], () => call(gateway, "DELETE", `${PATH}/full`));
  assert.deepEqual(detailsOf(answer), { reason: "not_empty" });
});

test("admin.removal-race: a workspace is removed while an account is connected to it: neither account nor data key is left", async () => {
  const { db } = gateway.database;
  for (let round = 1; round <= 10; round += 1) {
    const { id } = await make(`brief-${round}`);
    const connection = { id: "own", kind: "deepgram", api_key: "secret-of-the-brief-workspace" };
    const [removed, connected] = await Promise.all([
      call(gateway, "DELETE", `${PATH}/${id}`),
      call(gateway, "POST", `${PATH}/${id}/connections`, { body: connection }),
    ]);
    assert.equal(removed.status, 200);
    assert.ok([201, 404].includes(connected.status), connected.code ?? "");
    for (const table of ["connections", "data_keys"] as const)
      assert.deepEqual(await db.selectFrom(table).select("scope").where("scope", "=", id).execute(), []);
  }
});

test("api.pages, api.page-stability: a list is read page by page, newest first, and what is added meanwhile moves nothing", async () => {
  for (const slug of ["p1", "p2", "p3", "p4", "p5"]) await make(slug, "free");
  const list = listOf(workspaceView);
  const page = async (cursor: string | null) =>
    viewOf(list, await call(gateway, "GET", `${PATH}?plan=free&limit=2${cursor === null ? "" : `&cursor=${cursor}`}`));
  const wanted = (slug: string) => /^p\d$/.test(slug);
  const first = await page(null);
  await make("p6", "free");
  const seen = first.data.map(({ slug }) => slug);
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const next = await page(cursor);
    seen.push(...next.data.map(({ slug }) => slug));
    cursor = next.next_cursor;
  }
  assert.deepEqual(seen.filter(wanted), ["p5", "p4", "p3", "p2", "p1"]);
  assert.equal((await page(null)).data[0]?.slug, "p6");
});

test("api.cursor-own-list: a cursor of another list, a forged one and invalid limits are refused", async () => {
  const audit = viewOf(listOf(workspaceView), await call(gateway, "GET", `${PATH}?limit=1`));
  for (const [path, param] of [
    [`/admin/v1/audit?cursor=${audit.next_cursor}`, "cursor"],
    [`${PATH}?cursor=bm9uc2Vuc2U`, "cursor"],
    [`${PATH}?cursor=%20`, "cursor"],
    [`/admin/v1/audit?cursor=${Buffer.from('["audit","1;drop"]').toString("base64url")}`, "cursor"],
    [`${PATH}?limit=0`, "limit"],
    [`${PATH}?limit=101`, "limit"],
    [`${PATH}?order=asc`, "order"],
    ["/admin/v1/audit?from=yesterday", "from"],
  ] as const) {
    const answer = await call(gateway, "GET", path);
    assert.deepEqual([answer.status, answer.code], [400, "INVALID_REQUEST"], path);
    assert.equal((answer.json as { error: { param: string } }).error.param, param);
  }
});
