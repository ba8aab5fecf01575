// Routes and purposes in the administration's API: drafts, versions, publishing, rolling back.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { purposeList, routeVersionView } from "../../../src/contract/admin/routes.ts";
import { detailsOf, get, postForm } from "../../harness/client.ts";
import { KEY, type TestGateway } from "../../harness/gateway.ts";
import { ADMIN_KEY, auditRows, call, etagOf, OTHER_ADMIN_KEY, refuses, startAdminGateway, viewOf } from "./admin.ts";
import { ACME, ACME_BY_OPERATOR, keyOn, PLATFORM, publish, revise, routeOf, served, targets } from "./set-up.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startAdminGateway();
});
after(() => gateway.close());

test("admin.route-draft: a draft serves no request; published it serves the next one, rolled back the version before does", async () => {
  const first = routeOf(
    await call(gateway, "POST", `${PLATFORM}/routes`, { body: { id: "live", targets: targets(["dg", "nova-3"]) } }),
  );
  assert.deepEqual([first.version, first.definition, first.draft?.version], [null, null, 1]);
  const key = await keyOn(gateway, "live");
  assert.equal((await served(gateway, key)).code, "NO_HEALTHY_PROVIDER");

  await call(gateway, "POST", `${PLATFORM}/routes/live/publish`, { body: {} });
  assert.deepEqual(await served(gateway, key), { code: null, model: "nova-3", route: "live", version: 1 });

  const drafted = await revise(gateway, PLATFORM, "live", { targets: targets(["dg", "nova-2"]) });
  assert.deepEqual([drafted.version, drafted.draft?.version], [1, 2]);
  assert.deepEqual(await served(gateway, key), { code: null, model: "nova-3", route: "live", version: 1 });

  const published = routeOf(await call(gateway, "POST", `${PLATFORM}/routes/live/publish`, { body: {} }));
  assert.deepEqual([published.version, published.previous_version, published.draft], [2, 1, null]);
  assert.deepEqual(await served(gateway, key), { code: null, model: "nova-2", route: "live", version: 2 });

  const back = routeOf(await call(gateway, "POST", `${PLATFORM}/routes/live/roll-back`, { body: {} }));
  assert.deepEqual([back.version, back.previous_version], [1, 2]);
  assert.deepEqual(await served(gateway, key), { code: null, model: "nova-3", route: "live", version: 1 });
});

test("admin.route-versions, admin.one-audit-entry: each version stays readable as it was, newest first, and each change has its audit entry", async () => {
  const before = (await auditRows(gateway)).length;
  await publish(gateway, PLATFORM, { id: "kept", targets: targets(["dg", "nova-3"]) });
  await revise(gateway, PLATFORM, "kept", { targets: targets(["oa", "whisper-1"]) });
  await call(gateway, "POST", `${PLATFORM}/routes/kept/publish`, { body: { version: 2 } });
  await revise(gateway, PLATFORM, "kept", { targets: targets(["dg", "nova-2"]) });
  const list = viewOf(listOf(routeVersionView), await call(gateway, "GET", `${PLATFORM}/routes/kept/versions?limit=2`));
  assert.deepEqual(
    list.data.map(({ version, state }) => [version, state]),
    [
      [3, "draft"],
      [2, "live"],
    ],
  );
  const next = await call(gateway, "GET", `${PLATFORM}/routes/kept/versions?cursor=${list.next_cursor ?? ""}`);
  assert.deepEqual(
    viewOf(listOf(routeVersionView), next).data.map(({ version, state }) => [version, state]),
    [[1, "retired"]],
  );
  const first = viewOf(routeVersionView, await call(gateway, "GET", `${PLATFORM}/routes/kept/versions/1`));
  assert.deepEqual(
    (first.definition["targets"] as { model: string }[]).map(({ model }) => model),
    ["nova-3"],
  );
  assert.deepEqual(
    (await auditRows(gateway)).slice(before).map(({ action, object, workspace_id }) => [action, object, workspace_id]),
    ["route.created", "route.published", "route.revised", "route.published", "route.revised"].map((action) => [
      action,
      "kept",
      null,
    ]),
  );
  for (const missing of ["4", "0", "x"])
    assert.equal((await call(gateway, "GET", `${PLATFORM}/routes/kept/versions/${missing}`)).code, "NOT_FOUND");
});

