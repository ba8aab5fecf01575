// Who sees what a workspace used.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ADMIN, ask, OPERATOR, OTHER_ADMIN, workspaces } from "../../usage/workspace.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: workspaces });
});
after(() => gateway.close());

const bare = async (tenant: string, key: string): Promise<readonly [number, string]> => {
  const answer = await ask(gateway, `/workspace/${tenant}/usage`, key);
  return [answer.status, answer.text.replaceAll(answer.headers.get("x-request-id") ?? "", "req")];
};

test("usage.tenancy: a member gets 403, callers from elsewhere the 404 of a workspace that does not exist", async () => {
  assert.equal((await ask(gateway, "/workspace/acme/usage", KEY)).code, "FORBIDDEN");
  const missing = await bare("no-such-workspace", OPERATOR);
  assert.equal(missing[0], 404);
  for (const [tenant, key] of [
    ["acme", OTHER_ADMIN],
    ["no-such-workspace", ADMIN],
    ["other", KEY],
  ] as const)
    assert.deepEqual(await bare(tenant, key), missing, `${tenant} by ${key}`);
  assert.equal((await ask(gateway, "/workspace/acme/usage", "stranger's-key")).status, 401);
});
