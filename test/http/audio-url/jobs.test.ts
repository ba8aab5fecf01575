// Jobs whose audio is a URL: what can be judged is judged before the 202, the rest by the worker, where it becomes the job's error with
// the same codes.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { Job } from "../../../src/contract/jobs.ts";
import { detailsOf, get, postJson, speech } from "../../harness/client.ts";
import { KEY } from "../../harness/gateway.ts";
import { ended, JOBS, submittedOf } from "../jobs/jobs.ts";
import { domainsClient, viewOf } from "../audio-url-domains/domains.ts";
import {
  ADMIN_KEY,
  PUBLIC,
  type RemoteGateway,
  serve,
  serveSpeech,
  startRemoteGateway,
  URL_OF_SPEECH,
} from "./setup.ts";

const LIMIT = 300_000;
let remote: RemoteGateway;
before(async () => {
  remote = await startRemoteGateway({ limits: { max_audio_url_bytes: 1_000, max_job_audio_url_bytes: LIMIT } });
});
after(() => remote.close());
afterEach(() => {
  remote.answer(serveSpeech);
  remote.internet.name("media.example", [PUBLIC]);
  remote.requests.length = 0;
  assert.equal(remote.internet.canaryConnections(), 0);
});

const submit = (url = URL_OF_SPEECH, headers: Record<string, string> = {}) =>
  postJson(remote.gateway.origin, { audio: { url } }, { path: JOBS, headers });
const finished = async (url?: string): Promise<Job> =>
  ended(remote.gateway.origin, submittedOf(await submit(url)).job_id);

async function assertNothingBilled(jobId: string): Promise<void> {
  const { db } = remote.gateway.database;
  const row = await db.selectFrom("jobs").select("request_id").where("id", "=", jobId).executeTakeFirstOrThrow();
  const attempts = await db
    .selectFrom("attempts")
    .selectAll()
    .where("request_id", "=", row.request_id)
    .where("charge_nano_usd", ">", 0n)
    .execute();
  assert.deepEqual(attempts, []);
}

test("remote-audio.job-fetched-once: a job by URL is fetched once by its worker, under the limit of jobs, and succeeds", async () => {
  const job = await finished();
  assert.equal(job.status, "succeeded", JSON.stringify(job.error));
  assert.ok((job.usage?.audio_seconds ?? 0) > 1);
  assert.deepEqual(remote.requests, ["/speech.wav?sig=canary-signature"]);
});

test("remote-audio.content-decides: a job by URL considers the caller's type and name of the audio, as a synchronous request does", async () => {
  remote.answer((_request, response) => serve(response, speech(), "video/mp4"));
  const warned = async (hints: Readonly<Record<string, string>>): Promise<boolean> => {
    const body = { audio: { url: URL_OF_SPEECH, ...hints } };
    const { job_id: id } = submittedOf(await postJson(remote.gateway.origin, body, { path: JOBS }));
    const { result } = await ended(remote.gateway.origin, id);
    return result?.warnings.some(({ code }) => code === "MEDIA_TYPE_MISMATCH") ?? assert.fail("it has no result");
  };
  assert.equal(await warned({}), true, "the server's word alone");
  assert.equal(await warned({ media_type: "audio/wav" }), false);
  assert.equal(await warned({ media_type: "audio/wav", filename: "speech.mp3" }), true);
});

test("remote-audio.job-fetched-once: what was fetched is kept until the store takes it, however often it refuses", async () => {
  const { objects } = remote.gateway.app.jobs;
  const put = objects.put.bind(objects);
  let left = 2;
  Object.assign(objects, {
    put: (...args: Parameters<typeof put>) =>
      left-- > 0 ? Promise.reject(Object.assign(new Error("no room"), { code: "ENOSPC" })) : put(...args),
  });
  const { status, attempts } = await finished();
  Object.assign(objects, { put });
  assert.deepEqual([status, attempts, left], ["succeeded", 1, -1]);
});

