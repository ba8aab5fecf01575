// A live session ends when the authorization behind it does: its key, the key behind its token, a scope, its app or its workspace.
import assert from "node:assert/strict";
import { test } from "node:test";
import { applyConfiguration } from "../../../src/directory/apply-configuration.ts";
import { createSeal } from "../../../src/storage/secrets/seal.ts";
import { startBeatClock } from "../../harness/beat-clock.ts";
import { changeKey, CHAT_ALONE, EXPIRED, REVOKED } from "../../harness/change-key.ts";
import { configurationOf, ENCRYPTION_KEY, KEY, OTHER_KEY, PEPPER } from "../../harness/gateway.ts";
import { startQuietGateway } from "../../harness/quiet-gateway.ts";
import {
  call,
  type Caller,
  COUNTED_KEY,
  errorIn,
  NARROW_KEY,
  POOR_KEY,
  realtimeFile,
  samples,
  START,
} from "./setup.ts";
import { until } from "../../harness/until.ts";

const gateway = await startQuietGateway(realtimeFile);

/** Two seconds of audio, heard by the provider and not finished. */
async function speaking(options: Parameters<typeof call>[1]): Promise<Caller> {
  const caller = await call(gateway.origin, options);
  caller.send(START);
  caller.send(samples().subarray(0, 64_000));
  await until(async () => (await openAttempts()) > 0);
  return caller;
}

const openAttempts = async (): Promise<number> =>
  (await gateway.database.db.selectFrom("attempts").select("id").where("state", "=", "open").execute()).length;

async function tokenOf(key: string): Promise<string> {
  const response = await fetch(`${gateway.origin}/v1/transcription/realtime-token`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
  });
  const { token } = (await response.json()) as { token: string };
  return token;
}

const withToken = async (key: string) => ({
  key: null,
  protocols: ["patchbay.v1", `patchbay.token.${await tokenOf(key)}`],
});

const CASES = [
  ["of a revoked key", () => ({ key: NARROW_KEY }), "narrow", REVOKED, "UNAUTHENTICATED"],
  ["of an expired key", () => ({ key: COUNTED_KEY }), "counted", EXPIRED, "UNAUTHENTICATED"],
  ["opened with a token of a revoked key", () => withToken(POOR_KEY), "poor", REVOKED, "UNAUTHENTICATED"],
  ["of a key that has lost its scope", () => ({ key: KEY }), "notes", CHAT_ALONE, "FORBIDDEN"],
] as const;

for (const [name, options, id, set, code] of CASES) {
  test(`realtime.revoked-key: a live session ${name} is closed with 1008 within 5 s, and the audio so far is settled`, async () => {
    const caller = await speaking(await options());
    using clock = startBeatClock();
    await changeKey(gateway, id, set);
    assert.deepEqual(await caller.closed, [1008, code]);
    assert.ok(clock.elapsedMs() < 5_000);
    assert.equal(errorIn(caller).code, code);
    const last = await gateway.database.db
      .selectFrom("attempts")
      .selectAll()
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
    assert.deepEqual([last.state, last.outcome, Number(last.audio_ms)], ["settled", "aborted", 2_000]);
    assert.ok((last.charge_nano_usd ?? 0n) > 0n, "what was heard is charged");
    assert.equal(await openAttempts(), 0);
  });
}

test("realtime.revoked-key: a live session without audio yet is closed with 1008 when its key is removed from the configuration file", async () => {
  const caller = await call(gateway.origin, { key: OTHER_KEY });
  const file = realtimeFile(gateway.sandbox);
  const workspaces = (file.workspaces ?? []).map((each) => (each.id === "other" ? { ...each, apps: [] } : each));
  await applyConfiguration(
    { database: gateway.database, seal: createSeal({ keys: [ENCRYPTION_KEY] }), pepper: PEPPER },
    await configurationOf({ ...file, workspaces }, gateway.dataDir),
    { isFile: true },
  );
  assert.deepEqual(await caller.closed, [1008, "UNAUTHENTICATED"]);
});
