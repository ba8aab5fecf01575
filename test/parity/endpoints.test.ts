// What is documented is what is served, and no test is skipped. Every operation is asked, well and badly, in test/conformance; every
// provider has its contract test, which test/providers/registry.test.ts checks.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { ENDPOINTS } from "../../src/contract/endpoints/endpoints.ts";
import { ERRORS } from "../../src/contract/errors.ts";
import { get } from "../harness/client.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

test("api.openapi: the endpoints of OpenAPI are exactly those the server answers", async () => {
  const document = (await get(gateway.origin, "/openapi.json", null)).json as { paths: Record<string, object> };
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`);
  assert.deepEqual(documented.toSorted(), served.toSorted());
  for (const { method, path } of ENDPOINTS) {
    const response = await fetch(`${gateway.origin}${path}`, { method });
    // An endpoint without a key may answer that what the path names does not exist; the path itself does.
    const text = await response.text();
    const isMissing = response.status === 404 && text.includes("There is nothing at this path");
    assert(!isMissing && response.status !== 405, `${method} ${path}: ${response.status}`);
  }
});

test("errors.path-hint: a path that leads nowhere gets the nearest path, and where all of them are listed", async () => {
  const where = "GET /docs/api lists all endpoints.";
  for (const [path, hint] of [
    ["/v1/transcriptions", `Did you mean /v1/transcription? ${where}`],
    ["/audio/transcriptions?x=1", `Did you mean /v1/audio/transcriptions? ${where}`],
    ["/chat/completions", `Did you mean /v1/chat/completions? ${where}`],
    ["/elsewhere", where],
    ["/v1/transcription/jobs/job_1/result", where],
    ["/admin/v1/workspaces", where],
  ] as const) {
    const { json } = await get(gateway.origin, path, null);
    const { error } = json as { readonly error: { readonly code: string; readonly message: string } };
    assert.deepEqual([error.code, error.message], ["NOT_FOUND", `There is nothing at this path. ${hint}`], path);
  }
});

test("keys.one-401: no endpoint with a key answers without one", async () => {
  for (const { method, path, auth } of ENDPOINTS) {
    if (auth !== "key") continue;
    const response = await fetch(`${gateway.origin}${path}`, { method });
    const body = (await response.json()) as { error: { code: string } };
    assert.deepEqual([response.status, body.error.code], [401, "UNAUTHENTICATED"], path);
    assert.equal(response.headers.get("www-authenticate"), "Bearer");
  }
});

test("errors.code-stable: the codes are spelled exactly as callers know them", () => {
  const spelled = [
    "AUDIO_TOO_LARGE",
    "IDEMPOTENCY_KEY_REUSED",
    "IDEMPOTENCY_REPLAY_IN_PROGRESS",
    "IDEMPOTENT_RESULT_UNAVAILABLE",
    "audio_purpose_unavailable",
    "NO_HEALTHY_PROVIDER",
    "all_providers_exhausted",
  ];
  for (const code of spelled) assert(Object.hasOwn(ERRORS, code), code);
});

test("logs.no-skipped-test: no test is skipped without a reason, or singled out", () => {
  const offenders = globSync("test/**/*.test.ts", { exclude: ["**/node_modules/**"] }).filter((file) =>
    /\b(?:test|it|describe)\.(?:skip|only|todo)\(|\b(?:skip|only|todo): ?true/u.test(readFileSync(file, "utf8")),
  );
  assert.deepEqual(
    offenders.filter((file) => !file.endsWith("parity/endpoints.test.ts")),
    [],
  );
});
