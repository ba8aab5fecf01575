// GET and PUT /workspace/{tenant_id}/audio-url-domains: which keys may call them (SSRF-444).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer } from "../../harness/client.ts";
import { KEY, OTHER_KEY } from "../../harness/gateway.ts";
import { ADMIN_KEY, OTHER_ADMIN_KEY, type RemoteGateway, startRemoteGateway } from "../audio-url/setup.ts";
import { auditRows, domainsClient, viewOf } from "./domains.ts";

let remote: RemoteGateway;
before(async () => {
  remote = await startRemoteGateway();
});
after(() => remote.close());
const client = domainsClient(() => remote);

const withoutRequestId = (answer: Answer): string =>
  answer.text.replaceAll(answer.headers.get("x-request-id") ?? "-", "req");

test("remote-audio.list-roles: a member of the workspace gets 403, and nothing changes", async () => {
  const before = [viewOf(await client.read(ADMIN_KEY)), await auditRows(remote)];
  for (const answer of [await client.read(KEY), await client.put(KEY, { domains: [] })])
    assert.deepEqual([answer.status, answer.code], [403, "FORBIDDEN"]);
  assert.deepEqual([viewOf(await client.read(ADMIN_KEY)), await auditRows(remote)], before);
});

test("remote-audio.list-roles: to members and administrators of another workspace it looks like one that does not exist, byte for byte", async () => {
  const before = [viewOf(await client.read(ADMIN_KEY)), await auditRows(remote)];
  const { id } = await remote.gateway.database.db
    .selectFrom("workspaces")
    .select("id")
    .where("slug", "=", "acme")
    .executeTakeFirstOrThrow();
  for (const key of [OTHER_KEY, OTHER_ADMIN_KEY]) {
    for (const call of [
      (tenant: string) => client.read(key, tenant),
      (tenant: string) => client.put(key, { domains: [] }, tenant),
    ]) {
      const [foreign, foreignId, missing] = [await call("acme"), await call(id), await call("no-such-workspace")];
      assert.deepEqual([foreign.status, foreign.code], [404, "NOT_FOUND"]);
      assert.equal(withoutRequestId(foreign), withoutRequestId(missing));
      assert.equal(withoutRequestId(foreignId), withoutRequestId(missing));
    }
  }
  assert.deepEqual([viewOf(await client.read(ADMIN_KEY)), await auditRows(remote)], before);
});

test("remote-audio.list-roles: a caller without the role is refused before the body is read", async () => {
  assert.equal((await client.put(KEY, { domains: ["*"] })).status, 403);
  assert.equal((await client.put(OTHER_ADMIN_KEY, { domains: ["*"] })).status, 404);
});
