// Connections in the administration's API: judged, sealed, never shown, rotated. Those of workspaces go through the guard.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { connectionView } from "../../../src/contract/admin/connections.ts";
import { providerHealth } from "../../../src/contract/admin/provider-health.ts";
import { detailsOf, envelopeOf, postForm } from "../../harness/client.ts";
import { KEY, OTHER_KEY, type TestGateway } from "../../harness/gateway.ts";
import { type PretendInternet, pretendInternet } from "../../outbound/pretend-internet.ts";
import { adminFile, auditRows, call, etagOf, OTHER_ADMIN_KEY, refuses, startAdminGateway, viewOf } from "./admin.ts";
import { ACME, ACME_BY_OPERATOR, connect, connectionOf, PLATFORM, publish, revise, targets } from "./set-up.ts";

const PUBLIC = "93.184.216.34";
const SECRETS = ["first-secret-0001", "second-secret-0002", "own-secret-000003"] as const;
let internet: PretendInternet;
let gateway: TestGateway;
before(async () => {
  internet = pretendInternet();
  internet.name("own.example", [PUBLIC]);
  internet.name("inside.example", ["10.0.0.7"]);
  gateway = await startAdminGateway({
    network: internet,
    file: (sandbox) => ({ ...adminFile(sandbox), byok: { allowed_private_cidrs: ["10.20.0.0/16"] } }),
  });
  internet.server(PUBLIC, new URL(gateway.sandbox.origin));
});
after(() => gateway.close());

const [FIRST, SECOND, OWN] = SECRETS;
const deepgram = (id: string, apiKey: string, rest: object = {}) => ({
  id,
  kind: "deepgram",
  api_key: apiKey,
  ...rest,
});

test("admin.connections, admin.one-audit-entry, admin.connection-credential: a connection is created, read, changed, rotated and removed, each with one audit entry, its credential in none", async () => {
  const before = (await auditRows(gateway)).length;
  const made = await connect(gateway, PLATFORM, deepgram("dg2", FIRST, { base_url: gateway.sandbox.deepgramUrl }));
  assert.deepEqual(
    [made.has_credential, made.credential_last4, made.managed_by, made.timeout_seconds],
    [true, "0001", "api", 600],
  );
  const path = `${PLATFORM}/connections/dg2`;
  const read = await call(gateway, "GET", path);
  assert.deepEqual(connectionOf(read), made);
  const changed = await call(gateway, "PUT", path, {
    body: { kind: "deepgram", base_url: gateway.sandbox.deepgramUrl, timeout_seconds: 60 },
    headers: { "if-match": etagOf(read) },
  });
  assert.deepEqual([connectionOf(changed).timeout_seconds, connectionOf(changed).credential_last4], [60, "0001"]);
  const rotated = await call(gateway, "POST", `${path}/credential`, { body: { api_key: SECOND } });
  assert.equal(connectionOf(rotated).credential_last4, "0002");
  assert.equal((await call(gateway, "DELETE", path)).status, 200);
  assert.equal((await call(gateway, "GET", path)).code, "NOT_FOUND");
  const rows = (await auditRows(gateway)).slice(before);
  assert.deepEqual(
    rows.map(({ action, object, workspace_id }) => [action, object, workspace_id]),
    ["created", "changed", "credential_rotated", "deleted"].map((verb) => [`connection.${verb}`, "dg2", null]),
  );
});

test("admin.no-change: a connection put again as it is changes nothing: no audit entry, the same tag; another credential is a change", async () => {
  const models = {
    "own-model": { capabilities: ["audio_input"], features: { timestamps: ["word"], diarization: true } },
  };
  const own = { kind: "openai-compatible", base_url: "https://stt.example/v1", timeout_seconds: 60, models };
  await connect(gateway, PLATFORM, { id: "again", ...own, api_key: FIRST });
  const path = `${PLATFORM}/connections/again`;
  const put = (body: object) => call(gateway, "PUT", path, { body, headers: { "if-match": "*" } });
  const read = await call(gateway, "GET", path);
  const before = (await auditRows(gateway)).length;
  for (const same of [own, { ...own, api_key: FIRST }]) {
    const answer = await put(same);
    assert.deepEqual([answer.json, etagOf(answer)], [read.json, etagOf(read)]);
  }
  assert.equal((await auditRows(gateway)).length, before);
  assert.equal(connectionOf(await put({ ...own, api_key: SECOND })).credential_last4, "0002");
  assert.equal(connectionOf(await put({ ...own, timeout_seconds: null })).timeout_seconds, 600);
  assert.equal((await auditRows(gateway)).length, before + 2);
});