test("remote-audio.job-checked-at-submission, jobs.url-judged-late: a URL that is not allowed is refused before the 202, and creates no job", async () => {
  const before = (await get(remote.gateway.origin, JOBS)).text;
  for (const [url, reason] of [
    ["https://evil.example/a.wav", "host_not_allowed"],
    ["http://media.example/a.wav", "scheme"],
    ["https://127.0.0.1/a.wav", "address_not_public"],
  ] as const) {
    const answer = await submit(url);
    assert.deepEqual([answer.status, answer.code, detailsOf(answer)], [400, "AUDIO_URL_REJECTED", { reason }]);
  }
  assert.equal((await get(remote.gateway.origin, JOBS)).text, before);
});

test("remote-audio.resolve-once: SSRF-310: a name that turns private between submission and fetch fails the job, and nothing is dialled", async () => {
  remote.internet.rebinding("media.example", [[PUBLIC], ["10.0.0.5"]]);
  const job = await finished();
  assert.deepEqual([job.status, job.error?.code], ["failed", "AUDIO_URL_REJECTED"]);
  assert.deepEqual(remote.requests, []);
  await assertNothingBilled(job.job_id);
});

test("remote-audio.job-fetch-errors, jobs.url-judged-late: what only the fetch shows is the job's error: size, type, status, content", async () => {
  const failing = async (code: string, answer: Parameters<RemoteGateway["answer"]>[0]) => {
    remote.answer(answer);
    const job = await finished();
    assert.deepEqual([job.status, job.error?.code], ["failed", code]);
    await assertNothingBilled(job.job_id);
  };
  await failing("AUDIO_TOO_LARGE", (_request, response) => serve(response, new Uint8Array(LIMIT + 1)));
  await failing("AUDIO_URL_REJECTED", (_request, response) => serve(response, speech(), "text/plain"));
  await failing("AUDIO_FETCH_FAILED", (_request, response) => response.writeHead(404).end());
  await failing("UNSUPPORTED_MEDIA_TYPE", (_request, response) => serve(response, Buffer.from("<html></html>")));
});

test("remote-audio.job-size: exactly max_job_audio_url_bytes are fetched", async () => {
  const bytes = new Uint8Array(LIMIT);
  bytes.set(speech().subarray(0, LIMIT));
  remote.answer((_request, response) => serve(response, bytes));
  const job = await finished();
  assert.equal(job.status, "succeeded", JSON.stringify(job.error));
});

test("remote-audio.job-size: with `mode: async` what a URL names is fetched by the limits of jobs", async () => {
  const bytes = new Uint8Array(LIMIT);
  bytes.set(speech().subarray(0, LIMIT));
  remote.answer((_request, response) => serve(response, bytes));
  const { origin } = remote.gateway;
  const { job_id: id } = submittedOf(await postJson(origin, { audio: { url: URL_OF_SPEECH }, mode: "async" }));
  const job = await ended(origin, id);
  assert.equal(job.status, "succeeded", JSON.stringify(job.error));
});

test("remote-audio.job-replay-after-change, remote-audio.whole-url-is-payload: a job's key replays its 202 though the host is no longer listed, and another URL is another payload", async () => {
  const headers = { "idempotency-key": "job-by-url" };
  const first = await submit(URL_OF_SPEECH, headers);
  const { job_id: jobId } = submittedOf(first);
  await ended(remote.gateway.origin, jobId);
  const domains = domainsClient(() => remote);
  viewOf(await domains.put(ADMIN_KEY, { domains: [] }));
  try {
    const again = await submit(URL_OF_SPEECH, headers);
    assert.deepEqual([again.status, again.text], [202, first.text]);
    assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
    assert.equal((await submit(`${URL_OF_SPEECH}2`, headers)).code, "IDEMPOTENCY_KEY_REUSED");
    assert.equal((await submit(URL_OF_SPEECH)).code, "AUDIO_URL_REJECTED");
  } finally {
    viewOf(await domains.put(ADMIN_KEY, { domains: ["media.example"] }));
  }
});

test("remote-audio.no-leak: SSRF-415: the signed query of a job is in no log line and in no answer", async () => {
  const job = await finished();
  const seen = [
    JSON.stringify(job),
    (await get(remote.gateway.origin, JOBS, KEY)).text,
    remote.gateway.logs.join("\n"),
  ];
  for (const text of seen) assert.ok(!text.includes("canary-signature"));
});
