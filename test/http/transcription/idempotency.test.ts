// POST /v1/transcription under an Idempotency-Key, over HTTP.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import type { Directory } from "../../../src/directory/snapshot.ts";
import { loadDirectory } from "../../../src/directory/load-directory.ts";
import type { GatewayServices } from "../../../src/gateway/services.ts";
import { announceChange } from "../../../src/storage/connection/announce.ts";
import { createSeal } from "../../../src/storage/secrets/seal.ts";
import { wav } from "../../audio/build-audio.ts";
import { judgeRound } from "../../faults/same-key.ts";
import { type Answer, detailsOf, envelopeOf, postForm, postJson, speech } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { setClock, shiftClock, withSystemAccess } from "../../harness/postgres/database.ts";
import { ENCRYPTION_KEY, KEY, OTHER_KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";

const ROTATED_KEY = "test-key-of-the-notes-app-02";
const DOOMED_KEY = "test-key-of-the-notes-app-03";
const POOR_KEY = "test-key-of-the-poor-app-001";
const PLAIN_KEY = "test-key-of-the-plain-app-01";

let gateway: TestGateway;
/** Ahead of the real clock, for circuits, which remember things for a while. */
let aheadMs = 0;
/** When set, what routing sees instead of the directory. */
let directory: Directory | null = null;
/** When set, a provider's answer is held back before it is stored. */
let gate: { readonly reached: PromiseWithResolvers<void>; readonly open: PromiseWithResolvers<void> } | null = null;
let settled: PromiseWithResolvers<void> = Promise.withResolvers();

before(async () => {
  gateway = await startGateway({ file, wrapGateway, now: () => new Date(Date.now() + aheadMs) });
});
afterEach(async () => {
  gate?.open.resolve();
  gate = null;
  directory = null;
  gateway.sandbox.clearFaults();
  await shiftClock(gateway.database, 0);
  // Circuits that the faults opened are forgotten.
  aheadMs += 3_600_000;
});
after(() => gateway.close());

function file(sandbox: Sandbox): ConfigurationFile {
  return configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { "deepgram/nova-3": "0.36" },
    routes: {
      speech: { targets: ["dg/nova-3", "oa/whisper-1"], purposes: { meetings: "speech" } },
      whisper: "oa/whisper-1",
      deepgram: "dg/nova-3",
    },
    apps: {
      notes: { keys: { "notes-1": KEY, "notes-2": ROTATED_KEY, "notes-3": DOOMED_KEY } },
      // Three seconds' worth of Deepgram.
      poor: { route: "deepgram", budgets: [{ period: "total", limit_usd: "0.0003" }], key: POOR_KEY },
      plain: { route: "whisper", key: PLAIN_KEY },
    },
    workspaces: { other: { apps: { app: { key: OTHER_KEY } } } },
  });
}

function wrapGateway(services: GatewayServices): GatewayServices {
  return {
    ...services,
    directory: () => directory ?? services.directory(),
    ledger: {
      ...services.ledger,
      settle: async (settlement) => {
        gate?.reached.resolve();
        await gate?.open.promise;
        const result = await services.ledger.settle(settlement);
        settled.resolve();
        return result;
      },
    },
  };
}

const holdAnswers = () => {
  gate = { reached: Promise.withResolvers(), open: Promise.withResolvers() };
  settled = Promise.withResolvers();
  return gate;
};
const keyed = (key: string) => ({ "idempotency-key": key });
const isReplay = (answer: Answer) => answer.headers.get("x-svc-idempotent-replay") === "true";

/** What may not grow when nothing new is run. */
async function spending(): Promise<{ readonly calls: number; readonly attempts: number }> {
  const { attempts } = await gateway.database.db
    .selectFrom("attempts")
    .select((select) => select.fn.countAll().as("attempts"))
    .executeTakeFirstOrThrow();
  return { calls: gateway.sandbox.callCount, attempts: Number(attempts) };
}