test("admin.connection-credential, admin.all-faults: what the file would refuse is refused, and a faulty credential is reported without a word of it", async () => {
  for (const [body, param] of [
    [{ id: "x", kind: "deepgramm", api_key: FIRST }, "kind"],
    [{ id: "x", kind: "deepgram" }, "api_key"],
    [{ id: "x", kind: "openai-compatible" }, "base_url"],
    [{ id: "x", kind: "google-speech", api_key: `{"broken": "${FIRST}"}` }, "api_key"],
    [{ id: "x", kind: "deepgram", api_key: FIRST, base_url: "ftp://a" }, "base_url"],
    [{ id: "no/slash", kind: "deepgram", api_key: FIRST }, "id"],
    [{ id: "x", kind: "deepgram", api_key: FIRST, modells: {} }, "modells"],
  ] as const) {
    const answer = await refuses(gateway, [400, "INVALID_REQUEST"], () =>
      call(gateway, "POST", `${PLATFORM}/connections`, { body }),
    );
    assert.equal((detailsOf(answer)["issues"] as { param: string }[])[0]?.param, param);
    assert(!answer.text.includes(FIRST));
  }
  await refuses(gateway, [409, "CONFLICT"], () =>
    call(gateway, "POST", `${PLATFORM}/connections`, { body: deepgram("dg", FIRST) }),
  );
});

test("admin.managed-by-file: the file's connections are read-only in the API, and say so", async () => {
  const path = `${PLATFORM}/connections/dg`;
  const read = await call(gateway, "GET", path);
  assert.equal(connectionOf(read).managed_by, "file");
  const headers = { "if-match": etagOf(read) };
  for (const [method, below, body] of [
    ["PUT", "", { kind: "deepgram" }],
    ["POST", "/credential", { api_key: SECOND }],
    ["DELETE", "", undefined],
  ] as const)
    await refuses(gateway, [409, "MANAGED_BY_FILE"], () => call(gateway, method, path + below, { body, headers }));
});

test("admin.connection-address: a stored credential is sent to no address that it was not given for", async () => {
  const made = await connect(gateway, ACME, deepgram("mine", OWN, { base_url: "https://own.example/deepgram" }));
  assert.equal(made.base_url, "https://own.example/deepgram");
  const path = `${ACME}/connections/mine`;
  const headers = { "if-match": etagOf(await call(gateway, "GET", path)) };
  internet.name("thief.example", [PUBLIC]);
  const moved = { kind: "deepgram", base_url: "https://thief.example/deepgram" };
  await refuses(gateway, [400, "INVALID_REQUEST"], () => call(gateway, "PUT", path, { body: moved, headers }));
  const again = await call(gateway, "PUT", path, { body: { ...moved, api_key: OWN }, headers });
  assert.equal(again.status, 200);
  assert.equal((await call(gateway, "DELETE", path)).status, 200);
});

test("admin.connection-own-address: a workspace's address is judged when it is stored: scheme, names and ranges, with no word of what is inside", async () => {
  for (const url of [
    "http://own.example/deepgram",
    "https://inside.example",
    "https://169.254.169.254",
    "https://10.0.0.1",
    "https://nowhere.example",
    "https://localhost",
    "https://user@own.example",
  ]) {
    const answer = await refuses(gateway, [400, "INVALID_REQUEST"], () =>
      call(gateway, "POST", `${ACME}/connections`, { body: deepgram("inside", OWN, { base_url: url }) }),
    );
    assert(!answer.text.includes("10.0.0.7"), url);
  }
  const endless = deepgram("endless", OWN, { base_url: `https://own.example/${"/".repeat(2_100)}x` });
  const answer = await refuses(gateway, [400, "INVALID_REQUEST"], () =>
    call(gateway, "POST", `${ACME}/connections`, { body: endless }),
  );
  assert.match(answer.text, /at most 2048 characters/u);
  const opened = deepgram("opened", OWN, { base_url: "http://10.20.1.1:8000" });
  assert.equal((await call(gateway, "POST", `${ACME_BY_OPERATOR}/connections`, { body: opened })).status, 201);
  assert.equal(internet.canaryConnections(), 0);
});

test("admin.connection-byok: a workspace's connection with a shared one's id serves this workspace at once, and no other; removed, the shared one does", async () => {
  const authorizations = () => gateway.sandbox.calls.map(({ headers }) => headers["authorization"]?.slice(-4));
  const servedFor = async (key: string) => {
    gateway.sandbox.clearCalls();
    envelopeOf(await postForm(gateway.origin, { key }));
    return authorizations();
  };
  assert.deepEqual(await servedFor(KEY), ["cret"]);
  await connect(gateway, ACME, deepgram("dg", OWN, { base_url: "https://own.example/deepgram" }));
  assert.deepEqual([await servedFor(KEY), await servedFor(OTHER_KEY)], [["0003"], ["cret"]]);
  await call(gateway, "POST", `${ACME}/connections/dg/credential`, { body: { api_key: SECOND } });
  assert.deepEqual(await servedFor(KEY), ["0002"]);
  assert.equal((await call(gateway, "DELETE", `${ACME}/connections/dg`)).status, 200);
  assert.deepEqual(await servedFor(KEY), ["cret"]);
});