test("admin.all-faults: what the file would refuse is refused, all faults at once, with did-you-mean", async () => {
  const wrong = {
    id: "bad",
    targets: [
      { connection: "dgg", model: "nova-3" },
      { connection: "dg", model: "nova-33" },
      { connection: "dg", model: "nova-3", settings: { nonsense: 1 } },
    ],
    purposes: [{ purpose: "x", route: "spech" }],
  };
  const answer = await refuses(gateway, [400, "INVALID_REQUEST"], () =>
    call(gateway, "POST", `${PLATFORM}/routes`, { body: wrong }),
  );
  const issues = detailsOf(answer)["issues"] as { param: string; message: string }[];
  assert.deepEqual(
    issues.map(({ param }) => param),
    ["targets[0].connection", "targets[1].model", "targets[2].settings.nonsense", "purposes[0].route"],
  );
  for (const [at, meant] of [
    [0, "`dg`"],
    [1, "`nova-3`"],
    [3, "`speech`"],
  ] as const)
    assert(issues[at]?.message.includes(`did you mean ${meant}`), issues[at]?.message);
  const schema = await refuses(gateway, [400, "INVALID_REQUEST"], () =>
    call(gateway, "POST", `${PLATFORM}/routes`, { body: { id: "bad", targetts: [] } }),
  );
  assert(JSON.stringify(detailsOf(schema)).includes("did you mean `targets`"));
  assert.equal((await call(gateway, "GET", `${PLATFORM}/routes/bad`)).code, "NOT_FOUND");
});

test("admin.managed-by-file: the file's routes are read-only in the API, and say so", async () => {
  const path = `${PLATFORM}/routes/speech`;
  const read = await call(gateway, "GET", path);
  assert.equal(routeOf(read).managed_by, "file");
  const headers = { "if-match": etagOf(read) };
  const purpose = { route: "speech" };
  for (const [method, below, body] of [
    ["PUT", "", { targets: targets(["dg", "nova-3"]) }],
    ["DELETE", "", undefined],
    ["POST", "/publish", {}],
    ["POST", "/roll-back", {}],
    ["PUT", "/purposes/meetings", purpose],
  ] as const)
    await refuses(gateway, [409, "MANAGED_BY_FILE"], () => call(gateway, method, path + below, { body, headers }));
});

test("admin.version-impossible: a version that no column can hold is refused like one that does not exist", async () => {
  await publish(gateway, PLATFORM, { id: "counted", targets: targets(["dg", "nova-3"]) });
  for (const step of ["publish", "roll-back"])
    for (const version of [2_147_483_647, 2_147_483_648, Number.MAX_SAFE_INTEGER])
      await refuses(gateway, [400, "INVALID_REQUEST"], () =>
        call(gateway, "POST", `${PLATFORM}/routes/counted/${step}`, { body: { version } }),
      );
});

test("api.unknown-query: a query parameter that an endpoint does not have is refused before anything is done", async () => {
  const body = { id: "queried", targets: targets(["dg", "nova-3"]) };
  await refuses(gateway, [400, "INVALID_REQUEST"], () =>
    call(gateway, "POST", `${PLATFORM}/routes?dry_run=true`, { body }),
  );
  assert.equal((await call(gateway, "GET", `${PLATFORM}/routes/queried`)).status, 404);
});

test("admin.version-impossible, errors.never-internal: NUL and times that no database can hold are refused everywhere, and are never an internal error", async () => {
  for (const query of ["key=%00", "code=a%00b", "from=0000-02-29T00:00:00Z", "to=9999-12-31T23:59:59-12:00"])
    for (const list of ["requests", "audit"]) {
      if (list === "audit" && /^(key|code)/u.test(query)) continue;
      const answer = await call(gateway, "GET", `${PLATFORM}/${list}?${query}`);
      assert.equal(answer.status, 400, `${list} ${query}: ${answer.text}`);
    }
  for (const query of ["actor=%00", "target=a%00b"])
    assert.equal((await call(gateway, "GET", `${PLATFORM}/audit?${query}`)).status, 400, query);
  const body = { id: "nul", targets: targets(["dg", "nova-3\0"]) };
  await refuses(gateway, [400, "INVALID_REQUEST"], () => call(gateway, "POST", `${PLATFORM}/routes`, { body }));
  await refuses(gateway, [400, "INVALID_REQUEST"], () =>
    call(gateway, "POST", `${ACME}/keys`, { body: { role: "admin", name: "a\0b" } }),
  );
});