function assertReplayOf(answer: Answer, first: Answer): void {
  assert.equal(answer.status, first.status, answer.text);
  assert.equal(answer.text, first.text);
  assert.equal(answer.headers.get("content-type"), first.headers.get("content-type"));
  assert(isReplay(answer), "marked as a replay");
}

test("idempotency.replay: same key, same payload: the stored answer byte for byte, no second call, no second attempt", async () => {
  const before = await spending();
  const call = { fields: { language: "en", timestamps: "word" }, headers: keyed("replay") };
  const first = await postForm(gateway.origin, call);
  assert.equal(envelopeOf(first).status, "completed");
  assert.equal(first.headers.get("x-svc-idempotent-replay"), null, "the first answer is none");
  const spent = await spending();
  assert.deepEqual(spent, { calls: before.calls + 1, attempts: before.attempts + 1 });
  for (let round = 0; round < 3; round += 1) {
    const answer = await postForm(gateway.origin, call);
    assertReplayOf(answer, first);
    assert.notEqual(answer.headers.get("x-request-id"), first.headers.get("x-request-id"));
  }
  assert.deepEqual(await spending(), spent);
});

test("idempotency.replay-format: a bare text answer replays as text, with the facts in its headers", async () => {
  const call = { headers: { ...keyed("replay-text"), accept: "text/plain" } };
  const first = await postForm(gateway.origin, call);
  assert.match(first.headers.get("content-type") ?? "", /^text\/plain/);
  const answer = await postForm(gateway.origin, call);
  assertReplayOf(answer, first);
  assert.equal(answer.headers.get("x-svc-audio-seconds"), first.headers.get("x-svc-audio-seconds"));
});

test("idempotency.same-payload: the same audio and fields in another encoding are the same payload", async () => {
  const base64 = Buffer.from(speech()).toString("base64");
  const headers = keyed("re-encoded");
  const first = await postForm(gateway.origin, {
    fields: { language: "en", diarization: "true", keyterms: ["Patchbay", "ledger"] },
    headers,
  });
  envelopeOf(first);
  const spent = await spending();
  const wanted = { language: "en", diarization: true };
  for (const answer of [
    await postForm(gateway.origin, {
      fields: { keyterms: ["Patchbay", "ledger"], diarization: "true", language: "en" },
      fileName: "other.wav",
      fileType: "audio/wav",
      headers,
    }),
    await postForm(gateway.origin, {
      fields: { language: "en", custom_vocabulary: ["Patchbay", "ledger"], diarization: "true" },
      headers,
    }),
    await postJson(gateway.origin, { audio: base64, keyterms: ["Patchbay", "ledger"], ...wanted }, { headers }),
    await postJson(
      gateway.origin,
      { ...wanted, custom_vocabulary: ["Patchbay", "ledger"], audio: { data: base64 } },
      { headers },
    ),
    await postJson(
      gateway.origin,
      { audio: { base64: `data:audio/wav;base64,${base64}` }, keyterms: ["Patchbay", "ledger"], ...wanted },
      { headers },
    ),
    await postFileFirst({ language: "en", diarization: "true", keyterms: ["Patchbay", "ledger"] }, headers),
  ])
    assertReplayOf(answer, first);
  assert.deepEqual(await spending(), spent);
});