test("admin.connection-foreign: another workspace's connection is the 404 of a missing one, byte for byte; members get 403", async () => {
  await connect(gateway, ACME, deepgram("secret-name", OWN));
  const answerOf = async (path: string) => {
    const answer = await call(gateway, "GET", path, { key: OTHER_ADMIN_KEY });
    assert.equal(answer.status, 404);
    return answer.text.replaceAll(answer.headers.get("x-request-id") ?? "-", "req");
  };
  const missing = await answerOf("/workspace/other/connections/never-made");
  assert.equal(await answerOf("/workspace/other/connections/secret-name"), missing);
  assert.equal(await answerOf(`${ACME}/connections/secret-name`), await answerOf("/workspace/none/connections/x"));
  const list = viewOf(
    listOf(connectionView),
    await call(gateway, "GET", "/workspace/other/connections", { key: OTHER_ADMIN_KEY }),
  );
  assert.deepEqual(list.data, []);
  await refuses(gateway, [403, "FORBIDDEN"], () => call(gateway, "GET", `${ACME}/connections`, { key: KEY }));
});

test("admin.connection-in-use: a connection that a published route names is neither removed nor made unfit for it", async () => {
  await connect(gateway, PLATFORM, deepgram("used", FIRST));
  await publish(gateway, PLATFORM, { id: "using", targets: targets(["used", "nova-3"]) });
  const path = `${PLATFORM}/connections/used`;
  const headers = { "if-match": etagOf(await call(gateway, "GET", path)) };
  for (const [method, body] of [
    ["DELETE", undefined],
    ["PUT", { kind: "openai", api_key: FIRST }],
  ] as const) {
    const answer = await refuses(gateway, [409, "CONFLICT"], () => call(gateway, method, path, { body, headers }));
    assert.equal(detailsOf(answer)["reason"], "in_use");
  }
});

test("admin.connection-fit: a workspace's connection replaces a shared one only where it can serve the routes on it", async () => {
  const models = { house: { capabilities: ["audio_input"] } };
  await connect(gateway, PLATFORM, deepgram("twin", FIRST));
  await connect(gateway, ACME, deepgram("twin", OWN, { models }));
  await publish(gateway, ACME, { id: "on-twin", targets: targets(["twin", "house"]) });
  const remove = () => call(gateway, "DELETE", `${ACME}/connections/twin`);
  const answer = await refuses(gateway, [409, "CONFLICT"], remove);
  assert.equal(detailsOf(answer)["reason"], "in_use");
  await revise(gateway, ACME, "on-twin", { targets: targets(["twin", "nova-3"]) });
  await call(gateway, "POST", `${ACME}/routes/on-twin/publish`, { body: {} });
  assert.equal((await remove()).status, 200);
});

test("admin.connections: pages of connections, by id", async () => {
  const page = viewOf(listOf(connectionView), await call(gateway, "GET", `${PLATFORM}/connections?limit=2`));
  const rest = viewOf(
    listOf(connectionView),
    await call(gateway, "GET", `${PLATFORM}/connections?cursor=${page.next_cursor ?? ""}`),
  );
  const ids = [...page.data, ...rest.data].map(({ id }) => id);
  assert.deepEqual([page.data.length, ids], [2, ids.toSorted()]);
});

test("routing.circuit-report: circuits are reported by account and model, once they were called", async () => {
  envelopeOf(await postForm(gateway.origin));
  const health = viewOf(providerHealth, await call(gateway, "GET", `${PLATFORM}/health/providers`));
  const found = health.circuits.find(({ connection, workspace_id }) => connection === "dg" && workspace_id === null);
  assert.deepEqual([found?.model, found?.state, found?.rests_until], ["nova-3", "closed", null]);
});

test("admin.connection-credential: no credential is in any answer, audit entry or log line", async () => {
  const audited = JSON.stringify((await auditRows(gateway)).map(({ before: was, after: is }) => [was, is]));
  const stored = await gateway.database.db.selectFrom("connections").selectAll().execute();
  const shown = await call(gateway, "GET", `${PLATFORM}/connections?limit=100`);
  const places = [audited, gateway.logs.join("\n"), shown.text, JSON.stringify(stored.map((row) => [row.settings]))];
  for (const secret of [...SECRETS, "dg-secret"]) {
    for (const place of places) assert(!place.includes(secret), secret);
    for (const { credential } of stored) assert(credential === null || !credential.includes(secret));
  }
});
