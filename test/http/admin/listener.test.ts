// The admin listener: its endpoints, those of the public listener, and who may call them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ADMIN_ENDPOINTS } from "../../../src/contract/endpoints/admin-endpoints.ts";
import { ENDPOINTS } from "../../../src/contract/endpoints/endpoints.ts";
import { send } from "../../harness/client.ts";
import { KEY, type TestGateway } from "../../harness/gateway.ts";
import { ADMIN_KEY, call, OPERATOR_KEY, startAdminGateway } from "./admin.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startAdminGateway();
});
after(() => gateway.close());

/** Each listener has its own of these; nothing of them administers anything. */
const SHARED = new Set([
  "GET /healthz",
  "GET /readyz",
  "GET /openapi.json",
  "GET /docs/errors",
  "GET /console",
  "GET /console/:folder/:file",
  "GET /console/:folder/:subfolder/:file",
]);
const named = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;

test("admin.listeners-separate: the administration is not on the public listener, the public API not on the admin listener", async () => {
  const there = async (origin: string, { method, path }: { readonly method: string; readonly path: string }) => {
    const response = await fetch(`${origin}${path}`, { method, headers: { authorization: `Bearer ${OPERATOR_KEY}` } });
    const isMissing = response.status === 404 && (await response.text()).includes("There is nothing at this path");
    return !isMissing && response.status !== 405;
  };
  for (const contract of ADMIN_ENDPOINTS) {
    assert.equal(await there(gateway.adminOrigin, contract), true, named(contract));
    if (!SHARED.has(named(contract)))
      assert.equal(await there(gateway.origin, contract), false, `public: ${named(contract)}`);
  }
  for (const contract of ENDPOINTS)
    if (!SHARED.has(named(contract)))
      assert.equal(await there(gateway.adminOrigin, contract), false, `admin: ${named(contract)}`);
});

test("admin.openapi: the admin listener's OpenAPI document lists exactly its endpoints", async () => {
  const answer = await send(`${gateway.adminOrigin}/openapi.json`, {});
  const { paths } = answer.json as { readonly paths: Readonly<Record<string, object>> };
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = ADMIN_ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`);
  assert.deepEqual(documented.toSorted(), served.toSorted());
});

test("admin.operator-key: every endpoint of the administration needs a key, and the operator's", async () => {
  for (const { method, path, auth } of ADMIN_ENDPOINTS) {
    if (auth === "none") continue;
    const url = path.replaceAll(/:[a-z_]+/g, "acme");
    for (const [key, status, code] of [
      [null, 401, "UNAUTHENTICATED"],
      ["svc_root_nonsense", 401, "UNAUTHENTICATED"],
      ["a-key-that-nobody-ever-made-01", 401, "UNAUTHENTICATED"],
      [KEY, 403, "FORBIDDEN"],
      [ADMIN_KEY, 403, "FORBIDDEN"],
    ] as const) {
      const answer = await call(gateway, method, url, { key });
      assert.deepEqual([answer.status, answer.code], [status, code], `${method} ${url} with ${String(key)}`);
    }
  }
});

test("admin.operator-key: health and readiness of the admin listener need no key", async () => {
  for (const path of ["/healthz", "/readyz"])
    assert.equal((await send(`${gateway.adminOrigin}${path}`, {})).status, 200, path);
});
