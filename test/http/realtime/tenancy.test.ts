// Tokens and live sessions belong to the key that asked for them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { realtimeToken } from "../../../src/contract/transcription/realtime.ts";
import { KEY, OTHER_KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { call, CHAT_KEY, realtimeFile, refused, speak } from "./setup.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: realtimeFile });
});
after(() => gateway.close());

async function tokenFor(key: string): Promise<string> {
  const response = await fetch(`${gateway.origin}/v1/transcription/realtime-token`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(response.status, 200);
  return realtimeToken.parse(await response.json()).token;
}
const withToken = (token: string) => ({ key: null, protocols: ["patchbay.v1", `patchbay.token.${token}`] });

test("realtime.token-identity: a token represents the workspace of its key, which pays", async () => {
  const caller = await call(gateway.origin, withToken(await tokenFor(OTHER_KEY)));
  await speak(caller);
  assert.deepEqual(await caller.closed, [1000, ""]);
  const owners = await gateway.database.db
    .selectFrom("attempts")
    .innerJoin("workspaces", "workspaces.id", "attempts.workspace_id")
    .select("workspaces.slug")
    .distinct()
    .execute();
  assert.deepEqual(owners, [{ slug: "other" }]);
});

test("realtime.token-single-use: a token is used once, by one of many who bring it", async () => {
  const token = await tokenFor(KEY);
  const tries = await Promise.allSettled(
    Array.from({ length: 4 }, async () => (await call(gateway.origin, withToken(token))).socket.terminate()),
  );
  assert.equal(tries.filter(({ status }) => status === "fulfilled").length, 1);
  assert.deepEqual((await refused(gateway.origin, withToken(token))).code, "UNAUTHENTICATED");
});

test("realtime.token-expiry: a token that is older than 60 s opens nothing, and is deleted when the next one is issued", async () => {
  const token = await tokenFor(KEY);
  const rows = await gateway.database.db.selectFrom("realtime_tokens").select("expires_at").execute();
  const lifeMs = Number(rows.at(-1)?.expires_at) - Date.now();
  assert.ok(lifeMs > 50_000 && lifeMs <= 61_000, String(lifeMs));
  await sql`update realtime_tokens set expires_at = expires_at - interval '61 seconds'`.execute(gateway.database.db);
  assert.equal((await refused(gateway.origin, withToken(token))).status, 401);
  await tokenFor(KEY);
  assert.equal((await gateway.database.db.selectFrom("realtime_tokens").selectAll().execute()).length, 1);
});

test("realtime.token-revoked-key: a token whose key was revoked meanwhile opens nothing", async () => {
  const token = await tokenFor(OTHER_KEY);
  await sql`update api_keys set revoked_at = patchbay_now() where workspace_id = (select id from workspaces where slug = 'other')`.execute(
    gateway.database.db,
  );
  assert.equal((await refused(gateway.origin, withToken(token))).status, 401);
});

test("realtime.token-scope, realtime.token-storage: a key that may not transcribe gets no token, and tokens are stored as hashes", async () => {
  const response = await fetch(`${gateway.origin}/v1/transcription/realtime-token`, {
    method: "POST",
    headers: { authorization: `Bearer ${CHAT_KEY}` },
  });
  assert.equal(response.status, 403);
  const token = await tokenFor(KEY);
  const rows = await gateway.database.db.selectFrom("realtime_tokens").select("token_hash").execute();
  assert.ok(
    rows.every(({ token_hash: hash }) => hash.length === 32 && !Buffer.from(hash).toString("latin1").includes(token)),
  );
});
