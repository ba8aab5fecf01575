// What GET /workspace/{tenant_id}/usage refuses, and what GET /v1/usage hides from callers who may not see names.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ADMIN, ask, workspaces } from "../../usage/workspace.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: workspaces });
});
after(() => gateway.close());

test("usage.invalid, usage.bounds: an invalid question is refused with what is wrong with it", async () => {
  for (const query of [
    "?group_by=colour",
    "?group_by=app,",
    "?group_by=",
    "?from=2026-02-30",
    "?from=2026-02-02&to=2026-02-01",
    "?from=2024-01-01&to=2026-01-01",
    "?from=2026-01-01&to=2026-03-01&group_by=hour",
    "?workspace=other",
    "?app=",
  ]) {
    const answer = await ask(gateway, `/workspace/acme/usage${query}`, ADMIN);
    assert.deepEqual([answer.status, answer.code], [400, "INVALID_REQUEST"], query);
  }
});

test("usage.invalid: a media type that is neither JSON nor CSV is refused", async () => {
  const answer = await ask(gateway, "/workspace/acme/usage", ADMIN, "application/pdf");
  assert.deepEqual([answer.status, answer.code], [406, "NOT_ACCEPTABLE"]);
});

test("usage.names: providers and models need routing:read", async () => {
  for (const group of ["provider", "day,model"])
    assert.equal((await ask(gateway, `/v1/usage?group_by=${group}`, KEY)).code, "FORBIDDEN");
  assert.equal((await ask(gateway, "/v1/usage?group_by=key,capability", KEY)).status, 200);
});
