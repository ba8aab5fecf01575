// `limits.url_fetches_per_minute`: fetches of `audio.url` are limited per app. A synchronous request beyond it is refused, a job waits.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { get, postJson } from "../../harness/client.ts";
import { shiftClock } from "../../harness/postgres/database.ts";
import { KEY } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { offerLapsed } from "../../../src/jobs/sweep.ts";
import { ended, JOBS, poll, submittedOf } from "../jobs/jobs.ts";
import { type RemoteGateway, serveSpeech, startRemoteGateway, STREAM_KEY, URL_OF_SPEECH } from "./setup.ts";

const LIMIT = 3;

let remote: RemoteGateway;
/** Milliseconds by which this process and its database are ahead. */
let aheadMs = 0;
before(async () => {
  remote = await startRemoteGateway({
    limits: { url_fetches_per_minute: LIMIT },
    now: () => new Date(Date.now() + aheadMs),
  });
});
after(() => remote.close());
beforeEach(async () => {
  await pass(61);
  remote.requests.length = 0;
});

/** As many as may be. A server's refusal is remembered for a moment, whatever its clock says. */
async function useUp(): Promise<void> {
  await until(async () => (await transcribe()).status === 200);
  for (let index = 1; index < LIMIT; index += 1) assert.equal((await transcribe()).status, 200);
}

async function pass(seconds: number): Promise<void> {
  aheadMs += seconds * 1000;
  await shiftClock(remote.gateway.database, aheadMs / 1000);
}

const body = { audio: { url: URL_OF_SPEECH } };
const transcribe = (fields: object = {}, options: Parameters<typeof postJson>[2] = {}) =>
  postJson(remote.gateway.origin, { ...body, ...fields }, options);

test("remote-audio.fetch-limit-answer: a request beyond the limit is refused with 429 and its RateLimit fields, and nothing is fetched for it", async () => {
  await useUp();
  const refused = await transcribe();
  assert.deepEqual([refused.status, refused.code], [429, "RATE_LIMITED"]);
  assert.equal(refused.headers.get("ratelimit-policy"), `"url-fetches";q=${LIMIT};w=60;qu="url-fetches"`);
  assert.match(refused.headers.get("ratelimit") ?? "", /^"url-fetches";r=0;t=\d+$/u);
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  assert.equal(remote.requests.length, LIMIT);
  // Each app has its own.
  const other = await transcribe({ stream: true }, { key: STREAM_KEY });
  assert.equal(other.status, 200);
});

test("remote-audio.fetches-per-minute: a dry run that fetches counts, a replay and its redirects do not count again", async () => {
  remote.answer((request, response) => {
    if (request.url?.startsWith("/speech.wav") === true) response.writeHead(302, { location: "/moved.wav" }).end();
    else serveSpeech(request, response);
  });
  const headers = { "idempotency-key": "fetched-once" };
  await until(async () => (await transcribe({}, { headers })).status === 200);
  for (let replay = 0; replay < LIMIT; replay += 1)
    assert.equal((await transcribe({}, { headers })).headers.get("x-svc-idempotent-replay"), "true");
  assert.equal((await transcribe({ dry_run: true })).status, 200);
  assert.equal((await transcribe({ dry_run: true })).status, 200);
  assert.equal((await transcribe({ dry_run: true })).code, "RATE_LIMITED");
  remote.answer(serveSpeech);
});

test("remote-audio.fetch-limit-jobs: a job beyond the limit is accepted, waits without a worker or an attempt, and is done when there is room", async () => {
  const { gateway } = remote;
  await useUp();
  const { job_id: id } = submittedOf(await postJson(gateway.origin, body, { path: JOBS }));
  const row = () =>
    gateway.database.db
      .selectFrom("jobs")
      .select(["status", "attempt", "laid_aside", "stage"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  await until(async () => (await row()).laid_aside === 1);
  assert.deepEqual(await row(), { status: "processing", attempt: 1, laid_aside: 1, stage: "queued" });
  assert.equal(remote.requests.length, LIMIT);
  // Looked at again, it waits again, and the attempt counts for nothing.
  await sql`update jobs set lease_until = patchbay_now() - interval '1 second' where id = ${id}`.execute(
    gateway.database.db,
  );
  await offerLapsed(gateway.app.jobs);
  await until(async () => (await row()).laid_aside === 2);
  assert.equal((await row()).attempt, 2);
  assert.equal((await poll(gateway.origin, id)).status, "processing");
  await pass(130);
  // There is room again, so that the job is not refused for another minute.
  await until(async () => (await transcribe()).status === 200);
  await offerLapsed(gateway.app.jobs);
  const job = await ended(gateway.origin, id);
  assert.deepEqual([job.status, job.error], ["succeeded", null]);
});

test("remote-audio.fetch-limit-jobs: a job that waits for room ends at its deadline as every other job does", async () => {
  const { gateway } = remote;
  await useUp();
  const { job_id: id } = submittedOf(await postJson(gateway.origin, body, { path: JOBS }));
  await until(async () => {
    const { laid_aside: count } = await gateway.database.db
      .selectFrom("jobs")
      .select("laid_aside")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    return count > 0;
  });
  await sql`update jobs set deadline_at = patchbay_now() + interval '1 second', lease_until = patchbay_now() + interval '1 second'
    where id = ${id}`.execute(gateway.database.db);
  await pass(2);
  await offerLapsed(gateway.app.jobs);
  const { status, error } = await ended(gateway.origin, id);
  assert.deepEqual([status, error?.code], ["failed", "JOB_DEADLINE_EXCEEDED"]);
});

test("remote-audio.fetches-per-minute: the limit is reported among the others", async () => {
  const { json } = await get(remote.gateway.origin, "/v1/melimits", KEY);
  assert.equal((json as Record<string, unknown>)["url_fetches_per_minute"], LIMIT);
});