test("admin.if-match-required, admin.lost-update: a change must name the state it was made from, and one from an older state changes nothing", async () => {
  await publish(gateway, PLATFORM, { id: "raced", targets: targets(["dg", "nova-3"]) });
  const path = `${PLATFORM}/routes/raced`;
  const body = { targets: targets(["dg", "nova-2"]) };
  const etag = etagOf(await call(gateway, "GET", path));
  await refuses(gateway, [428, "PRECONDITION_REQUIRED"], () => call(gateway, "PUT", path, { body }));
  assert.equal((await call(gateway, "PUT", path, { body, headers: { "if-match": etag } })).status, 200);
  for (const [method, below, sent] of [
    ["PUT", "", body],
    ["POST", "/publish", {}],
    ["DELETE", "", undefined],
  ] as const)
    await refuses(gateway, [412, "PRECONDITION_FAILED"], () =>
      call(gateway, method, path + below, { body: sent, headers: { "if-match": etag } }),
    );
});

test("admin.route-in-use: a route that an app or a purpose names is not removed; one created again continues its version numbers", async () => {
  await publish(gateway, PLATFORM, { id: "named", targets: targets(["dg", "nova-3"]) });
  await keyOn(gateway, "named");
  const refused = await refuses(gateway, [409, "CONFLICT"], () => call(gateway, "DELETE", `${PLATFORM}/routes/named`));
  const { reason, used_by: users } = detailsOf(refused);
  assert.equal(reason, "in_use");
  const key = await gateway.database.db
    .selectFrom("api_keys")
    .select("id")
    .where("name", "=", "named")
    .executeTakeFirst();
  assert.deepEqual(users, [{ object: "key", id: key?.id, workspace: "acme" }]);
  assert.match(refused.text, /key `key_[^`]+` \(acme\) would have no target/u);
  await gateway.database.db
    .updateTable("api_keys")
    .set({ revoked_at: new Date() })
    .where("name", "=", "named")
    .execute();
  assert.equal((await call(gateway, "DELETE", `${PLATFORM}/routes/named`)).status, 200);
  assert.equal((await call(gateway, "GET", `${PLATFORM}/routes/named/versions`)).code, "NOT_FOUND");
  const again = await publish(gateway, PLATFORM, { id: "named", targets: targets(["dg", "nova-3"]) });
  assert.equal(again.version, 2);
});

test("admin.purposes: a purpose is created, disabled, unpublished and removed, each counting for the next request", async () => {
  await publish(gateway, PLATFORM, { id: "fast", targets: targets(["dg", "nova-2"]) });
  await publish(gateway, PLATFORM, { id: "main", targets: targets(["dg", "nova-3"]) });
  const key = await keyOn(gateway, "main");
  const path = `${PLATFORM}/routes/main/purposes/calls`;
  const put = (body: object) => call(gateway, "PUT", path, { body: { route: "fast", ...body } });
  const made = viewOf(purposeList, await put({ description: "Calls" }));
  assert.deepEqual(
    made.data.map(({ purpose, route, is_enabled, is_published }) => [purpose, route, is_enabled, is_published]),
    [["calls", "fast", true, true]],
  );
  const purpose = { purpose: "calls" };
  assert.deepEqual(await served(gateway, key, purpose), { code: null, model: "nova-2", route: "fast", version: 1 });
  for (const off of [{ is_enabled: false }, { is_published: false }]) {
    await put(off);
    assert.equal((await served(gateway, key, purpose)).model, "nova-3");
  }
  await put({});
  assert.equal((await served(gateway, key, purpose)).model, "nova-2");
  const strict = { ...purpose, purpose_policy: "strict" };
  assert.equal((await call(gateway, "DELETE", path)).status, 200);
  assert.equal((await served(gateway, key, strict)).code, "audio_purpose_unavailable");
  assert.equal((await call(gateway, "DELETE", path)).code, "NOT_FOUND");
  await refuses(gateway, [400, "INVALID_REQUEST"], () => put({ route: "nowhere" }));
});

test("admin.no-change: a route or a purpose put again as it is changes nothing: no version, no audit entry, the same tag", async () => {
  await publish(gateway, PLATFORM, { id: "again", targets: targets(["dg", "nova-3"]) });
  const path = `${PLATFORM}/routes/again`;
  const any = { "if-match": "*" };
  const twice = async (put: () => ReturnType<typeof call>) => {
    const first = await put();
    assert.equal(first.status, 200, first.text);
    const before = (await auditRows(gateway)).length;
    const second = await put();
    assert.deepEqual([second.status, second.json, etagOf(second)], [200, first.json, etagOf(first)]);
    assert.equal((await auditRows(gateway)).length, before);
    return first;
  };
  // What serves, what is a draft, and what served before: that one is a draft again.
  const put = (model: string) => () =>
    call(gateway, "PUT", path, { body: { targets: targets(["dg", model]) }, headers: any });
  assert.equal(routeOf(await twice(put("nova-3"))).draft, null);
  assert.equal(routeOf(await twice(put("nova-2"))).draft?.version, 2);
  await call(gateway, "POST", `${path}/publish`, { body: {} });
  await call(gateway, "POST", `${path}/roll-back`, { body: {} });
  assert.equal(routeOf(await twice(put("nova-2"))).draft?.version, 3);
  const body = { route: "again", defaults: { diarization: true } };
  const made = await twice(() => call(gateway, "PUT", `${path}/purposes/calls`, { body }));
  assert.equal(viewOf(purposeList, made).version, 4);
});

test("admin.null-unset: a member that is sent as null counts as not sent, also in routes and their targets", async () => {
  const target = {
    connection: "dg",
    model: "nova-3",
    profiles: null,
    settings: null,
    first_content_timeout_seconds: null,
  };
  const sent = { id: "nulls", targets: [target], purposes: null, may_pay_twice: null, accept_weak: null };
  const plain = await call(gateway, "POST", `${PLATFORM}/routes`, {
    body: { id: "no-nulls", targets: targets(["dg", "nova-3"]) },
  });
  const made = await call(gateway, "POST", `${PLATFORM}/routes`, { body: sent });
  const definitionOf = (answer: typeof made) => ({ ...routeOf(answer).draft?.definition, id: null });
  assert.deepEqual(definitionOf(made), definitionOf(plain));
  await call(gateway, "POST", `${PLATFORM}/routes/nulls/publish`, { body: {} });
  const body = { route: "nulls", description: null, is_enabled: null, defaults: { language: null } };
  const put = await call(gateway, "PUT", `${PLATFORM}/routes/nulls/purposes/calls`, { body });
  assert.deepEqual(viewOf(purposeList, put).data[0]?.defaults, {});
  await refuses(gateway, [400, "INVALID_REQUEST"], () =>
    call(gateway, "POST", `${PLATFORM}/routes`, { body: { ...sent, id: "no-targets", targets: null } }),
  );
});

test("admin.purpose-tag: a purpose is put without a tag, and with the tag of the route's purposes only over those", async () => {
  await publish(gateway, PLATFORM, { id: "tagged", targets: targets(["dg", "nova-3"]) });
  const path = `${PLATFORM}/routes/tagged/purposes`;
  const body = { route: "tagged" };
  const tag = { "if-match": etagOf(await call(gateway, "GET", path)) };
  assert.equal((await call(gateway, "PUT", `${path}/first`, { body })).status, 200);
  await refuses(gateway, [412, "PRECONDITION_FAILED"], () =>
    call(gateway, "PUT", `${path}/second`, { body, headers: tag }),
  );
  await refuses(gateway, [412, "PRECONDITION_FAILED"], () =>
    call(gateway, "DELETE", `${path}/first`, { headers: tag }),
  );
  const now = { "if-match": etagOf(await call(gateway, "GET", path)) };
  assert.equal((await call(gateway, "PUT", `${path}/second`, { body, headers: now })).status, 200);
  const off = { ...body, is_enabled: false };
  const after = viewOf(
    purposeList,
    await call(gateway, "PUT", `${path}/first`, { body: off, headers: { "if-match": "*" } }),
  );
  assert.deepEqual(
    after.data.map(({ purpose, is_enabled }) => [purpose, is_enabled]),
    [
      ["first", false],
      ["second", true],
    ],
  );
});

test("admin.route-own: a workspace's route is its own: others find nothing, and no route with a shared one's name is created", async () => {
  const body = { id: "own-route", targets: targets(["dg", "nova-3"]) };
  assert.equal((await call(gateway, "POST", `${ACME}/routes`, { body })).status, 201);
  assert.equal((await call(gateway, "GET", `${ACME_BY_OPERATOR}/routes/own-route`)).status, 200);
  assert.equal((await call(gateway, "GET", `${PLATFORM}/routes/own-route`)).code, "NOT_FOUND");
  const withoutId = async (path: string, key: string) => {
    const answer = await call(gateway, "GET", path, { key });
    assert.equal(answer.status, 404);
    return answer.text.replaceAll(answer.headers.get("x-request-id") ?? "-", "req");
  };
  assert.equal(
    await withoutId("/workspace/other/routes/own-route", OTHER_ADMIN_KEY),
    await withoutId("/workspace/other/routes/no-such", OTHER_ADMIN_KEY),
  );
  assert.equal(
    await withoutId(`${ACME}/routes/own-route`, OTHER_ADMIN_KEY),
    await withoutId("/workspace/no-such/routes/own-route", OTHER_ADMIN_KEY),
  );
  await refuses(gateway, [403, "FORBIDDEN"], () => call(gateway, "POST", `${ACME}/routes`, { body, key: KEY }));
  for (const [base, id] of [
    [ACME, "speech"],
    [PLATFORM, "own-route"],
  ] as const)
    await refuses(gateway, [400, "INVALID_REQUEST"], () =>
      call(gateway, "POST", `${base}/routes`, { body: { ...body, id } }),
    );
  const { key } = (await get(gateway.origin, "/v1/me", ADMIN_KEY)).json as { key: { id: string } };
  const made = (await auditRows(gateway)).filter(({ object }) => object === "own-route");
  assert.deepEqual(
    made.map(({ action, actor_key_id }) => [action, actor_key_id]),
    [["route.created", key.id]],
  );
});

test("admin.route-job: a job runs on the version that was published when it was accepted", async () => {
  await using idle = new AsyncDisposableStack();
  const accepting = await startAdminGateway({ works: false });
  idle.defer(() => accepting.close());
  await publish(accepting, PLATFORM, { id: "jobs", targets: targets(["dg", "nova-3"]) });
  const key = await keyOn(accepting, "jobs");
  const taken = await postForm(accepting.origin, { path: "/v1/transcription/jobs", key });
  assert.equal(taken.status, 202, taken.text);
  await revise(accepting, PLATFORM, "jobs", { targets: targets(["dg", "nova-2"]) });
  await call(accepting, "POST", `${PLATFORM}/routes/jobs/publish`, { body: {} });
  const working = await startAdminGateway({ existing: accepting });
  idle.defer(() => working.close());
  const { poll_url: path } = taken.json as { poll_url: string };
  let job: { status?: string } = {};
  while (job.status !== "succeeded") {
    job = (await get(working.origin, `${path}?wait=20`, key)).json as typeof job;
    assert(job.status === "queued" || job.status === "processing" || job.status === "succeeded", JSON.stringify(job));
  }
  assert.deepEqual([...new Set(accepting.sandbox.calls.map(({ model }) => model))], ["nova-3"]);
});

test("admin.removal-race: a route is removed while an app is put on it: the app is refused, or the route stays", async () => {
  for (let round = 1; round <= 10; round += 1) {
    const id = `brief-${round}`;
    await call(gateway, "POST", `${PLATFORM}/routes`, { body: { id, targets: targets(["dg", "nova-3"]) } });
    const [removed, made] = await Promise.all([
      call(gateway, "DELETE", `${PLATFORM}/routes/${id}`),
      call(gateway, "POST", `${ACME_BY_OPERATOR}/apps`, { body: { slug: id, route: id } }),
    ]);
    const expected = removed.status === 200 ? [200, 400] : [409, 201];
    assert.deepEqual([removed.status, made.status], expected);
  }
});
