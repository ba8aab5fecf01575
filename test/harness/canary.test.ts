// Tests the canary of the whole run [logs.network-canary]: it sees every connection, and one connection fails the run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { CANARY_PORT, startCanary } from "./canary.ts";

test("logs.network-canary: the canary listens on IPv4 and IPv6 loopback and sees one connection at each address", async (t) => {
  const canary = await startCanary();
  t.after(() => canary.close());
  assert.ok(canary.listening.includes(`127.0.0.1:${canary.port}`), canary.listening.join(" "));
  assert.ok(canary.listening.includes(`127.127.127.127:${canary.port}`), canary.listening.join(" "));
  await canary.prove();
  assert.deepEqual(canary.connections, []);
  const socket = connect({ host: "127.0.0.1", port: canary.port });
  await once(socket, "connect");
  await once(socket.end("GET /secret"), "close");
  assert.deepEqual(canary.connections, [`127.0.0.1:${canary.port} "GET /secret"`]);
});

test("logs.network-canary: a run fails although every test passes if something reached the canary, and says where", () => {
  const env = { ...process.env };
  // The inner run has its own canary.
  delete env[CANARY_PORT];
  delete env["NODE_TEST_CONTEXT"];
  const { status, stdout } = spawnSync(
    process.execPath,
    ["scripts/test.ts", "test/fixtures/canary/touch.test.ts", "--engine=postgres"],
    { encoding: "utf8", env },
  );
  assert.match(stdout, /postgres: 1 passed, 0 failed/u);
  assert.match(
    stdout,
    /canary: 1 connections.*\n {2}somebody reached 127\.0\.0\.1:\d+ "from the test that touches it"/u,
  );
  assert.equal(status, 1);
});
