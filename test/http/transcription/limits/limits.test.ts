// The limits of GET /v1/melimits: a figure changed in the file changes what is enforced, and the report contains the figure that is
// enforced.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import { limitsReport } from "../../../../src/contract/account.ts";
import { errorBody } from "../../../../src/contract/error-body.ts";
import { ascii, chunk, fixture, join, le16, le32, zeros } from "../../../audio/build-audio.ts";
import { type Answer, announce, detailsOf, envelopeOf, get, postForm, postJson } from "../../../harness/client.ts";
import { shiftClock } from "../../../harness/postgres/database.ts";
import { standardFile, startGateway, type TestGateway } from "../../../harness/gateway.ts";

const STEREO = fixture("speech-44k-stereo.wav");
const MAX_BYTES = 238_000;
const LIMITS = {
  max_audio_bytes: MAX_BYTES,
  max_audio_duration_seconds: 8,
  sync_idempotency_ttl_seconds: 60,
  max_keyterms: 3,
} satisfies ConfigurationFile["limits"];

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: (sandbox) => ({ ...standardFile(sandbox), limits: LIMITS }) });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

for (const path of ["/v1/melimits", "/v1/me/limits"]) {
  test(`configuration.limits: GET ${path} reports the figures of the file, and the documented ones that the file does not set`, async () => {
    const { object, quotas, budgets, ...figures } = limitsReport.parse((await get(gateway.origin, path)).json);
    assert.equal(object, "limits");
    assert.deepEqual(figures, {
      ...LIMITS,
      max_audio_url_bytes: 25_000_000,
      max_job_audio_bytes: 26_214_400,
      max_job_audio_url_bytes: 25_000_000,
      stt_job_result_ttl_seconds: 259_200,
      stt_job_inline_result_bytes: 262_144,
      result_url_ttl_seconds: 900,
      sync_timeout_seconds: 300,
      max_audio_url_redirects: 3,
      max_audio_url_domains: 20,
      max_chat_body_bytes: 20_971_520,
      max_attempts_per_request: 5,
      url_fetches_per_minute: 120,
      webhook_max_attempts: 8,
      webhook_timeout_seconds: 15,
    });
    const none = { requests_per_minute: null, concurrent: null, audio_seconds_per_hour: null, tokens_per_minute: null };
    assert.deepEqual([quotas, budgets], [{ key: none, app: none }, []]);
  });
}

test("request-body.max-audio-bytes: max_audio_bytes counts the file part of a form: N passes, N + 1 is 413", async () => {
  assert.equal(padded(MAX_BYTES).length, MAX_BYTES);
  const envelope = envelopeOf(await postForm(gateway.origin, { file: padded(MAX_BYTES) }));
  assert.equal(envelope.duration_seconds, 1);
  expectTooLarge(await postForm(gateway.origin, { file: join(padded(MAX_BYTES), zeros(1)) }), 1);
});

test("request-body.max-audio-bytes: max_audio_bytes counts the whole body of JSON: N passes, N + 1 is 413", async () => {
  const ofLength = (sizeBytes: number) => {
    const body = { audio: Buffer.from(STEREO).toString("base64"), prompt: "" };
    const sized = { ...body, prompt: "x".repeat(sizeBytes - JSON.stringify(body).length) };
    assert.equal(JSON.stringify(sized).length, sizeBytes);
    return sized;
  };
  envelopeOf(await postJson(gateway.origin, ofLength(MAX_BYTES)));
  expectTooLarge(await postJson(gateway.origin, ofLength(MAX_BYTES + 1)), 1);
});

for (const [path, type] of [
  ["/v1/transcription", "multipart/form-data; boundary=x"],
  ["/v1/translation", "application/json"],
  ["/v1/transcription/jobs", "multipart/form-data; boundary=x"],
] as const) {
  test(`request-body.declared-length: POST ${path} with ${type} that announces 9 GB is 413, however much room there is for bodies`, async () => {
    const reply = await announce(gateway.origin, path, type, 9_000_000_000);
    assert.deepEqual(reply, { status: 413, code: "AUDIO_TOO_LARGE", retryable: false });
  });
}

test("request-body.max-audio-bytes: the same file fits as a form and not as base64", async () => {
  const file = padded(200_000);
  envelopeOf(await postForm(gateway.origin, { file }));
  expectTooLarge(await postJson(gateway.origin, { audio: Buffer.from(file).toString("base64") }), 1);
});

