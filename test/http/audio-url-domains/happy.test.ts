// GET and PUT /workspace/{tenant_id}/audio-url-domains: what they do.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { applyConfiguration } from "../../../src/directory/apply-configuration.ts";
import { createSeal } from "../../../src/storage/secrets/seal.ts";
import { get, postJson } from "../../harness/client.ts";
import { ENCRYPTION_KEY, OTHER_KEY, PEPPER } from "../../harness/gateway.ts";
import {
  ADMIN_KEY,
  OPERATOR_KEY,
  OTHER_ADMIN_KEY,
  type RemoteGateway,
  startRemoteGateway,
  URL_OF_SPEECH,
} from "../audio-url/setup.ts";
import { etagOf } from "../admin/admin.ts";
import { auditRows, domainsClient, viewOf } from "./domains.ts";

let remote: RemoteGateway;
before(async () => {
  remote = await startRemoteGateway();
});
after(() => remote.close());
const client = domainsClient(() => remote);

test("remote-audio.list-seed: a new workspace begins with the file's list, one without any with an empty one", async () => {
  const acme = viewOf(await client.read(ADMIN_KEY));
  assert.deepEqual([acme.domains, acme.global_domains, acme.max_domains], [["media.example"], ["global.example"], 20]);
  assert.match(acme.updated_at ?? "", /Z$/);
  const other = viewOf(await client.read(OTHER_ADMIN_KEY, "other"));
  assert.deepEqual(other.domains, []);
});

test("remote-audio.list-size, configuration.limits: max_domains is what /v1/melimits reports", async () => {
  const limits = (await get(remote.gateway.origin, "/v1/melimits")).json as Record<string, number>;
  assert.equal(limits["max_audio_url_domains"], viewOf(await client.read(ADMIN_KEY)).max_domains);
  assert.deepEqual([limits["max_audio_url_bytes"], limits["max_audio_url_redirects"]], [25_000_000, 3]);
});

test("remote-audio.list-normalised: SSRF-437: a replacement is kept in lower case, each name once, in the order given", async () => {
  const wanted = ["B.Example.com", "*.cdn.example", "b.example.com", "a.example.com"];
  const put = viewOf(await client.put(OTHER_ADMIN_KEY, { domains: wanted }, "other"));
  assert.deepEqual(put.domains, ["b.example.com", "*.cdn.example", "a.example.com"]);
  assert.deepEqual(viewOf(await client.read(OTHER_ADMIN_KEY, "other")), put);
});

test("remote-audio.list-takes-effect: a list counts at once for the next request, and an empty one refuses every URL that is not global", async () => {
  const call = () => postJson(remote.gateway.origin, { audio: { url: URL_OF_SPEECH } }, { key: OTHER_KEY });
  viewOf(await client.put(OTHER_ADMIN_KEY, { domains: ["media.example"] }, "other"));
  assert.equal((await call()).status, 200);
  viewOf(await client.put(OTHER_ADMIN_KEY, { domains: [] }, "other"));
  assert.equal((await call()).code, "AUDIO_URL_REJECTED");
});

test("remote-audio.list-concurrent-changes: the answer has an ETag; a change from another state is refused, and nothing is changed", async () => {
  const put = (domains: readonly string[], ifMatch?: string) =>
    client.put(OTHER_ADMIN_KEY, { domains }, "other", ifMatch === undefined ? {} : { "if-match": ifMatch });
  const read = etagOf(await client.read(OTHER_ADMIN_KEY, "other"));
  const first = await put(["first.example.com"], read);
  assert.deepEqual(viewOf(first).domains, ["first.example.com"]);
  assert.equal(etagOf(first), etagOf(await client.read(OTHER_ADMIN_KEY, "other")));
  const audited = (await auditRows(remote)).length;
  assert.deepEqual([(await put(["second.example.com"], read)).code], ["PRECONDITION_FAILED"]);
  assert.deepEqual(viewOf(await client.read(OTHER_ADMIN_KEY, "other")), viewOf(first));
  assert.equal((await auditRows(remote)).length, audited);
  assert.equal((await put(["third.example.com"], "*")).status, 200);
  assert.equal((await put(["fourth.example.com"])).status, 200, "If-Match is optional");
  assert.equal((await put(["fifth.example.com"], "fifth")).code, "INVALID_REQUEST");
});

