// POST /v1/translation: which keys may call it, and on whose account.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { detailsOf, envelopeOf } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { KEYS, translate, translators } from "./translators.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: translators });
});
after(() => gateway.close());
beforeEach(() => gateway.sandbox.clearCalls());

test("translation.scope: a key without the scope transcribe translates nothing: 403", async () => {
  const answer = await translate(gateway.origin, { key: KEYS.chatOnly });
  assert.deepEqual([answer.status, answer.code], [403, "FORBIDDEN"]);
  assert.equal(gateway.sandbox.callCount, 0);
});

test("translation.scope: without a key: 401, and the audio is not looked at", async () => {
  const answer = await translate(gateway.origin, { headers: { authorization: "Bearer unknown" } });
  assert.deepEqual([answer.status, answer.code], [401, "UNAUTHENTICATED"]);
  assert.equal(gateway.sandbox.callCount, 0);
});

test("translation.tenancy: a workspace's own account translates for it alone", async () => {
  envelopeOf(await translate(gateway.origin, { key: KEYS.own }));
  envelopeOf(await translate(gateway.origin, { key: KEYS.acme }));
  assert.deepEqual(
    gateway.sandbox.calls.map((call) => call.headers["authorization"]),
    ["Bearer …-own", "Bearer …cret"],
  );
  const accounts = await gateway.database.db.selectFrom("attempts").select(["workspace_id", "billing_class"]).execute();
  assert.deepEqual(accounts.map((row) => row.billing_class).toSorted(), ["metered", "provider_billed"]);
});

test("translation.idempotency: one tenant's idempotency key is independent of another's", async () => {
  const headers = { "Idempotency-Key": "shared-name" };
  const first = await translate(gateway.origin, { key: KEYS.own, headers });
  const other = await translate(gateway.origin, { key: KEYS.acme, headers });
  assert.equal(other.headers.get("x-svc-idempotent-replay"), null);
  assert.notEqual(envelopeOf(other).id, envelopeOf(first).id);
});

test("translation.tenancy: a refusal names no provider and no model to a key without routing:read", async () => {
  const answer = await translate(gateway.origin, { fields: { to_language: "fr" } });
  for (const name of ["deepgram", "openai", "nova-3", "whisper-1"]) assert(!answer.text.includes(name), name);
  assert.deepEqual(Object.keys((detailsOf(answer)["candidates"] as object[])[0] ?? {}), ["position", "missing"]);
});