test("measuring.too-long: max_audio_duration_seconds as measured: 8 s pass, a millisecond more is 422 before any call", async () => {
  assert.equal(envelopeOf(await postForm(gateway.origin, { file: silence(8000) })).duration_seconds, 8);
  const answer = await postForm(gateway.origin, { file: silence(8001) });
  assert.equal(answer.code, "AUDIO_TOO_LONG");
  assert.deepEqual(detailsOf(answer), { max_audio_duration_seconds: 8, audio_seconds: 8.001 });
  assert.equal(gateway.sandbox.callCount, 1);
});

test("transcription.keyterms-merged: max_keyterms counts the merged list without duplicates: 3 pass, 4 are a 400 that names keyterms", async () => {
  const audio = Buffer.from(STEREO).toString("base64");
  envelopeOf(await postJson(gateway.origin, { audio, keyterms: ["a", "b"], custom_vocabulary: ["b", "c", "a"] }));
  const dryRun = { dry_run: true };
  for (const extra of [{}, dryRun]) {
    const answer = await postJson(gateway.origin, {
      audio,
      ...extra,
      keyterms: ["a", "b"],
      custom_vocabulary: ["c", "d"],
    });
    assert.equal(answer.code, "INVALID_REQUEST");
    assert.equal(errorBody.parse(answer.json).error.param, "keyterms");
    assert.deepEqual([detailsOf(answer)["max_keyterms"], detailsOf(answer)["received"]], [3, 4]);
  }
  assert.equal(gateway.sandbox.callCount, 1);
});

test("idempotency.ttl: sync_idempotency_ttl_seconds: within it a replay, after it the key runs again", async () => {
  const call = { file: STEREO, headers: { "idempotency-key": "ttl" } };
  const first = await postForm(gateway.origin, call);
  envelopeOf(first);
  await shiftClock(gateway.database, 55);
  const replay = await postForm(gateway.origin, call);
  assert.equal(replay.headers.get("x-svc-idempotent-replay"), "true");
  assert.equal(replay.text, first.text);
  await shiftClock(gateway.database, 125);
  const rerun = await postForm(gateway.origin, call);
  assert.equal(rerun.headers.get("x-svc-idempotent-replay"), null);
  assert.notEqual(envelopeOf(rerun).id, envelopeOf(first).id);
  assert.equal(gateway.sandbox.callCount, 2);
  await shiftClock(gateway.database, 0);
});

for (const mayPayTwice of [false, true]) {
  const despite = mayPayTwice ? ", and no other target is called, though it may be paid twice" : "";
  test(`routing.deadline: sync_timeout_seconds ends a request whose provider does not respond: 504${despite}`, async (t) => {
    const hasty = await startGateway({
      file: (sandbox) => {
        const file = standardFile(sandbox);
        const routes = file.routes?.map((route) => ({ ...route, may_pay_twice: mayPayTwice }));
        return { ...file, ...(routes === undefined ? {} : { routes }), limits: { sync_timeout_seconds: 8 } };
      },
    });
    t.after(() => hasty.close());
    const report = limitsReport.parse((await get(hasty.origin, "/v1/melimits")).json);
    assert.equal(report.sync_timeout_seconds, 8);
    // The first measurement starts a worker; this request's outcome is of no matter.
    await postForm(hasty.origin, { file: STEREO, fields: { dry_run: "true" } });
    hasty.sandbox.addFault({ fault: { kind: "stall" } });
    const answer = await postForm(hasty.origin, { file: STEREO });
    assert.equal(answer.code, "PROVIDER_TIMEOUT");
    assert.equal(hasty.sandbox.callCount, 1);
    const attempts = await hasty.database.db.selectFrom("attempts").select("model").execute();
    assert.deepEqual(attempts, [{ model: "nova-3" }]);
  });
}

function expectTooLarge(answer: Answer, callsBefore: number): void {
  assert.equal(answer.code, "AUDIO_TOO_LARGE");
  assert.equal(detailsOf(answer)["max_audio_bytes"], MAX_BYTES);
  assert.equal(gateway.sandbox.callCount, callsBefore);
}

/** The same second of speech in a file of any larger even size: a chunk that readers skip follows the samples. */
function padded(sizeBytes: number): Uint8Array {
  const padding = chunk("junk", zeros(sizeBytes - STEREO.length - 8));
  return join(ascii("RIFF"), le32(sizeBytes - 8), STEREO.subarray(8), padding);
}

function silence(milliseconds: number): Uint8Array {
  const format = join(le16(1), le16(1), le32(8000), le32(8000), le16(1), le16(8));
  const samples = new Uint8Array(milliseconds * 8).fill(128);
  return chunk("RIFF", join(ascii("WAVE"), chunk("fmt ", format), chunk("data", samples)));
}
