// Which host names the admin listener answers to: a page that resolves its own name to loopback (DNS rebinding) gets no answer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { TestGateway } from "../../harness/gateway.ts";
import { startGateway } from "../../harness/gateway.ts";
import { assertRefused, statusOf } from "./host-request.ts";
import { adminFile } from "./admin.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    file: (sandbox) => {
      const file = adminFile(sandbox);
      return {
        ...file,
        server: {
          ...file.server,
          public_url: "https://speech.acme.example",
          admin: { port: 0, allowed_hosts: ["gateway", "Metrics.acme.example"] },
        },
      };
    },
  });
});
after(() => gateway.close());

const PATHS = [
  "/metrics",
  "/healthz",
  "/readyz",
  "/openapi.json",
  "/console",
  "/docs/errors",
  "/admin/v1/workspaces",
  "/no/such",
];

test("admin.allowed-hosts: a host name that is not configured is refused on every path of the admin listener, with the setting's name", async () => {
  const port = new URL(gateway.adminOrigin).port;
  for (const path of PATHS)
    for (const host of [
      `evil.example:${port}`,
      "evil.example",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "127.0.0.1.nip.io",
      "xn--localhost",
      "0x7f.1",
      "2130706433",
      "gateway.evil.example",
      "",
    ])
      await assertRefused(gateway.adminOrigin, path, host);
});

test("admin.allowed-hosts-always: addresses, localhost and configured names are answered, with and without a port", async () => {
  const port = new URL(gateway.adminOrigin).port;
  for (const name of [
    "127.0.0.1",
    "10.1.2.3",
    "[::1]",
    "[2001:db8::1]",
    "localhost",
    "LOCALHOST.",
    "gateway",
    "metrics.acme.example",
    "speech.acme.example",
  ])
    for (const host of [name, `${name}:${port}`])
      assert.equal(await statusOf(gateway.adminOrigin, "/metrics", host), 200, host);
});

test("admin.allowed-hosts-always: a request of HTTP/1.0 without a host is answered: no browser sends one", async () => {
  assert.equal(await statusOf(gateway.adminOrigin, "/healthz", null), 200);
});

test("admin.public-any-host: the public listener answers to every name that a proxy gives it", async () => {
  assert.equal(await statusOf(gateway.origin, "/healthz", "any.proxy.example"), 200);
});
