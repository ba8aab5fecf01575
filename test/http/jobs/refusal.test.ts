// Jobs that are refused [jobs.refusal-leaves-nothing], and keys that are used again: nothing is called, charged or left behind.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { fixture } from "../../audio/build-audio.ts";
import { detailsOf, postForm, postJson, get, speech } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { jobsFile } from "../../jobs/setting.ts";
import { JOBS, submittedOf } from "./jobs.ts";

const CAP = 300_000;
const SYNC_CAP = 290_000;
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    works: false,
    file: (sandbox) => {
      const file = jobsFile(sandbox, { max_job_audio_bytes: CAP, max_audio_bytes: SYNC_CAP });
      const [notes] = file.workspaces?.[0]?.apps ?? [];
      return notes === undefined ? file : { ...file, workspaces: [withBudget(file)] };
    },
  });
});
after(() => gateway.close());

let rowsBefore = 0;
afterEach(async () => {
  const { jobs, objects, attempts } = await counts();
  assert.equal(jobs, rowsBefore, "a job row for what was refused");
  assert.equal(objects, jobs, "an object for each accepted upload, and none else");
  assert.equal(attempts, jobs);
});

const REFUSALS: readonly (readonly [string, () => ReturnType<typeof postForm>, string, string?])[] = [
  ["mode", () => post({ mode: "batch" }), "INVALID_REQUEST"],
  ["stream", () => post({ stream: "true" }), "INVALID_REQUEST"],
  ["a task that is none", () => post({ task: "summarise" }), "INVALID_REQUEST"],
  ["a language to translate into, and nothing to be translated", () => post({ to_language: "de" }), "INVALID_REQUEST"],
  ["metadata with a name of no characters", () => post({ metadata: '{"":"a"}' }), "INVALID_REQUEST"],
  ["metadata of seventeen pairs", () => post({ metadata: JSON.stringify(pairs(17)) }), "INVALID_REQUEST"],
  ["metadata that is no text", () => post({ metadata: '{"a":1}' }), "INVALID_REQUEST"],
  ["metadata with the character NUL", () => post({ metadata: '{"a":"x\\u0000y"}' }), "INVALID_REQUEST"],
  ["a provider", () => post({ provider: "deepgram" }), "ROUTE_CONTROL_FIELD_REJECTED"],
  ["a feature that no target has", () => post({ task: "translate" }), "REQUIRED_FEATURE_UNSUPPORTED"],
  [
    "bytes that are no audio",
    () => postForm(gateway.origin, { path: JOBS, file: Buffer.alloc(5_000, 1) }),
    "UNSUPPORTED_MEDIA_TYPE",
  ],
  [
    "audio cut beyond use",
    () => postForm(gateway.origin, { path: JOBS, file: speech().subarray(0, 30) }),
    "INVALID_AUDIO",
  ],
  [
    "a URL on no list",
    () => postJson(gateway.origin, { audio: { url: "https://a.example/b.wav" } }, { path: JOBS }),
    "AUDIO_URL_REJECTED",
  ],
  ["no audio", () => postJson(gateway.origin, {}, { path: JOBS }), "INVALID_REQUEST"],
];
for (const [what, ask, code] of REFUSALS) {
  test(`jobs.fields, jobs.refusal-leaves-nothing, idempotency.job-refused: a job with ${what} is refused with ${code}, and its key stays free`, async () => {
    gateway.sandbox.clearCalls();
    assert.equal((await ask()).code, code);
    assert.equal(gateway.sandbox.calls.length, 0);
    const { slots } = await counts();
    assert.equal(slots, 0);
  });
}

test("jobs.size-cap: N bytes of max_job_audio_bytes are accepted, N + 1 are not, in a form", async () => {
  const one = padded(CAP);
  submittedOf(await postForm(gateway.origin, { path: JOBS, file: one }));
  rowsBefore += 1;
  const more = await postForm(gateway.origin, { path: JOBS, file: padded(CAP + 1) });
  assert.equal(more.code, "AUDIO_TOO_LARGE");
  assert.equal(detailsOf(more)["max_audio_bytes"], CAP);
});

test("jobs.size-cap: with `mode: async` the synchronous endpoint keeps its own cap, which judges the head before the body names the mode", async () => {
  const fields = { mode: "async" };
  const taken = await postForm(gateway.origin, { fields, file: padded(SYNC_CAP) });
  submittedOf(taken);
  rowsBefore += 1;
  const more = await postForm(gateway.origin, { fields, file: padded(SYNC_CAP + 1) });
  assert.equal(more.code, "AUDIO_TOO_LARGE");
  assert.equal(detailsOf(more)["max_audio_bytes"], SYNC_CAP);
  const streamed = await postForm(gateway.origin, { fields: { ...fields, stream: "true" } });
  assert.deepEqual([streamed.status, streamed.code], [400, "INVALID_REQUEST"], "a wish for a stream was dropped");
});

