// `patchbay providers check|health` against a loopback server: what the columns count, and whom an account belongs to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerJson, fakeGateway, run } from "./fake-gateway.ts";

const AT = "2026-11-27T05:00:00.000Z";
const WORKSPACE = "ws_01kb1v3tsc07ktf2nx2d5yfv5c";
const account = { workspace_id: WORKSPACE, connection: "own", model: "nova-3" };
/** Five failures some minutes ago, and none in the last seconds. */
const HEALTH = {
  object: "provider_health",
  checked_at: AT,
  circuits: [
    {
      ...account,
      state: "closed",
      consecutive_failures: 0,
      recent_calls: 0,
      recent_failures: 0,
      openings: 0,
      rests_until: null,
    },
  ],
  pauses: [],
  since: AT,
  sampled: false,
  models: [
    {
      ...account,
      provider: "deepgram",
      calls: 7,
      succeeded: 2,
      failed: 5,
      duration_p50_ms: 12,
      duration_p95_ms: 12,
      outcomes: [{ outcome: "failed:server_error", calls: 5 }],
      last_errors: [],
    },
  ],
};
const WORKSPACES = [
  { object: "workspace", id: WORKSPACE, slug: "acme", plan: null, managed_by: "api", created_at: AT },
];

test("cli.providers-list: providers check and health count the calls of the window, and name the workspace that owns an account", async () => {
  await using gateway = await fakeGateway((response, { path }) => {
    if (path.startsWith("/admin/v1/health/providers")) return answerJson(response, 200, HEALTH);
    const data = path.startsWith("/admin/v1/workspaces") ? WORKSPACES : [];
    answerJson(response, 200, { object: "list", data, next_cursor: null });
  });
  const admin = ["--admin-url", gateway.url, "--api-key", "test-key-of-the-operator-0123456"];
  const check = await run(["providers", "check", ...admin]);
  assert.equal(check.exitCode, 0, check.stderr);
  assert.match(check.stdout, /^own +acme +- +- +nova-3 +healthy +7 +5$/mu);
  assert.match(check.stderr, /^STATE is that of the responding process; CALLS and FAILED cover all processes since /mu);
  const health = await run(["providers", "health", ...admin]);
  assert.match(health.stdout, /^own +acme +nova-3 +healthy +7 +28\.5 +12 +12 +failed:server_error \(5\)$/mu);
});