/** Written by hand: the file before the fields, and a boundary of our choosing. */
async function postFileFirst(
  fields: Readonly<Record<string, string | readonly string[]>>,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const line = "--patchbay.boundary";
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((each) => `\r\n${line}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${each}`),
  );
  const body = Buffer.concat([
    Buffer.from(
      `${line}\r\nContent-Type: audio/x-wav\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`,
    ),
    speech(),
    Buffer.from(`${parts.join("")}\r\n${line}--\r\n`),
  ]);
  const response = await fetch(`${gateway.origin}/v1/transcription`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${KEY}`,
      "content-type": "multipart/form-data; boundary=patchbay.boundary",
      ...headers,
    },
    body,
  });
  return { status: response.status, headers: response.headers, text: await response.text(), json: null, code: null };
}

test("idempotency.other-payload, idempotency.reused: same key, other payload: 409 and nothing runs, whichever part differs", async () => {
  const headers = keyed("other-payload");
  envelopeOf(await postForm(gateway.origin, { fields: { language: "en" }, headers }));
  const spent = await spending();
  const changed = speech();
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  for (const call of [
    { fields: { language: "de" } },
    { fields: {} },
    { fields: { language: "en", timestamps: "word" } },
    { fields: { language: "en", purpose: "meetings" } },
    { fields: { language: "en", keyterms: ["Patchbay"] } },
    { fields: { language: "en" }, file: changed },
    { fields: { language: "en" }, file: wav(2) },
  ]) {
    const answer = await postForm(gateway.origin, { ...call, headers });
    assert.equal(answer.code, "IDEMPOTENCY_KEY_REUSED", JSON.stringify(call.fields));
    assert.equal(answer.headers.get("x-should-retry"), "false");
  }
  assert.deepEqual(await spending(), spent);
});

test("idempotency.in-progress, idempotency.reused: while the first runs: 409 to retry after a few seconds; another payload is reused even then", async () => {
  const before = await spending();
  const held = holdAnswers();
  const call = { fields: { language: "en" }, headers: keyed("running") };
  const running = postForm(gateway.origin, call);
  await held.reached.promise;
  const second = await postForm(gateway.origin, call);
  assert.equal(second.code, "IDEMPOTENCY_REPLAY_IN_PROGRESS");
  assert.equal(second.status, 409);
  assert.equal(second.headers.get("retry-after"), "2");
  const other = await postForm(gateway.origin, { ...call, fields: { language: "de" } });
  assert.equal(other.code, "IDEMPOTENCY_KEY_REUSED");
  held.open.resolve();
  const first = await running;
  envelopeOf(first);
  assertReplayOf(await postForm(gateway.origin, call), first);
  assert.deepEqual(await spending(), { calls: before.calls + 1, attempts: before.attempts + 1 });
});

test("idempotency.disconnect: a caller who hangs up finds the finished answer under the key", async () => {
  const before = await spending();
  const held = holdAnswers();
  const leaving = new AbortController();
  const call = { headers: keyed("hung-up") };
  const left = postForm(gateway.origin, { ...call, signal: leaving.signal }).catch((error: unknown) => error);
  await held.reached.promise;
  leaving.abort();
  assert(!("status" in ((await left) as object)), "the caller left without an answer");
  held.open.resolve();
  await settled.promise;
  const answer = await postForm(gateway.origin, call);
  envelopeOf(answer);
  assert(isReplay(answer));
  assert.deepEqual(await spending(), { calls: before.calls + 1, attempts: before.attempts + 1 });
});

test("idempotency.burned: an unknown outcome burns the key: 409, never run again; a new key runs", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "reset_after_body" } });
  const call = { headers: keyed("burned") };
  const first = await postForm(gateway.origin, call);
  assert.equal(first.code, "PROVIDER_RESULT_UNKNOWN");
  assert.equal(first.headers.get("x-should-retry"), "false");
  const spent = await spending();
  for (let round = 0; round < 2; round += 1) {
    const answer = await postForm(gateway.origin, call);
    assert.equal(answer.code, "IDEMPOTENT_RESULT_UNAVAILABLE");
    assert.equal(answer.status, 409);
    assert.equal(answer.headers.get("x-should-retry"), "false");
  }
  const other = await postForm(gateway.origin, { ...call, fields: { language: "de" } });
  assert.equal(other.code, "IDEMPOTENCY_KEY_REUSED");
  assert.deepEqual(await spending(), spent);
  envelopeOf(await postForm(gateway.origin, { headers: keyed("burned-again") }));
});

test("idempotency.burn-unknown: an answer that is cut off burns the key too", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "cut_reply" } });
  const call = { headers: keyed("cut") };
  assert.equal((await postForm(gateway.origin, call)).code, "PROVIDER_RESULT_UNKNOWN");
  const spent = await spending();
  assert.equal((await postForm(gateway.origin, call)).code, "IDEMPOTENT_RESULT_UNAVAILABLE");
  assert.deepEqual(await spending(), spent);
});

// Released keys take another payload: a stronger proof than taking the same one.
test("idempotency.release-refused: a request refused with 422 leaves its key free", async () => {
  const headers = keyed("refused-422");
  const refused = await postForm(gateway.origin, { key: PLAIN_KEY, fields: { diarization: "true" }, headers });
  assert.equal(refused.code, "REQUIRED_FEATURE_UNSUPPORTED");
  const answer = await postForm(gateway.origin, { key: PLAIN_KEY, headers });
  envelopeOf(answer);
  assert(!isReplay(answer));
});

test("idempotency.release-refused: a request refused with 402 leaves its key free", async () => {
  const headers = keyed("refused-402");
  const refused = await postForm(gateway.origin, { key: POOR_KEY, headers });
  assert.equal(refused.status, 402, refused.text);
  const answer = await postForm(gateway.origin, { key: POOR_KEY, file: wav(2), headers });
  envelopeOf(answer);
  assert(!isReplay(answer));
});

test("idempotency.release-definite: definite failures of all targets leave the key free", async () => {
  gateway.sandbox.addFault({ fault: { kind: "status", status: 503 } });
  const headers = keyed("refused-503");
  const refused = await postForm(gateway.origin, { headers });
  assert.deepEqual([refused.status, detailsOf(refused)["reason"]], [503, "exhausted"]);
  assert.equal(refused.headers.get("x-should-retry"), "true");
  gateway.sandbox.clearFaults();
  aheadMs += 3_600_000;
  const answer = await postForm(gateway.origin, { fields: { language: "de" }, headers });
  envelopeOf(answer);
  assert(!isReplay(answer));
});

test("idempotency.ttl: the answer is kept for 23:59:59, and at 24:00:01 the key is new", async () => {
  const call = { headers: keyed("a-day") };
  await setClock(gateway.database, "2030-06-01T12:00:00Z");
  const first = await postForm(gateway.origin, call);
  envelopeOf(first);
  await setClock(gateway.database, "2030-06-02T11:59:59Z");
  assertReplayOf(await postForm(gateway.origin, call), first);
  await setClock(gateway.database, "2030-06-02T12:00:01Z");
  const spent = await spending();
  const rerun = await postForm(gateway.origin, call);
  assert.notEqual(envelopeOf(rerun).id, envelopeOf(first).id);
  assert(!isReplay(rerun));
  assert.equal((await spending()).calls, spent.calls + 1);
});

test("idempotency.ttl: a burned key is new after 24 hours as well", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "reset_after_body" } });
  const call = { headers: keyed("a-burned-day") };
  await setClock(gateway.database, "2030-07-01T12:00:00Z");
  assert.equal((await postForm(gateway.origin, call)).code, "PROVIDER_RESULT_UNKNOWN");
  await setClock(gateway.database, "2030-07-02T11:59:59Z");
  assert.equal((await postForm(gateway.origin, call)).code, "IDEMPOTENT_RESULT_UNAVAILABLE");
  await setClock(gateway.database, "2030-07-02T12:00:01Z");
  envelopeOf(await postForm(gateway.origin, call));
});

test("idempotency.ignored: a streaming request neither uses nor occupies the key", async () => {
  const headers = keyed("streaming");
  const first = await postForm(gateway.origin, { headers });
  envelopeOf(first);
  const streaming = await postForm(gateway.origin, { fields: { stream: "true" }, headers });
  assert.equal(streaming.status, 200, streaming.text);
  assert.match(streaming.text, /event: transcript\.completed/, "runs again, though the key has another payload");
  const fresh = keyed("streaming-first");
  await postForm(gateway.origin, { fields: { stream: "true" }, headers: fresh });
  assert(!isReplay(await postForm(gateway.origin, { headers: fresh })));
  assertReplayOf(await postForm(gateway.origin, { headers }), first);
});

test("idempotency.ignored: a dry run neither uses nor occupies the key", async () => {
  const headers = keyed("dry-run");
  const dry = await postForm(gateway.origin, { fields: { dry_run: "true" }, headers });
  assert.equal(dry.status, 200, dry.text);
  const first = await postForm(gateway.origin, { headers });
  assert.equal(envelopeOf(first).status, "completed");
  assert(!isReplay(first));
  const again = await postForm(gateway.origin, { fields: { dry_run: "true" }, headers });
  assert.equal(again.status, 200, again.text);
  assert(!isReplay(again));
});

test("idempotency.replay-precedence: a replay answers whatever purposes, routes and providers say by now", async () => {
  const call = { fields: { purpose: "meetings", purpose_policy: "strict" }, headers: keyed("outlives-its-route") };
  const first = await postForm(gateway.origin, call);
  assert.equal(envelopeOf(first).svc_applied_purpose, "meetings");
  gateway.sandbox.addFault({ fault: { kind: "status", status: 500 } });
  const failed = await postForm(gateway.origin, { ...call, headers: keyed("outlives-its-provider") });
  assert.equal(failed.status, 503, "a new request finds no provider that works");
  assertReplayOf(await postForm(gateway.origin, call), first);
  await gateway.database
    .transaction(async (tx) => {
      await tx.deleteFrom("routes").execute();
      const seal = createSeal({ keys: [ENCRYPTION_KEY] });
      directory = await loadDirectory({ database: withSystemAccess(gateway.database, { db: tx }), seal });
      throw new RolledBack();
    })
    .catch((error: unknown) => assert(error instanceof RolledBack, String(error)));
  const spent = await spending();
  const refused = await postForm(gateway.origin, { ...call, headers: keyed("outlives-nothing") });
  assert.equal(refused.status, 503, "a new request finds no route");
  assertReplayOf(await postForm(gateway.origin, call), first);
  assert.deepEqual(await spending(), spent);
});

class RolledBack extends Error {}

test("idempotency.app-scope: the key space is the app's: a rotated API key replays, another app runs its own", async () => {
  const headers = keyed("shared-by-keys");
  const first = await postForm(gateway.origin, { headers });
  envelopeOf(first);
  assertReplayOf(await postForm(gateway.origin, { key: ROTATED_KEY, headers }), first);
  for (const key of [PLAIN_KEY, OTHER_KEY]) {
    const other = await postForm(gateway.origin, { key, headers });
    assert.notEqual(envelopeOf(other).id, envelopeOf(first).id);
    assert(!isReplay(other));
  }
});

test("idempotency.authenticated-first: a revoked API key gets 401, not its old answer; the app's other keys still get it", async () => {
  const headers = keyed("revoked");
  const first = await postForm(gateway.origin, { key: DOOMED_KEY, headers });
  envelopeOf(first);
  await gateway.database.transaction(async (tx) => {
    await tx
      .updateTable("api_keys")
      .set({ revoked_at: new Date() })
      .where("last4", "=", DOOMED_KEY.slice(-4))
      .where("name", "=", "notes-3")
      .execute();
    await announceChange(tx, "keys", "notes-3");
  });
  // Heard in a moment; until then the key works.
  await until(async () => (await postForm(gateway.origin, { key: DOOMED_KEY, headers })).code === "UNAUTHENTICATED");
  assertReplayOf(await postForm(gateway.origin, { key: KEY, headers }), first);
});

test("idempotency.key-format: a key is 1 to 255 visible ASCII characters", async () => {
  for (const key of ["x", "k".repeat(255), "!~"])
    envelopeOf(await postForm(gateway.origin, { file: wav(2), headers: keyed(key) }));
  for (const key of ["", "k".repeat(256), "two words", "clé"])
    assert.equal((await postForm(gateway.origin, { headers: keyed(key) })).code, "INVALID_REQUEST", key);
});

test("idempotency.single-call: R1: 200 identical requests at once are one provider call, and every answer is it, its replay or in progress", async () => {
  const before = await spending();
  const call = { file: wav(2), headers: keyed("two-hundred") };
  const answers = await Promise.all(Array.from({ length: 200 }, () => postForm(gateway.origin, call)));
  const after = await spending();
  assert.deepEqual(judgeRound(answers, after.calls - before.calls), []);
  assert.equal(after.attempts, before.attempts + 1);
});