test("jobs.upload-judged-first, jobs.reservation: what the app's budget has no room for is refused before the 202", async () => {
  const answer = await postForm(gateway.origin, { path: JOBS, key: POOR });
  assert.equal(answer.code, "BUDGET_EXCEEDED");
});

test("jobs.refusal-leaves-nothing: a refusal is answered also where the store does not delete the upload: it is swept later", async () => {
  const { objects } = gateway.app.jobs;
  const remove = objects.remove.bind(objects);
  const kept: string[] = [];
  Object.assign(objects, {
    remove: (key: string) => {
      kept.push(key);
      return Promise.reject(new Error("the store is unavailable"));
    },
  });
  const answer = await postForm(gateway.origin, { path: JOBS, key: POOR });
  Object.assign(objects, { remove });
  assert.deepEqual([answer.code, kept.length], ["BUDGET_EXCEEDED", 1]);
  for (const key of kept) await remove(key);
});

test("idempotency.job-replay, idempotency.reused: a job's key returns the first 202 again, byte for byte; another payload or endpoint is a 409", async () => {
  const { origin } = gateway;
  const headers = { "idempotency-key": "job-key-1" };
  const first = await postForm(origin, { path: JOBS, headers, fields: { metadata: '{"a":"b"}' } });
  submittedOf(first);
  rowsBefore += 1;
  const again = await postForm(origin, {
    path: JOBS,
    headers,
    fields: { metadata: '{"a":"b"}' },
    fileName: "other.wav",
  });
  assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get("location"), first.headers.get("location"));
  for (const other of [{ metadata: '{"a":"c"}' }, {}, { metadata: '{"a":"b"}', language: "de" }])
    assert.equal((await postForm(origin, { path: JOBS, headers, fields: other })).code, "IDEMPOTENCY_KEY_REUSED");
  const elsewhere = await postForm(origin, { headers, fields: { mode: "async" } });
  assert.equal(elsewhere.code, "IDEMPOTENCY_KEY_REUSED");
  await gateway.database.db.deleteFrom("idempotency_slots").execute();
});

test("idempotency.defaults: a default that is sent is another payload than one that is filled in", async () => {
  const { origin } = gateway;
  for (const fields of [{ task: "transcribe" }, { metadata: "{}" }]) {
    const headers = { "idempotency-key": `defaults-${Object.keys(fields).join("")}` };
    submittedOf(await postForm(origin, { path: JOBS, headers }));
    rowsBefore += 1;
    assert.equal((await postForm(origin, { path: JOBS, headers, fields })).code, "IDEMPOTENCY_KEY_REUSED");
    assert.equal((await postForm(origin, { path: JOBS, headers })).headers.get("x-svc-idempotent-replay"), "true");
  }
  await gateway.database.db.deleteFrom("idempotency_slots").execute();
});

test("jobs.query-validation: invalid queries about jobs are refused", async () => {
  const { origin } = gateway;
  for (const query of ["?wait=61", "?wait=-1", "?wait=x", "?format=pdf", "?color=blue"])
    assert.equal((await get(origin, `${JOBS}/job_x${query}`)).code, "INVALID_REQUEST", query);
  for (const query of [
    "?limit=0",
    "?limit=101",
    "?limit=0x10",
    "?limit=1.5",
    "?limit=",
    "?limit=5&limit=6",
    "?status=done",
    "?cursor=x",
  ])
    assert.equal((await get(origin, `${JOBS}${query}`)).code, "INVALID_REQUEST", query);
});

const POOR = "test-key-of-an-app-without-money";

function withBudget(file: ReturnType<typeof jobsFile>): NonNullable<ReturnType<typeof jobsFile>["workspaces"]>[number] {
  const [acme] = file.workspaces ?? [];
  if (acme === undefined) throw new Error("the file has no workspace");
  const poor = {
    id: "poor",
    route: "speech",
    budgets: [{ period: "month" as const, limit_usd: "0.000001" }],
    keys: [{ id: "poor-key", secret: POOR, scopes: ["jobs" as const] }],
  };
  return { ...acme, apps: [...(acme.apps ?? []), poor] };
}

function post(fields: Readonly<Record<string, string>>) {
  return postForm(gateway.origin, { path: JOBS, fields, headers: { "idempotency-key": "refused" } });
}

function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, "v"]));
}

/** A WAV file of exactly so many bytes. */
function padded(sizeBytes: number): Uint8Array {
  const wav = Buffer.from(fixture("speech-16k.wav"));
  const rest = Buffer.alloc(sizeBytes - wav.length);
  // An unknown chunk, over the rest.
  rest.write("junk", 0, "latin1");
  rest.writeUInt32LE(rest.length - 8, 4);
  return Buffer.concat([wav, rest]);
}

async function counts() {
  const { db } = gateway.database;
  const count = async (table: "jobs" | "attempts" | "idempotency_slots") =>
    (await db.selectFrom(table).selectAll().execute()).length;
  return {
    jobs: await count("jobs"),
    attempts: await count("attempts"),
    slots: await count("idempotency_slots"),
    objects: globSync(join(gateway.dataDir, "objects", "audio", "*")).length,
  };
}