test("remote-audio.list-concurrent-changes: of two concurrent changes from one state, one is made and the other refused", async () => {
  const read = etagOf(await client.read(OTHER_ADMIN_KEY, "other"));
  const both = await Promise.all(
    ["left.example.com", "right.example.com"].map((domain) =>
      client.put(OTHER_ADMIN_KEY, { domains: [domain] }, "other", { "if-match": read }),
    ),
  );
  assert.deepEqual(both.map(({ code }) => code ?? "made").toSorted(), ["PRECONDITION_FAILED", "made"]);
  const made = both.find(({ status }) => status === 200);
  assert.deepEqual((await client.read(OTHER_ADMIN_KEY, "other")).json, made?.json);
});

test("remote-audio.list-roles: the operator administers every workspace, by its slug and by its id", async () => {
  const { id } = await remote.gateway.database.db
    .selectFrom("workspaces")
    .select("id")
    .where("slug", "=", "other")
    .executeTakeFirstOrThrow();
  const put = viewOf(await client.put(OPERATOR_KEY, { domains: ["by.operator.example"] }, id));
  assert.deepEqual(viewOf(await client.read(OPERATOR_KEY, "other")), put);
});

test("remote-audio.list-entries, remote-audio.list-size: SSRF-417, SSRF-425: twenty names are accepted, a bucket's own host among them", async () => {
  const names = ["my-bucket.s3.amazonaws.com", ...Array.from({ length: 19 }, (_, at) => `h${at}.example.com`)];
  assert.deepEqual(viewOf(await client.put(OTHER_ADMIN_KEY, { domains: names }, "other")).domains, names);
});

test("remote-audio.list-audit: every change is one audit row with actor, before and after, in the same transaction; the same list again is none", async () => {
  viewOf(await client.put(OTHER_ADMIN_KEY, { domains: ["before.example.com"] }, "other"));
  const before = await auditRows(remote);
  const put = () => client.put(OTHER_ADMIN_KEY, { domains: ["after.example.com"] }, "other");
  const first = viewOf(await put());
  assert.deepEqual(viewOf(await put()), first);
  const [row, ...more] = (await auditRows(remote)).slice(before.length);
  assert.equal(more.length, 0);
  const key = await remote.gateway.database.db
    .selectFrom("api_keys")
    .select(["id", "workspace_id"])
    .where("name", "=", "other-admin")
    .executeTakeFirstOrThrow();
  assert.deepEqual(
    [row?.workspace_id, row?.actor_key_id, row?.action, row?.object, row?.before, row?.after],
    [
      key.workspace_id,
      key.id,
      "audio_url_domains.replaced",
      key.workspace_id,
      { domains: ["before.example.com"] },
      { domains: ["after.example.com"] },
    ],
  );
});

test("tenancy.audit-append-only: the database refuses to change, remove or empty the audit log", async () => {
  const { db } = remote.gateway.database;
  const before = await auditRows(remote);
  for (const statement of [
    sql`update audit_log set action = 'nothing'`,
    sql`delete from audit_log`,
    sql`truncate audit_log`,
  ])
    await assert.rejects(statement.execute(db), /append-only/);
  assert.deepEqual(await auditRows(remote), before);
});

test("remote-audio.list-seed, configuration.audio-domains-seed: applying the file again leaves a workspace's list as it is, and replaces the operator's with an audit row", async () => {
  const tag = etagOf(await client.put(ADMIN_KEY, { domains: ["kept.example.com"] }));
  const before = await auditRows(remote);
  const { configuration, database } = remote.gateway;
  const services = { database, seal: createSeal({ keys: [ENCRYPTION_KEY] }), pepper: PEPPER };
  const audioUrl = { ...configuration.audioUrl, globalDomains: ["new.global.example"] };
  await applyConfiguration(services, { ...configuration, audioUrl }, { isFile: true });
  const read = await client.read(ADMIN_KEY);
  assert.equal(etagOf(read), tag, "the operator's list is no part of what a workspace replaces");
  const view = viewOf(read);
  assert.deepEqual([view.domains, view.global_domains], [["kept.example.com"], ["new.global.example"]]);
  const rows = (await auditRows(remote)).slice(before.length);
  assert.deepEqual(
    rows.map(({ workspace_id, actor_key_id, object, before: was, after: is }) => [
      workspace_id,
      actor_key_id,
      object,
      was,
      is,
    ]),
    [[null, null, "platform", { domains: ["global.example"] }, { domains: ["new.global.example"] }]],
  );
});
